//! The socket that is handed over; completions and manual pages.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Home, run, text};

const CHECKPOINTD: &str = env!("CARGO_BIN_EXE_checkpointd");

#[test]
fn a_socket_that_is_handed_over_is_served_and_left_in_place() {
    let home = Home::new();
    let socket = home.socket();
    let listener = UnixListener::bind(&socket).expect("binds");
    let log = File::create(home.path().join("log")).expect("a log");
    let script = format!("LISTEN_PID=$$ LISTEN_FDS=1 exec '{CHECKPOINTD}' daemon 3<&0 0</dev/null");
    let mut command = home.command("sh", &["-c", &script]);
    let mut child = command
        .stdin(OwnedFd::from(listener))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("starts");
    // The manager's socket takes connections before the daemon is up: a stop waits for it and is answered.
    let stop = json!({"session_id":"one","hook_event_name":"Stop","cwd":home.path(),"stop_hook_active":false});
    let output = run(&mut home.client(&["claude"]), stop.to_string().as_bytes());
    assert_eq!(
        (output.status.code(), home.spooled().len()),
        (Some(0), 0),
        "{output:?}"
    );
    let audit = run(&mut home.command(CHECKPOINTD, &["audit", "--json"]), b"");
    let line: Value = serde_json::from_slice(&audit.stdout).expect("one decision");
    assert_eq!(line["reason"], "no_turn_start");
    assert_eq!(
        run(&mut home.command(CHECKPOINTD, &["daemon", "stop"]), b"")
            .status
            .code(),
        Some(0)
    );
    assert!(child.wait().expect("is gone").success());
    assert!(socket.exists(), "the socket is the manager's");
}

#[test]
fn shells_are_told_the_commands_and_the_sessions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&mut home.command(CHECKPOINTD, &["completions", shell]), b"");
        assert!(
            output.status.success() && text(&output.stdout).contains("COMPLETE"),
            "{shell}: {output:?}"
        );
    }
    let complete = |words: &[&str]| {
        let mut command = home.command(CHECKPOINTD, &[&["--", "checkpointd"], words].concat());
        command.env("COMPLETE", "fish");
        text(&run(&mut command, b"").stdout)
    };
    assert!(complete(&["ti"]).starts_with("timeline"));
    assert!(complete(&["journal", "state", ""]).starts_with("last"));
    let call = json!({"agent":"codex","payload":{"session_id":"5d0c9d4e-7f2a-4c40-9a51-0b6d5a9f6f01","hook_event_name":"SessionStart","cwd":"/","source":"startup"}});
    let mut daemon = home
        .command(CHECKPOINTD, &["daemon"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    crate::support::wait_until(|| {
        run(&mut home.command(CHECKPOINTD, &["daemon", "status"]), b"")
            .status
            .success()
    });
    run(
        &mut home.command(CHECKPOINTD, &["journal", "append"]),
        call.to_string().as_bytes(),
    );
    let sessions = complete(&["journal", "state", "5d0c"]);
    assert!(
        sessions.starts_with("5d0c9d4e-7f2a-4c40-9a51-0b6d5a9f6f01\tcodex: (no title), idle, "),
        "{sessions}"
    );
    run(&mut home.command(CHECKPOINTD, &["daemon", "stop"]), b"");
    daemon.wait().expect("is gone");
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Home::new();
    let folder = home.path().join("man");
    let output = run(
        &mut home.command(
            CHECKPOINTD,
            &["completions", "--man", &folder.to_string_lossy()],
        ),
        b"",
    );
    assert!(output.status.success(), "{output:?}");
    for page in [
        "checkpointd.1",
        "checkpointd-audit.1",
        "checkpointd-daemon-service-logs.1",
    ] {
        assert!(
            fs::read_to_string(folder.join(Path::new(page)))
                .expect(page)
                .contains(".SH NAME")
        );
    }
}
