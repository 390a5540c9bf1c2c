//! The same call in Copilot's names.

use journal::{Agent, Event, PromptOrigin};
use serde_json::{Value, json};

use crate::hooks::tests::called;

fn event(name: &str, payload: &Value) -> Event {
    called(Agent::Copilot, Some(name), payload).draft.event
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
