//! Turns that were planned, interrupted or compacted, and commands that go on between calls, from the agents' own records.

use journal::Agent;
use serde_json::{Value, json};

use super::turns::demands;
use super::*;
use crate::findings::note_words;
use crate::redact::Redactor;
use crate::transcript;

/// What is asked for at the end of a transcript, when these files were changed; covered ones have a test of their own.
fn asked(agent: Agent, records: &[Value], changed: &[&str], covered: bool) -> String {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let text = lines.join("\n") + "\n";
    let facts = transcript::read(
        agent,
        text.as_bytes(),
        true,
        "[P] ",
        &Redactor::new(true, Vec::new()),
    );
    let facts = facts.expect("the form is the agent's");
    let words = facts.last_assistant.clone().unwrap_or_default();
    let joined = transcript::join(Some(facts), &[]);
    let files = changed.iter().map(|path| ChangedFile {
        path: (*path).to_owned(),
        hash: Some(1),
    });
    let mut evidence = Evidence {
        changes: Changes::Known(files.collect()),
        timeline: joined.timeline,
        ..Evidence::default()
    };
    note_words(&mut evidence, &words, joined.said, &joined.outcomes);
    evidence.facts.outcomes = joined.outcomes;
    evidence.facts.known_files = changed
        .iter()
        .map(|path| format!("{PROJECT}/{path}"))
        .collect();
    let tests = |path: &&str| ((*path).to_owned(), vec![format!("tests/test_{path}")]);
    evidence.facts.workspace = Some(Workspace {
        packages: vec![Package::default()],
        covered: changed.iter().filter(|_| covered).map(tests).collect(),
        ..Workspace::default()
    });
    demands(&find(&evidence, Some(95_000), PROJECT, &policy()))
}

/// A line of Claude Code.
fn claude(kind: &str, content: Value) -> Value {
    json!({ "type": kind, "sessionId": "s", "timestamp": "2026-01-01T10:00:00.000Z", "message": { "content": content } })
}

fn with(mut line: Value, key: &str, value: Value) -> Value {
    line[key] = value;
    line
}

fn uses(id: &str, name: &str, input: Value) -> Value {
    claude(
        "assistant",
        json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]),
    )
}

fn returns(id: &str, is_error: bool, text: &str) -> Value {
    let block =
        json!({ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text });
    claude("user", json!([block]))
}

fn says(text: &str) -> Value {
    claude("assistant", json!([{ "type": "text", "text": text }]))
}

fn edits(id: &str, path: &str) -> [Value; 2] {
    let input =
        json!({ "file_path": format!("{PROJECT}/{path}"), "old_string": "a", "new_string": "b" });
    [
        uses(id, "Edit", input),
        returns(id, false, "The file has been updated."),
    ]
}

fn bash(id: &str, line: &str, is_error: bool, output: &str) -> [Value; 2] {
    [
        uses(id, "Bash", json!({ "command": line })),
        returns(id, is_error, output),
    ]
}

const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";

#[test]
fn a_plan_that_is_not_accepted_leaves_nothing_open() {
    let plan = uses(
        "t2",
        "ExitPlanMode",
        json!({ "plan": "1. Change a.py\n2. Run the tests" }),
    );
    let begin = [
        claude("user", json!("plan the change")),
        uses(
            "t1",
            "Read",
            json!({ "file_path": format!("{PROJECT}/a.py") }),
        ),
        returns("t1", false, "a = 1"),
        plan.clone(),
    ];
    let rejected = [
        returns("t2", true, REJECTED),
        claude(
            "user",
            json!([{ "type": "text", "text": "[Request interrupted by user for tool use]" }]),
        ),
    ];
    let records = [&begin[..], &rejected[..]].concat();
    assert_eq!(asked(Agent::Claude, &records, &[], false), "nothing");
    // Another plan, and the agent goes on with it.
    let approved = [returns(
        "t2",
        false,
        "User has approved your plan. You can now start coding.",
    )];
    let records = [&begin[..], &approved[..], &edits("t3", "a.py")[..]].concat();
    assert_eq!(asked(Agent::Claude, &records, &["a.py"], true), "tests");
    let tests = bash("t4", "pytest -q", false, "3 passed in 0.05s");
    let records = [&records[..], &tests[..]].concat();
    assert_eq!(asked(Agent::Claude, &records, &["a.py"], true), "nothing");
}

#[test]
fn a_summary_in_the_middle_begins_no_turn() {
    let summary = "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nAnalysis: a.py was changed.";
    let boundary = json!({ "type": "system", "subtype": "compact_boundary", "sessionId": "s", "content": "Conversation compacted" });
    let flagged = with(
        claude("user", json!(summary)),
        "isCompactSummary",
        json!(true),
    );
    for summary in [flagged, claude("user", json!(summary))] {
        let middle = [boundary.clone(), summary];
        let prompt = [claude("user", json!("change a.py"))];
        let tests = bash("t2", "pytest -q", false, "3 passed in 0.05s");
        for (before, after, open) in [
            // Edit, summary, tests.
            (edits("t1", "a.py").to_vec(), tests.to_vec(), "nothing"),
            // Edit, tests, summary, words.
            (
                [edits("t1", "a.py"), tests.clone()].concat(),
                vec![says("Done.")],
                "nothing",
            ),
            // Tests, summary, edit.
            (tests.to_vec(), edits("t1", "a.py").to_vec(), "tests"),
        ] {
            let records = [&prompt[..], &before, &middle, &after].concat();
            assert_eq!(asked(Agent::Claude, &records, &["a.py"], true), open);
        }
    }
}

#[test]
fn an_interruption_is_no_failure() {
    let stopped = claude(
        "user",
        json!([{ "type": "text", "text": "[Request interrupted by user]" }]),
    );
    let refused = "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you what to do.";
    let prompt = claude("user", json!("change a.py"));
    let begin = [&[prompt], &edits("t1", "a.py")[..]].concat();
    let running = uses("t2", "Bash", json!({ "command": "pytest -q" }));
    let halted = [running, returns("t2", true, refused), stopped.clone()];
    let records = [&begin[..], &halted[..]].concat();
    assert_eq!(asked(Agent::Claude, &records, &["a.py"], true), "tests");
    let goes_on = [claude("user", json!("go on"))];
    let tests = bash("t3", "pytest -q", false, "3 passed in 0.05s");
    let records = [&begin[..], &halted[..], &goes_on[..], &tests[..]].concat();
    assert_eq!(asked(Agent::Claude, &records, &["a.py"], true), "nothing");
    let words = [says("What was changed is not tested yet.")];
    let records = [&begin[..], &[stopped], &goes_on[..], &words[..]].concat();
    assert_eq!(asked(Agent::Claude, &records, &["a.py"], true), "tests");
}

/// A line of a rollout.
fn codex(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-01-01T10:00:00.000Z", "type": kind, "payload": payload })
}

fn calls(id: &str, name: &str, arguments: Value) -> Value {
    let arguments = arguments.to_string();
    codex(
        "response_item",
        json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }),
    )
}

fn gives(id: &str, output: &str) -> Value {
    codex(
        "response_item",
        json!({ "type": "function_call_output", "call_id": id, "output": output }),
    )
}

fn patches(id: &str, path: &str) -> [Value; 2] {
    let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch");
    let call =
        json!({ "type": "custom_tool_call", "call_id": id, "name": "apply_patch", "input": patch });
    let result = json!({ "type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess." });
    [codex("response_item", call), codex("response_item", result)]
}

/// A command that goes on, and then what each look at it returned.
fn goes_on(line: &str, looks: &[(&str, &str)]) -> Vec<Value> {
    let running = "Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID 71\nOriginal token count: 4\nOutput:\ncollecting";
    let mut records = vec![
        calls(
            "e",
            "exec_command",
            json!({ "cmd": line, "yield_time_ms": 1000 }),
        ),
        gives("e", running),
    ];
    for (at, (chars, output)) in looks.iter().enumerate() {
        let id = format!("w{at}");
        records.push(calls(
            &id,
            "write_stdin",
            json!({ "session_id": 71, "chars": chars }),
        ));
        records.push(gives(&id, output));
    }
    records
}

fn prompt(text: &str) -> Value {
    codex(
        "event_msg",
        json!({ "type": "user_message", "message": text }),
    )
}

#[test]
fn a_command_that_goes_on_ends_in_a_later_call() {
    let ended = |code: u8, output: &str| {
        format!(
            "Chunk ID: b\nWall time: 2.0 seconds\nProcess exited with code {code}\nOriginal token count: 9\nOutput:\n{output}"
        )
    };
    let running = "Chunk ID: b\nWall time: 5.0 seconds\nProcess running with session ID 71\nOriginal token count: 0\nOutput:\n";
    let passed = ended(0, "31 passed in 4.40s");
    let failed = ended(
        1,
        "FAILED tests/test_a.py::test_rate - assert 3 == 2\n1 failed, 30 passed in 4.40s",
    );
    let silent = ended(0, "");
    let halted = ended(130, "^C");
    let broken = ended(2, "src/a.ts(3,1): error TS2304: Cannot find name 'x'.");
    for (line, looks, covered, open) in [
        ("pytest -q", vec![("", passed.as_str())], true, "nothing"),
        (
            "pytest -q",
            vec![("", running), ("", passed.as_str())],
            true,
            "nothing",
        ),
        (
            "pytest -q",
            vec![("", failed.as_str())],
            true,
            "errors tests",
        ),
        ("pytest -q", vec![("", running)], true, "tests"),
        ("pytest -q", vec![("\u{3}", halted.as_str())], true, "tests"),
        (
            "npm run build",
            vec![("", silent.as_str())],
            false,
            "nothing",
        ),
        ("npm run build", vec![("", broken.as_str())], false, "tests"),
        (
            "npm run dev",
            vec![("\u{3}", halted.as_str())],
            false,
            "tests",
        ),
    ] {
        let path = if covered { "a.py" } else { "src/a.ts" };
        let begin = [&[prompt("change it")], &patches("p", path)[..]].concat();
        let records = [begin, goes_on(line, &looks)].concat();
        let found = asked(Agent::Codex, &records, &[path], covered);
        assert_eq!(found, open, "{line} {looks:?}");
    }
    let begin = [&[prompt("change it")], &patches("p", "src/a.ts")[..]].concat();
    let asks = [
        calls(
            "c",
            "exec_command",
            json!({ "cmd": "curl -s localhost:3000/" }),
        ),
        gives("c", &ended(0, "<html>")),
    ];
    let records = [&begin[..], &goes_on("npm run dev", &[]), &asks].concat();
    assert_eq!(
        asked(Agent::Codex, &records, &["src/a.ts"], false),
        "nothing"
    );
}

#[test]
fn a_rollout_that_is_compacted_or_stopped_keeps_its_turn() {
    let compacted = codex(
        "compacted",
        json!({ "message": "a.py was changed", "replacement_history": [] }),
    );
    let aborted = codex(
        "event_msg",
        json!({ "type": "turn_aborted", "reason": "interrupted" }),
    );
    let marked = codex(
        "response_item",
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>" }] }),
    );
    let tests = [
        calls("t", "exec_command", json!({ "cmd": "pytest -q" })),
        gives(
            "t",
            "Chunk ID: b\nWall time: 2.0 seconds\nProcess exited with code 0\nOutput:\n31 passed in 4.40s",
        ),
    ];
    let begin = [&[prompt("change it")], &patches("p", "a.py")[..]].concat();
    let records = [&begin[..], std::slice::from_ref(&compacted), &tests].concat();
    assert_eq!(asked(Agent::Codex, &records, &["a.py"], true), "nothing");
    let records = [
        &[prompt("change it")][..],
        &tests,
        &[compacted],
        &patches("p", "a.py"),
    ]
    .concat();
    assert_eq!(asked(Agent::Codex, &records, &["a.py"], true), "tests");
    let records = [&begin[..], &[marked, aborted, prompt("go on")], &tests].concat();
    assert_eq!(asked(Agent::Codex, &records, &["a.py"], true), "nothing");
}
