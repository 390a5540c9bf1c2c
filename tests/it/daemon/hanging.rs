//! A project whose files do not answer: system calls that name them are held for ten minutes.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::git::commit_all;
use crate::support::strace::{Trace, Tracer};
use crate::support::{Home, run, text, wait, wait_until};

const CALLS: &str = "openat,statx,newfstatat,stat,lstat,readlink,readlinkat";
const SESSIONS: usize = 6;

fn project(home: &Home, name: &str) -> PathBuf {
    let project = home.path().join(name);
    fs::create_dir(&project).expect("a folder");
    fs::write(project.join("main.rs"), "fn main() {}\n").expect("writes");
    commit_all(&project);
    fs::write(project.join("main.rs"), "fn main() { run() }\n").expect("writes");
    project
}

/// Calls a hook of a session in a project, and returns the answer.
fn call(home: &Home, project: &Path, session: &str, event: &str) -> String {
    let payload = json!({ "session_id": session, "hook_event_name": event, "cwd": project, "prompt": "go",
        "prompt_id": "1", "stop_hook_active": false });
    let output = run(
        &mut home.client(&["claude"]),
        payload.to_string().as_bytes(),
    );
    assert_eq!(output.status.code(), Some(0));
    text(&output.stdout)
}

fn ask(home: &Home, project: &Path, session: &str) -> String {
    call(home, project, session, "UserPromptSubmit");
    // A turn that changes nothing would pass.
    fs::write(project.join(format!("{session}.rs")), "fn f() {}\n").expect("writes");
    call(home, project, session, "Stop")
}

/// Returns a value of `/proc/PID/status`.
fn status(pid: u32, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("readable");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.expect("a line").trim().to_owned()
}

#[test]
fn a_project_that_hangs_holds_up_neither_other_projects_nor_the_daemons_end() {
    let mut daemon = Daemon::prepared(&format!("{EVERY_STOP}hooks: {{stop_wait: 50s}}\n"));
    let home = daemon.home.clone();
    let (hung, other) = (project(&home, "hung"), project(&home, "other"));
    let settings = hung.join(".checkpointd.yml");
    let inject = format!("inject={CALLS}:delay_enter=600000000");
    let trace = Trace::to(home.path().join("trace"));
    let options = [
        "-P",
        hung.to_str().expect("text"),
        "-P",
        settings.to_str().expect("text"),
        "-e",
        inject.as_str(),
    ];
    assert!(
        daemon.start_under(&trace.command(&options)),
        "{}",
        daemon.log()
    );

    // Dropped before the daemon, which could not be killed otherwise.
    let tracer = Tracer::of(daemon.pid());

    let held: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (home, hung) = (home.clone(), hung.clone());
            thread::spawn(move || ask(&home, &hung, &format!("hung-{number}")))
        })
        .collect();
    wait_until(|| fs::read_to_string(&trace.file).is_ok_and(|text| text.contains("hung")));
    let said = ask(&home, &other, "other");
    assert!(said.contains("Not verified yet"), "{said}");
    for held in held {
        assert_eq!(wait(move || held.join().expect("an answer")), "");
    }
    let answer = daemon.ask(&["status", "--json"]);
    let degraded = answer[0]["daemon"]["degraded"].to_string();
    let name = format!("examining {} has not ended", hung.display());
    assert!(degraded.contains(&name), "{degraded}");
    // Neither do the page and `top`, which say so, and documents of other projects are written.
    let asked = std::time::Instant::now();
    let (_, now) = daemon.http("GET", "/v1/now", &[], b"").expect("an answer");
    assert!(asked.elapsed().as_secs() < 30, "{:?}", asked.elapsed());
    let now: serde_json::Value = serde_json::from_str(&now).expect("JSON");
    for row in now["rows"].as_array().expect("rows") {
        let is_hung = row["project"] == hung.to_str().expect("text");
        let flags = row["flags"].to_string();
        assert_eq!(flags.contains("unseen"), is_hung, "{row}");
    }
    let output = run(
        &mut home.command(
            env!("CARGO_BIN_EXE_checkpointd"),
            &["progress", "write", "--session", "other"],
        ),
        b"",
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    // A further stop there does not wait for what is known.
    assert_eq!(ask(&home, &hung, "late"), "");

    let mut child = daemon.child.take().expect("it runs");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("signals");
    // The daemon has exited, and only strace keeps it from being gone.
    wait_until(|| status(child.id(), "State:").starts_with('Z'));
    drop(tracer);
    assert!(wait(move || child.wait()).expect("ends").success());
}

#[test]
fn a_git_that_does_not_end_is_killed_and_its_stop_is_answered() {
    let daemon = Daemon::with(EVERY_STOP);
    let project = project(&daemon.home, "stuck");
    let config = project.join(".git/config");
    fs::remove_file(&config).expect("removes");
    let mut fifo = std::process::Command::new("mkfifo");
    assert!(fifo.arg(&config).status().expect("runs").success());
    ask(&daemon.home, &project, "one");
    let explained = daemon.ask(&["explain", "--json"]);
    let changes = explained[0]["evidence"]["changes"].to_string();
    assert!(changes.contains("timeout"), "{changes}");
}
