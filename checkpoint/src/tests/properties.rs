//! Properties of every order of events.

use journal::{Agent, Envelope, Event, PromptOrigin, Route};
use proptest::prelude::*;
use serde_json::json;

use super::{Story, is_inject, policy};
use crate::replay::fold;
use crate::state::SessionState;

/// What an agent, its user or its host may do next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Prompt,
    Own,
    Feedback,
    Subagent,
    Tool,
    Stop {
        reentry: bool,
    },
    Notify,
    /// A prompt that no hook told of is found in the transcript: a person's, or our own.
    Found {
        own: bool,
    },
    /// What is on its way arrives, or does not.
    Outcome {
        arrives: bool,
    },
    Wait(u16),
    Session,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => Just(Act::Prompt),
        2 => Just(Act::Own),
        2 => Just(Act::Feedback),
        1 => Just(Act::Subagent),
        4 => Just(Act::Tool),
        6 => any::<bool>().prop_map(|reentry| Act::Stop { reentry }),
        4 => Just(Act::Notify),
        3 => any::<bool>().prop_map(|own| Act::Found { own }),
        3 => any::<bool>().prop_map(|arrives| Act::Outcome { arrives }),
        5 => (0u16..120).prop_map(Act::Wait),
        1 => Just(Act::Session),
    ]
}

/// Plays the acts. Returns for every checkpoint how many there have been since the last real message.
fn play(story: &mut Story, acts: &[Act]) -> Vec<u32> {
    let mut since_message = 0;
    let mut sent = Vec::new();
    let own = format!("{}text", policy().prefix);
    for act in acts {
        match act {
            Act::Prompt => {
                story.prompt("go");
                since_message = 0;
            }
            Act::Own => drop(story.feedback(&own)),
            Act::Feedback => drop(story.feedback("<task-notification>\nx\n</task-notification>")),
            Act::Subagent => drop(story.call(
                "PreToolUse",
                json!({ "agent_id": "a", "tool_name": "Bash" }),
            )),
            Act::Tool => drop(story.tool("make")),
            Act::Wait(seconds) => drop(story.wait(f64::from(*seconds))),
            Act::Session => drop(story.call("SessionStart", json!({ "source": "resume" }))),
            Act::Stop { reentry } => {
                let decision = story.stop_with(json!({ "stop_hook_active": reentry }));
                if is_inject(&decision) {
                    since_message += 1;
                    sent.push(since_message);
                }
            }
            Act::Notify if story.agent == Agent::Codex => {
                let fields = json!({
                    "type": "agent-turn-complete",
                    "thread-id": super::SESSION,
                    "turn-id": format!("turn-{}", story.turn),
                });
                let seq = story.call("notify", fields).seq;
                if story.state.pending.iter().any(|stop| stop.seq == seq) {
                    let decision = story.decide(seq);
                    assert!(decision.route.is_none_or(|route| route == Route::Tmux));
                    if is_inject(&decision) {
                        since_message += 1;
                        sent.push(since_message);
                    }
                }
            }
            Act::Notify => {}
            Act::Found { own: true } => found(story, PromptOrigin::Own),
            Act::Found { own: false } => {
                // The prompt of a known turn is not searched for again.
                story.wait(1.0);
                found(story, PromptOrigin::User);
                since_message = 0;
            }
            Act::Outcome { arrives } => end_delivery(story, *arrives),
        }
    }
    sent
}

/// Ends the delivery that is on its way, if there is one.
fn end_delivery(story: &mut Story, arrives: bool) {
    let Some(delivery) = story.state.delivery.as_ref() else {
        return;
    };
    let decision = delivery.decision;
    story.journal(if arrives {
        Event::DeliveryConfirmed {
            decision,
            by: "transcript".into(),
        }
    } else {
        Event::DeliveryExpired {
            decision,
            reason: "confirm_timeout".into(),
        }
    });
}

fn found(story: &mut Story, origin: PromptOrigin) {
    let digest = story.calls;
    story.journal(Event::PromptFound {
        transcript: "/t".into(),
        origin,
        text: String::new(),
        digest,
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// No two checkpoints without a real message between them beyond the budget, whatever the order.
    #[test]
    fn checkpoints_never_loop(
        acts in prop::collection::vec(act(), 0..80), budget in 0u32..4, agent in 0usize..Agent::HOSTS.len(),
    ) {
        let mut story = Story::of(Agent::HOSTS[agent]);
        story.policy.max_blocks_per_turn = budget;
        for sent in play(&mut story, &acts) {
            prop_assert!(sent <= budget);
        }
    }

}

proptest! {
    /// Folding in two parts, with the state written down in between, is folding at once.
    #[test]
    fn a_snapshot_and_the_rest_is_the_whole(
        origins in prop::collection::vec((0u8..4, 0i64..1_000), 1..60), cut in 0usize..60,
    ) {
        let mut story = Story::of(Agent::Claude);
        let mut events: Vec<Envelope> = Vec::new();
        for (what, at) in origins {
            story.now = at as f64;
            events.push(match what {
                0 => { story.turn += 1; story.call("UserPromptSubmit", json!({ "prompt": format!("p{at}") })) }
                1 => story.call("PreToolUse", json!({ "tool_name": "Bash", "tool_use_id": format!("{at}") })),
                2 => story.call("PostToolUse", json!({ "tool_name": "Bash", "tool_use_id": format!("{at}") })),
                _ => story.apply(Event::CheckpointCleared {}, uuid::Uuid::nil()),
            });
        }
        let cut = cut.min(events.len());
        let first = fold(&story.state.stream, &events[..cut]);
        let text = serde_json::to_string(&first).expect("plain data");
        let mut whole: SessionState = serde_json::from_str(&text).expect("reads back");
        prop_assert_eq!(&whole, &first);
        events[cut..].iter().for_each(|envelope| whole.apply(envelope));
        prop_assert_eq!(whole, fold(&story.state.stream, &events));
    }

    /// A turn begins at the latest real message, in whatever order the journal got the messages.
    #[test]
    fn the_turn_is_that_of_the_latest_message(times in prop::collection::vec(0u32..1_000, 1..30)) {
        let mut story = Story::of(Agent::Claude);
        for time in &times {
            story.now = f64::from(*time);
            story.prompt(&format!("at {time}"));
        }
        story.now = f64::from(*times.iter().max().expect("one at least"));
        prop_assert_eq!(story.state.turn.started_at, Some(story.at()));
        prop_assert_eq!(story.state.turns, times.len() as u64);
    }
}
