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

/// Plays a recording; one line for each session and each decision.
fn play(recording: &Path) -> String {
    let mut policy = policy();
    policy.min_turn_ms = 300;
    let mut player = Player::new(&policy, crate::config::DescribedAgents::NONE);
    let mut out = String::new();
    let text = std::fs::read_to_string(recording).expect("a recording");
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
                decision.turn,
                decision.verdict.word(),
                decision.reason.word()
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

/// What is expected is beside each recording.
#[test]
fn recordings_are_decided_as_before() {
    for agent in Agent::WORDS {
        let folder = folder().join(agent);
        for file in std::fs::read_dir(&folder).expect("recordings") {
            let path = file.expect("a recording").path();
            if path.extension().is_some_and(|ending| ending == "ndjson") {
                insta::with_settings!({
                    snapshot_path => &folder,
                    prepend_module_to_snapshot => false,
                    omit_expression => true,
                }, {
                    let name = path.file_stem().expect("a name").to_string_lossy();
                    insta::assert_snapshot!(&*name, play(&path));
                });
            }
        }
    }
}
