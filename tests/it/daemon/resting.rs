//! The daemon at rest wakes the processor hardly ever.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::daemon::Daemon;

/// Longer than the HTTP service is kept without a connection.
const TO_REST: Duration = Duration::from_secs(12);
const WATCHED: Duration = Duration::from_secs(10);
/// A clock that ticks twice a second would wake it twenty times.
const WAKES_MAX: u64 = 8;

/// Returns how often the thread that serves the socket has waited.
fn waits(daemon: &Daemon) -> u64 {
    let pid = daemon.pid();
    let status = fs::read_to_string(format!("/proc/{pid}/task/{pid}/status")).expect("it runs");
    let waits = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    waits.expect("a line").trim().parse().expect("a number")
}

fn is_healthy(daemon: &Daemon) -> bool {
    let answer = daemon.http("GET", "/healthz", &[], b"");
    answer.is_some_and(|(status, _)| status == 200)
}

#[test]
fn without_connections_nothing_ticks_and_the_next_one_is_served() {
    let daemon = Daemon::with("");
    assert!(is_healthy(&daemon));
    thread::sleep(TO_REST);
    let before = waits(&daemon);
    thread::sleep(WATCHED);
    let wakes = waits(&daemon) - before;
    assert!(wakes <= WAKES_MAX, "it woke {wakes} times");
    for _ in 0..2 {
        assert!(is_healthy(&daemon));
    }
}
