//! The rules about turns and deciding: each test fails without its rule.

use journal::{Agent, Event, Evidence, Reason, Route, Timestamp};
use serde_json::json;

use super::{SESSION, Story, injects, is_inject, policy};
use crate::policy::Timer;
use crate::state::Mute;

/// spec TURN-3 and DECIDE-8: the later of message and checkpoint starts the clock; under 30 s nothing happens.
#[test]
fn one_timer_for_all_agents_and_routes() {
    for agent in Agent::HOSTS {
        let mut story = Story::of(agent);
        assert_eq!(
            story.prompt("go").wait(29.9).stop(),
            "below_threshold",
            "{agent}"
        );
        let mut story = Story::of(agent);
        story.prompt("go").wait(100.0).prompt("and this");
        assert_eq!(
            story.wait(29.9).stop(),
            "below_threshold",
            "{agent}: the newer message counts"
        );
        let mut story = Story::of(agent);
        assert_eq!(story.prompt("go").wait(30.0).stop(), "generic", "{agent}");
        story.policy.max_blocks_per_turn = 9;
        assert_eq!(
            story.wait(29.9).stop(),
            "below_threshold",
            "{agent}: the checkpoint counts"
        );
    }
}

#[test]
fn without_a_message_no_turn_has_begun() {
    let mut story = Story::of(Agent::Claude);
    assert_eq!(story.tool("make").wait(500.0).stop(), "no_turn_start");
}

/// spec TURN-2: our own text changes only the fields that record it.
#[test]
fn own_text_is_invisible_in_every_wrapping() {
    let own = format!("{}Context-aware checkpoint\n\nmore", policy().prefix);
    let wrapped = [
        own.clone(),
        format!("\n\n<pasted_content id=\"4144\">\n{own}\n</pasted_content id=\"4144\">\n"),
        format!("<hook_prompt hook_run_id=\"stop:0:/x\">{own}</hook_prompt>"),
        format!("Stop hook feedback:\n{own}"),
    ];
    for agent in Agent::HOSTS {
        for text in &wrapped {
            let mut story = Story::of(agent);
            story.prompt("go").wait(40.0).tool("make");
            story.state.notification = Some("agent_finished".into());
            let before = story.state.clone();
            story.wait(1.0).feedback(text);
            let after = &story.state;
            assert_eq!(after.turn, before.turn, "{agent}: {text}");
            assert_eq!(
                (after.turns, &after.notification),
                (before.turns, &before.notification),
                "{agent}: {text}"
            );
        }
    }
}

#[test]
fn a_message_that_quotes_our_text_is_its_writers() {
    let mut story = Story::of(Agent::Claude);
    let quote = format!(
        "why did I get this?\n> {}Context-aware checkpoint",
        policy().prefix
    );
    story.prompt("go").prompt(&quote);
    assert_eq!(story.state.turns, 2);
}

/// spec LISTEN-1 to LISTEN-3: finishing sets the flag, a blocked stop does not, and only a person's message clears it.
#[test]
fn the_notification_flag() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0);
    assert!(injects(story.stop()));
    assert_eq!(
        story.state.notification, None,
        "a blocked stop calls nobody"
    );
    story.wait(1.0).stop();
    assert_eq!(story.state.notification.as_deref(), Some("agent_finished"));
    let own = format!("{}text", policy().prefix);
    story
        .feedback(&own)
        .feedback("<task-notification>\ndone\n</task-notification>");
    assert_eq!(
        story.state.notification.as_deref(),
        Some("agent_finished"),
        "kept through everything but a person"
    );
    story.prompt("thanks");
    assert_eq!(story.state.notification, None);
}

/// spec TURN-5: a real message clears the checkpoint and the tool use of the turn before.
#[test]
fn a_real_message_begins_afresh() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0).tool("make").stop();
    assert!(
        story.state.turn.last_checkpoint_at.is_some()
            && story.state.turn.last_tool_use_at.is_some()
    );
    story.wait(1.0).prompt("next");
    assert_eq!(
        (
            story.state.turn.last_checkpoint_at,
            story.state.turn.last_tool_use_at
        ),
        (None, None)
    );
    assert_eq!(story.state.blocks_this_turn(), 0);
    assert!(
        injects(story.wait(31.0).stop()),
        "the next turn gets its own checkpoint"
    );
}

/// spec DECIDE-9: where the last user message is ours, nothing more is typed.
#[test]
fn our_own_text_was_last() {
    let mut story = Story::of(Agent::Codex);
    story.policy.max_blocks_per_turn = 9;
    story.prompt("go").wait(31.0);
    let sent = story
        .call(
            "notify",
            json!({ "type": "agent-turn-complete", "thread-id": SESSION, "turn-id": "x" }),
        )
        .seq;
    assert_eq!(story.decide(sent).route, Some(Route::Tmux));
    let own = format!("{}text", policy().prefix);
    story.wait(1.0).feedback(&own);
    assert_eq!(story.wait(60.0).stop(), "own_prompt", "by the prompt hook");

    let mut story = Story::of(Agent::Codex);
    story.evidence.own_prompt_last = true;
    assert_eq!(
        story.prompt("go").wait(31.0).stop(),
        "own_prompt",
        "by the transcript"
    );
}

/// spec TURN-9: a state that was folded from the same events is the same state.
#[test]
fn a_restart_is_a_replay() {
    let mut story = Story::of(Agent::Claude);
    let mut events = Vec::new();
    events.push(story.call("SessionStart", json!({ "source": "startup" })));
    events.push(story.call("UserPromptSubmit", json!({ "prompt": "go" })));
    story.wait(40.0);
    events.push(story.call(
        "PreToolUse",
        json!({ "tool_name": "Bash", "tool_input": { "command": "make" } }),
    ));
    let again = crate::replay::fold(&story.state.stream, &events);
    assert_eq!(again, story.state);
}

/// spec RESTART-2: after an agent restart the checkpoint comes whatever the clock and the budget say.
#[test]
fn a_restart_is_answered_unconditionally() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0).stop();
    let due = Timestamp::from_micros(story.at().as_micros() + 5_000_000);
    story.journal(Event::RestartRequested { due });
    let seq = story.state.last_seq;
    let stop = story.state.restart_stop(seq).expect("a restart that waits");
    assert_eq!(stop.at, due);
    story.state.pending.push(stop);
    let decision = story.decide(seq);
    assert_eq!(
        (decision.reason, decision.route),
        (Reason::Restart, Some(Route::Tmux))
    );
    assert_eq!(story.state.restart, None, "once");
}

/// spec DECIDE-4: the marker or the command lets one stop pass, and a real message takes the command back.
#[test]
fn the_escape_hatch() {
    let mut story = Story::of(Agent::Claude);
    story.evidence.escape_marker = true;
    assert_eq!(story.prompt("go").wait(31.0).stop(), "escape_hatch");
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").journal(Event::CheckpointCleared {});
    assert_eq!(story.wait(31.0).stop(), "escape_hatch");
    story.journal(Event::EscapeHatchUsed {
        by: "command".into(),
    });
    assert!(injects(story.wait(31.0).stop()), "it is used up");
    let mut story = Story::of(Agent::Claude);
    story
        .prompt("go")
        .journal(Event::CheckpointCleared {})
        .prompt("no, do");
    assert!(
        injects(story.wait(31.0).stop()),
        "a real message takes it back"
    );
}

/// spec DECIDE-7: one block a turn, two where one re-check is allowed, whatever `stop_hook_active` says.
#[test]
fn the_budget_of_a_turn() {
    for agent in Agent::HOSTS {
        let mut story = Story::of(agent);
        story.prompt("go");
        assert_eq!(
            story.words(&[31.0, 31.0, 31.0]),
            ["generic", "block_budget", "block_budget"],
            "{agent}"
        );
        let mut story = Story::of(agent);
        story.policy.max_blocks_per_turn = 2;
        story.prompt("go");
        assert_eq!(
            story.words(&[31.0, 31.0, 31.0]),
            ["generic", "generic", "block_budget"],
            "{agent}"
        );
    }
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0);
    assert!(
        is_inject(&story.stop_with(json!({ "stop_hook_active": true }))),
        "the flag alone decides nothing"
    );
}

#[test]
fn a_message_steered_into_a_running_turn_gives_no_second_block_for_it() {
    let mut story = Story::of(Agent::Codex);
    story.prompt("go");
    assert!(injects(story.wait(31.0).stop()));
    story.wait(1.0).feedback("and one thing more");
    assert_eq!(story.state.turns, 2);
    assert_eq!(story.wait(31.0).stop(), "block_budget");
}

/// spec FILES-6: whatever cannot be had, the agent gets the general message and nothing else happens.
#[test]
fn trouble_leads_to_the_general_message() {
    let mut story = Story::of(Agent::Claude);
    story.evidence = Evidence::default();
    story.prompt("go").wait(31.0);
    let decision = story.stop_with(json!({}));
    assert_eq!(decision.reason, Reason::Generic);
    assert!(
        decision
            .message
            .is_some_and(|message| message.starts_with(&policy().prefix))
    );
}

/// spec TURN-4: the timer starts at the first tool use, a checkpoint without activity after it ends the matter.
#[test]
fn the_first_tool_use_timer_prevents_loops() {
    let story = || {
        let mut story = Story::of(Agent::Claude);
        story.policy.timer = Timer::FirstToolUse;
        story.policy.max_blocks_per_turn = 9;
        story
    };
    let mut text_only = story();
    assert_eq!(
        text_only.prompt("go").wait(500.0).stop(),
        "no_turn_start",
        "no tool use, no turn"
    );
    let mut first_counts = story();
    first_counts
        .prompt("go")
        .wait(100.0)
        .tool("a")
        .wait(20.0)
        .tool("b");
    assert_eq!(
        first_counts.wait(9.0).stop(),
        "below_threshold",
        "from the first tool use, not from the message"
    );
    assert!(
        injects(first_counts.wait(1.0).stop()),
        "from the first tool use, not from the last"
    );
    let own = format!("{}text", policy().prefix);
    first_counts.feedback(&own).wait(100.0).tool("c");
    assert_eq!(
        first_counts.wait(100.0).stop(),
        "no_turn_start",
        "no second one in the same turn"
    );
    first_counts.prompt("next").wait(1.0).tool("d");
    assert!(
        injects(first_counts.wait(31.0).stop()),
        "a new turn starts afresh"
    );
}

#[test]
fn only_real_messages_begin_turns() {
    for text in [
        "<task-notification>\n<task-id>a</task-id>\n</task-notification>",
        "<system-reminder>\nx\n</system-reminder>",
        "Stop hook feedback:\nsomebody else's",
        "<local-command-stdout>x</local-command-stdout>",
        "This session is being continued from a previous conversation that ran out of context.",
    ] {
        let mut story = Story::of(Agent::Claude);
        story.prompt("go").wait(10.0).feedback(text);
        assert_eq!(
            (story.state.turns, injects(story.wait(20.0).stop())),
            (1, true),
            "{text}"
        );
    }
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(20.0).call(
        "UserPromptSubmit",
        json!({ "prompt": "sub work", "agent_id": "a1" }),
    );
    assert_eq!(
        (story.state.turns, injects(story.wait(10.0).stop())),
        (1, true),
        "a subagent's prompt"
    );
}

#[test]
fn the_order_of_the_exits() {
    let mut story = Story::of(Agent::Claude);
    story.policy.enabled = false;
    story.state.muted = Mute::ForGood;
    story.evidence.escape_marker = true;
    let running = json!({ "background_tasks": [{ "status": "running" }] });
    let mut reasons = vec![story.stop_with(running.clone()).reason];
    story.policy.enabled = true;
    reasons.push(story.stop_with(running.clone()).reason);
    story.state.muted = Mute::Off;
    reasons.push(story.stop_with(running.clone()).reason);
    story.evidence.escape_marker = false;
    reasons.push(story.stop_with(running).reason);
    reasons.push(
        story
            .stop_with(json!({ "background_tasks": [{ "status": "completed" }] }))
            .reason,
    );
    story.prompt("go");
    story.policy.max_blocks_per_turn = 0;
    story.evidence.own_prompt_last = true;
    reasons.push(story.stop_with(json!({})).reason);
    story.policy.max_blocks_per_turn = 1;
    reasons.push(story.stop_with(json!({})).reason);
    story.wait(31.0);
    reasons.push(story.stop_with(json!({})).reason);
    story.evidence.own_prompt_last = false;
    reasons.push(story.stop_with(json!({})).reason);
    let words: Vec<_> = reasons.iter().map(|reason| reason.word()).collect();
    assert_eq!(
        words,
        [
            "project_off",
            "muted",
            "escape_hatch",
            "background_tasks",
            "no_turn_start",
            "block_budget",
            "below_threshold",
            "own_prompt",
            "generic",
        ]
    );
}

#[test]
fn a_stop_that_is_decided_after_the_next_message_is_of_its_own_turn() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(100.0);
    let stop = story.call("Stop", json!({})).seq;
    story.wait(1.0).prompt("and this");
    let decision = story.decide(stop);
    assert_eq!(decision.reason.word(), "superseded");
    assert!(decision.elapsed_ms >= Some(100_000), "{decision:?}");
}

#[test]
fn mute_ends_by_itself() {
    let mut story = Story::of(Agent::Claude);
    let until = Timestamp::from_micros(story.at().as_micros() + 60_000_000);
    story
        .prompt("go")
        .journal(Event::Muted { until: Some(until) });
    assert_eq!(story.wait(59.0).stop(), "muted");
    assert!(injects(story.wait(1.0).stop()));
}

#[test]
fn a_late_message_is_folded_by_when_it_was_sent() {
    let mut story = Story::of(Agent::Claude);
    story.wait(10.0).tool("make").wait(40.0);
    story.now = 5.0;
    story.prompt("go");
    story.now = 50.0;
    assert_eq!(
        story.state.turn.calls.len(),
        1,
        "what happened after it is of its turn"
    );
    assert!(injects(story.stop()));
    story.now = 1.0;
    story.prompt("even earlier");
    assert_eq!(
        (story.state.turns, story.state.turn.blocks.len()),
        (2, 1),
        "counted, and nothing else"
    );
}

/// Found by simulation: what we did in the meantime has a later time than a call that was spooled.
#[test]
fn an_agent_that_ended_has_ended_however_late_that_is_heard() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go").wait(31.0).stop();
    story.wait(100.0).journal(Event::CheckpointCleared {});
    story.now -= 50.0;
    story.call("SessionEnd", json!({ "reason": "exit" }));
    assert_eq!(story.state.ended_at, Some(story.at()));
}
