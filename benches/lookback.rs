//! Looking back at a gigabyte of transcripts, against `wc -l` and `jq -c .type` over the same files.
//!
//! `cargo bench --bench lookback -- --mb 1024`

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use journal::Timestamp;
use serde_json::{Value, json};
use testkit::Home;

/// Bytes of one transcript.
const FILE_BYTES: u64 = 8 * 1024 * 1024;
/// How often the memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

fn main() {
    let megabytes = std::env::args()
        .skip_while(|argument| argument != "--mb")
        .nth(1)
        .map_or(1024, |number| number.parse().expect("--mb NUMBER"));
    let home = Home::new();
    let user = home.path().join("user");
    let files = generate(&user, megabytes * 1024 * 1024);
    let bytes: u64 = files
        .iter()
        .map(|file| fs::metadata(file).map_or(0, |meta| meta.len()))
        .sum();
    println!("{} transcripts, {} MB", files.len(), bytes / 1024 / 1024);
    let (own, memory) = look_back(&home, &user);
    let lines = peer(Command::new("wc").arg("-l").args(&files));
    report("wc -l", own, lines);
    report(
        "jq -c .type",
        own,
        peer(Command::new("jq").args(["-c", ".type"]).args(&files)),
    );
    let rate = bytes as f64 / own.as_secs_f64() / 1_048_576.0;
    println!("lookback: {own:.2?}, {rate:.0} MB/s, at most {memory} MB of memory");
}

fn report(name: &str, own: Duration, peer: Option<Duration>) {
    match peer {
        Some(peer) => {
            let ratio = own.as_secs_f64() / peer.as_secs_f64();
            println!("{name}: {peer:.2?}; lookback takes {ratio:.2} times as long");
        }
        None => println!("{name}: not installed"),
    }
}

fn peer(command: &mut Command) -> Option<Duration> {
    let began = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| began.elapsed())
}

/// Returns the time, and the most memory in megabytes.
fn look_back(home: &Home, user: &Path) -> (Duration, u64) {
    let mut command = home.command(testkit::program("checkpointd"), &["lookback", "--json"]);
    command.env("HOME", user).stdout(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().expect("checkpointd");
    let mut memory = 0;
    while child.try_wait().expect("a process").is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
        memory = memory.max(kilobytes.unwrap_or(0u64) / 1024);
        std::thread::sleep(LOOK_EVERY);
    }
    let took = began.elapsed();
    let output = child.wait_with_output().expect("its output");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    println!(
        "{} turns in {} sessions",
        answer["total"]["turns"], answer["total"]["sessions"]
    );
    (took, memory)
}

/// Writes transcripts of Claude Code and Codex CLI in turn.
fn generate(user: &Path, bytes: u64) -> Vec<PathBuf> {
    let project = user.join("shop");
    fs::create_dir_all(project.join("src")).expect("a folder");
    fs::write(project.join("Cargo.toml"), "[package]\nname = \"shop\"\n").expect("written");
    let mut files = Vec::new();
    for number in 0..bytes.div_ceil(FILE_BYTES).max(1) {
        let (folder, name) = if number % 2 == 0 {
            (".claude/projects/-shop", format!("s{number}.jsonl"))
        } else {
            (
                ".codex/sessions/2026/01/01",
                format!("rollout-s{number}.jsonl"),
            )
        };
        let folder = user.join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(name);
        write(&path, number, &project);
        files.push(path);
    }
    files
}

fn write(path: &Path, number: u64, project: &Path) {
    let mut out = BufWriter::new(File::create(path).expect("a file"));
    let began = Timestamp::now().minus(Duration::from_secs(20 * 86_400));
    let (mut written, mut turn) = (0, 0);
    while written < FILE_BYTES {
        for line in lines(number, turn, began, project) {
            let line = format!("{line}\n");
            written += line.len() as u64;
            out.write_all(line.as_bytes()).expect("written");
        }
        turn += 1;
    }
}

/// Returns the records of one turn: files read, an edit, tests on some, and what agents write besides.
fn lines(session: u64, turn: u64, began: Timestamp, project: &Path) -> Vec<Value> {
    let at = |second: u64| {
        began
            .plus(Duration::from_secs(session + turn * 120 + second))
            .to_string()
    };
    let id = |call: u64| format!("call_{session}_{turn}_{call}");
    let text = "let total = cart.items.iter().map(|item| item.price * item.count).sum::<u64>();\n"
        .repeat(60);
    let file = project.join(format!("src/m{}.rs", turn % 40));
    let output = format!(
        "{}test result: ok. 40 passed; 0 failed; 0 ignored\n",
        "test cart::adds ... ok\n".repeat(120)
    );
    let calls = [
        ("Read", "cat src/a.rs", &text),
        ("Edit", "", &text),
        ("Bash", "cargo test", &output),
    ];
    let calls = calls
        .into_iter()
        .take(2 + (turn % 2) as usize)
        .zip(1..)
        .collect::<Vec<_>>();
    if session.is_multiple_of(2) {
        let line = |second, kind: &str, content: Value| {
            json!({ "parentUuid": id(0), "isSidechain": false, "type": kind, "sessionId": format!("s{session}"), "cwd": project,
                "version": "2.1.330", "gitBranch": "main", "timestamp": at(second), "message": { "role": kind, "content": content } })
        };
        let mut all = vec![line(
            0,
            "user",
            json!(format!("Make the total of cart {turn} right.")),
        )];
        for ((tool, command, text), call) in calls {
            let input = json!({ "file_path": file, "command": command, "old_string": "a", "new_string": "b" });
            all.push(line(
                call * 10,
                "assistant",
                json!([{ "type": "tool_use", "id": id(call), "name": tool, "input": input }]),
            ));
            all.push(line(
                call * 10 + 5,
                "user",
                json!([{ "type": "tool_result", "tool_use_id": id(call), "content": text }]),
            ));
            all.push(json!({ "type": "file-history-snapshot", "snapshot": { "messageId": id(call), "trackedFileBackups": { "a": text } } }));
        }
        all.push(line(
            60,
            "assistant",
            json!([{ "type": "text", "text": "Done." }]),
        ));
        return all;
    }
    codex(session, turn, &at, &id, calls, project, &file)
}

/// A tool, its command, and what it gives; with the number of the call.
type Call<'a> = ((&'a str, &'a str, &'a String), u64);

fn codex(
    session: u64,
    turn: u64,
    at: &dyn Fn(u64) -> String,
    id: &dyn Fn(u64) -> String,
    calls: Vec<Call<'_>>,
    project: &Path,
    file: &Path,
) -> Vec<Value> {
    let line = |second, kind: &str, payload: Value| json!({ "timestamp": at(second), "type": kind, "payload": payload });
    let mut all = Vec::new();
    if turn == 0 {
        let meta = json!({ "id": format!("s{session}"), "cwd": project, "cli_version": "0.169.0", "source": "cli" });
        all.push(line(0, "session_meta", meta));
    }
    all.push(line(0, "event_msg", json!({ "type": "task_started" })));
    all.push(line(1, "event_msg", json!({ "type": "user_message", "message": format!("Make the total of cart {turn} right.") })));
    for ((tool, command, text), call) in calls {
        let (name, arguments) = if tool == "Edit" {
            let patch = format!(
                "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch",
                file.display()
            );
            ("apply_patch", json!({ "input": patch }))
        } else {
            ("exec_command", json!({ "cmd": command }))
        };
        all.push(line(call * 10, "response_item", json!({ "type": "function_call", "name": name, "call_id": id(call), "arguments": arguments.to_string() })));
        all.push(line(
            call * 10 + 5,
            "response_item",
            json!({ "type": "function_call_output", "call_id": id(call), "output": text }),
        ));
        all.push(line(
            call * 10 + 6,
            "event_msg",
            json!({ "type": "token_count", "info": { "note": text } }),
        ));
    }
    all.push(line(
        60,
        "event_msg",
        json!({ "type": "agent_message", "message": "Done." }),
    ));
    all
}
