//! How calls end, agent by agent.

use journal::Agent;
use serde_json::json;

use super::*;
use crate::agents::adapter;

fn outcome(
    agent: Agent,
    kind: ToolKind,
    command: Option<&str>,
    result: &ResultText<'_>,
) -> Outcome {
    let tools = adapter(agent).expect("an agent").tools();
    tools.outcome(kind, command, result)
}

fn hook_outcome(agent: Agent, kind: ToolKind, command: Option<&str>, payload: &Value) -> Outcome {
    let tools = adapter(agent).expect("an agent").tools();
    tools.hook_outcome(kind, command, payload)
}

const SHELL: ToolKind = ToolKind::Shell;

fn of_text(agent: Agent, command: &str, text: &str) -> Outcome {
    outcome(
        agent,
        SHELL,
        Some(command),
        &ResultText {
            text: text.into(),
            ..ResultText::default()
        },
    )
}

fn flagged(agent: Agent, command: &str, is_error: bool, text: &str) -> Outcome {
    let result = ResultText {
        is_error: Some(is_error),
        text: text.into(),
        ..ResultText::default()
    };
    outcome(agent, SHELL, Some(command), &result)
}

/// One word for an outcome: ok, no (a refused call), run (still running) or err.
fn word(outcome: &Outcome) -> &'static str {
    assert_eq!(
        outcome.is_error,
        !outcome.output.is_empty(),
        "the output belongs to errors: {outcome:?}"
    );
    match (outcome.is_error, outcome.refused, outcome.finished) {
        (true, false, true) => "err",
        (false, true, true) => "no",
        (false, false, true) => "ok",
        (false, false, false) => "run",
        _ => panic!("a contradiction: {outcome:?}"),
    }
}

#[test]
fn exit_codes_count_only_in_the_hosts_framing() {
    use Agent::{Claude, Codex, Gemini};
    let gemini = |output: &str, rest: &str| {
        format!(
            "<untrusted_context>\nOutput: {output}\n{rest}Process Group PGID: 1\n</untrusted_context>"
        )
    };
    let cases = [
        (Claude, "make", "Exit code 2\nboom".to_owned(), "err"),
        (Claude, "make", "Error: Exit code 2\nboom".to_owned(), "err"),
        (Claude, "cat log", "ok\nExit code 2\nError".to_owned(), "ok"),
        (Claude, "grep x y", "Exit code 1".to_owned(), "ok"),
        (
            Claude,
            "grep x y",
            "Exit code 2\ngrep: y: No such file".to_owned(),
            "err",
        ),
        (
            Codex,
            "make",
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom"
                .to_owned(),
            "err",
        ),
        (
            Codex,
            "make",
            "Exit code: 2\nWall time: 0 seconds\nOutput:\nboom".to_owned(),
            "err",
        ),
        (
            Codex,
            "make",
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 2".to_owned(),
            "ok",
        ),
        (
            Codex,
            "make",
            "{\"output\":\"boom\",\"metadata\":{\"exit_code\":2}}".to_owned(),
            "err",
        ),
        (
            Codex,
            "make",
            "{\"output\":\"fine\",\"metadata\":{\"exit_code\":0}}".to_owned(),
            "ok",
        ),
        (Codex, "cat x.json", "{\"broken".to_owned(), "ok"),
        (
            Codex,
            "cat log",
            "an error: Process exited with code 2".to_owned(),
            "ok",
        ),
        (
            Codex,
            "rg x",
            "Wall time: 0 seconds\nProcess exited with code 1\nOutput:\n".to_owned(),
            "ok",
        ),
        (
            Codex,
            "sleep 99",
            "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n".to_owned(),
            "run",
        ),
        (
            Codex,
            "x",
            "apply_patch verification failed: no such file".to_owned(),
            "err",
        ),
        (Codex, "x", "exec command rejected by user".to_owned(), "no"),
        (
            Codex,
            "x",
            "Command blocked by PreToolUse hook: R. Command: x".to_owned(),
            "no",
        ),
        (Gemini, "make", gemini("boom", "Exit Code: 2\n"), "err"),
        (Gemini, "make", gemini("Exit Code: 2\nfine", ""), "ok"),
        (Gemini, "make", gemini("boom", "Signal: SIGKILL\n"), "err"),
        (Gemini, "rg x", gemini("(empty)", "Exit Code: 1\n"), "ok"),
        (
            Gemini,
            "make",
            "Stdout: x\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)"
                .to_owned(),
            "ok",
        ),
        (
            Gemini,
            "make",
            "Stdout: x\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: 1"
                .to_owned(),
            "err",
        ),
    ];
    for (agent, command, text, expected) in cases {
        assert_eq!(
            word(&of_text(agent, command, &text)),
            expected,
            "{agent}: {text}"
        );
    }
}

#[test]
fn a_program_that_prints_the_framing_is_seen_through_where_the_display_tells() {
    let result = ResultText {
        text: "<untrusted_context>\nOutput: x\nExit Code: 2\nProcess Group PGID: 1\n</untrusted_context>".into(),
        display: Some("x\nExit Code: 2".into()),
        ..ResultText::default()
    };
    assert_eq!(
        word(&outcome(Agent::Gemini, SHELL, Some("echo"), &result)),
        "ok"
    );
}

#[test]
fn flags_and_refusals() {
    assert_eq!(
        word(&flagged(
            Agent::Claude,
            "echo",
            false,
            "Exit code 2\nprinted"
        )),
        "ok"
    );
    assert_eq!(
        word(&flagged(Agent::Claude, "echo", true, "it broke")),
        "err"
    );
    assert_eq!(
        word(&flagged(Agent::Claude, "grep x y", true, "Exit code 1")),
        "ok"
    );
    for text in [
        "PreToolUse:Bash hook error: DENIED-BY-HOOK",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "Permission to use Bash has been denied.",
    ] {
        assert_eq!(
            word(&flagged(Agent::Claude, "echo", true, text)),
            "no",
            "{text}"
        );
    }
    assert_eq!(
        word(&flagged(
            Agent::Gemini,
            "echo",
            true,
            "Tool execution blocked: R"
        )),
        "no"
    );
    let cancelled = ResultText {
        refused: true,
        is_error: Some(true),
        ..ResultText::default()
    };
    assert_eq!(word(&outcome(Agent::Gemini, SHELL, None, &cancelled)), "no");
    // A program may print an agent's words.
    assert_eq!(
        word(&flagged(
            Agent::Claude,
            "x",
            true,
            "Exit code 1\nPermission to use x"
        )),
        "err"
    );
}

#[test]
fn hook_payloads() {
    use Agent::{Claude, Codex, Gemini};
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    let cases = [
        (
            Claude,
            after(json!({"stdout": "hi", "stderr": "", "interrupted": false})),
            "ok",
        ),
        (
            Claude,
            after(json!({"stdout": "", "interrupted": true})),
            "no",
        ),
        (
            Claude,
            after(json!({"stdout": "", "backgroundTaskId": "b1"})),
            "run",
        ),
        (
            Claude,
            after(json!([{"type": "text", "text": "Exit code 2"}])),
            "ok",
        ),
        (
            Claude,
            json!({"error": "Exit code 2\nls: cannot access", "is_interrupt": false}),
            "err",
        ),
        (
            Claude,
            json!({"error": "Exit code 137", "is_interrupt": true}),
            "no",
        ),
        (Claude, json!({"tool_input": {}}), "run"),
        (
            Codex,
            after(json!("Exit code: 2\nOutput:\nprinted by the program")),
            "ok",
        ),
        (
            Gemini,
            after(
                json!({"llmContent": "Output: x\nExit Code: 2\nProcess Group PGID: 9", "returnDisplay": "x"}),
            ),
            "err",
        ),
        (
            Gemini,
            after(
                json!({"llmContent": [{"text": "Output: x\nProcess Group PGID: 9"}], "returnDisplay": [[{"text": "x"}]]}),
            ),
            "ok",
        ),
        (
            Gemini,
            after(
                json!({"llmContent": "no", "error": {"message": "File not found: x", "type": "file_not_found"}}),
            ),
            "err",
        ),
        (
            Gemini,
            after(json!({"llmContent": "no", "error": {"message": "Tool execution blocked: R"}})),
            "no",
        ),
        (Gemini, after(json!(null)), "run"),
    ];
    for (agent, payload, expected) in cases {
        assert_eq!(
            word(&hook_outcome(agent, SHELL, Some("make"), &payload)),
            expected,
            "{agent}: {payload}"
        );
    }
    let patched = |text: &str| hook_outcome(Codex, ToolKind::Edit, None, &after(json!(text)));
    assert_eq!(
        word(&patched(
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."
        )),
        "ok"
    );
    assert_eq!(
        word(&patched(
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed."
        )),
        "err"
    );
}
