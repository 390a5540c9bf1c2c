use std::collections::HashMap;
use std::convert::Infallible;

use journal::{Agent, ToolKind};
use proptest::prelude::*;

use super::*;
use crate::config::Config;
use crate::replay::{self, Replayer};
use crate::rules::pack_names::ProjectFacts;
use crate::transcript::{Facts, UserText};

/// A journal in memory: a second event with the same id changes nothing.
#[derive(Default)]
struct Memory {
    events: Vec<Envelope>,
    by_id: HashMap<Uuid, u64>,
}

impl Memory {
    fn append(&mut self, drafts: Vec<Draft>) -> Result<Vec<u64>, Infallible> {
        let seqs = drafts.into_iter().map(|draft| {
            let next = self.events.len() as u64 + 1;
            let seq = *self.by_id.entry(draft.id).or_insert(next);
            if seq == next {
                self.events.push(Envelope {
                    seq,
                    stream: draft.stream,
                    at: draft.at,
                    recorded_at: draft.at,
                    id: draft.id,
                    late: false,
                    event: draft.event,
                    origin: None,
                });
            }
            seq
        });
        Ok(seqs.collect())
    }

    /// Looks back at a transcript with these turns, as the command does.
    fn import(&mut self, stream: &Stream, turns: &[PastTurn], policy: &Policy) -> Vec<Judged> {
        let own = self.events.iter().filter(|event| event.stream == *stream);
        let mut session = match own.clone().next() {
            Some(_) => PastSession::resume(replay::fold(stream, own)),
            None => PastSession::new(stream.clone()),
        };
        let (mut judged, mut kept) = (Vec::new(), false);
        for turn in turns {
            if !session.wants(turn) {
                continue;
            }
            let (fingerprint, text) = policy.to_text();
            let adoption = Draft {
                stream: Stream::daemon(),
                at: turn.began,
                id: Uuid::from_u128(u128::from(fingerprint)),
                event: Event::PolicyAdopted { fingerprint, text },
                payload: None,
            };
            let Ok(_) = self.append(vec![adoption]);
            let files = changed(turn, "/p", "/p", &Repository::default());
            let ground = Ground {
                top: "/p",
                transcript: "/t.jsonl",
                files: files.into_iter().collect(),
                workspace: None,
                policy,
                fingerprint,
            };
            let Ok(done) = session.judge(turn.clone(), ground, &mut |drafts| self.append(drafts));
            kept |= done.is_new;
            judged.push(done);
        }
        if kept {
            let Ok(()) = session.end(&mut |drafts| self.append(drafts));
        }
        judged
    }
}

fn policy() -> Policy {
    let facts = ProjectFacts {
        path: "/p".into(),
        files: vec!["Cargo.toml".into()],
    };
    let config =
        Config::load(Some(("config.yml", "min_turn: 1s\nall_clear: silent\n"))).expect("settings");
    config.policy_for(&facts, None).expect("a policy")
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + second * 1_000_000)
}

/// A turn of a minute; each letter is a call: a read, an edit, a test that passes or fails, a look.
fn turn(number: i64, calls: &str) -> PastTurn {
    let began = second(number * 60);
    let calls = calls.chars().enumerate().map(|(at, letter)| {
        let (kind, command, path) = match letter {
            'r' => (ToolKind::Read, None, Some("/p/src/a.rs")),
            'e' => (ToolKind::Edit, None, Some("/p/src/a.rs")),
            't' | 'f' => (ToolKind::Shell, Some("cargo test"), None),
            _ => (ToolKind::Shell, Some("ls"), None),
        };
        ToolCall {
            id: Some(format!("{number}-{at}")),
            tool: format!("{kind:?}"),
            kind,
            command: command.map(str::to_owned),
            paths: path.map(str::to_owned).into_iter().collect(),
            is_error: letter == 'f',
            finished: true,
            output: if letter == 'f' {
                "error".into()
            } else {
                String::new()
            },
            at: began.plus(std::time::Duration::from_secs(1 + at as u64)),
            ..ToolCall::default()
        }
    });
    let said = UserText {
        text: format!("task {number}"),
        at: began,
        origin: PromptOrigin::User,
    };
    PastTurn {
        facts: Facts {
            calls: calls.collect(),
            prompts: vec![said.text.clone()],
            last_user: Some(said.clone()),
            last_real_user: Some(said),
            last_assistant: Some("Done.".into()),
            ..Facts::default()
        },
        began,
        ended: second(number * 60 + 50),
        interrupted: calls_end_with_a_stop(number),
    }
}

/// Every seventh turn was stopped by a person.
fn calls_end_with_a_stop(number: i64) -> bool {
    number % 7 == 6
}

#[test]
fn endings_are_told_apart() {
    let stream = Stream::of_native(Agent::Claude, "s");
    for (calls, expected) in [
        ("re", "code nothing_run"),
        ("ret", "code"),
        ("rete", "code nothing_run"),
        ("rel", "code nothing_run"),
        ("ref", "code"),
        ("l", ""),
    ] {
        let mut journal = Memory::default();
        let judged = journal.import(&stream, &[turn(0, calls)], &policy());
        let Ending {
            code_changed,
            nothing_run,
            error_left,
            ..
        } = judged[0].ending;
        let words = [
            (code_changed, "code"),
            (nothing_run, "nothing_run"),
            (error_left, "error"),
        ];
        let words: Vec<_> = words
            .into_iter()
            .filter_map(|(is_so, word)| is_so.then_some(word))
            .collect();
        assert_eq!(words.join(" "), expected, "{calls}");
        let asks = judged[0]
            .decision
            .as_ref()
            .is_some_and(|decision| decision.verdict == Verdict::Inject);
        assert_eq!(asks, !expected.is_empty() && expected != "code", "{calls}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Importing a transcript twice, or while it grows, gives the events of importing it once, but for the ends of the
    /// session in between; and every decision can be made again from them.
    #[test]
    fn importing_again_changes_nothing(
        turns in prop::collection::vec("[etfl]{0,5}", 1..9),
        cuts in prop::collection::vec(0..9_usize, 0..4),
    ) {
        let stream = Stream::of_native(Agent::Codex, "a session");
        let policy = policy();
        let turns: Vec<_> = (0..).zip(&turns).map(|(number, calls)| turn(number, calls)).collect();
        let mut once = Memory::default();
        once.import(&stream, &turns, &policy);
        let first = once.events.clone();
        once.import(&stream, &turns, &policy);
        prop_assert_eq!(&once.events, &first, "a second import");

        let mut grown = Memory::default();
        let mut cuts = cuts;
        cuts.sort_unstable();
        for cut in cuts {
            grown.import(&stream, &turns[..cut.min(turns.len())], &policy);
        }
        grown.import(&stream, &turns, &policy);
        let names = |journal: &Memory| -> Vec<_> {
            let ends = |event: &Envelope| matches!(event.event, Event::SessionEnded { .. });
            let kept = journal.events.iter().filter(|event| !ends(event));
            kept.map(|event| (event.id, event.event.kind())).collect()
        };
        prop_assert_eq!(names(&grown), names(&once), "a growing transcript");
        for journal in [&once, &grown] {
            let mut replayer = Replayer::default();
            let mut decisions = 0;
            for event in &journal.events {
                replayer.feed(event.clone(), |past| {
                    decisions += 1;
                    assert_eq!(past.again().as_ref(), Ok(past.decision));
                });
            }
            let stops = turns.iter().filter(|turn| !turn.interrupted).count();
            prop_assert_eq!(decisions, stops);
        }
    }
}
