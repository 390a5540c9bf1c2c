//! Every recorded transcript, the same situation through all three formats, and damage.

mod damage;
mod fixtures;
mod formats;

use std::path::{Path, PathBuf};

use journal::{Agent, ToolCall};

use super::*;

const PREFIX: &str = "[TeleClaude Checkpoint] - ";

/// Reads a transcript as the daemon does by default.
fn read(agent: Agent, bytes: &[u8], from_start: bool, prefix: &str) -> Option<Facts> {
    super::read(agent, bytes, from_start, prefix, crate::redact::built_in())
}

/// Returns the folder of the recorded sessions.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/fixtures")
}

/// Reads a recorded transcript whole, as the agent's own, with another product's feedback taken for ours.
fn recorded(agent: Agent, path: &str) -> Option<Facts> {
    let bytes = std::fs::read(fixtures().join(agent.word()).join(path)).expect("a recorded transcript");
    read(agent, &bytes, true, PREFIX)
}

/// One line a call: id's end, tool, kind, command, paths, how it ended, when it began, how long it took.
fn show_call(call: &ToolCall) -> String {
    let id = call.id.as_deref().unwrap_or("-");
    let ended = match (call.finished, call.is_error, call.refused) {
        (false, _, _) => "open",
        (_, true, _) => "failed",
        (_, _, true) => "refused",
        _ => "ok",
    };
    let at = call.at.to_string();
    let took = call.duration_ms.map_or("?".to_owned(), |took| took.to_string());
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
        format!("{:?} {} {:?}", said.origin, said.at.to_string().get(11..23).unwrap_or(""), said.text)
    };
    said.map_or("-".to_owned(), show)
}

/// Shows everything that was read, so that a test says all of it.
fn show(facts: Option<&Facts>) -> String {
    let Some(facts) = facts else { return "nothing".to_owned() };
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

#[test]
fn a_codex_session_tells_in_its_first_line_whether_somebody_sits_in_front_of_it() {
    for (path, expected) in [
        ("h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl", true),
        (
            "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-01-51-01a1ffea-5aaf-7123-83fd-8232af8fa840.jsonl",
            false,
        ),
    ] {
        let bytes = std::fs::read(fixtures().join("codex").join(path)).expect("a recorded transcript");
        assert_eq!(super::is_codex_exec(&bytes), expected, "{path}");
    }
    assert!(!super::is_codex_exec(b"") && !super::is_codex_exec(b"{\"payload\":{\"source\":{\"sub\":1}}}\n"));
}
