//! What Kimi Code does with answers.

use journal::Agent;
use serde_json::json;

use crate::hooks::tests::called;

#[test]
fn a_turn_goes_on_once() {
    for (flag, expected) in [
        (json!(false), true),
        (json!(null), true),
        (json!(true), false),
    ] {
        let stop =
            json!({ "session_id": "s", "hook_event_name": "Stop", "stop_hook_active": flag });
        let stop = called(Agent::Kimi, None, &stop);
        assert_eq!(stop.may_continue, expected, "{flag}");
    }
}
