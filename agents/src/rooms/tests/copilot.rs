//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, Event, PromptOrigin, ToolKind};
use serde_json::{Value, json};

use crate::hooks::tests::called;
use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::{shown, written};

const AGENT: Agent = Agent::Copilot;

fn event(name: &str, payload: &Value) -> Event {
    called(AGENT, Some(name), payload).draft.event
}

#[test]
fn our_text_comes_back_as_a_prompt_and_stays_ours() {
    for (prompt, expected) in [
        ("go", PromptOrigin::User),
        ("[TeleClaude Checkpoint] - run it", PromptOrigin::Own),
    ] {
        let payload = json!({"sessionId": "s", "cwd": "/p", "prompt": prompt});
        let Event::PromptSubmitted { origin, .. } = event("userPromptSubmitted", &payload) else {
            panic!("no prompt");
        };
        assert_eq!(origin, expected);
    }
}

#[test]
fn a_subagents_stop_is_not_the_agents() {
    let mut payload =
        json!({"sessionId": "s", "stopReason": "end_turn", "stop_hook_active": false});
    assert!(matches!(
        event("agentStop", &payload),
        Event::AgentStopped { .. }
    ));
    payload["agentId"] = json!("part");
    assert!(matches!(
        event("agentStop", &payload),
        Event::OtherHook { .. }
    ));
}

#[test]
fn a_failed_command_that_is_told_as_a_success_has_failed() {
    let after = |text: &str| {
        json!({"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "make"},
            "toolResult": {"resultType": "success", "textResultForLlm": text}})
    };
    for (text, failed) in [
        ("hi\n<shellId: 0 completed with exit code 1>", true),
        ("hi\n<shellId: 0 completed with exit code 0>", false),
        (
            "<shellId: 0 completed with exit code 1>\nhi\n<shellId: 0 completed with exit code 0>",
            false,
        ),
    ] {
        let Event::ToolFinished { call, .. } = event("postToolUse", &after(text)) else {
            panic!("no end of a call");
        };
        assert_eq!(
            (call.is_error, call.command.as_deref()),
            (failed, Some("make")),
            "{text}"
        );
    }
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("view", json!({"path": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"path": "/a", "old_str": "x", "new_str": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "create",
            json!({"path": "/a", "file_text": "x"}),
            Write,
            None,
            "/a",
        ),
        ("task", json!({"prompt": "run the tests"}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |kind: &str, text: &str| json!({"tool_response": {"resultType": kind, "textResultForLlm": text}});
    for (payload, expected) in [
        (
            after("success", "x\n<shellId: 0 completed with exit code 0>"),
            "ok",
        ),
        (
            after("success", "x\n<shellId: 0 completed with exit code 2>"),
            "err",
        ),
        (
            after(
                "success",
                "<command started in background with shellId: build>",
            ),
            "run",
        ),
        (
            after(
                "success",
                "....\n<command with shellId: 1 is still running after 30 seconds. The command is still running.>",
            ),
            "run",
        ),
        (after("success", "<command> shellId: 1\n</command>"), "ok"),
        (
            after("denied", "Denied by preToolUse hook (hook errored)"),
            "no",
        ),
        (json!({"error": "Path does not exist"}), "err"),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/events.jsonl"), @r#"
    - - - -
    user: Own 18:28:10.137 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 18:28:09.247 "[script:main] improve x"
    says: "debrief-done"
      00002 view Read `-` ["/home/user/project/src/x.py"] ok 18:28:09.329 100ms ""
      00005 edit Edit `-` ["/home/user/project/src/x.py"] ok 18:28:09.466 154ms ""
      00008 bash Shell `echo hi; false` [] failed 18:28:09.652 245ms "Exit code 1\nhi\n<shellId: 0 completed with exit code 1>"
      00011 create Write `-` ["/home/user/project/notes.txt"] ok 18:28:09.922 106ms ""
      00016 bash Shell `echo tests ok` [] ok 18:28:10.163 181ms ""
    "#);
}

#[test]
fn lines_of_a_subagent_are_not_the_sessions() {
    let line = |kind: &str, data: &str| {
        format!(
            r#"{{"type":"{kind}","id":"i","timestamp":"2026-01-01T00:00:00Z","data":{{{data}}}}}"#
        )
    };
    let facts = written(
        AGENT,
        &[
            &line("user.message", r#""content":"go""#),
            &line(
                "user.message",
                r#""content":"a part","parentToolCallId":"t""#,
            ),
            &line(
                "assistant.message",
                r#""content":"","parentToolCallId":"t","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"command":"ls"}}]"#,
            ),
            &line("assistant.message", r#""content":"done""#),
        ],
    );
    assert_eq!(
        (facts.prompts, facts.calls.len()),
        (vec!["go".to_owned()], 0)
    );
    assert_eq!(facts.last_assistant.as_deref(), Some("done"));
}
