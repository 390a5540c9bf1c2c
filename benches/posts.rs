//! What an event costs the running daemon: posts to its socket, its processor time for each, `journal append` of many lines,
//! and the daemon at rest.
//!
//! `cargo bench --bench posts [-- --rounds N] [-- --lines N]`. Peers in the same run: threads that write the same bytes to
//! one file with one fdatasync for all that wait, and a program that reads the same lines as JSON and writes them so.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/measure.rs"]
mod measure;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use daemon::{Daemon, program, run};
use measure::{median, ms, option, title};
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Value, json};

const CLIENTS: usize = 64;
const POSTS_OF_EACH: usize = 250;
/// Lines that are synced together.
const LINES_AT_ONCE: usize = 500;
/// What belongs to the start is over by then.
const SETTLED: Duration = Duration::from_secs(100);
const IDLE: Duration = Duration::from_secs(120);

fn main() {
    let (rounds, lines) = (option("--rounds", 3), option("--lines", 50_000));
    posts(rounds);
    append(lines);
    idle();
}

/// A tool event of about 1 KB, in which what repeats in life repeats.
fn payload(client: usize, number: usize) -> Value {
    json!({
        "session_id": format!("10e54898-3d7e-4d3d-bff0-{client:012}"),
        "hook_event_name": "PostToolUse",
        "cwd": "/home/user/project",
        "transcript_path": "/home/user/.claude/projects/-home-user-project/session.jsonl",
        "permission_mode": "acceptEdits",
        "tool_name": "Bash",
        "tool_use_id": format!("toolu_{client:04}{number:012}"),
        "tool_input": {"command": format!("cargo test --quiet -p parser case_{number}"), "description": "Run a test"},
        "tool_response": {"stdout": "test parser::reads_a_line ... ok\n".repeat(16), "stderr": "", "interrupted": false},
    })
}

/// Posts by clients that keep their connections, with every event synced before it is acknowledged, and as it is by default.
fn posts(rounds: usize) {
    let bytes = payload(0, 0).to_string().len();
    title(&format!(
        "{CLIENTS} clients post {POSTS_OF_EACH} tool events of {bytes} bytes each, {rounds} rounds, medians"
    ));
    for (what, config) in [
        ("synced", "journal: {sync: always}\n"),
        ("as by default", ""),
    ] {
        let [mut ours, mut peers, mut ratios, mut spent] = [const { Vec::new() }; 4];
        for _ in 0..rounds {
            let home = folder();
            fs::write(home.path().join("config.yml"), config).expect("a file");
            let (daemon, _) = Daemon::start(home.path());
            // The first events make sessions.
            post_all(home.path(), 0, 4);
            let before = daemon.spent();
            let rate = post_all(home.path(), 4, POSTS_OF_EACH);
            std::thread::sleep(Duration::from_secs(1));
            let events = (CLIENTS * POSTS_OF_EACH) as f64;
            spent.push(ms(daemon.spent() - before) * 1e3 / events);
            daemon.stop();
            let peer = with_group_commit();
            ratios.push(rate / peer);
            ours.push(rate);
            peers.push(peer);
        }
        println!(
            "  {what:13} {:6.0}/s ({:.2} of threads with a group fdatasync, {:.0}/s); processor time of the daemon for each: {:.0} us",
            median(ours),
            median(ratios),
            median(peers),
            median(spent)
        );
    }
}

/// Returns posts a second.
fn post_all(home: &Path, from: usize, count: usize) -> f64 {
    let socket = home.join("run/sock");
    let began = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let socket = &socket;
            scope.spawn(move || {
                let stream = UnixStream::connect(socket).expect("a daemon");
                let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
                let mut stream = stream;
                for number in from..from + count {
                    let body = payload(client, number).to_string();
                    let length = body.len();
                    let request = format!(
                        "POST /v1/hooks/claude HTTP/1.1\r\nHost: bench\r\nContent-Length: {length}\r\n\r\n{body}"
                    );
                    stream.write_all(request.as_bytes()).expect("sent");
                    answer(&mut answers);
                }
            });
        }
    });
    (CLIENTS * count) as f64 / began.elapsed().as_secs_f64()
}

/// Reads one answer, which has to be good.
fn answer(from: &mut BufReader<UnixStream>) {
    let (mut line, mut length) = (String::new(), 0);
    // As the hook client does, and all clients with an event loop. A thread that sleeps in a read is also woken when the
    // daemon takes its request, for nothing.
    let mut ready = [PollFd::new(from.get_ref(), PollFlags::IN)];
    poll(&mut ready, None).expect("a socket");
    from.read_line(&mut line).expect("an answer");
    assert!(line.contains(" 200 "), "{line}");
    while line != "\r\n" {
        line.clear();
        from.read_line(&mut line).expect("an answer");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("an answer");
}

/// Threads that write the same payloads; all that waits is synced at once. Returns writes a second.
fn with_group_commit() -> f64 {
    let folder = folder();
    let mut file = File::create(folder.path().join("bare.log")).expect("a file");
    let (queue, waiting) = sync_channel::<(Vec<u8>, SyncSender<()>)>(1024);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while let Ok((mut bytes, first)) = waiting.recv() {
                let mut done = vec![first];
                for (more, next) in waiting.try_iter() {
                    bytes.extend(more);
                    done.push(next);
                }
                file.write_all(&bytes).expect("written");
                file.sync_data().expect("synced");
                for done in done {
                    let _ = done.send(());
                }
            }
        });
        let began = Instant::now();
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let queue = queue.clone();
                scope.spawn(move || {
                    for number in 0..POSTS_OF_EACH {
                        let (done, wait) = sync_channel(1);
                        let bytes = payload(client, number).to_string().into_bytes();
                        queue.send((bytes, done)).expect("the writer lives");
                        wait.recv().expect("it is written");
                    }
                });
            }
        });
        drop(queue);
        (CLIENTS * POSTS_OF_EACH) as f64 / began.elapsed().as_secs_f64()
    })
}

/// `journal append` of many lines, without a daemon and with one.
fn append(lines: usize) {
    title(&format!("journal append of {lines} lines"));
    let folder = folder();
    let path = folder.path().join("lines.ndjson");
    let line = |number| json!({"agent": "claude", "payload": payload(number % 100, number)});
    let text: String = (0..lines)
        .map(|number| format!("{}\n", line(number)))
        .collect();
    fs::write(&path, text).expect("a file");
    let peer = lines as f64 / parse_and_sync(&path).as_secs_f64();
    println!("  reading each as JSON, one fdatasync for {LINES_AT_ONCE}: {peer:.0}/s");
    for has_daemon in [false, true] {
        let home = self::folder();
        let daemon = has_daemon.then(|| Daemon::start(home.path()).0);
        let began = Instant::now();
        let appended = program(home.path())
            .args(["journal", "append"])
            .stdin(File::open(&path).expect("a file"))
            .stdout(Stdio::null())
            .status();
        assert!(appended.expect("a process").success());
        let rate = lines as f64 / began.elapsed().as_secs_f64();
        let what = if has_daemon {
            "through the daemon"
        } else {
            "no daemon"
        };
        println!("  {what}: {rate:.0}/s ({:.2} of that)", rate / peer);
        let stats: Value =
            serde_json::from_str(&run(home.path(), &["journal", "stats", "--json"])).expect("JSON");
        assert!(stats["events"].as_u64() >= Some(lines as u64), "{stats}");
        daemon.map(Daemon::stop);
    }
}

fn parse_and_sync(path: &Path) -> Duration {
    let began = Instant::now();
    let text = fs::read_to_string(path).expect("text");
    let mut file = File::create(path.with_extension("copy")).expect("a file");
    for lines in text.lines().collect::<Vec<_>>().chunks(LINES_AT_ONCE) {
        for line in lines {
            let value: Value = serde_json::from_str(line).expect("JSON");
            assert!(value.is_object());
        }
        file.write_all(lines.join("\n").as_bytes())
            .expect("written");
        file.sync_data().expect("synced");
    }
    began.elapsed()
}

/// The daemon with an empty journal, while nothing happens.
fn idle() {
    title(&format!(
        "the daemon at rest for {} s, from {} s after its start",
        IDLE.as_secs(),
        SETTLED.as_secs()
    ));
    let home = folder();
    let (daemon, _) = Daemon::start(home.path());
    std::thread::sleep(SETTLED);
    let (before, spent) = (waits(home.path()), daemon.spent());
    std::thread::sleep(IDLE);
    let after = waits(home.path());
    let mut woken: Vec<(String, u64)> = after
        .iter()
        .map(|(thread, (name, waits))| {
            let known = before.get(thread).map_or(0, |(_, waits)| *waits);
            (name.clone(), waits - known)
        })
        .filter(|(_, waits)| *waits > 0)
        .collect();
    woken.sort();
    let all: u64 = woken.iter().map(|(_, waits)| waits).sum();
    println!(
        "  {} threads, {:.2} wake-ups a second, {:.0} ms of processor, {:.0} MB",
        after.len(),
        all as f64 / IDLE.as_secs_f64(),
        ms(daemon.spent() - spent),
        daemon.memory().0
    );
    for (name, waits) in woken {
        println!("    {name}: {waits}");
    }
    daemon.stop();
}

/// Returns how often each thread of the daemon has waited, with the threads' names.
fn waits(home: &Path) -> BTreeMap<String, (String, u64)> {
    let pid = fs::read_to_string(home.join("run/pid")).expect("a daemon");
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.trim())).expect("it runs");
    let waits = tasks.flatten().filter_map(|task| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().to_owned())
        };
        let waits = field("voluntary_ctxt_switches:")?.parse().ok()?;
        let id = task.file_name().to_string_lossy().into_owned();
        Some((id, (field("Name:")?, waits)))
    });
    waits.collect()
}

/// On the disk that the program was built on: the system's own temporary folder may be memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}
