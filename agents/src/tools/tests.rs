//! Tool calls of several agents, and what the tests of each agent's tools share.

use journal::{Agent, ToolCall, ToolKind};
use serde_json::Value;

use super::*;
use crate::rooms::adapter;

const SHELL: ToolKind = ToolKind::Shell;

/// Checks what a call does: its kind, its command line and its paths, separated by blanks.
pub(crate) fn described(
    agent: Agent,
    tool: &str,
    input: &Value,
    (kind, command, paths): (ToolKind, Option<&str>, &str),
) {
    let command = command.map(str::to_owned);
    let paths = paths.split_whitespace().map(str::to_owned).collect();
    assert_eq!(
        tools(agent).describe(tool, input),
        (kind, command, paths),
        "{tool}"
    );
}

/// Checks how a shell call ended, by the text of its result.
pub(crate) fn ended(agent: Agent, command: &str, text: &str, expected: &str) {
    let result = ResultText::of(None, text.into());
    let outcome = tools(agent).outcome(SHELL, Some(command), &result);
    assert_eq!(word(&outcome), expected, "{text}");
}

/// Checks how a call ended, by the payload of the hook that follows it.
pub(crate) fn ended_by_hook(agent: Agent, kind: ToolKind, payload: &Value, expected: &str) {
    let command = (kind == SHELL).then_some("make");
    let outcome = tools(agent).hook_outcome(kind, command, payload);
    assert_eq!(word(&outcome.unwrap_or_default()), expected, "{payload}");
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

fn tools(agent: Agent) -> &'static Tools {
    adapter(agent).expect("an agent").tools
}

fn flagged(agent: Agent, command: &str, is_error: bool, text: &str) -> Outcome {
    let result = ResultText {
        is_error: Some(is_error),
        text: text.into(),
        ..ResultText::default()
    };
    tools(agent).outcome(SHELL, Some(command), &result)
}

#[test]
fn a_program_that_prints_the_framing_is_seen_through_where_the_display_tells() {
    let result = ResultText {
        text: "<untrusted_context>\nOutput: x\nExit Code: 2\nProcess Group PGID: 1\n</untrusted_context>".into(),
        display: Some("x\nExit Code: 2".into()),
        ..ResultText::default()
    };
    assert_eq!(
        word(&tools(Agent::Gemini).outcome(SHELL, Some("echo"), &result)),
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
    assert_eq!(
        word(&tools(Agent::Gemini).outcome(SHELL, None, &cancelled)),
        "no"
    );
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
fn what_is_known_of_a_call_is_bounded() {
    let output = format!("Exit code 1\n{}the end", "é".repeat(9_000));
    let mut call = ToolCall {
        command: Some("é".repeat(ToolCall::COMMAND_BYTES_MAX)),
        paths: vec!["a".to_owned(); ToolCall::PATHS_MAX + 1],
        output,
        ..ToolCall::default()
    };
    bound(&mut call);
    let command = call.command.unwrap_or_default();
    assert!(
        (ToolCall::COMMAND_BYTES_MAX - 1..=ToolCall::COMMAND_BYTES_MAX).contains(&command.len())
    );
    let file = "x".repeat(ToolCall::COMMAND_BYTES_MAX);
    let mut long = ToolCall {
        command: Some(format!("cat > a <<'EOF'\n{file}\nEOF\npytest -q")),
        ..ToolCall::default()
    };
    bound(&mut long);
    let command = long.command.unwrap_or_default();
    assert_eq!(command, "cat > a <<'EOF'\n\n[..]\nEOF\npytest -q");
    assert_eq!(call.paths.len(), ToolCall::PATHS_MAX);
    assert!(call.output.len() <= ToolCall::OUTPUT_BYTES_MAX);
    assert!(call.output.starts_with("Exit code 1\n") && call.output.ends_with("the end"));
}
