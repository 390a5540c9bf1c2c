//! `status`, as a person and as a program reads it.

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::run;

#[test]
fn it_tells_of_agents_hooks_disk_and_decisions() {
    let daemon = Daemon::with(EVERY_STOP);
    for call in recorded("claude/h-normal") {
        play(&daemon, &call);
    }
    let status = &daemon.ask(&["status", "--json"])[0];
    assert_eq!(status["agents"][0]["agent"], json!("claude"));
    assert_eq!(
        (&status["agents"][0]["sessions"], &status["rejected"]),
        (&json!(1), &json!(0))
    );
    assert!(
        status["free_bytes"].as_u64() > Some(0) && status["intake_bytes"].as_u64() > Some(0),
        "{status}"
    );
    let hooks = &status["hooks"];
    let number = |key: &str| hooks[key].as_u64().expect(key);
    assert!(
        number("calls") + number("later") > 0 && number("p50_us") <= number("p99_us"),
        "{hooks}"
    );

    let output = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["status"]),
        b"",
    );
    let text = String::from_utf8(output.stdout).expect("text");
    for begin in [
        "daemon     version ",
        "agents     claude 1 session, heard of ",
        "hooks      ",
        "journal    ",
        "spool      0",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(begin)),
            "{begin}: {text}"
        );
    }
    assert!(
        text.contains(" inject ") && text.contains(" until journaled, "),
        "{text}"
    );
}
