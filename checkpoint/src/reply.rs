//! Replies to hook calls: one JSON object, no field that an agent does not know.

use journal::ReplyForm;
use serde_json::json;

/// Returns the reply that holds back a stop.
pub fn to_stop(form: ReplyForm, message: &str) -> String {
    match form {
        ReplyForm::Block => json!({ "decision": "block", "reason": message }).to_string(),
        ReplyForm::Deny => json!({ "decision": "deny", "reason": message }).to_string(),
        ReplyForm::Context => with_context("Stop", message),
        ReplyForm::Permission => json!({ "hookSpecificOutput": {
            "permissionDecision": "deny", "permissionDecisionReason": message,
        } })
        .to_string(),
    }
}

/// Returns the reply that adds a text to the conversation. The object is the same for all agents.
pub fn with_context(hook: &str, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": hook, "additionalContext": text } })
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_exact() {
        assert_eq!(
            to_stop(ReplyForm::Block, "a\n\"b\""),
            r#"{"decision":"block","reason":"a\n\"b\""}"#
        );
        assert_eq!(
            to_stop(ReplyForm::Deny, "x"),
            r#"{"decision":"deny","reason":"x"}"#
        );
        assert_eq!(
            to_stop(ReplyForm::Permission, "x"),
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"x"}}"#
        );
        assert_eq!(
            to_stop(ReplyForm::Context, "x"),
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}"#
        );
    }
}
