//! What a journal takes on the disk while calls come in as fast as they are taken and at rest, and what its daemon takes in
//! memory: without events, after these calls, and with many sessions awake. Then the longest time that an append waits
//! while the store is packed.
//!
//! `cargo bench --bench size [-- --megabytes N]`. The peer is one file of the same calls, with zstd. Targets: 1.2 bytes on the disk for
//! each byte of the calls while they come, 10 MB at rest after 28 MB.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/measure.rs"]
mod measure;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use daemon::{Daemon, run};
use journal::{Draft, Event, Journal, Options, Stream, Timestamp};
use measure::{median, ms, option, title};
use serde_json::json;
use uuid::Uuid;

const CLIENTS: usize = 8;
const SESSIONS: usize = 200;
const MB: f64 = 1024.0 * 1024.0;
/// A journal is sealed after a minute without a call.
const REST: Duration = Duration::from_secs(75);
/// Words of the calls' texts.
const WORDS: [&str; 24] = [
    "running",
    "test",
    "parser",
    "ok",
    "error",
    "expected",
    "src/lib.rs",
    "warning",
    "compiling",
    "finished",
    "target",
    "assertion",
    "left",
    "right",
    "thread",
    "main",
    "panicked",
    "cargo",
    "function",
    "unused",
    "value",
    "line",
    "column",
    "note",
];

fn main() {
    let bytes = option("--megabytes", 28) * 1024 * 1024;
    let home = folder();
    let (daemon, _) = Daemon::start(home.path());
    std::thread::sleep(Duration::from_secs(3));
    title("memory and disk");
    println!("  without events: {:.0} MB of memory", daemon.memory().0);
    let posted = AtomicU64::new(0);
    let began = Instant::now();
    let (raw, most) = std::thread::scope(|scope| {
        let load = |client: usize| {
            let (home, posted) = (home.path(), &posted);
            scope.spawn(move || post(home, client, bytes / CLIENTS, posted))
        };
        let loads: Vec<_> = (0..CLIENTS).map(load).collect();
        let mut most = (0.0, 0.0);
        while !loads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let raw = posted.load(Ordering::Relaxed) as f64;
            let now = disk(&home.path().join("journal"));
            // Before that, the space that sled takes at once is most of it.
            if raw > 8.0 * MB && now / raw > most.0 {
                most = (now / raw, raw);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let raw: Vec<Vec<u8>> = loads
            .into_iter()
            .map(|load| load.join().expect("no panic"))
            .collect();
        (raw.concat(), most)
    });
    let took = began.elapsed();
    let now = disk(&home.path().join("journal"));
    let packed = packed(&raw);
    println!(
        "  {:.1} MB of calls in {:.1} s: {:.1} MB on the disk ({:.2} of it, at most {:.2} after {:.0} MB), {:.0} MB of memory",
        raw.len() as f64 / MB,
        took.as_secs_f64(),
        now / MB,
        now / raw.len() as f64,
        most.0,
        most.1 / MB,
        daemon.memory().0
    );
    println!(
        "  {SESSIONS} sessions awake: {:.0} MB of memory, at most {:.0}",
        daemon.memory().0,
        daemon.memory().1
    );
    std::thread::sleep(REST);
    let now = disk(&home.path().join("journal"));
    println!(
        "  at rest: {:.1} MB on the disk, {:.1} of zstd; {:.0} MB of memory",
        now / MB,
        now / packed,
        daemon.memory().0
    );
    let spent = ms(daemon.spent());
    let verified = run(home.path(), &["journal", "verify", "--json"]);
    assert!(verified.starts_with("{\"ok\":true"), "{verified}");
    println!("  {spent:.0} ms of processor in all; verified");
    daemon.stop();
    pauses();
}

/// Returns the bytes that the zstd program makes of the calls.
fn packed(raw: &[u8]) -> f64 {
    let folder = folder();
    let (file, packed) = (folder.path().join("calls"), folder.path().join("calls.zst"));
    std::fs::write(&file, raw).expect("a file");
    let done = Command::new("zstd").args(["-q", "-3"]).arg(&file).status();
    assert!(done.expect("zstd is installed").success());
    std::fs::metadata(packed).expect("a file").len() as f64
}

/// A text that compresses like the output of tools.
fn text(mut state: u64, words: usize) -> String {
    let mut text = String::new();
    for at in 0..words {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 40) as usize % WORDS.len()]);
        match state >> 60 {
            0 | 1 => text.push_str(&format!(" {}", (state >> 20) % 10_000)),
            _ if at % 12 == 11 => text.push('\n'),
            _ => text.push(' '),
        }
    }
    text
}

/// Posts calls until they are so many bytes, and returns them.
fn post(home: &Path, client: usize, bytes: usize, posted: &AtomicU64) -> Vec<u8> {
    let mut stream = UnixStream::connect(home.join("run/sock")).expect("a daemon");
    let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
    let mut raw = Vec::new();
    let mut number = 0;
    while raw.len() < bytes {
        let session = client + CLIENTS * (number % (SESSIONS / CLIENTS));
        let body = json!({
            "session_id": format!("10e54898-3d7e-4d3d-bff0-{session:012}"),
            "hook_event_name": "PostToolUse",
            "cwd": "/home/user/project",
            "transcript_path": "/home/user/.claude/projects/-home-user-project/session.jsonl",
            "permission_mode": "acceptEdits",
            "tool_name": "Bash",
            "tool_use_id": format!("toolu_{client:04}{number:012}"),
            "tool_input": {"command": format!("cargo test -p parser case_{number}"), "description": "Run a test"},
            "tool_response": {"stdout": text((client * 1_000_003 + number) as u64, 120), "stderr": "", "interrupted": false},
        })
        .to_string();
        let head = format!(
            "POST /v1/hooks/claude HTTP/1.1\r\nHost: bench\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .expect("sent");
        answer(&mut answers);
        raw.extend_from_slice(body.as_bytes());
        raw.push(b'\n');
        posted.fetch_add(body.len() as u64 + 1, Ordering::Relaxed);
        number += 1;
    }
    raw
}

/// Reads one answer, which has to be good.
fn answer(from: &mut BufReader<UnixStream>) {
    let (mut line, mut length) = (String::new(), 0);
    from.read_line(&mut line).expect("an answer");
    assert!(line.contains(" 200 "), "{line}");
    while line != "\r\n" {
        line.clear();
        from.read_line(&mut line).expect("an answer");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    from.read_exact(&mut vec![0; length]).expect("an answer");
}

/// Appends one event after the other, with pauses in which the store is packed, and says what the slowest waited.
fn pauses() {
    title("single appends with sync, 4 ms between them, while the store is packed");
    let folder = folder();
    let options = Options {
        rest: Duration::from_millis(2),
        ..Options::default()
    };
    let (journal, _) = Journal::open(folder.path(), options).expect("a journal");
    let file = || std::fs::metadata(folder.path().join("store/db")).map_or(0, |file| file.ino());
    let (mut before, mut packed, mut times) = (file(), 0, Vec::new());
    let mut number = 0;
    for _ in 0..6 {
        let many = (0..4_000).map(|more| draft(number + more)).collect();
        journal.append_wait(many).expect("appended");
        number += 4_000;
        for _ in 0..500 {
            std::thread::sleep(Duration::from_millis(4));
            let began = Instant::now();
            journal.append_wait(vec![draft(number)]).expect("appended");
            times.push(ms(began.elapsed()));
            number += 1;
            let now = file();
            packed += u32::from(now != 0 && now != before);
            before = if now == 0 { before } else { now };
        }
    }
    times.sort_by(f64::total_cmp);
    let middle = median(times.clone());
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!(
        "  packed {packed} times; an append takes {:.2} ms, p99 {:.1} ms, at most {:.1} ms",
        middle,
        at(0.99),
        at(1.0)
    );
    journal.close();
}

fn draft(number: u64) -> Draft {
    Draft {
        stream: Stream {
            session: Uuid::from_u128(u128::from(number % 50)),
            ..Stream::daemon()
        },
        at: Timestamp::from_micros(1_000_000),
        id: Uuid::from_u128(u128::from(number) << 64 | 1),
        event: Event::CheckpointCleared {},
        payload: Some(text(number, 200)),
    }
}

/// Returns the bytes that a folder takes, as the file system counts them.
fn disk(folder: &Path) -> f64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => disk(&entry.path()),
            Ok(meta) => (meta.blocks() * 512) as f64,
            Err(_) => 0.0,
        })
        .sum()
}

/// On the disk that the program was built on: the system's own temporary folder may be memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}
