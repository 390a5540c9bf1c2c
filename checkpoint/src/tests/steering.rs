//! Messages that a person types while the agent works (spec TURN-14), by the ids that agents give them.

use super::*;

/// What the daemon journals before a decision if the policy wants it.
fn join(story: &mut Story) {
    if let Some(turn_at) = story.state.joins() {
        story.journal(Event::TurnJoined { turn_at });
    }
}

/// A turn of 40 seconds with a message at the 35th, and its calls.
fn steered(agent: Agent) -> Story {
    let mut story = Story::of(agent);
    story.prompt("go").wait(5.0).tool("make one");
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "make two" }, "tool_use_id": "two" });
    story.call("PreToolUse", call.clone());
    story.wait(30.0).feedback("and one thing more");
    story.call("PostToolUse", call);
    story.wait(5.0).tool("make three");
    story
}

#[test]
fn a_message_with_the_running_turns_id_is_added_to_it() {
    for agent in [Agent::Claude, Agent::Codex] {
        let (mut begins, mut joins) = (steered(agent), steered(agent));
        let began = joins.state.joins().expect("the host says so");
        join(&mut joins);
        let turn = &joins.state.turn;
        assert_eq!(turn.started_at, Some(began), "{agent}");
        assert!(began < begins.state.turn.started_at.expect("a turn"));
        let calls: Vec<_> = turn
            .calls
            .iter()
            .map(|call| (call.command.as_deref(), call.finished))
            .collect();
        let all = ["make one", "make two", "make three"].map(|line| (Some(line), true));
        assert_eq!(calls, all, "{agent}");
        assert_eq!(
            turn.calls[1].duration_ms,
            Some(30_000),
            "it began before the message"
        );
        assert_eq!((joins.state.turns, joins.state.joins()), (2, None));
        // What a journal without the event decides is as it was.
        assert_eq!(begins.stop(), "below_threshold", "{agent}");
        assert_eq!(joins.stop(), "generic", "{agent}");
    }
}

#[test]
fn several_messages_are_added_to_one_turn_and_buy_no_second_checkpoint() {
    for agent in [Agent::Claude, Agent::Codex] {
        let mut story = steered(agent);
        join(&mut story);
        assert_eq!(story.stop(), "generic");
        for _ in 0..3 {
            story.wait(10.0).feedback("more").tool("make more");
        }
        join(&mut story);
        assert_eq!(story.state.turn.calls.len(), 6, "{agent}");
        assert_eq!(story.state.turn.blocks.len(), 1, "{agent}");
        assert_eq!(story.wait(31.0).stop(), "block_budget", "{agent}");
        // A turn of its own has a budget of its own.
        assert_eq!(story.prompt("next").wait(31.0).stop(), "generic");
    }
}

#[test]
fn what_was_there_when_the_turn_began_stays() {
    let mut story = Story::of(Agent::Claude);
    story.prompt("go");
    let turn_at = story.state.turn.started_at.expect("a turn");
    story.wait(0.1).journal(Event::HeadSeen {
        turn_at,
        top: "/p".into(),
        commit: Some("a".repeat(40)),
        tips: Vec::new(),
    });
    assert_eq!(story.state.fresh_turn(story.at()), None, "it was looked at");
    story.wait(1.0).tool("make one").wait(9.0).feedback("more");
    assert_eq!(
        story.state.fresh_turn(story.at()),
        None,
        "it is part of a turn"
    );
    assert!(story.state.turn.head_before().is_none());
    join(&mut story);
    assert!(story.state.turn.head_before().is_some());
}

#[test]
fn a_look_at_head_after_the_first_tool_is_too_late() {
    for (seen, expected) in [(1.0, true), (3.0, false)] {
        let mut story = Story::of(Agent::Codex);
        story.prompt("go");
        let turn_at = story.state.turn.started_at.expect("a turn");
        let head = Event::HeadSeen {
            turn_at,
            top: "/p".into(),
            commit: None,
            tips: Vec::new(),
        };
        story
            .wait(2.0)
            .tool("git commit")
            .wait(seen - 2.0)
            .journal(head);
        assert_eq!(story.state.turn.head_before().is_some(), expected, "{seen}");
    }
}

/// Claude Code handles such a message after its stop, under an id that no prompt reports.
#[test]
fn a_message_that_waited_for_the_stop_begins_a_turn_there() {
    let mut story = steered(Agent::Claude);
    join(&mut story);
    assert_eq!(story.stop(), "generic");
    assert_eq!(story.wait(1.0).stop(), "block_budget");
    let stopped = story.at();
    story.turn += 1;
    story.wait(1.0).tool("make four");
    assert_eq!(story.state.turn.started_at, Some(stopped));
    assert_eq!((story.state.turns, story.state.turn.calls.len()), (2, 1));
    assert_eq!(story.wait(31.0).stop(), "generic");
}

/// A background task that ends has an id of its own, and so has a compaction.
#[test]
fn what_the_host_says_after_the_stop_begins_no_turn() {
    let mut story = steered(Agent::Claude);
    join(&mut story);
    assert_eq!(story.stop(), "generic");
    assert_eq!(story.wait(1.0).stop(), "block_budget");
    story.turn += 1;
    story.call("SessionStart", json!({ "source": "compact" }));
    story.turn += 1;
    story
        .wait(1.0)
        .feedback("<task-notification>\n<task-id>a</task-id>\n</task-notification>");
    story.tool("make four");
    assert_eq!(story.wait(31.0).stop(), "block_budget");
    assert_eq!(story.state.turns, 2);
}

#[test]
fn prompts_with_ids_of_their_own_or_none_are_not_joined() {
    for agent in Agent::HOSTS {
        let mut story = Story::of(agent);
        story.prompt("go").wait(5.0).tool("make one").prompt("next");
        assert_eq!(story.state.joins(), None, "{agent}");
        let turn_at = story.state.turn.started_at.expect("a turn");
        story.journal(Event::TurnJoined { turn_at });
        assert_eq!(story.state.turn.started_at, Some(turn_at), "{agent}");
    }
}

#[test]
fn the_home_of_a_session_does_not_follow_the_agent() {
    let mut story = Story::of(Agent::Codex);
    let start = |source: &str, cwd: &str| json!({ "source": source, "cwd": cwd });
    story.call("SessionStart", start("startup", "/home"));
    story.call(
        "UserPromptSubmit",
        json!({ "prompt": "go", "cwd": "/away" }),
    );
    story.call("SessionStart", start("compact", "/away"));
    assert_eq!(
        (story.state.home(), story.state.project()),
        ("/home", "/away")
    );
    story.call("SessionStart", start("resume", "/other"));
    assert_eq!(story.state.home(), "/other");
    let mut story = Story::of(Agent::Codex);
    story.call(
        "UserPromptSubmit",
        json!({ "prompt": "go", "cwd": "/first" }),
    );
    story.call("Stop", json!({ "cwd": "/away" }));
    assert_eq!(story.state.home(), "/first");
}
