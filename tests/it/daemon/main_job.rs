//! The main job with the real client, the real daemon and recorded hook calls.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::{Home, run, wait_until};

fn decisions(daemon: &Daemon) -> Vec<(String, String, String)> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let line = |line: &Value| {
        (
            word(&line["agent"]),
            word(&line["reason"]),
            word(&line["delivery"]),
        )
    };
    daemon.ask(&["audit", "--json"]).iter().map(line).collect()
}

#[test]
fn each_agent_is_blocked_once_in_its_dialect_and_then_let_go() {
    let daemon = Daemon::with(EVERY_STOP);
    for (scenario, dialect) in [
        ("claude/h-stop-block-once", json!({ "decision": "block" })),
        ("codex/h-stop-block-once", json!({ "decision": "block" })),
        ("gemini/h-stop-deny-once", json!({ "decision": "deny" })),
    ] {
        let mut replies = Vec::new();
        for mut call in recorded(scenario) {
            // The recorded feedback was another program's; ours comes back in its place.
            if let Some(reason) = replies
                .first()
                .and_then(|reply: &Value| reply["reason"].as_str())
                && call["event"] == "BeforeAgent"
            {
                call["payload"]["prompt"] = json!(reason);
            }
            let printed = play(&daemon, &call);
            if !printed.is_empty() {
                replies.push(serde_json::from_str::<Value>(&printed).expect("one JSON object"));
            }
        }
        assert_eq!(replies.len(), 1, "{scenario}");
        assert_eq!(replies[0]["decision"], dialect["decision"], "{scenario}");
        let reason = replies[0]["reason"].as_str().expect("a text");
        assert!(reason.starts_with("[TeleClaude Checkpoint] - "), "{reason}");
        assert_eq!(
            replies[0].as_object().expect("an object").len(),
            2,
            "no field that a host does not know"
        );
    }
    let expected = [
        ("claude", "generic", "confirmed"),
        ("claude", "block_budget", "none"),
        ("codex", "generic", "confirmed"),
        ("codex", "block_budget", "none"),
        ("gemini", "generic", "confirmed"),
        ("gemini", "block_budget", "none"),
    ];
    let expected: Vec<_> = expected
        .map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()))
        .into();
    assert_eq!(decisions(&daemon), expected);
    daemon.verify();
}

#[test]
fn read_commands_say_the_same_with_the_daemon_and_without() {
    let mut daemon = Daemon::with(EVERY_STOP);
    for scenario in ["claude/t-main", "codex/t-main", "gemini/h-resume"] {
        recorded(scenario)
            .iter()
            .for_each(|call| drop(play(&daemon, call)));
    }
    let questions: [&[&str]; 8] = [
        &["sessions", "--json"],
        &["audit", "--json"],
        &["explain", "--json"],
        &["state", "last", "--json"],
        &["state", "594047f2", "--at", "12", "--json"],
        &["timeline", "594047f2", "--json"],
        &["tail", "-n", "500", "--json"],
        &["journal", "export"],
    ];
    // Deliveries that wait for their confirmation must not be settled between the two rounds.
    let stop = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]),
        b"",
    );
    assert_eq!(
        stop.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&stop.stderr)
    );
    daemon
        .child
        .take()
        .expect("it ran")
        .wait()
        .expect("it is gone");
    let without: Vec<_> = questions
        .iter()
        .map(|question| daemon.ask(question))
        .collect();
    assert!(without.iter().all(|lines| !lines.is_empty()));
    daemon.start();
    let started = |line: &Value| line["kind"] == "daemon_started";
    for (question, without) in questions.iter().zip(without) {
        let mut with = daemon.ask(question);
        let new = with.iter().filter(|line| started(line)).count()
            > without.iter().filter(|line| started(line)).count();
        if new {
            with.pop();
        }
        assert_eq!(with, without, "{question:?}");
    }
}

#[test]
fn two_identical_calls_are_one_event_and_one_of_them_is_answered() {
    let daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("claude/h-stop-block-once");
    let calls: Vec<_> = calls
        .iter()
        .filter(|call| call["event"] != "SessionEnd")
        .collect();
    for call in &calls {
        let (agent, event) = (
            call["agent"].as_str().expect("a word"),
            call["event"].as_str().expect("a word"),
        );
        let payload = call["payload"].to_string();
        // As the host does it: both at the same time.
        let replies: Vec<String> = std::thread::scope(|scope| {
            let twins: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| daemon.hook(&[agent, event], payload.as_bytes())))
                .collect();
            twins
                .into_iter()
                .map(|twin| twin.join().expect("no panic"))
                .collect()
        });
        assert!(
            replies.iter().filter(|reply| !reply.is_empty()).count() <= 1,
            "{event}: {replies:?}"
        );
    }
    let events = daemon.ask(&["timeline", "last", "--json"]);
    let hooks = events
        .iter()
        .filter(|line| line.get("host").is_some())
        .count();
    assert_eq!(hooks, calls.len(), "each call once");
    assert_eq!(
        daemon
            .ask(&["audit", "--verdict", "inject", "--json"])
            .len(),
        1
    );
    daemon.verify();
}

#[test]
fn bad_payloads_are_kept_counted_and_answered_with_a_reason() {
    let daemon = Daemon::with(EVERY_STOP);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!(
        r#"{{"session_id":"{}","x":"{}"}}"#,
        "a".repeat(20),
        "x".repeat(50_000_000)
    );
    let unknown = r#"{"session_id":"abc","hook_event_name":"BrandNewEvent","x":1}"#;
    for (agent, payload) in [
        ("claude", &b""[..]),
        ("claude", b"garbage"),
        ("claude", b"[1,2]"),
        ("claude", b"{\"session_id\":\"\xff\xfe\"}"),
        ("claude", br#"{"hook_event_name":"Stop"}"#),
        ("gemini", br#"{"session_id":"abc"}"#),
        ("codex", deep.as_bytes()),
        ("claude", huge.as_bytes()),
        (
            "clippy",
            br#"{"session_id":"abc","hook_event_name":"Stop"}"#,
        ),
        ("claude", unknown.as_bytes()),
    ] {
        assert_eq!(daemon.hook(&[agent], payload), "", "{agent}");
    }
    // On a slow machine 50 MB take longer to read than the client waits, and arrive through the spool.
    let kinds = || daemon.ask(&["journal", "stats", "--json"])[0]["kinds"].clone();
    let began = Instant::now();
    while (&kinds()["payload_rejected"], &kinds()["other_hook"]) != (&json!(9), &json!(1)) {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", kinds());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(daemon.ask(&["status", "--json"])[0]["rejected"], json!(9));
    for (path, body, expected) in [
        (
            "/v1/hooks/claude",
            &b"garbage"[..],
            "the payload is not JSON",
        ),
        ("/v1/hooks/claude", b"", "the payload is empty"),
        ("/v1/hooks/nobody", b"{}", "no agent is called"),
    ] {
        let (status, body) = daemon.http("POST", path, &[], body).expect("an answer");
        assert!(status == 400 && body.contains(expected), "{status} {body}");
    }
    let (status, _) = daemon
        .http("POST", "/v1/hooks/claude", &[], unknown.as_bytes())
        .expect("an answer");
    assert_eq!(status, 200);
    assert_eq!(
        daemon.home.spooled().len(),
        0,
        "a payload that was refused is not tried again"
    );
    daemon.verify();
}

#[test]
fn a_daemon_killed_anywhere_in_a_session_goes_on_as_if_it_had_not_been() {
    let undisturbed = Daemon::with(EVERY_STOP);
    let calls = recorded("claude/h-stop-block-once");
    calls.iter().for_each(|call| drop(play(&undisturbed, call)));
    let tell = |daemon: &Daemon| -> Vec<String> {
        let lines = daemon.ask(&["timeline", "last", "--json"]);
        let mut told: Vec<_> = lines
            .iter()
            .map(|line| {
                let about = [
                    &line["host"]["hook"],
                    &line["verdict"],
                    &line["reason"],
                    &line["text"],
                    &line["call"]["tool"],
                ];
                format!("{} {about:?}", line["kind"])
            })
            // A kill may come between the sending of a reply and the note of it.
            .filter(|line| !line.contains("delivery"))
            .collect();
        told.sort();
        told
    };
    let expected = tell(&undisturbed);
    for cut in 0..calls.len() {
        let mut daemon = Daemon::with(EVERY_STOP);
        for (index, call) in calls.iter().enumerate() {
            if index == cut {
                daemon.kill();
                daemon.start();
            }
            play(&daemon, call);
        }
        assert_eq!(tell(&daemon), expected, "killed before call {cut}");
        daemon.verify();
    }
}

#[test]
fn calls_without_a_daemon_arrive_through_the_spool_in_order() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("codex/h-normal");
    let (before, rest) = calls.split_at(4);
    before.iter().for_each(|call| drop(play(&daemon, call)));
    daemon.kill();
    // The stop itself comes when the daemon is back, as an agent's would.
    let (away, after) = rest.split_at(5);
    away.iter()
        .for_each(|call| assert_eq!(play(&daemon, call), ""));
    assert_eq!(daemon.home.spooled().len(), away.len());
    daemon.start();
    assert_eq!(
        daemon.home.spooled().len(),
        0,
        "taken in before hooks are taken"
    );
    after.iter().for_each(|call| drop(play(&daemon, call)));
    let hooks: Vec<_> = daemon
        .ask(&["timeline", "last", "--json"])
        .iter()
        .filter_map(|line| line["host"]["hook"].as_str().map(str::to_owned))
        .collect();
    let expected: Vec<_> = calls
        .iter()
        .map(|call| call["event"].as_str().expect("a word").to_owned())
        .collect();
    assert_eq!(hooks, expected);
    daemon.verify();
}

#[test]
fn a_stop_that_was_spooled_passes_because_nobody_waits() {
    let mut daemon = Daemon::with(EVERY_STOP);
    daemon.kill();
    for call in recorded("gemini/h-readmiss") {
        daemon
            .home
            .client(&[])
            .env("CHECKPOINTD_STOP_WAIT_MS", "250");
        let mut client = daemon
            .home
            .client(&["gemini", call["event"].as_str().expect("a word")]);
        run(
            client.env("CHECKPOINTD_STOP_WAIT_MS", "250"),
            call["payload"].to_string().as_bytes(),
        );
    }
    daemon.start();
    let began = Instant::now();
    while decisions(&daemon).is_empty() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the stop is never decided about"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        decisions(&daemon),
        [(
            "gemini".to_owned(),
            "overloaded".to_owned(),
            "none".to_owned()
        )]
    );
    daemon.verify();
}

#[test]
fn whoever_meets_a_daemon_coming_up_is_answered() {
    // Taking in what waits is a part of the stop, and lasts as long as the machine is slow.
    let mut daemon = Daemon::with(&format!("{EVERY_STOP}hooks: {{stop_wait: 60s}}\n"));
    let calls = recorded("claude/h-stop-block-once");
    let stop = calls
        .iter()
        .position(|call| call["event"] == "Stop")
        .expect("a stop");
    calls[..stop]
        .iter()
        .for_each(|call| drop(play(&daemon, call)));
    daemon.kill();
    // Enough to take in that coming up lasts a while.
    let busy = calls
        .iter()
        .find(|call| call["event"] == "PostToolUse")
        .unwrap_or(&calls[0]);
    for number in 0..300 {
        let mut call = busy.clone();
        call["payload"]["tool_use_id"] = json!(format!("call-{number}"));
        play(&daemon, &call);
    }
    daemon.spawn(&[], &[]);
    let began = Instant::now();
    let status = loop {
        if let Some((status, _)) = daemon.http("GET", "/healthz", &[], b"") {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nobody listens");
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(status, 503, "it listens before it is ready");
    let (reply, sessions) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| daemon.ask(&["sessions", "--json"]));
        (
            play(&daemon, &calls[stop]),
            asked.join().expect("an answer"),
        )
    });
    assert!(reply.contains("[TeleClaude Checkpoint] - "), "{reply}");
    assert_eq!(sessions.len(), 1);
    daemon.verify();
}

#[test]
fn the_daemon_says_how_it_is_and_stops_when_it_is_told() {
    let mut daemon = Daemon::with("min_turn: 30s\n");
    let status = daemon.ask(&["daemon", "status", "--json"]);
    assert_eq!(
        (&status[0]["running"], &status[0]["version"]),
        (&json!(true), &json!(env!("CARGO_PKG_VERSION")))
    );
    let second = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]),
        b"",
    );
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("running already"));
    let stop = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]),
        b"",
    );
    assert_eq!(stop.status.code(), Some(0));
    daemon
        .child
        .take()
        .expect("it ran")
        .wait()
        .expect("it is gone");
    assert_eq!(daemon.ask_code(&["daemon", "status", "--json"]).0, 3);
    assert!(!daemon.home.path().join("run/sock").exists());
}

/// A process that a killed daemon was starting has its lock until it runs its own program.
#[test]
fn a_lock_that_a_dead_daemon_has_left_is_waited_for() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("run")).expect("a folder");
    let pid = home.path().join("run/pid");
    // No system has so many.
    std::fs::write(&pid, "999999999\n").expect("writes");
    let held = std::fs::File::open(&pid).expect("opens");
    held.lock().expect("nobody has it");
    let mut daemon = Daemon { home, child: None };
    daemon.spawn(&[], &[]);
    std::thread::sleep(Duration::from_millis(500));
    drop(held);
    wait_until(|| {
        daemon
            .http("GET", "/healthz", &[], b"")
            .is_some_and(|(status, _)| status == 200)
    });
    assert_eq!(
        std::fs::read_to_string(&pid).expect("reads").trim(),
        daemon.pid().to_string()
    );
}

#[test]
fn a_changed_configuration_holds_at_once_and_a_wrong_one_changes_nothing() {
    let daemon = Daemon::with("min_turn: 1h\nheadless: always\n");
    let calls = recorded("claude/h-parallel");
    let path = daemon.home.path().join("config.yml");
    let until = |wanted: &str, field: fn(&Value) -> bool| {
        let began = Instant::now();
        while !field(&daemon.ask(&["status", "--json"])[0]) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{wanted} never holds"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    std::fs::write(&path, "min_trun: 0s\n").expect("writes");
    until("the complaint", |status| {
        status["daemon"]["config_error"]
            .as_str()
            .is_some_and(|text| text.contains("min_turn"))
    });
    calls
        .iter()
        .for_each(|call| assert_eq!(play(&daemon, call), ""));
    assert_eq!(
        daemon.ask(&["audit", "--json"])[0]["reason"],
        json!("below_threshold")
    );
    std::fs::write(&path, EVERY_STOP).expect("writes");
    until("the new file", |status| {
        status["daemon"]["config_error"].is_null()
    });
    let replies: Vec<_> = recorded("claude/h-normal")
        .iter()
        .map(|call| play(&daemon, call))
        .collect();
    assert!(
        replies.iter().any(|reply| reply.contains("block")),
        "{replies:?}"
    );
}

#[test]
fn a_client_of_another_version_is_served() {
    let daemon = Daemon::with(EVERY_STOP);
    let body = br#"{"session_id":"abc","hook_event_name":"UserPromptSubmit","prompt":"hi"}"#;
    let headers = [
        ("Checkpointd-Client", "99.0.0"),
        ("Checkpointd-Future", "x"),
    ];
    let (status, _) = daemon
        .http("POST", "/v1/hooks/claude", &headers, body)
        .expect("an answer");
    assert_eq!(
        (status, daemon.ask(&["sessions", "--json"]).len()),
        (200, 1)
    );
}

#[test]
fn files_and_folders_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = Daemon::with(EVERY_STOP);
    play(&daemon, &recorded("claude/h-normal")[0]);
    let mode =
        |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    let mut folders = vec!["run", "spool", "journal", "logs"]
        .into_iter()
        .map(|name| daemon.home.path().join(name))
        .collect::<Vec<_>>();
    assert_eq!(mode(&daemon.home.path().join("run/sock")), 0o600);
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display())
            }
        }
    }
}

#[test]
fn an_overloaded_daemon_sends_calls_to_the_spool_and_loses_none() {
    let daemon = Daemon::with("daemon:\n  mailbox: 1\n");
    let (clients, each) = (16, 8);
    std::thread::scope(|scope| {
        for client in 0..clients {
            let daemon = &daemon;
            scope.spawn(move || {
                for number in 0..each {
                    let payload = json!({
                        "session_id": format!("s{client}"), "cwd": "/p", "hook_event_name": "PreToolUse",
                        "tool_name": "Bash", "tool_use_id": format!("{client}-{number}"), "tool_input": {},
                    });
                    assert_eq!(daemon.hook(&["claude", "PreToolUse"], payload.to_string().as_bytes()), "");
                }
            });
        }
    });
    let began = Instant::now();
    let stored = || {
        daemon.ask(&["journal", "stats", "--json"])[0]["kinds"]["tool_started"]
            .as_u64()
            .unwrap_or(0)
    };
    while stored() < clients * each {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{} of {}",
            stored(),
            clients * each
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(stored(), clients * each);
    daemon.verify();
}

#[test]
fn recorded_calls_are_played_from_a_file_without_a_journal() {
    let home = Home::new();
    std::fs::write(home.path().join("config.yml"), "min_turn: 1s\n").expect("writes");
    let file = format!(
        "{}/tests/data/fixtures/claude/h-stop-block-once.ndjson",
        env!("CARGO_MANIFEST_DIR")
    );
    let arguments = ["replay", "--file", &file, "--json"];
    let output = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments),
        b"",
    );
    let played: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0));
    let reasons: Vec<_> = played["decisions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|line| &line["reason"])
        .collect();
    assert_eq!(reasons, [&json!("generic"), &json!("block_budget")]);
    assert_eq!(
        played["sessions"][0]["last_message_sent_at"],
        json!("2026-11-21T21:19:03.095119Z")
    );
    assert_eq!(
        (
            &played["sessions"][0]["turn"],
            &played["sessions"][0]["blocks_this_turn"]
        ),
        (&json!(1), &json!(1))
    );
    assert!(!home.path().join("journal").exists());
}

#[test]
fn an_export_comes_back_byte_for_byte() {
    let daemon = Daemon::with(EVERY_STOP);
    for scenario in ["claude/h-stop-block-once", "gemini/h-normal"] {
        recorded(scenario)
            .iter()
            .for_each(|call| drop(play(&daemon, call)));
    }
    daemon.hook(&["claude"], b"not JSON");
    let export = |home: &Home| {
        run(
            &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "export"]),
            b"",
        )
        .stdout
    };
    let first = export(&daemon.home);
    assert!(first.len() > 10_000);
    let other = Home::new();
    let mut import = other.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["journal", "import", "--json"],
    );
    assert_eq!(run(&mut import, &first).status.code(), Some(0));
    assert_eq!(export(&other), first);
    let again = run(&mut import, &first);
    assert_eq!(
        (again.status.code(), export(&other) == first),
        (Some(0), true),
        "importing twice changes nothing"
    );
}

#[test]
fn journal_append_is_the_same_with_the_daemon_and_without() {
    let lines: String = recorded("codex/h-parallel")
        .iter()
        .map(|call| format!("{call}\n"))
        .collect();
    let append = |home: &Home, lines: &str| {
        let output = run(
            &mut home.command(
                env!("CARGO_BIN_EXE_checkpointd"),
                &["journal", "append", "--json"],
            ),
            lines.as_bytes(),
        );
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
        )
    };
    let daemon = Daemon::with(EVERY_STOP);
    let (code, with) = append(&daemon.home, &lines);
    let offline = Home::new();
    let (offline_code, without) = append(&offline, &lines);
    assert_eq!(
        (code, offline_code, with.lines().count()),
        (Some(0), Some(0), without.lines().count())
    );
    let (code, again) = append(&daemon.home, &lines);
    let duplicates = again
        .lines()
        .filter(|line| line.contains("\"duplicate\":true"))
        .count();
    assert!(
        code == Some(0) && duplicates >= 6,
        "tool events have the host's identity: {again}"
    );
    let (code, wrong) = append(&offline, "{\"agent\":\"claude\"}\nnonsense\n");
    assert_eq!((code, wrong.lines().count()), (Some(1), 2), "{wrong}");
    assert!(wrong.contains("payload"), "it names the field: {wrong}");
}
