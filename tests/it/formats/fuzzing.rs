//! The checks of the fuzz targets in short form: recordings, whole and damaged at random. `CHECKPOINTD_FUZZ_ROUNDS` sets
//! how many damaged ones each check sees; `just fuzz` lets libFuzzer look for more.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

#[path = "../../../fuzz/checks.rs"]
#[expect(unreachable_pub, reason = "it is the whole of a crate elsewhere")]
mod checks;

/// The largest part of a recording that is damaged: large inputs cost time and show nothing new.
const SEED_BYTES_MAX: usize = 16 * 1024;

/// What happens to a recording.
#[derive(Clone, Debug)]
enum Damage {
    /// One byte becomes another.
    Byte(Index, u8),
    /// All behind a place is missing.
    End(Index),
    /// A stretch is missing.
    Gap(Index, Index),
    /// A stretch is there many times.
    Echo(Index, Index, usize),
    /// Something is there that does not belong there.
    Foreign(Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    // What has a meaning in one of the formats, or more than one length.
    let words = "\" \\ { } [ : $( ` << ' ä 💥 \\ud800 -1 1e999 \n \r\n\r\n \u{1b}[2m";
    let foreign = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..8),
        proptest::sample::select(words.split(' ').collect::<Vec<_>>())
            .prop_map(|word| word.as_bytes().to_vec()),
    ];
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => any::<Index>().prop_map(Damage::End),
        2 => any::<(Index, Index)>().prop_map(|(from, to)| Damage::Gap(from, to)),
        2 => (any::<Index>(), any::<Index>(), 2..40_usize).prop_map(|(from, to, times)| Damage::Echo(from, to, times)),
        4 => (any::<Index>(), foreign).prop_map(|(at, bytes)| Damage::Foreign(at, bytes)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: &Index| at.index(bytes.len() + 1);
        let stretch =
            |from: &Index, to: &Index| place(from).min(place(to))..place(from).max(place(to));
        match self {
            Self::Byte(at, byte) => {
                let at = place(at);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Self::End(at) => bytes.truncate(place(at)),
            Self::Gap(from, to) => drop(bytes.drain(stretch(from, to))),
            Self::Echo(from, to, times) => {
                let stretch = stretch(from, to);
                let echo =
                    bytes[stretch.start..stretch.end.min(stretch.start + 256)].repeat(*times);
                bytes.splice(stretch.start..stretch.start, echo);
            }
            Self::Foreign(at, foreign) => {
                let at = place(at);
                bytes.splice(at..at, foreign.iter().copied());
            }
        }
    }
}

/// Returns what the checks are fed with: all recordings, each line of those that are lines, and the records in frames.
fn seeds() -> Vec<Vec<u8>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")];
    let mut seeds = vec![include_bytes!("../../../config.yml").to_vec()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).expect("read");
            if path.extension().is_some_and(|ending| ending == "ndjson") {
                for line in bytes.split(|byte| *byte == b'\n') {
                    let line: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
                    // A recorded hook call holds what the agent sent.
                    let sent = if line["event"].is_string() && line["seq"].is_null() {
                        &line["payload"]
                    } else {
                        &line
                    };
                    seeds.push(sent.to_string().into_bytes());
                    seeds.extend(
                        sent["tool_input"]["command"]
                            .as_str()
                            .map(|command| command.as_bytes().to_vec()),
                    );
                }
            }
            for frame in journal::frame::Reader::new(&bytes).flatten() {
                seeds.push(frame.payload.to_vec());
                if let Ok((event, payload)) = journal::codec::split(frame.payload) {
                    seeds.extend([event.to_vec(), payload.to_vec()]);
                }
            }
            seeds.push(bytes);
        }
    }
    for reply in [
        "content-length: 2\r\n\r\n{}",
        "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "\r\n{}",
    ] {
        seeds.push(format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n{reply}").into_bytes());
    }
    for secret in [
        "password=\"hunter2hunter2\"",
        "Bearer abcdef0123456789abcdef",
        "https://me:secret@host/",
        "employee-12",
    ] {
        seeds.push(format!("curl {secret} -d '{{\"token\": \"{secret}\"}}'").into_bytes());
    }
    seeds
}

#[test]
fn whatever_a_recording_becomes_no_parser_breaks() {
    let mut seeds = seeds();
    assert!(
        seeds.len() > 500,
        "only {} recordings were found",
        seeds.len()
    );
    seeds
        .iter_mut()
        .for_each(|seed| seed.truncate(SEED_BYTES_MAX));
    let rounds = std::env::var("CHECKPOINTD_FUZZ_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(200);
    for (name, check) in checks::CHECKS {
        let config = Config {
            cases: rounds,
            failure_persistence: None,
            max_shrink_iters: 2_000,
            ..Config::default()
        };
        let inputs = (0..seeds.len(), proptest::collection::vec(damage(), 0..6));
        let outcome = TestRunner::new(config).run(&inputs, |(seed, damages)| {
            let mut bytes = seeds[seed].clone();
            damages.iter().for_each(|damage| damage.apply(&mut bytes));
            check(&bytes);
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{name}: {error}");
        }
    }
}
