//! `kill -9` and a start at once, before the killed process has ended: it holds its locks until its last thread is gone.
//! `CHECKPOINTD_KILL_ROUNDS` makes it long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::git::commit_all;

/// Sessions that work all the time.
const CLIENTS: usize = 4;
/// Far above what a start takes on a machine that does much else. A start that waits in vain for a lock fails by itself.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Has a session work until it is told to stop: calls, and stops for which git is asked.
fn work(
    daemon_home: &crate::support::Home,
    project: &std::path::Path,
    name: &str,
    over: &AtomicBool,
) {
    let mut number = 0;
    while !over.load(Ordering::Relaxed) {
        number += 1;
        let event = ["UserPromptSubmit", "PostToolUse", "Stop"][number % 3];
        let call = json!({ "session_id": name, "hook_event_name": event, "cwd": project, "prompt": format!("p{number}"),
            "tool_name": "Bash", "tool_use_id": format!("{name}-{number}"), "tool_input": { "command": "ls" }, "tool_response": {},
            "last_assistant_message": format!("done {number}") });
        let mut client = daemon_home.client(&["claude"]);
        client
            .env("CHECKPOINTD_STOP_WAIT_MS", "300")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "300");
        let output = crate::support::run(&mut client, call.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn a_daemon_that_is_started_as_its_forerunner_is_killed_is_ready_soon() {
    let rounds = std::env::var("CHECKPOINTD_KILL_ROUNDS").ok();
    let rounds: usize = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(6);
    let project = tempfile::tempdir().expect("a folder");
    std::fs::write(project.path().join("lib.rs"), "fn a() {}\n").expect("writes");
    commit_all(project.path());
    std::fs::write(project.path().join("lib.rs"), "fn b() {}\n").expect("writes");
    let mut daemon = Daemon::with(EVERY_STOP);
    let over = AtomicBool::new(false);
    let home = daemon.home.clone();
    let times: Vec<Duration> = std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (home, project, over) = (&home, project.path(), &over);
            scope.spawn(move || work(home, project, &format!("s{client}"), over));
        }
        let round = |_| {
            std::thread::sleep(Duration::from_millis(150));
            let mut old = daemon.child.take().expect("it runs");
            old.kill().expect("kills");
            let began = Instant::now();
            daemon.start();
            let took = began.elapsed();
            old.wait().expect("it is gone");
            took
        };
        let times = (0..rounds).map(round).collect();
        over.store(true, Ordering::Relaxed);
        times
    });
    let slowest = times.iter().max().expect("a round");
    println!("{times:?}");
    assert!(*slowest < READY_WITHIN, "{times:?}");
    daemon.verify();
}
