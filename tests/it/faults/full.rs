//! A disk that is full: what nobody can keep is counted and told, and the daemon says why it does not start.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::{run, text, wait_until};

/// A small disk below a daemon's home.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it, where this test may.
    fn below(home: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs"]);
        let mounted = mount.arg(home).output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then(|| Self(home.to_owned()))
    }

    fn fill(&self) -> PathBuf {
        let path = self.0.join("fill");
        let mut file = File::create(&path).expect("made");
        for bytes in [&[0; 4096][..], &[0]] {
            while file.write_all(bytes).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Sends a hook call of a session.
fn call(daemon: &Daemon, event: &str, more: &Value) {
    let mut call = json!({"session_id": "a", "cwd": daemon.home.path(), "hook_event_name": event});
    let more = more.as_object().expect("fields").clone();
    call.as_object_mut().expect("a call").extend(more);
    daemon.hook(&["claude"], call.to_string().as_bytes());
}

/// Sends three calls that are too large for what is left of a full disk.
fn use_tools(daemon: &Daemon) {
    for id in ["1", "2", "3"] {
        let command = format!("echo {}", "x".repeat(8000));
        let more = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command},
            "tool_response": {"stdout": "x"}});
        call(daemon, "PostToolUse", &more);
    }
}

/// Returns whether a command says that three calls are lost and not journaled yet.
fn tells(daemon: &Daemon, command: &str) -> bool {
    let line = "lost hook calls: 3;";
    let (_, said) = daemon.ask_code(&[command, "--json"]);
    said[0].to_string().contains(line)
}

/// Returns how many calls the journal says are lost, in one event.
fn journaled(daemon: &Daemon) -> u32 {
    let events = daemon.ask(&["journal", "tail", "--kind", "payload_rejected", "--json"]);
    let count = |event: &Value| {
        let event = event.to_string();
        let (_, count) = event
            .split_once("lost hook calls: ")
            .expect("a number of calls");
        let digits = count.find(|it: char| !it.is_ascii_digit());
        count[..digits.expect("more")]
            .parse::<u32>()
            .expect("a number")
    };
    assert_eq!(events.len(), 1, "{events:?}");
    count(&events[0])
}

#[test]
fn what_a_full_disk_loses_without_a_daemon_is_told_and_then_journaled() {
    let mut daemon = Daemon::prepared("");
    let Some(disk) = Disk::below(daemon.home.path()) else {
        return;
    };
    daemon.start();
    daemon.kill();
    let fill = disk.fill();
    use_tools(&daemon);
    assert!(tells(&daemon, "doctor"));
    fs::remove_file(fill).expect("room again");
    assert!(tells(&daemon, "doctor") && tells(&daemon, "status"));
    daemon.start();
    assert!(!tells(&daemon, "doctor") && !tells(&daemon, "status"));
    assert_eq!(journaled(&daemon), 3);
    daemon.verify();
}

#[test]
fn a_stop_on_a_full_disk_is_decided_about_when_there_is_room() {
    let mut daemon = Daemon::prepared("");
    let Some(disk) = Disk::below(daemon.home.path()) else {
        return;
    };
    fs::write(daemon.home.path().join("config.yml"), EVERY_STOP).expect("written");
    daemon.start();
    call(&daemon, "UserPromptSubmit", &json!({"prompt": "Fix it"}));
    let fill = disk.fill();
    use_tools(&daemon);
    call(&daemon, "Stop", &json!({}));
    fs::remove_file(fill).expect("room again");
    // A stop may be small enough for what is left of the log's last page; its decision is not.
    let stops = daemon.ask(&["journal", "tail", "--kind", "agent_stopped", "--json"]);
    wait_until(|| daemon.ask(&["audit", "--json"]).len() == stops.len());
    daemon.kill();
    daemon.start();
    let lost = 4 - u32::try_from(stops.len()).expect("few");
    assert_eq!(journaled(&daemon), lost);
    daemon.verify();
}

#[test]
fn a_daemon_that_a_full_disk_keeps_from_starting_says_so() {
    let mut daemon = Daemon::prepared("");
    let Some(disk) = Disk::below(daemon.home.path()) else {
        return;
    };
    daemon.start();
    daemon.kill();
    let fill = disk.fill();
    let program = env!("CARGO_BIN_EXE_checkpointd");
    for arguments in [&["daemon"][..], &["daemon", "--detach"]] {
        let output = run(&mut daemon.home.command(program, arguments), b"");
        let said = text(&output.stderr);
        assert!(!output.status.success());
        assert!(
            said.contains("No space left") || said.contains("the disk is full"),
            "{said}"
        );
        assert!(
            !said.contains("damaged") && !said.contains("signal"),
            "{said}"
        );
    }
    fs::remove_file(fill).expect("room again");
    daemon.start();
    daemon.verify();
}
