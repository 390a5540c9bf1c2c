//! The daemon comes up, is killed, and takes in what came meanwhile.

use std::fs;
use std::time::SystemTime;

use super::*;

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

/// A client that missed the daemon may write its file when the daemon is ready again.
#[test]
fn a_call_that_was_spooled_comes_before_one_that_is_made_later() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("codex/h-normal");
    let spool = daemon.home.path().join("spool");
    let aside = daemon.home.path().join("aside");
    fs::create_dir(&aside).expect("a folder");
    let mut made = Vec::new();
    for round in 0..10 {
        daemon.kill();
        let session = format!("{round:08}-0000-4000-8000-000000000000");
        let of_session = |call: &Value| {
            let mut call = call.clone();
            call["payload"]["session_id"] = json!(session);
            call
        };
        play(&daemon, &of_session(&calls[0]));
        let entry = fs::read_dir(&spool).expect("a folder").next();
        let file = entry.expect("a call").expect("an entry");
        let kept = aside.join(file.file_name());
        fs::rename(file.path(), &kept).expect("renamed");
        daemon.start();
        fs::rename(&kept, file.path()).expect("renamed");
        play(&daemon, &of_session(&calls[1]));
        made.push(session);
    }
    for session in made {
        let hooks: Vec<_> = daemon
            .ask(&["timeline", &session, "--json"])
            .iter()
            .filter_map(|line| line["host"]["hook"].as_str().map(str::to_owned))
            .collect();
        let expected: Vec<_> = calls[..2]
            .iter()
            .map(|call| call["event"].as_str())
            .collect();
        assert_eq!(
            hooks
                .iter()
                .map(|hook| Some(hook.as_str()))
                .collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn what_a_killed_client_wrote_whole_is_taken_in_and_what_it_began_is_removed() {
    let mut daemon = Daemon::with(EVERY_STOP);
    daemon.kill();
    play(&daemon, &recorded("codex/h-normal")[0]);
    let spool = daemon.home.path().join("spool");
    let entry = fs::read_dir(&spool).expect("a folder").next();
    let whole = entry.expect("a call").expect("an entry").path();
    let name = whole
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let abandoned = spool.join(format!(".{name}.tmp"));
    fs::rename(&whole, &abandoned).expect("renamed");
    let bytes = fs::read(&abandoned).expect("readable");
    let begun = spool.join(".0-begun.spool.tmp");
    fs::write(&begun, &bytes[..bytes.len() / 2]).expect("written");
    let fresh = spool.join(".0-fresh.spool.tmp");
    fs::write(&fresh, &bytes[..bytes.len() / 2]).expect("written");
    let earlier = SystemTime::now() - Duration::from_secs(120);
    for path in [&abandoned, &begun] {
        let file = fs::File::options().append(true).open(path).expect("a file");
        file.set_modified(earlier).expect("older");
    }
    daemon.start();
    wait_until(|| !daemon.ask(&["sessions", "--json"]).is_empty());
    wait_until(|| !abandoned.exists() && !begun.exists() && daemon.home.waiting() == 0);
    assert!(fresh.exists(), "its client may still run");
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
            "nobody_waiting".to_owned(),
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
    assert!(reply.contains("[checkpointd] "), "{reply}");
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
    assert!(String::from_utf8_lossy(&second.stderr).contains("already running"));
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

/// A killed daemon keeps its lock until the last of its threads has ended, and its process id until its parent has seen
/// its end. The test holds the lock in its place.
#[test]
fn a_daemon_waits_for_the_lock_of_one_that_no_longer_answers() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let second = |daemon: &Daemon| {
        let mut command = daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]);
        run(&mut command, b"")
    };
    let began = Instant::now();
    let output = second(&daemon);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("a daemon is already running (pid "), "{text}");
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "one that answers is not waited for"
    );
    for _ in 0..5 {
        let mut killed = daemon.child.take().expect("it runs");
        killed.kill().expect("kills");
        daemon.start();
        killed.wait().expect("is gone");
    }
    daemon.kill();
    let file = std::fs::File::open(daemon.home.path().join("run/pid")).expect("there");
    std::fs::write(
        daemon.home.path().join("run/pid"),
        std::process::id().to_string(),
    )
    .expect("writes");
    file.lock().expect("free");
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        drop(file);
    });
    daemon.start();
    holder.join().expect("no panic");
    daemon.verify();
}

/// Clients that wait for a daemon to be ready spool their calls when they give up.
#[test]
fn calls_that_are_spooled_all_the_time_do_not_keep_a_daemon_from_being_ready() {
    let mut daemon = Daemon::with(EVERY_STOP);
    daemon.kill();
    play(&daemon, &recorded("codex/h-normal")[0]);
    let spool = daemon.home.path().join("spool");
    let file = std::fs::read_dir(&spool).expect("a folder").next();
    let file = file.expect("one call").expect("an entry").path();
    let call = std::fs::read(file).expect("readable");
    // What is there before the daemon listens has to be taken in first, however much it is.
    let socket = daemon.home.path().join("run/sock");
    std::fs::remove_file(&socket).expect("a killed daemon leaves it");
    let is_ready = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The writer ends only with the daemon's readiness, so a daemon that waits for an empty
        // spool never gets there.
        scope.spawn(|| {
            let mut number = 0;
            while !is_ready.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(2));
                if !socket.exists() {
                    continue;
                }
                number += 1;
                let path = spool.join(format!("{number:020}"));
                std::fs::write(&path, &call).expect("writes");
                std::fs::rename(&path, path.with_extension("spool")).expect("renames");
            }
        });
        let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| daemon.start()));
        is_ready.store(true, std::sync::atomic::Ordering::Relaxed);
        started.expect("ready while calls are spooled");
    });
    wait_until(|| std::fs::read_dir(&spool).expect("a folder").count() == 0);
    daemon.verify();
}
