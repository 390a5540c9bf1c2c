//! What the plugin tells, and what it means.

use journal::{Agent, Event, PromptOrigin};
use serde_json::{Value, json};

use crate::hooks::Normal;
use crate::hooks::tests::called;

fn normal(payload: &Value) -> Normal {
    called(Agent::OpenCode, None, payload)
}

fn told(hook: &str, mut fields: Value) -> Value {
    fields["hook_event_name"] = json!(hook);
    fields["session_id"] = json!("ses_1");
    fields
}

#[test]
fn our_text_comes_back_as_a_prompt_and_stays_ours() {
    for (fields, expected) in [
        (json!({"prompt": "go"}), PromptOrigin::User),
        (
            json!({"prompt": "[TeleClaude Checkpoint] - run it"}),
            PromptOrigin::Own,
        ),
        (
            json!({"prompt": "a part", "agent_id": "ses_2"}),
            PromptOrigin::Subagent,
        ),
    ] {
        let Event::PromptSubmitted { origin, .. } =
            normal(&told("UserPromptSubmit", fields)).draft.event
        else {
            panic!("no prompt");
        };
        assert_eq!(origin, expected);
    }
}

#[test]
fn a_stop_with_which_the_program_ends_is_one_that_nobody_answers() {
    for (fields, expected) in [
        (json!({"can_continue": false}), false),
        (json!({"can_continue": true}), true),
        (json!({}), true),
    ] {
        let stop = normal(&told("Stop", fields));
        assert!(matches!(stop.draft.event, Event::AgentStopped { .. }));
        assert_eq!(stop.may_continue, expected);
    }
}

#[test]
fn what_a_subagent_does_ends_no_turn() {
    for hook in ["Stop", "Interrupt"] {
        let event = |fields| normal(&told(hook, fields)).draft.event;
        assert!(matches!(
            event(json!({"agent_id": "ses_2"})),
            Event::OtherHook { .. }
        ));
        assert!(!matches!(event(json!({})), Event::OtherHook { .. }));
    }
}

#[test]
fn an_abort_is_told_from_an_error() {
    for (told_cause, expected) in [
        ("user", "user"),
        ("api_error", "api_error"),
        ("?", "api_error"),
    ] {
        let told = told("Interrupt", json!({"cause": told_cause}));
        let Event::Interrupted { cause, .. } = normal(&told).draft.event else {
            panic!("no interrupt");
        };
        assert_eq!(cause, expected);
    }
}
