//! The client starts the daemon.

use super::*;

/// Puts a copy of the client next to a program that stands for the daemon and only leaves a trace of its start.
fn install(home: &Home, script: &str) -> std::path::PathBuf {
    let folder = home.path().join("bin");
    fs::create_dir(&folder).expect("a folder");
    let client = folder.join("checkpointd-hook");
    copy_program(env!("CARGO_BIN_EXE_checkpointd-hook"), &client);
    put_script(
        &folder.join("checkpointd"),
        &format!("#!/bin/sh\n{script}\n"),
    );
    client
}

fn starts(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(home.path().join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn many_calls_at_once_start_one_daemon_and_keep_every_call() {
    const CALLS: usize = 50;
    let home = Home::new();
    let client = install(
        &home,
        r#"echo "$$ $*" >> "$CHECKPOINTD_HOME/starts"; exec sleep 600"#,
    );
    let begin = Instant::now();
    let mut children = Vec::new();
    for _ in 0..CALLS {
        let mut command = home.command(&client, &["claude", "PostToolUse"]);
        command.env_remove("CHECKPOINTD_AUTOSTART");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        children.push(command.spawn().expect("runs"));
    }
    for child in children {
        // That the pipes close although the daemon lives on shows that it did not get them.
        assert_eq!(
            printed(&wait(|| child.wait_with_output().expect("output"))),
            ""
        );
    }
    let elapsed = begin.elapsed();
    assert_eq!(home.spooled().len(), CALLS);
    let starts = wait(move || {
        while starts(&home).is_empty() {
            thread::yield_now();
        }
        starts(&home)
    });
    for start in &starts {
        let (pid, words) = start.split_once(' ').expect("a process and its arguments");
        let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a process");
        rustix::process::kill_process(pid, Signal::TERM).expect("it still runs");
        assert_eq!(words, "daemon --detach");
    }
    // One, unless the machine is so slow that the next try is due.
    assert!(
        starts.len() as u64 <= 1 + elapsed.as_secs() / 2,
        "{starts:?} in {elapsed:?}"
    );
}

#[test]
fn a_stop_waits_for_the_daemon_that_it_starts() {
    let home = Home::new();
    let client = install(&home, r#"echo "$*" >> "$CHECKPOINTD_HOME/starts""#);
    let (trace, socket) = (home.path().join("starts"), home.socket());
    let server = thread::spawn(move || {
        while !trace.exists() {
            thread::sleep(Duration::from_millis(5));
        }
        serve(&socket, |_| Act::Hold(http(200, BLOCK)))
    });
    let output = run(
        home.command(&client, &["claude"])
            .env_remove("CHECKPOINTD_AUTOSTART"),
        STOP,
    );
    assert_eq!(printed(&output), BLOCK);
    next(&server.join().expect("a server"));
    assert!(home.spooled().is_empty());
}

#[test]
fn a_daemon_that_cannot_start_costs_no_stop_its_whole_wait() {
    let home = Home::new();
    let client = install(&home, "exit 1");
    let begin = Instant::now();
    assert_eq!(
        printed(&run(
            home.command(&client, &["claude"])
                .env_remove("CHECKPOINTD_AUTOSTART"),
            STOP
        )),
        ""
    );
    assert!(
        begin.elapsed() < Duration::from_secs(55),
        "it would have waited for a minute"
    );
    assert_eq!(home.spooled().len(), 1);
}
