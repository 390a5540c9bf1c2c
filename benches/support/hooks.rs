//! One process of the hook client, or of a peer, with a recorded tool call on its standard input.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PAYLOADS: &str = include_str!("../../tests/data/fixtures/claude/h-normal.ndjson");
const WARM_UP: usize = 50;
/// The cheapest process there is.
pub(crate) const BASELINE: &str = "/bin/true";

/// Medians and 95th percentiles of both.
pub(crate) struct Compared {
    pub(crate) ours: (Duration, Duration),
    pub(crate) theirs: (Duration, Duration),
}

impl Compared {
    /// Returns how many times the peer's median ours is.
    pub(crate) fn ratio(&self) -> f64 {
        self.ours.0.as_secs_f64() / self.theirs.0.as_secs_f64()
    }
}

/// Runs two commands in turns; both get the same payload through a pipe, and none of them may fail. Each round has a
/// payload of its own: a repeated one would be taken for a hook that is registered twice, and not be written.
pub(crate) fn compare(rounds: usize, home: &Path, ours: &[&str], theirs: &[&str]) -> Compared {
    let call = call();
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + rounds {
        let payload = payload(&call, round);
        // The second one finds warmer caches, so the order alternates.
        let (ours, theirs) = if round % 2 == 0 {
            let ours = run(ours, home, &payload);
            (ours, run(theirs, home, &payload))
        } else {
            let theirs = run(theirs, home, &payload);
            (run(ours, home, &payload), theirs)
        };
        if round >= WARM_UP {
            our_times.push(ours);
            their_times.push(theirs);
        }
    }
    Compared {
        ours: quantiles(our_times),
        theirs: quantiles(their_times),
    }
}

/// Returns what an agent sent at a tool's end.
pub(crate) fn call() -> Value {
    let calls = PAYLOADS
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut calls = calls.filter(|call| call["event"] == "PostToolUse");
    let mut call = calls.next().expect("a tool call among the recorded ones");
    call["payload"].take()
}

/// Returns the payload of a call with a number.
pub(crate) fn payload(call: &Value, number: usize) -> Vec<u8> {
    let mut call = call.clone();
    let process = std::process::id();
    call["tool_use_id"] = format!("toolu_{process:08}_{number:08}").into();
    call.to_string().into_bytes()
}

fn run(command: &[&str], home: &Path, payload: &[u8]) -> Duration {
    // The payload fits into the pipe, so that no writer is needed while the process runs.
    let (reader, mut writer) = io::pipe().expect("a pipe");
    writer.write_all(payload).expect("room in the pipe");
    drop(writer);
    let mut process = Command::new(command[0]);
    process
        .args(&command[1..])
        .env("CHECKPOINTD_HOME", home)
        .env("CHECKPOINTD_AUTOSTART", "0");
    process
        .stdin(reader)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let begin = Instant::now();
    let status = process.status().expect("a process");
    let time = begin.elapsed();
    assert!(status.success(), "{command:?}: {status}");
    time
}

fn quantiles(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 95 / 100])
}
