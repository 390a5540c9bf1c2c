//! `tail` and `timeline`, also with `--follow`.

use super::*;

#[test]
fn a_timeline_knows_turns_and_when_calls_began() {
    let home = recorded();
    let all = lines(&home, &["timeline", "3f0a"]);
    let events = lines(
        &home,
        &["journal", "tail", "-n", "100", "--session", "3f0a"],
    );
    assert_eq!(all.len(), events.len(), "nothing is left out");
    let tests = all.iter().find(|line| line["seq"] == 9).expect("the tests");
    assert_eq!(tests["began_at"], "2026-11-20T09:00:30.000000Z");
    assert_eq!(tests["turn_began_at"], "2026-11-20T09:00:01.000000Z");
    assert_eq!(
        seqs(&home, &["timeline", "3f0a", "--turn", "2"]),
        [23, 24, 25, 26]
    );
    assert!(seqs(&home, &["timeline", "3f0a", "--turn", "9"]).is_empty());
}

#[test]
fn tail_leaves_out_what_is_not_asked_for() {
    let home = recorded();
    let rows: [(&[&str], &[u64]); 5] = [
        (&["--kind", "decided", "--agent", "claude"], &[13, 22, 26]),
        (
            &[
                "--kind",
                "prompt_submitted",
                "--project",
                "/home/ada/inventory",
            ],
            &[3, 23, 28],
        ),
        (&["--agent", "codex", "-n", "2"], &[46, 47]),
        (&["--session", "8c4e", "--kind", "agent_stopped"], &[31, 35]),
        (&["--project", "/home/bob"], &[]),
    ];
    for (filter, expected) in rows {
        assert_eq!(
            seqs(&home, &[&["journal", "tail"], filter].concat()),
            expected,
            "{filter:?}"
        );
    }
}

/// Begins something that follows, and returns its lines as they come.
fn follow(
    home: &Home,
    arguments: &[&str],
) -> (std::process::Child, impl FnMut() -> String + use<>) {
    let mut child = command(home, arguments)
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .expect("runs");
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || sender.send(line).is_err() {
                return;
            }
        }
    });
    let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
    let next = move || {
        let receiver = std::sync::Arc::clone(&receiver);
        wait(move || receiver.lock().expect("whole").recv().expect("a line"))
    };
    (child, next)
}

#[test]
fn tail_and_timeline_follow_a_running_daemon() {
    let daemon = Daemon::at(recorded());
    let (mut tail, mut tailed) = follow(
        &daemon.home,
        &[
            "journal",
            "tail",
            "-f",
            "-n",
            "1",
            "--agent",
            "claude",
            "--kind",
            "prompt_submitted",
        ],
    );
    let (mut timeline, mut lined) = follow(
        &daemon.home,
        &["timeline", "3f0a", "--turn", "3", "--follow"],
    );
    assert!(tailed().contains("Thanks"));
    for (session, agent, prompt) in [
        (
            "8c4e2d10-7f6b-4a39-b1c2-d3e4f5061728",
            "gemini",
            "to somebody else",
        ),
        (
            "3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d",
            "claude",
            "one more thing",
        ),
    ] {
        let event = if agent == "gemini" {
            "BeforeAgent"
        } else {
            "UserPromptSubmit"
        };
        let payload = json!({ "session_id": session, "cwd": "/home/ada/inventory", "hook_event_name": event, "prompt": prompt });
        let call = json!({ "agent": agent, "event": event, "at": "2026-11-20T10:00:00Z", "payload": payload });
        let output = run(
            &mut command(&daemon.home, &["journal", "append"]),
            call.to_string().as_bytes(),
        );
        assert!(output.status.success(), "{output:?}");
    }
    let seen = tailed();
    assert!(seen.contains("one more thing"), "{seen}");
    assert!(lined().starts_with("turn 3"));
    let seen = lined();
    assert!(
        seen.contains("one more thing") && seen.trim_start().starts_with("+0.000s"),
        "{seen}"
    );
    for child in [&mut tail, &mut timeline] {
        child.kill().expect("kills");
        child.wait().expect("is gone");
    }
}
