//! Orders and announcements: the escape hatch, mutes, restarts, the notification flag,
//! notifications.

use std::time::Duration;

use journal::{Agent, Envelope, Event, Notification, PromptOrigin, Route, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::{SESSION, Story, injects};
use crate::announce::{announce, news_of};

impl Story {
    fn later(&self, seconds: f64) -> Timestamp {
        self.at().plus(Duration::from_secs_f64(seconds))
    }

    /// Returns the announcement of an event in the current state, and journals it as the daemon
    /// does.
    fn tell(&mut self, envelope: &Envelope) -> Option<(Notification, String)> {
        let announcement = announce(&self.state, envelope)?;
        let news = announcement.news;
        let output = announcement.digest;
        self.journal(Event::Announced {
            about: envelope.seq,
            news,
            output,
        });
        Some((news, announcement.reason))
    }

    /// A stop with a last message and its decision; returns the announcement of the decision.
    fn say(&mut self, words: &str) -> Option<(Notification, String)> {
        let decision = self.stop_with(json!({ "last_assistant_message": words }));
        let event = Event::Decided(Box::new(decision));
        let envelope = Envelope {
            seq: self.state.last_seq,
            event,
            ..self.envelope()
        };
        self.tell(&envelope)
    }

    fn envelope(&self) -> Envelope {
        let seq = self.state.last_seq;
        let stream = self.state.stream.clone();
        let at = self.at();
        Envelope {
            seq,
            stream,
            at,
            recorded_at: at,
            id: Uuid::nil(),
            late: false,
            event: Event::Unmuted {},
            origin: None,
        }
    }

    /// A hook call; returns its announcement.
    fn hear(&mut self, event: &str, fields: serde_json::Value) -> Option<(Notification, String)> {
        let envelope = self.call(event, fields);
        self.tell(&envelope)
    }
}

fn finished(reason: &str) -> Option<(Notification, String)> {
    Some((Notification::AgentFinished, reason.to_owned()))
}

fn asks(reason: &str) -> Option<(Notification, String)> {
    Some((Notification::NeedsAttention, reason.to_owned()))
}

#[test]
fn a_clear_counts_for_one_stop_and_until_the_next_real_message() {
    for agent in Agent::HOSTS {
        let mut story = Story::of(agent);
        story
            .prompt("go")
            .wait(31.0)
            .journal(Event::CheckpointCleared {});
        let own = format!("{}text", story.policy.prefix);
        story.feedback(&own);
        assert!(
            story.state.cleared,
            "{agent}: our own text does not take it back"
        );
        assert_eq!(story.stop(), "escape_hatch", "{agent}");
        story.journal(Event::EscapeHatchUsed {
            by: "command".into(),
        });
        story.prompt("next").wait(31.0);
        assert!(injects(story.stop()), "{agent}: used up");
    }
}

#[test]
fn the_order_of_mute_and_clear_and_that_a_mute_uses_no_clear_up() {
    let mut story = Story::of(Agent::Claude);
    let until = story.later(60.0);
    story
        .prompt("go")
        .journal(Event::CheckpointCleared {})
        .journal(Event::Muted { until: Some(until) });
    assert_eq!(story.words(&[31.0]), ["muted"]);
    story.journal(Event::Unmuted {});
    assert_eq!(
        story.words(&[1.0]),
        ["escape_hatch"],
        "the clear is still there"
    );
}

#[test]
fn a_mute_ends_by_the_times_of_events_also_those_that_come_late() {
    let mut story = Story::of(Agent::Claude);
    let until = story.later(100.0);
    story
        .prompt("go")
        .journal(Event::Muted { until: Some(until) });
    assert_eq!(story.words(&[99.9]), ["muted"]);
    story.wait(100.0);
    assert!(injects(story.stop()));
    let mut spooled = Story::of(Agent::Claude);
    let until = spooled.later(100.0);
    spooled
        .prompt("go")
        .journal(Event::Muted { until: Some(until) });
    // Journaled long after the mute's end, but it happened within it.
    assert_eq!(spooled.words(&[99.0]), ["muted"]);
    spooled.journal(Event::Muted { until: None });
    assert_eq!(
        spooled.words(&[1e6]),
        ["muted"],
        "a later mute stands in the place of the one before"
    );
}

/// What happens, and the flag after it.
type Row = (&'static str, fn(&mut Story), Option<&'static str>);

const FLAG: [Row; 9] = [
    (
        "a stop that passes",
        |story| _ = story.stop(),
        Some("agent_finished"),
    ),
    (
        "a stop that is held back",
        |story| _ = story.wait(31.0).stop(),
        None,
    ),
    (
        "a question",
        |story| drop(story.call("PermissionRequest", json!({ "tool_name": "Bash" }))),
        Some("permission"),
    ),
    (
        "an error",
        |story| drop(story.call("StopFailure", json!({ "error": "x" }))),
        Some("api_error"),
    ),
    (
        "background tasks",
        |story| drop(story.stop_with(json!({ "background_tasks": [{ "status": "running" }] }))),
        None,
    ),
    (
        "a stop before the last message, told of late",
        |story| {
            story.wait(-5.0).stop();
            story.wait(5.0);
        },
        None,
    ),
    (
        "a question before the last message, told of late",
        |story| {
            story.wait(-5.0).call(
                "Notification",
                json!({ "notification_type": "permission_prompt" }),
            );
        },
        None,
    ),
    (
        "a checkpoint that could not be typed",
        |story| {
            story.wait(31.0);
            let notify =
                json!({ "type": "agent-turn-complete", "thread-id": SESSION, "turn-id": "x" });
            story.agent = Agent::Codex;
            let stop = story.call("notify", notify).seq;
            assert_eq!(story.decide(stop).route, Some(Route::Tmux));
            assert_eq!(story.state.notification, None, "it is on its way");
            let decision = story.state.last_seq;
            story.journal(Event::DeliveryFailed {
                decision,
                reason: "pane_gone".into(),
            });
        },
        Some("agent_finished"),
    ),
    (
        "a checkpoint that a newer one took the place of",
        |story| {
            story.wait(31.0).stop();
            let decision = story.state.last_seq;
            story.journal(Event::DeliveryExpired {
                decision,
                reason: "superseded".into(),
            });
        },
        None,
    ),
];

#[test]
fn what_sets_the_flag_and_what_leaves_it_alone() {
    for (what, happens, expected) in FLAG {
        let mut story = Story::of(Agent::Claude);
        story.wait(100.0).prompt("go").wait(1.0);
        happens(&mut story);
        assert_eq!(story.state.notification.as_deref(), expected, "{what}");
    }
}

#[test]
fn a_thread_that_nobody_spoke_to_calls_nobody() {
    let mut title = Story::of(Agent::Codex);
    let stop = title
        .call(
            "notify",
            json!({ "type": "agent-turn-complete", "thread-id": SESSION, "turn-id": "t" }),
        )
        .seq;
    title.decide(stop);
    assert_eq!(title.state.notification, None);
    let mut taken_up = Story::of(Agent::Claude);
    assert_eq!(taken_up.tool("make").stop(), "no_turn_start");
    assert_eq!(
        taken_up.state.notification.as_deref(),
        Some("agent_finished"),
        "it worked, whoever asked it to"
    );
}

/// spec LISTEN-3 and LISTEN-4.
#[test]
fn an_output_is_told_once_and_a_stop_that_was_held_back_never() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0);
    assert_eq!(story.say("All done."), None, "held back");
    assert_eq!(
        story.wait(1.0).say("All done."),
        finished("block_budget"),
        "told for the first time"
    );
    assert_eq!(story.wait(1.0).say(" All done.\n"), None, "the same words");
    story.prompt("and now?").wait(1.0);
    assert_eq!(
        story.say("All done."),
        finished("below_threshold"),
        "the same words, to another message"
    );
    assert_eq!(
        story.wait(1.0).say("Something else."),
        finished("below_threshold")
    );
}

#[test]
fn a_question_is_told_once_until_the_agent_goes_on() {
    let permission = || json!({ "tool_name": "Bash", "tool_input": { "command": "make" }, "tool_use_id": "one" });
    let dialog = || json!({ "notification_type": "permission_prompt", "message": "Claude needs your permission" });
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").call("PreToolUse", permission());
    assert_eq!(
        story.hear("PermissionRequest", permission()),
        asks("permission")
    );
    assert_eq!(
        story.hear("Notification", dialog()),
        None,
        "the same dialog"
    );
    story.call("PostToolUse", permission());
    assert_eq!(
        story.hear("Notification", dialog()),
        asks("permission_prompt"),
        "the next one"
    );
    story.prompt("no");
    assert_eq!(story.say("Fine."), finished("below_threshold"));
    let idle = json!({ "notification_type": "idle_prompt", "message": "Claude is waiting for your input" });
    assert_eq!(
        story.hear("Notification", idle.clone()),
        None,
        "that it waits was told as it finished"
    );
    story
        .prompt("next")
        .stop_with(json!({ "last_assistant_message": "Not told." }));
    assert_eq!(
        story.hear("Notification", idle.clone()),
        asks("idle_prompt"),
        "nobody was told of the finish"
    );
    assert_eq!(story.say("Not told."), None, "but now they were");
    assert_eq!(story.hear("Notification", idle), None);
}

#[test]
fn what_is_muted_answered_or_a_listeners_own_is_not_told() {
    let asked = json!({ "tool_name": "Bash" });
    let mut muted = Story::of(Agent::Claude);
    muted.prompt("go").journal(Event::Muted { until: None });
    assert_eq!(muted.say("Done."), None);
    assert_eq!(
        muted.state.notification.as_deref(),
        Some("agent_finished"),
        "the flag is there for who looks"
    );
    assert_eq!(muted.hear("PermissionRequest", asked.clone()), None);

    let mut answered = Story::of(Agent::Claude);
    answered.prompt("go");
    let question = answered.call("PermissionRequest", asked.clone());
    answered.prompt("never mind");
    assert_eq!(answered.tell(&question), None);

    let mut own = Story::of(Agent::Claude);
    let question = own.prompt("go").call("PermissionRequest", asked);
    own.state
        .place
        .env
        .push(("CHECKPOINTD_LISTENER".into(), "1".into()));
    assert_eq!(
        own.tell(&question),
        None,
        "a listener's agent would be told of for ever"
    );
}

#[test]
fn a_checkpoint_is_news_when_it_leaves_for_the_first_time() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0).stop();
    let decision = story.state.last_seq;
    let attempt = |attempt| Event::DeliveryAttempted {
        decision,
        route: Route::HookReply,
        attempt,
    };
    assert_eq!(news_of(&attempt(2)), None);
    let first = story.apply(attempt(1), Uuid::nil());
    assert_eq!(
        story.tell(&first),
        Some((Notification::CheckpointSent, "hook_reply".into()))
    );
    assert_eq!(
        story.hear("PermissionRequest", json!({ "tool_name": "Bash" })),
        asks("permission"),
        "and hides nothing"
    );
}

#[test]
fn prompts_of_nobody_take_no_flag_back() {
    for origin in [
        PromptOrigin::Own,
        PromptOrigin::Host,
        PromptOrigin::Subagent,
    ] {
        let mut story = Story::of(Agent::Claude);
        story.prompt("go").wait(1.0).stop();
        let host = journal::Host::default();
        let text = String::new();
        story.journal(Event::PromptSubmitted {
            host,
            origin,
            text,
            digest: 0,
        });
        assert_eq!(
            story.state.notification.as_deref(),
            Some("agent_finished"),
            "{origin:?}"
        );
    }
}

/// spec RESTART-2 and RESTART-3: by the clock of events, once, and at a stop where nothing can be typed.
#[test]
fn a_restart_without_a_terminal_is_answered_at_the_next_stop() {
    let restarted = || {
        let mut story = Story::of(Agent::Claude);
        story.prompt("go").wait(31.0).stop();
        let due = story.later(5.0);
        story.journal(Event::RestartRequested { due });
        story
    };
    let mut early = restarted();
    assert_eq!(early.wait(4.9).stop(), "block_budget", "not due yet");
    let mut due = restarted();
    let seq = due.state.last_seq;
    assert_eq!(
        due.wait(5.0).stop(),
        "restart",
        "whatever the budget and the clock say"
    );
    due.journal(Event::RestartClosed {
        restart: seq,
        reason: "at_next_stop".into(),
    });
    assert_eq!(due.wait(60.0).stop(), "block_budget", "once");

    let mut moved = restarted();
    let due = moved.later(50.0);
    moved.journal(Event::AgentRestarted { due });
    assert_eq!(
        moved.wait(49.0).stop(),
        "block_budget",
        "the time counts from when the agent was up"
    );
    assert_eq!(moved.wait(1.0).stop(), "restart");

    let mut refused = restarted();
    let restart = refused.state.last_seq;
    refused.journal(Event::RestartClosed {
        restart: restart + 1,
        reason: "pane_gone".into(),
    });
    assert!(refused.state.restart.is_some(), "another one's refusal");
    refused.journal(Event::RestartClosed {
        restart,
        reason: "pane_gone".into(),
    });
    assert_eq!(refused.wait(60.0).stop(), "block_budget", "none is owed");
}

#[test]
fn what_is_switched_off_stays_off_through_a_restart() {
    let decide = |arrange: fn(&mut Story)| {
        let mut story = Story::of(Agent::Claude);
        story.prompt("go");
        let due = story.at();
        story.journal(Event::RestartRequested { due });
        arrange(&mut story);
        let stop = story
            .state
            .restart_stop(story.state.restart.expect("one").0)
            .expect("a restart that waits");
        let seq = stop.seq;
        story.state.pending.push(stop);
        (story.decide(seq).reason.word(), story.state.restart)
    };
    assert_eq!(
        decide(|story| _ = story.journal(Event::Muted { until: None })),
        ("muted", None)
    );
    assert_eq!(
        decide(|story| story.policy.enabled = false),
        ("project_off", None)
    );
    assert_eq!(
        decide(|story| story.evidence.escape_marker = true),
        ("restart", None)
    );
}
