//! Huge hook calls: what they take of the daemon's memory, and what stays.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP};

const MB: u64 = 1024 * 1024;
/// What a peak may be above three times the payload.
const PEAK_SLACK_MB: u64 = 10;
/// What may stay after all of the calls: the allocator keeps pages for the next one, but hardly more than the largest peak.
const REST_MB: u64 = 50;
/// The largest body that the daemon reads; the client cuts at 64 MB.
const LIMIT_MB: u64 = 66;

/// A figure of the daemon's memory, in MB.
fn memory(daemon: &Daemon, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kb.expect("a number") / 1024
}

/// A hook call whose tool input is about `mb` MB of a form.
fn call(form: &str, mb: u64) -> Vec<u8> {
    let bytes = usize::try_from(mb * MB).expect("it fits");
    let list = |item: &str| format!("[{}0]", item.repeat(bytes / item.len()));
    let input = match form {
        "numbers" => list("0,"),
        "floats" => list("0.12345678901,"),
        "text" => format!("\"{}\"", "words of a text ".repeat(bytes / 16)),
        "objects" => list("{\"a\":1},"),
        "texts" => list(
            "\"some words of a text that is longer than a number, as most are, ... ... ... ...\",",
        ),
        _ => {
            let keys: Vec<_> = (0..200_000)
                .map(|at| format!("\"key number {at}\":{at}"))
                .collect();
            format!("{{{}}}", keys.join(","))
        }
    };
    let head = json!({ "session_id": form, "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "Huge" });
    let head = head.to_string();
    let head = head.trim_end_matches('}');
    format!("{head},\"tool_use_id\":\"{form}{mb}\",\"tool_input\":{{\"data\":{input}}}}}")
        .into_bytes()
}

#[test]
fn a_huge_call_takes_at_most_three_times_its_size_and_gives_it_back() {
    let daemon = Daemon::with(EVERY_STOP);
    let post = |body: &[u8]| {
        let headers = [("Content-Type", "application/json")];
        let answer = daemon.http("POST", "/v1/hooks/claude", &headers, body);
        assert!(answer.is_some_and(|(status, _)| status < 300));
    };
    // What is only loaded once is no part of it.
    post(&call("text", 1));
    let base = memory(&daemon, "VmRSS:");
    // Without optimization, secrets are searched at about 1 MB a second.
    for (form, mb) in [
        ("numbers", 10),
        ("text", 10),
        ("floats", 3),
        ("objects", 3),
        ("texts", 3),
        ("keys", 5),
    ] {
        let body = call(form, mb);
        let size = body.len() as u64 / MB;
        fs::write(format!("/proc/{}/clear_refs", daemon.pid()), "5")
            .expect("the peak begins again");
        let before = memory(&daemon, "VmRSS:");
        post(&body);
        let peak = memory(&daemon, "VmHWM:").saturating_sub(before);
        std::thread::sleep(Duration::from_secs(1));
        let rest = memory(&daemon, "VmRSS:").saturating_sub(base);
        eprintln!("{form}: {size} MB, peak {peak} MB, a second later {rest} MB above {base} MB");
        assert!(peak <= 3 * size + PEAK_SLACK_MB, "{form}: {peak} MB");
        assert!(rest <= REST_MB, "{form}: {rest} MB stay");
    }
    daemon.verify();
}

#[test]
fn a_call_over_the_limit_is_refused_or_cut_before_it_takes_memory() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let base = memory(&daemon, "VmRSS:");
    let body = call("numbers", 100);
    let headers = [("Content-Type", "application/json")];
    let answer = daemon.http("POST", "/v1/hooks/claude", &headers, &body);
    assert!(answer.is_none_or(|(status, _)| status == 413));
    let peak = memory(&daemon, "VmHWM:").saturating_sub(base);
    assert!(peak <= LIMIT_MB + PEAK_SLACK_MB, "{peak} MB");
    daemon.kill();
    // The client cuts it, and spools what is left.
    daemon.hook(&["claude", "PostToolUse"], &body);
    let spool = fs::read_dir(daemon.home.path().join("spool")).expect("a folder");
    let sizes: Vec<_> = spool
        .flatten()
        .map(|file| file.metadata().map_or(0, |meta| meta.len()))
        .collect();
    let largest = sizes.iter().max().copied().unwrap_or_default();
    assert!(
        largest / MB >= LIMIT_MB / 2 && largest / MB <= LIMIT_MB,
        "{sizes:?}"
    );
}
