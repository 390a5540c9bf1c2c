//! The daemon's log file: put aside while the daemon runs, few of them kept, and free of what agents say.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::support::{Home, run, wait_until};

/// The size at which a log is put aside.
const LOG_BYTES: usize = 8 * 1024 * 1024;

/// A daemon that was started in the background; stopped at the end.
struct Background(Home);

impl Background {
    fn checkpointd(&self, arguments: &[&str]) -> std::process::Output {
        run(
            &mut self.0.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
            b"",
        )
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.checkpointd(&["daemon", "stop"]);
    }
}

/// Has the daemon log until it has put its log aside. Every change of the configuration, and every payload that cannot be
/// read, is a line.
fn fill_log(daemon: &Background, logs: &Path) {
    let config = daemon.0.path().join("config.yml");
    let payload = json!({ "session_id": "s", "cwd": "/p", "hook_event_name": "UserPromptSubmit", "prompt": "content-4711" });
    let is_put_aside =
        || fs::read_to_string(logs.join("daemon.log.2")).is_ok_and(|text| text == "older");
    let mut number = 0;
    while !is_put_aside() {
        number += 1;
        assert!(number < 2_000, "the log is never put aside");
        fs::write(&config, format!("min_turn: {number}s\n")).expect("writes");
        run(
            &mut daemon.0.client(&["claude", "UserPromptSubmit"]),
            payload.to_string().as_bytes(),
        );
        run(
            &mut daemon.0.client(&["claude", "Stop"]),
            b"no JSON content-4711",
        );
    }
}

#[test]
fn logs_are_put_aside_while_the_daemon_runs_and_hold_no_content() {
    let daemon = Background(Home::new());
    let logs = daemon.0.path().join("logs");
    fs::create_dir(&logs).expect("a folder");
    // Two older ones; of a third nobody may keep anything.
    fs::write(
        logs.join("daemon.log"),
        "current\n".repeat((LOG_BYTES - 600) / 8),
    )
    .expect("writes");
    fs::write(logs.join("daemon.log.1"), "older").expect("writes");
    fs::write(logs.join("daemon.log.2"), "oldest").expect("writes");
    let started = daemon.checkpointd(&["daemon", "--detach"]);
    assert!(
        started.status.success(),
        "{}",
        String::from_utf8_lossy(&started.stderr)
    );
    let pid = daemon.checkpointd(&["daemon", "status", "--json"]).stdout;
    fill_log(&daemon, &logs);
    let size = |name: &str| fs::metadata(logs.join(name)).expect("there").len() as usize;
    wait_until(|| size("daemon.log") > 0);
    assert!(size("daemon.log") < LOG_BYTES && size("daemon.log.1") <= LOG_BYTES);
    let mut names: Vec<_> = fs::read_dir(&logs)
        .expect("listed")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["daemon.log", "daemon.log.1", "daemon.log.2"]);
    for name in names {
        let text = fs::read_to_string(logs.join(&name)).expect("text");
        assert!(!text.contains("4711"), "{name:?} holds what an agent said");
    }
    assert_eq!(
        logs.join("daemon.log")
            .metadata()
            .expect("there")
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
    // What the newer file is told goes on there, and it is the same daemon.
    let text = fs::read_to_string(logs.join("daemon.log")).expect("text");
    assert!(
        text.lines().all(|line| line.starts_with('{')),
        "whole lines: {text}"
    );
    let same = daemon.checkpointd(&["daemon", "status", "--json"]).stdout;
    let pid_of = |bytes: &[u8]| {
        serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON")["pid"].clone()
    };
    assert_eq!(pid_of(&pid), pid_of(&same));
}
