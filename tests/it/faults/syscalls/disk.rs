//! A disk that is full or fails for a while, under a daemon that runs.

use super::*;
use crate::support::strace::Tracer;

/// Starts a daemon whose system calls on one file of the journal fail for a while.
fn with_faults_on(file: &str, options: &[&str]) -> (Daemon, Trace) {
    let mut daemon = Daemon::with(EVERY_STOP);
    play(&daemon, "before", &file);
    daemon.kill();
    let path = daemon.home.path().join("journal").join(file);
    let trace = Trace::to(daemon.home.path().join("trace"));
    let mut words = vec!["-P", path.to_str().expect("text")];
    words.extend(options);
    assert!(
        daemon.start_under(&trace.command(&words)),
        "{}",
        daemon.log()
    );
    (daemon, trace)
}

/// All is as it should be, without a restart.
fn is_well_again(daemon: &Daemon, sessions: &[&str]) {
    wait_until(|| daemon.home.waiting() == 0 && degraded(daemon).is_empty());
    for session in sessions {
        assert_eq!(missing(daemon, session), 0, "{session}: {}", daemon.log());
    }
    daemon.verify();
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
}

#[test]
fn a_full_disk_is_told_while_it_lasts_and_forgotten_when_there_is_room_again() {
    let first = "intake/00000000000000000001.log";
    let (daemon, _trace) = with_faults_on(
        first,
        &[
            "-e",
            "trace=pwrite64",
            "-e",
            "inject=pwrite64:error=ENOSPC:when=3+",
        ],
    );
    let full = Tracer::of(daemon.pid());
    // strace counts in each thread, so the first calls of another thread still find room.
    let mut said = Vec::new();
    for number in 0..6 {
        let (event, payload) = hook_call("full", number);
        call(
            &mut daemon.home.client(&["claude", event]),
            &payload,
            &"full",
        );
        said.extend(degraded(&daemon));
    }
    assert!(
        said.iter()
            .any(|line| line.to_string().contains("No space left")),
        "{said:?}: {}",
        daemon.log()
    );
    drop(full);
    for number in 6..=CALLS {
        let (event, payload) = hook_call("full", number);
        call(
            &mut daemon.home.client(&["claude", event]),
            &payload,
            &"full",
        );
    }
    is_well_again(&daemon, &["before", "full"]);
}

#[test]
fn a_segment_whose_sync_has_failed_is_written_anew_before_anything_more_is_promised() {
    let first = "intake/00000000000000000001.log";
    let open = |daemon: &Daemon| {
        let path = daemon.home.path().join("journal").join(first);
        std::fs::File::open(path).expect("there")
    };
    let inode = |file: &std::fs::File| {
        std::os::unix::fs::MetadataExt::ino(&file.metadata().expect("its metadata"))
    };
    let (daemon, _trace) = with_faults_on(
        first,
        &[
            "-e",
            "trace=fdatasync",
            "-e",
            "inject=fdatasync:error=EIO:when=2..3",
        ],
    );
    // Kept open, so that its number is not given to another file.
    let before = open(&daemon);
    for session in ["first", "second"] {
        play(&daemon, session, &"sync");
        is_well_again(&daemon, &["before", session]);
    }
    assert!(
        daemon.log().contains("Rewrote the intake segment"),
        "{}",
        daemon.log()
    );
    assert_ne!(
        inode(&open(&daemon)),
        inode(&before),
        "the same file, whose pages nobody can trust"
    );
}

/// Appends as much as makes the log seal a segment.
fn fill_a_segment(daemon: &Daemon, round: usize) {
    let output = "x".repeat(50_000);
    let line = |number: u32| {
        let payload = serde_json::json!({
            "session_id": "filling",
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_use_id": format!("{round} {number}"),
            "tool_input": {"command": format!("echo {number}")},
            "tool_response": {"stdout": output},
        });
        serde_json::json!({"agent": "claude", "payload": payload}).to_string()
    };
    let lines: Vec<String> = (0..100).map(line).collect();
    let append = ["journal", "append"];
    let mut command = daemon
        .home
        .command(env!("CARGO_BIN_EXE_checkpointd"), &append);
    // While the store is opened again, the rest is refused.
    run(&mut command, lines.join("\n").as_bytes());
}

#[test]
fn a_store_that_takes_nothing_more_is_opened_again_while_hooks_go_on() {
    let (daemon, _trace) = with_faults_on(
        "store/db",
        &[
            "-e",
            "trace=pwrite64,sync_file_range",
            "-e",
            "inject=pwrite64:error=EIO:when=2..3",
        ],
    );
    // The store writes when a segment of the log is sealed.
    let mut sessions = Vec::new();
    while !daemon.log().contains("accepts events again") {
        assert!(
            sessions.len() < 100,
            "the store was never refused: {}",
            daemon.log()
        );
        sessions.push(format!("during-{}", sessions.len()));
        play(&daemon, &sessions[sessions.len() - 1], &"store");
        fill_a_segment(&daemon, sessions.len());
    }
    play(&daemon, "after", &"store");
    let all: Vec<_> = ["before", "after"]
        .into_iter()
        .chain(sessions.iter().map(String::as_str))
        .collect();
    is_well_again(&daemon, &all);
    let (_, audit) = daemon.ask_code(&["audit", "--session", "after", "--json"]);
    assert_eq!(audit.len(), 1, "{}", daemon.log());
}
