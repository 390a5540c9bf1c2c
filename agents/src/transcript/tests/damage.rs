//! Damage: torn, mixed up and random bytes give less, never a panic.

use journal::Agent;
use proptest::prelude::*;

use super::{Facts, PREFIX, Part, fixtures, read, read_back};

/// Every recorded transcript with its agent.
fn all() -> Vec<(Agent, Vec<u8>)> {
    let mut found = Vec::new();
    for agent in Agent::HOSTS {
        for folder in std::fs::read_dir(fixtures().join(agent.word())).expect("recordings") {
            let folder = folder.expect("a recording").path();
            if folder.extension().is_none_or(|kind| kind != "transcripts") {
                continue;
            }
            for file in std::fs::read_dir(folder).expect("transcripts") {
                found.push((
                    agent,
                    std::fs::read(file.expect("a file").path()).expect("a transcript"),
                ));
            }
        }
    }
    assert!(found.len() > 30, "the recordings are there");
    found
}

#[test]
fn every_cut_is_survived() {
    for (agent, bytes) in all() {
        // The whole of it would take minutes without telling more.
        let step = (bytes.len() / 120).max(1) | 1;
        for at in (0..=bytes.len()).step_by(step) {
            read(agent, &bytes[..at], true, PREFIX);
            read(agent, &bytes[at..], false, PREFIX);
        }
    }
}

#[test]
fn every_cut_within_the_last_lines_is_survived() {
    for agent in Agent::HOSTS {
        let adapter = crate::rooms::adapter(agent).expect("one");
        if adapter.library.patterns.is_empty() {
            continue;
        }
        let (_, bytes) = all()
            .into_iter()
            .filter(|(of, bytes)| *of == agent && bytes.len() > 2_000)
            .min_by_key(|(_, bytes)| bytes.len())
            .expect("one");
        let tail = &bytes[bytes.len() - 2_000..];
        for at in 0..=tail.len() {
            read(agent, &tail[..at], false, PREFIX);
            read(agent, &tail[..at], true, PREFIX);
            read(agent, &tail[at..], true, PREFIX);
        }
    }
}

#[test]
fn a_torn_last_line_hides_nothing_before_it() {
    for (agent, bytes) in all() {
        let Some(whole) = read(agent, &bytes, true, PREFIX) else {
            continue;
        };
        let torn = [
            &bytes[..],
            b"{\"timestamp\":\"2026-11-21T21:18:56.896Z\",\"type\":\"us",
        ]
        .concat();
        assert_eq!(read(agent, &torn, true, PREFIX), Some(whole));
    }
}

#[test]
fn bytes_that_are_not_text_harm_only_their_line() {
    for (agent, bytes) in all() {
        let Some(whole) = read(agent, &bytes, true, PREFIX) else {
            continue;
        };
        if bytes.ends_with(b"\n") {
            let spoiled = [&bytes[..], b"{\"type\":\"\xff\xfe\"}\n\xc3\n"].concat();
            assert_eq!(read(agent, &spoiled, true, PREFIX), Some(whole));
        }
    }
}

#[test]
fn a_foreign_transcript_is_nothing() {
    // A fork writes as the agent does that it came from.
    let is_fork = |agent| [Agent::OpenCode, Agent::Kilo].contains(&agent);
    for (of, bytes) in all() {
        let is_foreign = |agent: &Agent| *agent != of && !(is_fork(*agent) && is_fork(of));
        for agent in Agent::HOSTS.into_iter().filter(is_foreign) {
            assert_eq!(read(agent, &bytes, true, PREFIX), None, "{of} as {agent}");
        }
    }
    for agent in Agent::HOSTS {
        for bytes in [
            &b""[..],
            b"\n\n",
            b"{}",
            b"{}\n{}\n",
            b"[1]",
            b"null\n",
            b"plain words\n",
            b"{\"type\":\"user\"}\n",
        ] {
            assert_eq!(read(agent, bytes, true, PREFIX), None);
        }
    }
}

#[test]
fn deep_nesting_is_survived() {
    let deep = format!(
        "{{\"type\":\"user\",\"sessionId\":\"x\",\"message\":{}{}}}\n",
        "[".repeat(90_000),
        "]".repeat(90_000)
    );
    for agent in Agent::HOSTS {
        read(agent, deep.as_bytes(), true, PREFIX);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..2_000), from_start: bool) {
        for agent in Agent::HOSTS {
            read(agent, &bytes, from_start, PREFIX);
        }
    }

    #[test]
    fn spoiled_recordings_are_survived(seed: u64, changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..40)) {
        let all = all();
        let (agent, mut bytes) = all[usize::try_from(seed % all.len() as u64).expect("small")].clone();
        bytes.truncate(16_000);
        for (at, byte) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        let facts = read(agent, &bytes, true, PREFIX);
        for call in facts.iter().flat_map(|facts| &facts.calls) {
            prop_assert!(call.output.len() <= journal::ToolCall::OUTPUT_BYTES_MAX);
            prop_assert!(!(call.is_error && call.refused));
            prop_assert!(call.finished || !(call.is_error || call.refused));
        }
    }
}

#[test]
fn a_transcript_says_the_same_in_parts() {
    for (agent, bytes) in all() {
        let whole = read(agent, &bytes, true, PREFIX);
        for lines_at_once in [1, 2, 7] {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let mut parts = lines.rchunks(lines_at_once).map(<[_]>::concat).peekable();
            let mut before = || {
                let text = String::from_utf8_lossy(&parts.next()?).into_owned();
                Some(Part {
                    text: text.into(),
                    from_start: parts.peek().is_none(),
                })
            };
            let redactor = redact::built_in();
            let in_parts = read_back(agent, &mut before, PREFIX, redactor);
            // The first line says where the session runs, and it may not have been read.
            let of_turn = |facts: &Option<Facts>| {
                let facts = facts.clone()?;
                let said = (facts.prompts, facts.last_user, facts.last_assistant);
                Some((
                    facts.calls,
                    facts.outcomes,
                    facts.began,
                    facts.is_whole,
                    said,
                ))
            };
            assert_eq!(
                of_turn(&in_parts),
                of_turn(&whole),
                "{agent}: {lines_at_once}"
            );
        }
    }
}
