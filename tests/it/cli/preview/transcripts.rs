//! What an agent did, written in the format of each agent's transcript.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Home;
use Did::{Edited, Failed, Ran, Read};

/// One thing that an agent did.
#[derive(Clone, Copy)]
pub(super) enum Did {
    /// A command that went well.
    Ran(&'static str),
    /// A command that failed with this output.
    Failed(&'static str, &'static str),
    Read(&'static str),
    Edited(&'static str),
}

/// Writes what an agent did after a real prompt, in its own format.
pub(super) fn transcript(home: &Home, agent: &str, project: &Path, did: &[Did]) -> PathBuf {
    let mut lines = Vec::new();
    match agent {
        "claude" => claude(project, did, &mut lines),
        "gemini" => gemini(project, did, &mut lines),
        _ => codex(project, did, &mut lines),
    }
    let text = lines.iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").expect("a string takes it");
        text
    });
    let path = home.path().join(format!("{agent}.jsonl"));
    fs::write(&path, text).expect("writable");
    path
}

pub(super) fn at(second: usize) -> String {
    format!("2026-01-01T00:00:{second:02}Z")
}

fn claude(project: &Path, did: &[Did], lines: &mut Vec<Value>) {
    lines.push(json!({"type":"user","sessionId":"s","timestamp":at(0),"message":{"role":"user","content":"go"}}));
    for (number, did) in did.iter().enumerate() {
        let id = format!("t{number}");
        let (tool, input, output, is_error) = match did {
            Ran(line) => ("Bash", json!({"command":line}), "fine".to_owned(), false),
            Failed(line, output) => (
                "Bash",
                json!({"command":line}),
                format!("Exit code 1\n{output}"),
                true,
            ),
            Read(file) => (
                "Read",
                json!({"file_path":project.join(file)}),
                "text".into(),
                false,
            ),
            Edited(file) => (
                "Edit",
                json!({"file_path":project.join(file)}),
                "done".into(),
                false,
            ),
        };
        let call = json!([{"type":"tool_use","id":id,"name":tool,"input":input}]);
        let result =
            json!([{"type":"tool_result","tool_use_id":id,"content":output,"is_error":is_error}]);
        let (began, ended) = (at(2 * number + 1), at(2 * number + 2));
        lines.push(json!({"type":"assistant","sessionId":"s","timestamp":began,"message":{"content":call}}));
        lines.push(
            json!({"type":"user","sessionId":"s","timestamp":ended,"message":{"content":result}}),
        );
    }
}

fn gemini(project: &Path, did: &[Did], lines: &mut Vec<Value>) {
    lines.push(json!({"sessionId":"s","projectHash":"h","kind":"main"}));
    lines.push(json!({"id":"u","timestamp":at(0),"type":"user","content":[{"text":"go"}]}));
    for (number, did) in did.iter().enumerate() {
        let (tool, args, output) = match did {
            Ran(line) => (
                "run_shell_command",
                json!({"command":line}),
                "Output: fine".to_owned(),
            ),
            Failed(line, output) => (
                "run_shell_command",
                json!({"command":line}),
                format!("Output: {output}\nExit Code: 1"),
            ),
            Read(file) => (
                "read_file",
                json!({"file_path":project.join(file)}),
                "text".into(),
            ),
            Edited(file) => (
                "replace",
                json!({"file_path":project.join(file)}),
                "done".into(),
            ),
        };
        let response =
            json!([{"functionResponse":{"id":format!("f{number}"),"response":{"output":output}}}]);
        let call = json!({"id":format!("f{number}"),"name":tool,"args":args,"status":"success","result":response,
            "timestamp":at(2 * number + 2)});
        lines.push(json!({"id":format!("g{number}"),"timestamp":at(2 * number + 1),"type":"gemini","content":"",
            "toolCalls":[call]}));
    }
}

fn codex(project: &Path, did: &[Did], lines: &mut Vec<Value>) {
    let line = |second: usize, kind: &str, payload: Value| json!({"timestamp":at(second),"type":kind,"payload":payload});
    lines.push(line(
        0,
        "session_meta",
        json!({"id":"s","cwd":project,"cli_version":"0.169.0"}),
    ));
    lines.push(line(
        0,
        "event_msg",
        json!({"type":"user_message","message":"go"}),
    ));
    for (number, did) in did.iter().enumerate() {
        let id = format!("c{number}");
        let exec = |line: &str| json!({"type":"function_call","name":"exec_command","call_id":id,"arguments":json!({"cmd":line}).to_string()});
        let (call, code, output) = match did {
            Ran(line) => (exec(line), 0, "fine"),
            Failed(line, output) => (exec(line), 1, *output),
            // Codex reads with the shell.
            Read(file) => (exec(&format!("cat {file}")), 0, "text"),
            Edited(file) => {
                let patch = format!(
                    "*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n"
                );
                (
                    json!({"type":"custom_tool_call","name":"apply_patch","call_id":id,"input":patch}),
                    0,
                    "done",
                )
            }
        };
        let kind = if matches!(did, Edited(_)) {
            "custom_tool_call_output"
        } else {
            "function_call_output"
        };
        let output =
            format!("Wall time: 1 seconds\nProcess exited with code {code}\nOutput:\n{output}");
        lines.push(line(2 * number + 1, "response_item", call));
        lines.push(line(
            2 * number + 2,
            "response_item",
            json!({"type":kind,"call_id":id,"output":output}),
        ));
    }
}
