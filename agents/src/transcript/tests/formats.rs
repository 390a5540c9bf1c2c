//! One situation in the formats of all agents.

use journal::{Agent, PromptOrigin, TimelineSource, ToolCall};
use serde_json::Value;

use super::{PREFIX, fixtures, read};
use crate::rooms::adapter;
use crate::transcript::{Facts, join};

const NORMAL: [(Agent, &str); 3] = [
    (
        Agent::Claude,
        "h-normal.transcripts/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl",
    ),
    (
        Agent::Codex,
        "h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl",
    ),
    (
        Agent::Gemini,
        "h-normal.transcripts/session-2026-11-21T21-19-5c9c151e.jsonl",
    ),
];
const STOPPED: [(Agent, &str); 3] = [
    (
        Agent::Claude,
        "h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl",
    ),
    (
        Agent::Codex,
        "h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl",
    ),
    (
        Agent::Gemini,
        "h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl",
    ),
];
const PARALLEL: [(Agent, &str); 3] = [
    (
        Agent::Claude,
        "h-parallel.transcripts/9bc4ae55-5ece-4f4f-8537-afa2c1912717.jsonl",
    ),
    (
        Agent::Codex,
        "h-parallel.transcripts/rollout-2026-11-21T20-43-28-01a1ffd9-8838-7600-b7fd-7d7d746807fb.jsonl",
    ),
    (
        Agent::Gemini,
        "h-parallel.transcripts/session-2026-11-21T20-45-fd8ad528.jsonl",
    ),
];

fn text(agent: Agent, path: &str) -> String {
    std::fs::read_to_string(fixtures().join(agent.word()).join(path))
        .expect("a recorded transcript")
}

/// A call without the names and times of its agent.
fn essence(call: &ToolCall) -> String {
    let paths: Vec<&str> = call
        .paths
        .iter()
        .map(|path| path.trim_start_matches("/home/user/project/"))
        .collect();
    let ToolCall {
        kind,
        command,
        is_error,
        refused,
        finished,
        ..
    } = call;
    format!("{kind:?} {command:?} {paths:?} error={is_error} refused={refused} finished={finished}")
}

fn lines(facts: Option<&Facts>) -> String {
    facts
        .expect("readable")
        .calls
        .iter()
        .map(|call| essence(call) + "\n")
        .collect()
}

#[test]
fn the_same_work_gives_equal_calls() {
    for cases in [NORMAL, STOPPED] {
        for (agent, path) in cases {
            let facts = read(agent, text(agent, path).as_bytes(), true, "DEBRIEF:");
            insta::allow_duplicates! {
                insta::assert_snapshot!(lines(facts.as_ref()), @r#"
    Shell Some("echo hi") [] error=false refused=false finished=true
    Write None ["notes.txt"] error=false refused=false finished=true
    Edit None ["notes.txt"] error=false refused=false finished=true
    Shell Some("ls /nonexistent") [] error=true refused=false finished=true
    "#);
            }
        }
    }
    for (agent, path) in PARALLEL {
        let facts = read(agent, text(agent, path).as_bytes(), true, PREFIX);
        insta::allow_duplicates! {
            insta::assert_snapshot!(lines(facts.as_ref()), @r#"
    Shell Some("echo one") [] error=false refused=false finished=true
    Shell Some("echo two") [] error=false refused=false finished=true
    "#);
        }
    }
}

#[test]
fn own_feedback_is_seen_and_begins_no_turn() {
    let context = (
        Agent::Claude,
        "h-stop-context.transcripts/f6e72abb-0640-4310-a04a-ba1004e8d5dc.jsonl",
    );
    for (agent, path) in STOPPED.into_iter().chain([context]) {
        let facts = read(agent, text(agent, path).as_bytes(), true, "DEBRIEF").expect("readable");
        assert_eq!(
            facts.last_user.expect("a user message").origin,
            PromptOrigin::Own,
            "{agent}"
        );
        assert!(
            facts
                .last_real_user
                .expect("a real one")
                .text
                .starts_with("[script:"),
            "{agent}"
        );
    }
}

#[test]
fn a_turn_that_began_before_the_tail_is_all_of_it() {
    for (agent, path) in NORMAL {
        let text = text(agent, path);
        let whole = read(agent, text.as_bytes(), true, PREFIX).expect("readable");
        let began = text.find("echo hi").expect("the first call");
        let line = text[..began].rfind('\n').expect("a line before it");
        let rest = read(agent, &text.as_bytes()[line - 1..], false, PREFIX).expect("readable");
        assert_eq!(rest.last_real_user, None, "{agent}");
        assert_eq!(rest.calls, whole.calls, "{agent}");
        assert_eq!(rest.last_assistant, whole.last_assistant, "{agent}");
    }
}

/// Makes the calls that the journal would hold, from the recorded hook calls of a scenario.
fn journaled(agent: Agent, scenario: &str) -> Vec<ToolCall> {
    let tools = adapter(agent).expect("an agent").tools;
    let mut calls: Vec<ToolCall> = Vec::new();
    for line in text(agent, &format!("{scenario}.ndjson")).lines() {
        let line: Value = serde_json::from_str(line).expect("recorded JSON");
        let (payload, hook) = (&line["payload"], line["event"].as_str().expect("an event"));
        if !matches!(
            hook,
            "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "BeforeTool" | "AfterTool"
        ) {
            continue;
        }
        let tool = payload["tool_name"].as_str().expect("a tool");
        let (kind, command, paths) = tools.describe(tool, &payload["tool_input"]);
        let id = payload["tool_use_id"].as_str().map(str::to_owned);
        let open = calls.iter_mut().find(|call| {
            !call.finished && (&call.id, &call.command, &call.paths) == (&id, &command, &paths)
        });
        if matches!(hook, "PreToolUse" | "BeforeTool") {
            let at = line["at"]
                .as_str()
                .expect("a time")
                .parse()
                .expect("RFC 3339");
            calls.push(ToolCall {
                id,
                tool: tool.to_owned(),
                kind,
                command,
                paths,
                at,
                ..ToolCall::default()
            });
        } else {
            let ended = tools.hook_outcome(kind, command.as_deref(), payload);
            let ended = ended.expect("a result");
            let call = open.expect("begun before");
            (call.finished, call.is_error, call.refused) =
                (ended.finished, ended.is_error, ended.refused);
        }
    }
    calls
}

#[test]
fn hooks_and_transcript_together_double_nothing() {
    for (agent, path) in NORMAL.into_iter().chain(PARALLEL).chain(STOPPED) {
        let scenario = path.split_once(".transcripts").expect("a scenario").0;
        let journaled = journaled(agent, scenario);
        let facts = read(agent, text(agent, path).as_bytes(), true, "DEBRIEF").expect("readable");
        let from_transcript = lines(Some(&facts));
        let joined = join(Some(facts), &journaled).timeline;
        assert_eq!(joined.source, TimelineSource::Transcript);
        assert_eq!(
            joined
                .calls
                .iter()
                .map(|call| essence(call) + "\n")
                .collect::<String>(),
            from_transcript,
            "{path}"
        );
        let alone = join(None, &journaled).timeline;
        assert_eq!(alone.calls.len(), joined.calls.len(), "{path}");
        if agent != Agent::Codex {
            // Codex's hooks do not say how a command ended.
            let mut alone: Vec<String> = alone.calls.iter().map(essence).collect();
            let mut both: Vec<String> = joined.calls.iter().map(essence).collect();
            alone.sort();
            both.sort();
            assert_eq!(alone, both, "{path}");
        }
    }
}
