//! Behavior of single agents: reply forms, and how they report stops and prompts.

use journal::{Agent, ReplyForm, Timestamp};
use serde_json::json;

use super::{SESSION, Story};
use crate::policy::Reply;

#[test]
fn each_agent_is_answered_in_its_dialect() {
    let form = |agent, reply, version: Option<&str>| {
        let mut story = Story::of(agent);
        story.policy.reply = reply;
        story.evidence.host_version = version.map(str::to_owned);
        story.prompt("go").wait(31.0);
        story.stop_with(json!({})).form.expect("a reply")
    };
    for (agent, reply, version, expected) in [
        (
            Agent::Claude,
            Reply::Auto,
            Some("2.1.330"),
            ReplyForm::Context,
        ),
        (Agent::Claude, Reply::Auto, Some("2.0.1"), ReplyForm::Block),
        (Agent::Claude, Reply::Auto, None, ReplyForm::Block),
        (
            Agent::Claude,
            Reply::Block,
            Some("2.1.330"),
            ReplyForm::Block,
        ),
        (Agent::Claude, Reply::Context, None, ReplyForm::Context),
        (
            Agent::Codex,
            Reply::Context,
            Some("2.1.330"),
            ReplyForm::Block,
        ),
        (Agent::Gemini, Reply::Context, None, ReplyForm::Deny),
    ] {
        assert_eq!(
            form(agent, reply, version),
            expected,
            "{agent} {reply:?} {version:?}"
        );
    }
}

#[test]
fn codex_tells_of_one_stop_twice_and_of_titles_nobody_asked_for() {
    let mut story = Story::of(Agent::Codex);
    story.prompt("go").wait(10.0);
    assert_eq!(story.stop(), "below_threshold");
    let notify =
        json!({ "type": "agent-turn-complete", "thread-id": SESSION, "turn-id": "turn-1" });
    story.wait(100.0).call("notify", notify);
    assert!(
        story.state.pending.is_empty(),
        "the stop hook has spoken for this turn"
    );
    let mut title = Story::of(Agent::Codex);
    let notify = json!({ "type": "agent-turn-complete", "thread-id": SESSION, "turn-id": "title" });
    let seq = title.call("notify", notify).seq;
    assert_eq!(title.decide(seq).reason.word(), "no_turn_start");
}

#[test]
fn gemini_feedback_of_another_hook_is_taken_back_once_the_host_tells() {
    let mut story = Story::of(Agent::Gemini);
    story.prompt("go").wait(5.0).tool("make").wait(5.0);
    story.stop_with(json!({ "prompt": "go", "prompt_response": "x" }));
    story.feedback("DEBRIEF: say what you did.").tool("ls");
    assert_eq!(story.state.turns, 2, "so far it looks like a message");
    story
        .wait(25.0)
        .stop_with(json!({ "prompt": "go", "stop_hook_active": true, "prompt_response": "x" }));
    assert_eq!((story.state.turns, story.state.turn.calls.len()), (1, 2));
    assert_eq!(
        story.state.turn.started_at,
        Some(Timestamp::from_micros(1_800_000_000_000_000))
    );
}
