//! Hook calls that mean something else than their names say.

use journal::{Event, Host, PromptOrigin, Timestamp};
use serde_json::json;

use super::super::hooks::{event, returning_tasks};
use crate::agents::authors;
use crate::hooks::payload::Payload;

#[test]
fn it_asks_before_every_call_of_the_model_and_a_prompt_is_what_a_person_sent() {
    let authors = authors("[TeleClaude Checkpoint] - ");
    for (payload, expected) in [
        (
            json!({"prompt": "go", "submitted_prompt": "go"}),
            Some(PromptOrigin::User),
        ),
        (
            json!({"prompt": "[TeleClaude Checkpoint] - run it"}),
            Some(PromptOrigin::Own),
        ),
        (
            json!({"prompt": "what another hook said"}),
            Some(PromptOrigin::Host),
        ),
        // A person may type our text too; it stays ours.
        (
            json!({"prompt": "[TeleClaude Checkpoint] - x", "submitted_prompt": "x"}),
            Some(PromptOrigin::Own),
        ),
        (json!({"prompt": ""}), None),
        (json!({}), None),
    ] {
        let read = Payload::new(&payload, Timestamp::default(), &authors);
        let origin = match event("UserPromptSubmit", Host::default(), &read) {
            Event::PromptSubmitted { origin, .. } => Some(origin),
            Event::ModelStepped { .. } => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(origin, expected, "{payload}");
    }
}

#[test]
fn every_running_task_brings_another_stop() {
    let task = |status: &str| json!({"id": "a", "status": status, "agent_type": "general-purpose"});
    for (tasks, expected) in [
        (json!([]), Some(0)),
        (json!([task("running"), task("completed")]), Some(1)),
    ] {
        assert_eq!(
            returning_tasks(&json!({"background_tasks": tasks})),
            expected
        );
    }
    assert_eq!(returning_tasks(&json!({})), None);
}
