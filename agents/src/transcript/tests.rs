//! The same situation through all formats, damage, and what the tests of the agents' readers share.

mod damage;
mod formats;
mod outputs;
mod subagents;

use std::path::{Path, PathBuf};

use journal::{Agent, Event, ToolCall};
use serde_json::json;

use super::*;

pub(crate) const PREFIX: &str = "[TeleClaude Checkpoint] - ";

/// Reads a transcript as the daemon does by default.
pub(crate) fn read(agent: Agent, bytes: &[u8], from_start: bool, prefix: &str) -> Option<Facts> {
    super::read(agent, bytes, from_start, prefix, redact::built_in())
}

/// Returns the folder of the recorded sessions.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/fixtures")
}

/// Reads a recorded transcript whole, as the agent's own, with another product's feedback taken for ours.
pub(crate) fn recorded(agent: Agent, path: &str) -> Option<Facts> {
    let bytes =
        std::fs::read(fixtures().join(agent.word()).join(path)).expect("a recorded transcript");
    read(agent, &bytes, true, PREFIX)
}

/// Reads a recorded transcript, and shows all that was read.
pub(crate) fn shown(agent: Agent, path: &str) -> String {
    show(recorded(agent, path).as_ref())
}

/// One line a call: id's end, tool, kind, command, paths, how it ended, when it began, how long it took.
pub(crate) fn show_call(call: &ToolCall) -> String {
    let id = call.id.as_deref().unwrap_or("-");
    let ended = match (call.finished, call.is_error, call.refused) {
        (false, _, _) => "open",
        (_, true, _) => "failed",
        (_, _, true) => "refused",
        _ => "ok",
    };
    let at = call.at.to_string();
    let took = call
        .duration_ms
        .map_or("?".to_owned(), |took| took.to_string());
    let command = call.command.as_deref().unwrap_or("-").replace('\n', "\\n");
    format!(
        "  {} {} {:?} `{command}` {:?} {ended} {} {took}ms {:?}\n",
        &id[id.len().saturating_sub(5)..],
        call.tool,
        call.kind,
        call.paths,
        at.get(11..23).unwrap_or_default(),
        call.output,
    )
}

fn show_user(said: Option<&UserText>) -> String {
    let show = |said: &UserText| {
        format!(
            "{:?} {} {:?}",
            said.origin,
            said.at.to_string().get(11..23).unwrap_or(""),
            said.text
        )
    };
    said.map_or("-".to_owned(), show)
}

/// Shows everything that was read, so that a test says all of it.
pub(crate) fn show(facts: Option<&Facts>) -> String {
    let Some(facts) = facts else {
        return "nothing".to_owned();
    };
    let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    format!(
        "{} {} {} {}\nuser: {}\nreal: {}\nsays: {:?}\n{}",
        word(&facts.session),
        word(&facts.host_version),
        word(&facts.branch),
        word(&facts.cwd),
        show_user(facts.last_user.as_ref()),
        show_user(facts.last_real_user.as_ref()),
        facts.last_assistant.as_deref().unwrap_or("-"),
        facts.calls.iter().map(show_call).collect::<String>(),
    )
}

/// Reads hand-written lines of one agent.
pub(crate) fn written(agent: Agent, lines: &[&str]) -> Facts {
    read(agent, lines.join("\n").as_bytes(), true, PREFIX).expect("readable")
}

pub(crate) fn calls(facts: &Facts) -> String {
    facts.calls.iter().map(show_call).collect()
}

#[test]
fn a_secret_is_taken_out_of_all_that_is_kept_before_it_is_cut() {
    let secret = format!("{}-{}", "glpat", "q7Rk2ZpX9q7Rk2ZpX9qW");
    // Cut first, only a part of it would be left, which nothing knows.
    let command = format!("{} {secret}", "x".repeat(ToolCall::COMMAND_BYTES_MAX - 10));
    let said = format!("{} {secret}", "x".repeat(Event::TEXT_BYTES_MAX - 10));
    let records = [
        json!({ "type": "user", "sessionId": "s", "gitBranch": secret, "message": { "content": said } }),
        json!({ "type": "assistant", "sessionId": "s", "message": { "content": [
            { "type": "text", "text": said },
            { "type": "tool_use", "id": "1", "name": "Bash", "input": { "command": command } },
            { "type": "tool_use", "id": "2", "name": "Read", "input": { "file_path": format!("/tmp/{secret}") } },
        ] } }),
        json!({ "type": "user", "sessionId": "s", "message": { "content": [
            { "type": "tool_result", "tool_use_id": "1", "is_error": true, "content": format!("no {secret}") },
        ] } }),
    ];
    let text = records.map(|record| format!("{record}\n")).concat();
    let facts = read(Agent::Claude, text.as_bytes(), true, PREFIX).expect("a transcript");
    assert_eq!(
        (facts.calls.len(), facts.calls[0].output.as_str()),
        (2, "no [redacted: gitlab_token]")
    );
    assert!(
        facts.last_assistant.is_some() && facts.last_real_user.is_some() && facts.branch.is_some()
    );
    let all = show(Some(&facts));
    assert!(!all.contains("glpat-") && !all.contains("q7Rk2"), "{all}");
}
