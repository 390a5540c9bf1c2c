//! What a hook call costs an agent: the whole client process, sending a plain event to a server that takes it, next
//! to `/bin/true`, the cheapest process there is. Both get the same payload through a pipe, in turns. The peers that
//! people write by hand, `jq` and Python, do no more than read the payload; they are left out where they are not there.
//!
//! Then what `run -- /bin/true` takes more than `/bin/true`, in both programs. Its target is 2 ms.
//!
//! `cargo bench --bench hook [-- --rounds N] [-- --home FOLDER]`; with a folder, the daemon that runs there answers.

#[path = "support/hooks.rs"]
mod hooks;

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hooks::{BASELINE, compare};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");
const CLIENT: &str = env!("CARGO_BIN_EXE_checkpointd-hook");
/// What a hook written by hand does at the least.
const PEERS: [&[&str]; 2] = [
    &["jq", "-e", ".hook_event_name"],
    &["python3", "-c", "import json, sys; json.load(sys.stdin)"],
];

fn main() {
    let (mut rounds, mut home) = (1000, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => {
                rounds = arguments
                    .next()
                    .and_then(|text| text.parse().ok())
                    .expect("a number of rounds")
            }
            "--home" => home = Some(PathBuf::from(arguments.next().expect("a folder"))),
            // Cargo says that this is a bench.
            _ => {}
        }
    }
    let own = tempfile::tempdir().expect("a folder");
    let answers = if home.is_some() {
        "the running daemon"
    } else {
        "a server that only takes it"
    };
    let home = home.unwrap_or_else(|| {
        serve(own.path());
        own.path().to_path_buf()
    });
    let ours = compare(rounds, &home, &[CLIENT, "claude"], &[BASELINE]);
    assert!(
        !home.join("spool").exists() || home != own.path(),
        "a call was spooled: the server did not take it"
    );
    println!(
        "plain event of {} bytes, answered by {answers}, {rounds} rounds; median / 95th percentile",
        hooks::payload(&hooks::call(), 0).len()
    );
    let line = |name: &str, times: (std::time::Duration, std::time::Duration)| {
        println!(
            "  {name:16}  {} / {} us",
            times.0.as_micros(),
            times.1.as_micros()
        );
    };
    line(BASELINE, ours.theirs);
    line("checkpointd-hook", ours.ours);
    println!("  ratio of medians  {:.2}", ours.ratio());
    for (name, program) in [
        ("checkpointd run", PROGRAM),
        ("checkpointd-hook run", CLIENT),
    ] {
        let run = compare(
            rounds,
            &home,
            &[program, "run", "--", BASELINE],
            &[BASELINE],
        );
        line(name, run.ours);
        let more = run.ours.0.saturating_sub(run.theirs.0);
        println!("  more than that    {} us", more.as_micros());
    }
    for peer in PEERS {
        let is_there = Command::new(peer[0])
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if is_there.is_ok_and(|status| status.success()) {
            let theirs = compare(rounds / 10, own.path(), peer, &[BASELINE]);
            line(peer[0], theirs.ours);
            println!("  ratio of medians  {:.2}", theirs.ratio());
        }
    }
}

/// Takes every request at once, and keeps none.
fn serve(home: &Path) {
    std::fs::create_dir_all(home.join("run")).expect("a folder");
    let listener = UnixListener::bind(home.join("run/sock")).expect("a socket");
    std::thread::spawn(move || {
        listener
            .incoming()
            .flatten()
            .for_each(|connection| drop(answer(connection)))
    });
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
    let Some(split) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&bytes[..split]);
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
    bytes.len() >= split + 4 + length.unwrap_or(0)
}
