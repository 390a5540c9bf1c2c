//! What a hook call costs an agent: the whole client process, sending a plain event to a server that takes it, next
//! to `/bin/true`, the cheapest process there is. Both get the same payload through a pipe, in turns.
//!
//! `cargo bench --bench hook [-- --rounds N] [-- --home FOLDER]`; with a folder, the daemon that runs there answers.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAYLOADS: &str = include_str!("../tests/data/fixtures/claude/h-normal.ndjson");
const CLIENT: &str = env!("CARGO_BIN_EXE_checkpointd-hook");
const BASELINE: &str = "/bin/true";
const WARM_UP: usize = 50;

fn main() {
    let (mut rounds, mut home) = (1000, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().and_then(|text| text.parse().ok()).expect("a number of rounds"),
            "--home" => home = Some(PathBuf::from(arguments.next().expect("a folder"))),
            // Cargo says that this is a bench.
            _ => {}
        }
    }
    let payload = payload();
    let own = tempfile::tempdir().expect("a folder");
    let answers = if home.is_some() { "the running daemon" } else { "a server that only takes it" };
    let home = home.unwrap_or_else(|| {
        serve(own.path());
        own.path().to_path_buf()
    });
    let client = || run(Command::new(CLIENT).arg("claude"), &home, &payload);
    let baseline = || run(&mut Command::new(BASELINE), &home, &payload);
    let (mut client_times, mut baseline_times) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + rounds {
        // Whoever comes second finds warmer caches, so they change places.
        let (ours, theirs) = if round % 2 == 0 {
            let ours = client();
            (ours, baseline())
        } else {
            let theirs = baseline();
            (client(), theirs)
        };
        if round >= WARM_UP {
            client_times.push(ours);
            baseline_times.push(theirs);
        }
    }
    assert!(!home.join("spool").exists() || home != own.path(), "a call was spooled: the server did not take it");
    let (ours, theirs) = (quantiles(&mut client_times), quantiles(&mut baseline_times));
    println!(
        "plain event of {} bytes, answered by {answers}, {rounds} rounds; median / 95th percentile",
        payload.len()
    );
    println!("  {BASELINE:16}  {} / {} us", theirs.0.as_micros(), theirs.1.as_micros());
    println!("  checkpointd-hook  {} / {} us", ours.0.as_micros(), ours.1.as_micros());
    println!("  ratio of medians  {:.2}", ours.0.as_secs_f64() / theirs.0.as_secs_f64());
}

/// Returns what the agent sent at a tool's end.
fn payload() -> Vec<u8> {
    let calls = PAYLOADS.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut calls = calls.filter(|call| call["event"] == "PostToolUse");
    calls.next().expect("a tool call among the recorded ones")["payload"].to_string().into_bytes()
}

fn run(command: &mut Command, home: &Path, payload: &[u8]) -> Duration {
    // The payload fits into the pipe, so that no writer is needed while the process runs.
    let (reader, mut writer) = io::pipe().expect("a pipe");
    writer.write_all(payload).expect("room in the pipe");
    drop(writer);
    command.env("CHECKPOINTD_HOME", home).env("CHECKPOINTD_AUTOSTART", "0");
    command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status().expect("a process");
    let time = begin.elapsed();
    assert!(status.success());
    time
}

fn quantiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

/// Takes every request at once, and keeps none.
fn serve(home: &Path) {
    std::fs::create_dir_all(home.join("run")).expect("a folder");
    let listener = UnixListener::bind(home.join("run/sock")).expect("a socket");
    std::thread::spawn(move || listener.incoming().flatten().for_each(|connection| drop(answer(connection))));
}

fn answer(mut connection: UnixStream) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    while !is_whole(&bytes) {
        let read = connection.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&piece[..read]);
    }
    connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(split) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..split]);
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
    bytes.len() >= split + 4 + length.unwrap_or(0)
}
