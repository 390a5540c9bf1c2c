//! A daemon that is wedged, flooded or slowed: hooks return within what the client promises, nothing acknowledged is
//! lost, memory stays bounded, and one slow session holds up no other.
//!
//! Times are held against the client's own bounds with much slack. `CHECKPOINTD_OVERLOAD=full` takes the full sizes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::strace::Trace;
use crate::support::{put_script, run, wait_until};

/// What a slow machine may take on top of a bound of the client.
const SLACK: Duration = Duration::from_secs(20);
/// What a stop waits at most in these tests.
const STOP_WAIT_MS: &str = "2000";

/// Returns the full size where that was asked for, else the short one.
fn size(short: usize, full: usize) -> usize {
    if std::env::var("CHECKPOINTD_OVERLOAD").is_ok_and(|value| value == "full") {
        full
    } else {
        short
    }
}

fn payload(session: &str, event: &str, number: usize) -> Value {
    let mut payload =
        json!({ "session_id": session, "cwd": "/p", "prompt_id": "p", "hook_event_name": event });
    match event {
        "UserPromptSubmit" => payload["prompt"] = json!(format!("prompt {number}")),
        "Stop" => payload["stop_hook_active"] = json!(false),
        _ => {
            payload["tool_name"] = json!("Bash");
            payload["tool_use_id"] = json!(format!("{session}-{number}"));
            payload["tool_input"] = json!({ "command": format!("echo {number}") });
            payload["tool_response"] = json!({ "stdout": "x".repeat(200) });
        }
    }
    payload
}

/// Calls a hook and returns how long it took, and what it printed. It exits 0, and its wait has an end.
fn call(daemon: &Daemon, payload: &Value) -> (Duration, String) {
    let event = payload["hook_event_name"].as_str().expect("a word");
    let began = Instant::now();
    let mut client = daemon.home.client(&["claude", event]);
    client
        .env("CHECKPOINTD_STOP_WAIT_MS", STOP_WAIT_MS)
        .env_remove("CHECKPOINTD_PLAIN_WAIT_MS");
    let output = run(&mut client, payload.to_string().as_bytes());
    let took = began.elapsed();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        took < Duration::from_secs(2) + SLACK,
        "{event} took {took:?}"
    );
    (took, String::from_utf8(output.stdout).expect("text"))
}

fn signal(daemon: &Daemon, signal: &str) {
    assert!(
        Command::new("kill")
            .args([signal, &daemon.pid().to_string()])
            .status()
            .expect("kill runs")
            .success()
    );
}

/// How many different tool calls, prompts and stops of a session the journal has.
fn journaled(daemon: &Daemon, session: &str) -> usize {
    let (_, lines) = daemon.ask_code(&["timeline", session, "--json"]);
    let is_call = |line: &&Value| {
        ["tool_finished", "prompt_submitted", "agent_stopped"]
            .contains(&line["kind"].as_str().unwrap_or_default())
    };
    lines.iter().filter(is_call).count()
}

/// The most memory that the daemon ever had, in MB.
fn peak_mb(daemon: &Daemon) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("a process");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .expect("a number")
        / 1024
}

/// Appends calls by one command, in pieces.
fn append(daemon: &Daemon, calls: impl Iterator<Item = Value>) {
    let lines: Vec<String> = calls
        .map(|payload| json!({ "agent": "claude", "payload": payload }).to_string())
        .collect();
    for piece in lines.chunks(5_000) {
        let mut command = daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "append"]);
        let output = run(&mut command, piece.join("\n").as_bytes());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn hooks_return_while_the_daemon_is_stopped_and_all_arrive_when_it_goes_on() {
    let daemon = Daemon::with(EVERY_STOP);
    signal(&daemon, "-STOP");
    let mut plain = Duration::ZERO;
    for number in 0..20 {
        plain = plain.max(call(&daemon, &payload("wedged", "PostToolUse", number)).0);
    }
    let (stop, _) = call(&daemon, &payload("wedged", "Stop", 20));
    signal(&daemon, "-CONT");
    wait_until(|| daemon.home.waiting() == 0 && journaled(&daemon, "wedged") == 21);
    daemon.verify();
    println!(
        "daemon stopped: a tool call took {} ms at most, a stop {} ms; 0 of 21 lost",
        plain.as_millis(),
        stop.as_millis()
    );
}

#[test]
fn very_many_hooks_at_once_all_return_and_all_arrive() {
    let daemon = Daemon::with(EVERY_STOP);
    let count = size(150, 1_000);
    let slowest = std::thread::scope(|scope| {
        let daemon = &daemon;
        let start =
            |number| scope.spawn(move || call(daemon, &payload("flood", "PostToolUse", number)).0);
        let workers: Vec<_> = (0..count).map(start).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("no panic"))
            .max()
            .expect("some")
    });
    let spooled = daemon.home.waiting();
    wait_until(|| daemon.home.waiting() == 0 && journaled(&daemon, "flood") == count);
    daemon.verify();
    let (slowest, peak) = (slowest.as_millis(), peak_mb(&daemon));
    println!(
        "{count} hooks at once: slowest {slowest} ms, {spooled} by the spool, 0 lost, {peak} MB at most"
    );
}

#[test]
fn a_slow_disk_delays_no_hook_beyond_its_bound() {
    let mut daemon = Daemon::with(EVERY_STOP);
    daemon.kill();
    let trace = Trace::to(daemon.home.path().join("trace"));
    let slow = [
        "-e",
        "trace=fdatasync",
        "-e",
        "inject=fdatasync:delay_enter=600000",
    ];
    assert!(daemon.start_under(&trace.command(&slow)));
    let mut slowest = call(&daemon, &payload("disk", "UserPromptSubmit", 0)).0;
    for number in 1..10 {
        slowest = slowest.max(call(&daemon, &payload("disk", "PostToolUse", number)).0);
    }
    slowest = slowest.max(call(&daemon, &payload("disk", "Stop", 10)).0);
    wait_until(|| daemon.home.waiting() == 0 && journaled(&daemon, "disk") == 11);
    // Killed while it may be waiting for the disk.
    daemon.kill();
    daemon.start();
    assert_eq!(journaled(&daemon, "disk"), 11);
    daemon.verify();
    println!(
        "a disk that takes 600 ms for a sync: slowest hook {} ms, 0 of 11 lost",
        slowest.as_millis()
    );
}

#[test]
fn a_huge_transcript_takes_neither_the_stop_nor_the_memory() {
    let daemon = Daemon::with(EVERY_STOP);
    let transcript = daemon.home.path().join("huge.jsonl");
    let line = |kind: &str, content: Value| {
        json!({ "type": kind, "uuid": "u", "sessionId": "huge", "timestamp": "2026-11-21T21:19:03.095Z",
            "message": { "role": kind, "content": content } })
        .to_string()
            + "\n"
    };
    let mb = size(20, 200);
    let filler = line(
        "assistant",
        json!([{ "type": "text", "text": "word ".repeat(2_000) }]),
    );
    let mut text = filler.repeat(mb * 1024 * 1024 / filler.len());
    text.push_str(&line("user", json!("do it")));
    fs::write(&transcript, &text).expect("writes");
    // One line of many megabytes is worse than many lines.
    text.push_str(&line(
        "assistant",
        json!([{ "type": "text", "text": "x".repeat(8 * 1024 * 1024) }]),
    ));
    let before = peak_mb(&daemon);
    for (number, content) in [None, Some(&text)].into_iter().enumerate() {
        if let Some(content) = content {
            fs::write(&transcript, content).expect("writes");
        }
        let mut prompt = payload("huge", "UserPromptSubmit", number);
        prompt["prompt_id"] = json!(number.to_string());
        call(&daemon, &prompt);
        let mut stop = payload("huge", "Stop", number);
        stop["prompt_id"] = json!(number.to_string());
        stop["transcript_path"] = json!(transcript);
        let (took, _) = call(&daemon, &stop);
        let bytes = fs::metadata(&transcript).expect("there").len();
        println!(
            "a transcript of {} MB: the stop took {} ms",
            bytes / 1024 / 1024,
            took.as_millis()
        );
    }
    // A stop whose client has gone on is decided all the same.
    let decisions = || daemon.ask_code(&["audit", "--session", "huge", "--json"]).1;
    wait_until(|| decisions().len() == 2);
    let after = peak_mb(&daemon);
    println!("memory: {before} MB before, {after} MB at most");
    assert!(after < before + 60, "{before} MB before, {after} MB after");
}

#[test]
fn very_many_sessions_stay_within_memory_and_the_next_one_is_served() {
    let daemon = Daemon::with(EVERY_STOP);
    let count = size(300, 10_000);
    let began = Instant::now();
    append(
        &daemon,
        (0..count).map(|number| payload(&format!("s{number}"), "UserPromptSubmit", number)),
    );
    let took = began.elapsed();
    assert_eq!(daemon.ask(&["sessions", "--json"]).len(), count);
    call(&daemon, &payload("next", "UserPromptSubmit", 0));
    let (stop, reply) = call(&daemon, &payload("next", "Stop", 1));
    assert!(reply.contains("block"), "{reply}");
    let peak = peak_mb(&daemon);
    println!(
        "{count} sessions in {} s: {peak} MB at most, the next stop took {} ms",
        took.as_secs(),
        stop.as_millis()
    );
    assert!(peak < 400, "{peak} MB");
}

#[test]
fn a_session_of_very_many_events_is_decided_about_in_time() {
    let daemon = Daemon::with(EVERY_STOP);
    let count = size(3_000, 100_000);
    call(&daemon, &payload("long", "UserPromptSubmit", 0));
    append(
        &daemon,
        (1..count).map(|number| payload("long", "PostToolUse", number)),
    );
    let (stop, reply) = call(&daemon, &payload("long", "Stop", count));
    // A stop whose client has gone on is decided all the same.
    let decisions = || daemon.ask_code(&["audit", "--session", "long", "--json"]).1;
    wait_until(|| decisions().len() == 1);
    let peak = peak_mb(&daemon);
    let answered = if reply.is_empty() {
        "not answered"
    } else {
        "answered"
    };
    println!(
        "a session of {count} events: {peak} MB at most, its stop took {} ms and was {answered}",
        stop.as_millis()
    );
    assert!(peak < 600, "{peak} MB");
}

/// Writes a `git` that hangs in one folder until a file is there.
fn hanging_git(bin: &Path, slow: &Path, release: &Path) {
    let real = run(Command::new("sh").args(["-c", "command -v git"]), b"").stdout;
    let real = String::from_utf8(real).expect("text");
    let script = format!(
        "#!/bin/sh\ncase \"$PWD $*\" in *{}*) while [ ! -e {} ]; do sleep 0.05; done;; esac\nexec {} \"$@\"\n",
        slow.display(),
        release.display(),
        real.trim()
    );
    fs::create_dir_all(bin).expect("a folder");
    put_script(&bin.join("git"), &script);
}

#[test]
fn a_session_whose_git_hangs_holds_up_no_other_ones_stop() {
    let mut daemon = Daemon::prepared("");
    let home = daemon.home.path().to_owned();
    let config = format!(
        "{EVERY_STOP}unchanged: message\ndocs_only: message\nhooks: {{stop_wait: 60s}}\ndaemon: {{path: [{}]}}\n",
        home.join("bin").display()
    );
    fs::write(home.join("config.yml"), config).expect("writes");
    let (slow, quick, release) = (home.join("slow"), home.join("quick"), home.join("release"));
    for project in [&slow, &quick] {
        fs::create_dir(project).expect("a folder");
        assert!(
            Command::new("git")
                .args(["init", "-q"])
                .current_dir(project)
                .status()
                .expect("git runs")
                .success()
        );
    }
    hanging_git(&home.join("bin"), &slow, &release);
    daemon.start();
    let stop_in = |project: &Path, session: &str| {
        let mut prompt = payload(session, "UserPromptSubmit", 0);
        prompt["cwd"] = json!(project);
        call(&daemon, &prompt);
        let mut stop = payload(session, "Stop", 1);
        stop["cwd"] = json!(project);
        let output = run(
            &mut daemon.home.client(&["claude", "Stop"]),
            stop.to_string().as_bytes(),
        );
        assert_eq!(output.status.code(), Some(0));
        output.stdout
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let hanging = scope.spawn(|| {
            let reply = stop_in(&slow, "slow");
            is_over.store(true, Ordering::SeqCst);
            reply
        });
        wait_until(|| {
            let (_, lines) = daemon.ask_code(&["timeline", "slow", "--json"]);
            lines.iter().any(|line| line["kind"] == "agent_stopped")
                || is_over.load(Ordering::SeqCst)
        });
        let reply = stop_in(&quick, "quick");
        let overtook = !is_over.load(Ordering::SeqCst);
        fs::write(&release, "").expect("writes");
        let late = hanging.join().expect("no panic");
        assert!(reply.starts_with(b"{"), "the quick one is answered");
        assert!(
            overtook || late.starts_with(b"{"),
            "git's own limit ends the slow one, which is answered then"
        );
        println!("git hangs in one session: another one's stop overtook it: {overtook}");
    });
    daemon.verify();
}
