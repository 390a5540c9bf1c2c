//! Every recorded scenario through fold and decide: turns begin at real user messages only.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use journal::{Agent, Event, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::policy;
use crate::hooks::HookCall;
use crate::replay::Player;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/fixtures")
}

/// Plays a scenario; one line for each session and each decision.
fn play(scenario: &str, min_turn_ms: u64) -> String {
    let mut policy = policy();
    policy.min_turn_ms = min_turn_ms;
    let mut player = Player::new(&policy);
    let mut out = String::new();
    let text =
        std::fs::read_to_string(folder().join(format!("{scenario}.ndjson"))).expect("a recording");
    for (number, line) in text.lines().enumerate() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let word = |name: &str| line[name].as_str().expect("a word");
        let payload = line["payload"].to_string();
        let call = HookCall {
            agent: Agent::host(word("agent")).expect("an agent"),
            event: Some(word("event")),
            payload: payload.as_bytes(),
            at: word("at").parse().expect("a time"),
            id: Uuid::from_u128(number as u128 + 1),
            env: Vec::new(),
            truncated: false,
        };
        let played = player
            .play(&call)
            .expect("every recorded payload is read")
            .expect("each one is new");
        if let Some(Event::Decided(decision)) = played.decided().map(|decided| &decided.event) {
            let _ = writeln!(
                out,
                "turn {} {} {}",
                decision.turn, decision.verdict, decision.reason
            );
        }
    }
    let time =
        |at: Option<Timestamp>| at.map_or("-".into(), |at| at.to_string()[14..23].to_owned());
    for state in player.states() {
        let turn = &state.turn;
        let counts = &state.counts;
        let _ = writeln!(
            out,
            "{}: turns {}, message {}, checkpoint {}, tool {}, tools {}, errors {}, {}",
            &state.session().to_string()[..13],
            state.turns,
            time(turn.started_at),
            time(turn.last_checkpoint_at),
            time(turn.last_tool_use_at),
            counts.tools,
            counts.errors,
            if state.ended_at.is_some() {
                "ended"
            } else {
                "open"
            },
        );
    }
    out
}

#[test]
fn every_recording_has_a_row() {
    let rows = include_str!("fixtures.rs");
    for agent in Agent::HOSTS {
        for file in std::fs::read_dir(folder().join(agent.word())).expect("recordings") {
            let path = file.expect("a recording").path();
            if path.extension().is_some_and(|ending| ending == "ndjson") {
                let name = format!(
                    "\"{agent}/{}\"",
                    path.file_stem().expect("a name").to_string_lossy()
                );
                assert!(rows.contains(&name), "{name} has no row");
            }
        }
    }
}

macro_rules! scenarios {
    ($($name:ident: $scenario:literal, $min_turn_ms:literal => @$expected:literal;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(play($scenario, $min_turn_ms), @$expected);
        })*
    };
}

scenarios! {
    claude_h_normal: "claude/h-normal", 1000 => @r"
        turn 1 inject generic
        10e54898-3d7e: turns 1, message 18:56.420, checkpoint 18:57.724, tool 18:57.517, tools 4, errors 1, ended
    ";
    claude_h_parallel: "claude/h-parallel", 1000 => @r"
        turn 1 inject generic
        9bc4ae55-5ece: turns 1, message 37:56.262, checkpoint 37:58.182, tool 37:57.782, tools 2, errors 0, ended
    ";
    claude_h_pretool_deny: "claude/h-pretool-deny", 1000 => @r"
        turn 1 inject generic
        d3824a7a-c87a: turns 1, message 40:18.810, checkpoint 40:19.837, tool 40:19.206, tools 0, errors 0, ended
    ";
    claude_h_resume: "claude/h-resume", 500 => @r"
        turn 1 inject generic
        turn 2 inject generic
        8096b923-0dd5: turns 2, message 40:40.638, checkpoint 40:41.216, tool -, tools 1, errors 0, ended
    ";
    claude_h_stop_block_once: "claude/h-stop-block-once", 1000 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        57147911-fcc3: turns 1, message 19:03.095, checkpoint 19:05.333, tool 19:05.134, tools 4, errors 1, ended
    ";
    claude_h_stop_context: "claude/h-stop-context", 1000 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        f6e72abb-0640: turns 1, message 39:27.950, checkpoint 39:29.566, tool 39:28.914, tools 1, errors 0, ended
    ";
    claude_h_subagent: "claude/h-subagent", 1000 => @r"
        turn 1 pass background_tasks
        turn 1 inject generic
        dd9608db-931d: turns 1, message 38:03.660, checkpoint 38:05.922, tool 38:05.125, tools 2, errors 0, ended
    ";
    claude_t_main: "claude/t-main", 500 => @r"
        turn 1 inject generic
        turn 2 inject generic
        turn 2 pass block_budget
        turn 1 pass below_threshold
        594047f2-410f: turns 2, message 57:44.909, checkpoint 57:45.470, tool 57:45.221, tools 5, errors 1, ended
        70643654-ace1: turns 1, message 57:59.166, checkpoint -, tool -, tools 0, errors 0, ended
    ";
    claude_t_permission: "claude/t-permission", 1000 => @r"
        turn 1 inject generic
        20ceb071-ce96: turns 1, message 58:04.591, checkpoint 58:14.749, tool 58:14.393, tools 1, errors 0, ended
    ";
    codex_h_badpatch: "codex/h-badpatch", 1000 => @r"
        turn 1 pass below_threshold
        01a1ffd9-8de8: turns 1, message 43:30.417, checkpoint -, tool 43:30.511, tools 0, errors 0, ended
    ";
    codex_h_normal: "codex/h-normal", 500 => @r"
        turn 1 inject generic
        01a1fffa-28d2: turns 1, message 19:07.235, checkpoint 19:08.199, tool 19:08.120, tools 4, errors 0, ended
    ";
    codex_h_normal_execpatch: "codex/h-normal-execpatch", 500 => @r"
        turn 1 inject generic
        01a1ffd7-723e: turns 1, message 41:12.399, checkpoint 41:13.381, tool 41:13.226, tools 2, errors 0, ended
    ";
    codex_h_parallel: "codex/h-parallel", 300 => @r"
        turn 1 inject generic
        01a1ffd9-8838: turns 1, message 43:28.917, checkpoint 43:29.278, tool 43:29.166, tools 2, errors 0, ended
    ";
    codex_h_resume: "codex/h-resume", 300 => @r"
        turn 1 inject generic
        turn 2 pass below_threshold
        01a1ffda-e47e: turns 2, message 44:59.683, checkpoint -, tool -, tools 1, errors 0, ended
    ";
    codex_h_stop_block_once: "codex/h-stop-block-once", 500 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        01a1fffa-3089: turns 1, message 19:09.138, checkpoint 19:10.078, tool 19:09.988, tools 4, errors 0, ended
    ";
    codex_t_main: "codex/t-main", 400 => @r"
        turn 0 pass no_turn_start
        turn 1 inject generic
        turn 0 pass no_turn_start
        turn 2 inject generic
        turn 2 pass block_budget
        turn 3 pass below_threshold
        turn 0 pass no_turn_start
        turn 1 pass below_threshold
        turn 0 pass no_turn_start
        01a1ffea-5aaf: turns 3, message 01:59.469, checkpoint -, tool -, tools 5, errors 0, ended
        01a1ffea-5dfc: turns 0, message -, checkpoint -, tool -, tools 0, errors 0, open
        01a1ffea-6867: turns 0, message -, checkpoint -, tool -, tools 0, errors 0, open
        01a1ffea-7b65: turns 0, message -, checkpoint -, tool -, tools 0, errors 0, open
        01a1ffeb-020a: turns 2, message 02:37.706, checkpoint -, tool -, tools 0, errors 0, ended
        01a1ffeb-0bfd: turns 0, message -, checkpoint -, tool -, tools 0, errors 0, open
        01a1ffea-88ff: turns 0, message -, checkpoint -, tool -, tools 0, errors 0, ended
    ";
    codex_t_permission: "codex/t-permission", 1000 => @r"
        turn 0 pass no_turn_start
        turn 1 inject generic
        01a1ffeb-2bf3: turns 1, message 02:46.024, checkpoint 02:50.107, tool 02:50.005, tools 1, errors 0, ended
        01a1ffeb-314a: turns 0, message -, checkpoint -, tool -, tools 0, errors 0, open
    ";
    gemini_h_normal: "gemini/h-normal", 1000 => @r"
        turn 1 inject generic
        5c9c151e-dae8: turns 1, message 19:13.869, checkpoint 19:18.613, tool 19:17.562, tools 4, errors 1, ended
    ";
    gemini_h_parallel: "gemini/h-parallel", 1000 => @r"
        turn 1 inject generic
        fd8ad528-7775: turns 1, message 45:11.895, checkpoint 45:14.823, tool 45:13.895, tools 2, errors 0, ended
    ";
    gemini_h_readmiss: "gemini/h-readmiss", 1000 => @r"
        turn 1 inject generic
        d9a3bad3-1f3c: turns 1, message 45:22.325, checkpoint 45:23.477, tool 45:23.329, tools 1, errors 1, ended
    ";
    gemini_h_resume: "gemini/h-resume", 1000 => @r"
        turn 1 inject generic
        turn 2 pass below_threshold
        3b438ae5-a3e1: turns 2, message 51:34.232, checkpoint -, tool -, tools 1, errors 0, ended
    ";
    gemini_h_stop_deny_once: "gemini/h-stop-deny-once", 1000 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        9f41e258-c223: turns 1, message 19:24.710, checkpoint 19:26.585, tool 19:26.396, tools 4, errors 1, ended
    ";
    gemini_t_main: "gemini/t-main", 1000 => @r"
        turn 1 inject generic
        turn 2 inject generic
        turn 2 pass block_budget
        turn 1 pass below_threshold
        f3735547-4fee: turns 2, message 05:12.422, checkpoint 05:13.763, tool 05:13.264, tools 5, errors 1, ended
        d302e775-1ca6: turns 2, message 05:28.275, checkpoint -, tool -, tools 0, errors 0, ended
    ";
    gemini_t_permission: "gemini/t-permission", 1000 => @r"
        turn 1 inject generic
        c7cb4ef3-0b65: turns 1, message 05:42.415, checkpoint 05:49.376, tool 05:48.462, tools 1, errors 0, ended
    ";
    qwen_h_normal: "qwen/h-normal", 1000 => @r"
        turn 1 inject generic
        6aa57ee9-5731: turns 1, message 26:09.282, checkpoint 26:11.024, tool 26:10.899, tools 4, errors 1, open
    ";
    qwen_h_readmiss: "qwen/h-readmiss", 500 => @r"
        turn 1 inject generic
        4cd7fd80-9d1a: turns 1, message 29:19.192, checkpoint 29:19.988, tool 29:19.862, tools 2, errors 2, open
    ";
    qwen_h_stop_block_once: "qwen/h-stop-block-once", 1000 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        20569a46-76ed: turns 1, message 26:36.223, checkpoint 26:38.314, tool 26:38.558, tools 5, errors 1, open
    ";
    qwen_t_stop_block_once: "qwen/t-stop-block-once", 1000 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        f26bbe0c-a64f: turns 1, message 41:47.043, checkpoint 41:52.156, tool 41:52.886, tools 5, errors 1, open
    ";
    copilot_h_normal: "copilot/h-normal", 500 => @r"
        turn 1 inject generic
        fc433fdc-a5ee: turns 1, message 27:44.158, checkpoint 27:46.364, tool 27:46.311, tools 4, errors 1, ended
    ";
    copilot_h_readmiss: "copilot/h-readmiss", 500 => @r"
        turn 1 inject generic
        9a3e1b9e-87e4: turns 1, message 28:38.962, checkpoint 28:40.224, tool 28:40.082, tools 2, errors 2, ended
    ";
    copilot_h_stop_block_once: "copilot/h-stop-block-once", 500 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        46b14ac4-dc61: turns 1, message 28:09.172, checkpoint 28:10.062, tool 28:10.286, tools 5, errors 1, ended
    ";
    copilot_t_stop_block_once: "copilot/t-stop-block-once", 500 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        aa2121c4-d98f: turns 1, message 42:05.454, checkpoint 42:06.678, tool 42:07.214, tools 5, errors 1, open
    ";
    opencode_h_normal: "opencode/h-normal", 500 => @r"
        turn 1 inject generic
        8c2eaeb7-2dc6: turns 1, message 28:03.270, checkpoint 28:08.904, tool 28:08.061, tools 4, errors 1, open
    ";
    opencode_h_readmiss: "opencode/h-readmiss", 500 => @r"
        turn 1 inject generic
        0c011ab2-ce42: turns 1, message 28:12.632, checkpoint 28:16.147, tool 28:15.675, tools 2, errors 2, open
    ";
    opencode_t_stop_block_once: "opencode/t-stop-block-once", 500 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        8e88630c-5d47: turns 1, message 28:24.360, checkpoint 28:34.492, tool 28:35.031, tools 5, errors 1, open
    ";
    droid_h_stop_block_once: "droid/h-stop-block-once", 500 => @r"
        turn 0 pass no_turn_start
        turn 0 pass no_turn_start
        25b85e3c-b4e1: turns 0, message -, checkpoint -, tool 29:36.455, tools 4, errors 0, ended
    ";
    kimi_h_stop_block_once: "kimi/h-stop-block-once", 100 => @r"
        turn 1 inject generic
        7866bb25-d667: turns 1, message 39:39.503, checkpoint 39:40.057, tool 39:40.111, tools 4, errors 1, open
    ";
    pi_h_stop_block_once: "pi/h-stop-block-once", 100 => @r"
        turn 1 inject generic
        turn 1 pass block_budget
        01a20882-ca9f: turns 1, message 05:19.428, checkpoint 05:20.329, tool 05:20.521, tools 5, errors 1, ended
    ";
    vibe_h_readmiss: "vibe/h-readmiss", 100 => @r"
        turn 0 pass no_turn_start
        e04d47d6-3b98: turns 0, message -, checkpoint -, tool 38:31.104, tools 5, errors 4, open
    ";
    vibe_h_stop_block_once: "vibe/h-stop-block-once", 100 => @r"
        turn 0 pass no_turn_start
        turn 0 pass no_turn_start
        e04d47d6-3b98: turns 0, message -, checkpoint -, tool 37:41.787, tools 5, errors 1, open
    ";
    vibe_t_permission: "vibe/t-permission", 100 => @r"
        turn 0 pass no_turn_start
        turn 0 pass no_turn_start
        turn 0 pass no_turn_start
        845889a5-1f74: turns 0, message -, checkpoint -, tool 40:38.782, tools 2, errors 0, open
    ";
    vibe_t_stop_block_once: "vibe/t-stop-block-once", 100 => @r"
        turn 0 pass no_turn_start
        turn 0 pass no_turn_start
        65111cf0-403d: turns 0, message -, checkpoint -, tool 41:21.792, tools 5, errors 1, open
    ";
}
