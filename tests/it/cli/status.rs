//! `status`, as a person and as a program reads it.

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::{Home, put_script, run, wait_until};

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
        "agents     claude 1 session, last event ",
        "hooks      ",
        "journal    ",
        "Last stops",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(begin)),
            "{begin}: {text}"
        );
    }
    assert!(
        text.contains(" sent, lost ")
            && text.contains(" until an event is safe on disk")
            && !text.contains("identity"),
        "{text}"
    );
}

#[test]
fn a_listener_that_fails_is_named_until_it_works() {
    let place = tempfile::tempdir().expect("a folder");
    let program = place.path().join("notify");
    let settings = format!(
        "min_turn: 1h\nlisteners: {{agent_finished: [[{}, now]]}}\n",
        program.display()
    );
    let daemon = Daemon::with(&settings);
    let turn = |number: u32| {
        for (event, key, said) in [
            ("UserPromptSubmit", "prompt", format!("do {number}")),
            ("Stop", "last_assistant_message", format!("did {number}")),
        ] {
            let call =
                json!({ "session_id": "s", "hook_event_name": event, key: said, "cwd": "/" });
            daemon.hook(&["claude"], call.to_string().as_bytes());
        }
    };
    let warnings = || daemon.ask(&["status", "--json"])[0]["warnings"].to_string();
    turn(1);
    wait_until(|| warnings().contains("/notify now` failed: its program does not exist"));
    put_script(&program, "#!/bin/sh\nexit 3\n");
    turn(2);
    wait_until(|| warnings().contains("/notify now` failed: exit status: 3"));
    put_script(&program, "#!/bin/sh\nexit 0\n");
    turn(3);
    wait_until(|| warnings() == "[]");
}

/// What the page flags is asked for in `tests/web`; here is what it reads.
#[test]
fn a_projects_file_with_a_mistake_is_named_everywhere() {
    let project = tempfile::tempdir().expect("a folder");
    std::fs::write(project.path().join(".checkpointd.yml"), "enabeld: false\n").expect("writes");
    let daemon = Daemon::with("{}");
    let call = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "go", "cwd": project.path() });
    daemon.hook(&["claude"], call.to_string().as_bytes());
    let broken = &daemon.ask(&["status", "--json"])[0]["broken_files"][0];
    assert_eq!(broken["project"], json!(project.path()));
    let problem = broken["problem"].as_str().expect("text");
    assert!(
        problem.starts_with(".checkpointd.yml was not used: "),
        "{problem}"
    );
    let said = |arguments: &[&str]| {
        let output = run(
            &mut daemon
                .home
                .command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
            b"",
        );
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(said(&["status"]).contains(".checkpointd.yml was not used:"));
    let doctor = said(&["doctor", "--json"]);
    assert!(
        doctor.contains(".checkpointd.yml was not used:"),
        "{doctor}"
    );
}

#[test]
fn before_anything_has_happened_lists_are_empty_and_say_what_to_do() {
    let home = Home::new();
    let say = |arguments: &[&str]| {
        let output = run(
            &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
            b"",
        );
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    for command in ["status", "sessions"] {
        assert!(say(&[command]).contains("`checkpointd init`"), "{command}");
    }
    assert_eq!(say(&["sessions", "--json"]), "");
    assert_eq!(say(&["audit"]), "No decisions.\n");
    assert_eq!(
        say(&["audit", "--project", "/typo"]),
        "No decisions. There is no folder /typo.\n"
    );
    assert!(!home.path().join("journal").exists(), "nothing was made");
}
