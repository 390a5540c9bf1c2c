//! Replies to hook calls: one JSON object, no field that an agent does not know.

use journal::ReplyForm;
use serde_json::json;

use crate::config::StopReply;

/// Returns the reply that holds back a stop, or a tool call.
pub fn to_stop(form: ReplyForm, message: &str) -> String {
    match form {
        ReplyForm::Block => json!({ "decision": "block", "reason": message }).to_string(),
        ReplyForm::Deny => json!({ "decision": "deny", "reason": message }).to_string(),
        ReplyForm::Continue => json!({ "decision": "continue", "reason": message }).to_string(),
        ReplyForm::Context => with_context("Stop", message),
        ReplyForm::FollowUp => json!({ "followup_message": message }).to_string(),
        ReplyForm::Permission => json!({ "hookSpecificOutput": {
            "permissionDecision": "deny", "permissionDecisionReason": message,
        } })
        .to_string(),
        ReplyForm::Tool => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": message,
        } })
        .to_string(),
    }
}

/// Returns the reply that holds back the stop of an agent that the configuration describes.
pub fn to_described_stop(form: StopReply, message: &str) -> String {
    match form {
        StopReply::Block => to_stop(ReplyForm::Block, message),
        StopReply::Deny => to_stop(ReplyForm::Deny, message),
        StopReply::Nested => json!({ "hookSpecificOutput": {
            "hookEventName": "Stop", "decision": "block", "reason": message,
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
    fn a_described_agent_is_answered_as_it_reads() {
        let [block, deny, nested] = [StopReply::Block, StopReply::Deny, StopReply::Nested]
            .map(|form| to_described_stop(form, "x"));
        assert_eq!(block, r#"{"decision":"block","reason":"x"}"#);
        assert_eq!(deny, r#"{"decision":"deny","reason":"x"}"#);
        assert_eq!(
            nested,
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"x"}}"#
        );
    }

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
            to_stop(ReplyForm::Continue, "x"),
            r#"{"decision":"continue","reason":"x"}"#
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
