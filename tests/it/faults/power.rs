//! Power cuts: the real daemon and the real client run under a recorder of their system calls, and the disk is built
//! from the record as it may be after a cut at any moment (`testkit::disk` states the model). The real program then opens
//! what is left: everything acknowledged is there, without a gap, and verifies.
//!
//! `CHECKPOINTD_POWER_CUTS` sets how many moments of each run are tried, each in four ways.

use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use journal::frame::Reader;
use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::disk::{Disk, Keeps, Seen};
use crate::support::strace::Trace;
use crate::support::{Home, run};

/// Sizes of what an agent says or a tool prints, in bytes: with the rest of its call, payloads of 100 bytes to 1 MB.
const SIZES: [usize; 8] = [1, 100, 1_000, 4_000, 16_000, 65_000, 300_000, 1_000_000];
/// With `sync: mixed` an acknowledged tool call may be lost for so long: the batch window of 50 ms, and the time that a
/// sync takes on a slow disk, in a process that is traced.
const MIXED_LIMIT: f64 = 2.0;
/// The whole record of a write must be kept.
const STRING_BYTES: &str = "5000000";

/// A moment of the record at which a client was answered.
struct Ack {
    at: f64,
    marker: String,
    may_wait: bool,
}

/// What a test counts.
#[derive(Debug, Default)]
struct Figures {
    cuts: u32,
    acked: usize,
    lost: usize,
    /// Of those lost with `mixed`, how long before the cut the oldest was acknowledged, in milliseconds.
    oldest_lost_ms: u64,
    syncs: usize,
}

/// The number of moments, in the long form.
fn cuts() -> Option<usize> {
    std::env::var("CHECKPOINTD_POWER_CUTS")
        .ok()
        .and_then(|cuts| cuts.parse().ok())
}

/// Calls of a run; every fourth is a prompt or a stop, which waits for the disk in any mode.
fn calls() -> usize {
    if cuts().is_some() { 32 } else { 8 }
}

/// The call with this number, the text by which it is known again, and whether it may be synced later.
fn call(number: usize) -> (&'static str, Value, String, bool) {
    let marker = format!("call-{number:03}");
    let mut payload =
        json!({ "session_id": "power", "cwd": "/p", "prompt_id": format!("p{}", number / 8) });
    // Text that compresses badly, as most does not.
    let mut dice = Rng::with_seed(number as u64);
    let letters = (0..SIZES[number % SIZES.len()]).map(|_| dice.lowercase());
    let text: String = letters.collect();
    let event = match number % 8 {
        0 => {
            payload["prompt"] = json!(format!("{marker} {text}"));
            "UserPromptSubmit"
        }
        4 => {
            payload["last_assistant_message"] = json!(format!("{marker} {text}"));
            payload["stop_hook_active"] = json!(false);
            "Stop"
        }
        _ => {
            payload["tool_name"] = json!("Bash");
            payload["tool_use_id"] = json!(marker);
            payload["tool_input"] = json!({ "command": "true" });
            payload["tool_response"] = json!({ "stdout": text });
            "PostToolUse"
        }
    };
    payload["hook_event_name"] = json!(event);
    (event, payload, marker, event == "PostToolUse")
}

/// Sends calls to a traced daemon, from an empty folder on, and kills it. Returns the record. A tracer that writes down
/// a megabyte for a call takes longer than the client waits, so it is left out here and has a test of its own.
fn record(sync: &str) -> (Daemon, String) {
    let mut daemon = Daemon::prepared(&format!(
        "{EVERY_STOP}journal: {{sync: {sync}, payload_bytes_max: 2MB}}\n"
    ));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let trace = Trace::to(elsewhere.path().join("trace"));
    assert!(daemon.start_under(&trace.command(&[
        "-y",
        "-xx",
        "-ttt",
        "-s",
        STRING_BYTES,
        "-e",
        Disk::TRACE
    ])));
    for number in 0..calls() {
        let (event, payload, ..) = call(number);
        let headers = [("Checkpointd-Event", event)];
        let answer = daemon.http(
            "POST",
            "/v1/hooks/claude",
            &headers,
            payload.to_string().as_bytes(),
        );
        assert_eq!(
            answer.map(|(status, _)| status),
            Some(200),
            "{}",
            daemon.log()
        );
        // Some are caught in the window, some are not.
        std::thread::sleep(Duration::from_millis([0, 0, 20, 80][number % 4]));
    }
    daemon.kill();
    (daemon, trace.finished())
}

/// Is this the answer to a hook call? The others are those to `Daemon::start_under`, which asks how the daemon is.
fn is_answer(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.1 200") && !bytes.windows(9).any(|nine| nine == b"uptime_ms")
}

fn seconds(line: &str) -> f64 {
    line.split(' ')
        .filter(|word| !word.is_empty())
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0.0)
}

/// Opens what a cut has left, and returns the texts of the journal and its spool.
fn opened(root: &Path) -> Result<String, String> {
    // After a power cut the system has come up anew.
    std::fs::write(root.join("journal/lock"), "the boot before")
        .map_err(|error| error.to_string())?;
    let home = Home::new();
    let ask = |arguments: &[&str]| {
        let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments);
        let output = run(command.env("CHECKPOINTD_HOME", root), b"");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            Err(format!("{arguments:?}: {text}{said}"))
        }
    };
    let events = ask(&["journal", "export"])?;
    for (expected, line) in (1..).zip(events.lines()) {
        let event: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if event["seq"] != json!(expected) {
            return Err(format!("event {expected} is {}", event["seq"]));
        }
    }
    ask(&["journal", "verify", "--json"])?;
    Ok(events)
}

/// Tries the cut at this moment.
fn try_cut(disk: &Disk, acks: &[Ack], now: f64, dice: &mut Rng, figures: &mut Figures) {
    let ways = [Keeps::Nothing, Keeps::Names, Keeps::Some, Keeps::All];
    // The short form takes the ways in turn.
    let (first, count) = if cuts().is_some() {
        (0, ways.len())
    } else {
        (figures.cuts as usize % ways.len(), 1)
    };
    for keeps in ways.into_iter().skip(first).take(count) {
        let left = tempfile::tempdir().expect("a folder");
        disk.cut(left.path(), keeps, dice);
        let what = format!(
            "cut {} at {now} with {keeps:?} after {} answers",
            figures.cuts,
            acks.len()
        );
        let events = opened(left.path()).unwrap_or_else(|problem| panic!("{what}: {problem}"));
        figures.cuts += 1;
        figures.acked += acks.len();
        for ack in acks.iter().filter(|ack| !events.contains(&ack.marker)) {
            let age = now - ack.at;
            assert!(
                ack.may_wait && age < MIXED_LIMIT,
                "{what}: {} is lost, acknowledged {age} s before",
                ack.marker
            );
            figures.lost += 1;
            figures.oldest_lost_ms = figures.oldest_lost_ms.max((age * 1e3) as u64);
        }
    }
}

fn cut_everywhere(sync: &str, always: bool) {
    let (daemon, record) = record(sync);
    let lines: Vec<&str> = record.lines().collect();
    let mut disk = Disk::new(daemon.home.path());
    let (mut acks, mut figures) = (Vec::new(), Figures::default());
    let mut dice = Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    // Moments: right before and after a sync ends or an answer is sent, and every so many lines in between.
    let began = Instant::now();
    let every = (lines.len() / cuts().unwrap_or(8)).max(1);
    for (number, line) in lines.iter().enumerate() {
        let seen = disk.line(line);
        let is_turn = match seen {
            Seen::Synced => {
                figures.syncs += 1;
                figures.syncs.is_multiple_of((every / 8).max(1))
            }
            Seen::Sent(bytes) if is_answer(&bytes) && acks.len() < calls() => {
                let (_, _, marker, may_wait) = call(acks.len());
                acks.push(Ack {
                    at: seconds(line),
                    marker,
                    may_wait: may_wait && !always,
                });
                true
            }
            _ => number % every == 0,
        };
        if is_turn && !acks.is_empty() {
            try_cut(&disk, &acks, seconds(line), &mut dice, &mut figures);
        }
    }
    assert_eq!(acks.len(), calls(), "every answer is in the record");
    println!(
        "daemon, sync: {sync}: {} lines, {figures:?}, {} s",
        lines.len(),
        began.elapsed().as_secs()
    );
}

#[test]
fn with_sync_always_a_power_cut_costs_nothing_that_was_acknowledged() {
    cut_everywhere("always", true);
}

#[test]
fn with_sync_mixed_a_power_cut_costs_at_most_the_tool_calls_of_a_batch_window() {
    cut_everywhere("mixed", false);
}

#[test]
fn a_call_in_the_spool_survives_a_power_cut_once_its_client_has_returned() {
    for number in 0..calls() {
        let (home, elsewhere) = (Home::new(), tempfile::tempdir().expect("a folder"));
        let trace = Trace::to(elsewhere.path().join("trace"));
        let (event, payload, marker, _) = call(number);
        let words = trace.command(&["-y", "-xx", "-ttt", "-s", STRING_BYTES, "-e", Disk::TRACE]);
        let mut client = home.command(&words[0], &[]);
        client
            .args(&words[1..])
            .args([env!("CARGO_BIN_EXE_checkpointd-hook"), "claude", event]);
        // Two folders that are not there yet.
        client.env("CHECKPOINTD_HOME", home.path().join("a/data"));
        assert_eq!(
            run(&mut client, payload.to_string().as_bytes())
                .status
                .code(),
            Some(0)
        );
        let mut disk = Disk::new(home.path());
        trace
            .finished()
            .lines()
            .for_each(|line| drop(disk.line(line)));
        let left = Home::new();
        disk.cut(left.path(), Keeps::Nothing, &mut Rng::with_seed(1));
        let spool = left.path().join("a/data/spool");
        let files: Vec<_> = std::fs::read_dir(&spool)
            .expect("the folder is there")
            .flatten()
            .collect();
        assert_eq!(files.len(), 1, "{marker}");
        let bytes = std::fs::read(files[0].path()).expect("readable");
        let frames: Vec<_> = Reader::new(&bytes)
            .map(|frame| frame.expect("whole").payload)
            .collect();
        assert!(
            frames.len() == 1
                && frames[0]
                    .windows(marker.len())
                    .any(|part| part == marker.as_bytes()),
            "{marker}"
        );
    }
}
