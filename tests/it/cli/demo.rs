//! `demo` as a test of the whole: it must go as expected, and nothing of it may be left.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Home, copy_program, run, wait};

fn demo(home: &Home, arguments: &[&str]) -> Command {
    let mut command = home.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &[&["demo"], arguments].concat(),
    );
    command.env("HOME", home.path()).env("TMPDIR", home.path());
    command
}

/// Returns the command lines of the processes that have something open or are at work below a folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let environment = |pid: &Path| fs::read(pid.join("environ")).unwrap_or_default();
    let needle = format!("CHECKPOINTD_HOME={}/checkpointd-demo-", folder.display());
    let is_ours = |pid: &Path| {
        environment(pid)
            .windows(needle.len())
            .any(|window| window == needle.as_bytes())
    };
    let pids = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|pid| is_ours(pid));
    pids.map(|pid| {
        fs::read_to_string(pid.join("cmdline"))
            .unwrap_or_default()
            .replace('\0', " ")
    })
    .collect()
}

fn assert_nothing_left(home: &Home) {
    assert_eq!(
        fs::read_dir(home.path()).expect("a folder").count(),
        0,
        "something is left in the folder"
    );
    assert_eq!(
        processes_in(&home.path().canonicalize().expect("a folder")),
        Vec::<String>::new()
    );
}

#[test]
fn the_story_is_told_and_has_a_good_end() {
    let home = Home::new();
    let output = run(&mut demo(&home, &[]), b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0), "{said}");
    let told: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split_once("s  "))
        .filter(|(at, _)| at.trim().parse::<f32>().is_ok())
        .map(|(_, what)| what)
        .collect();
    assert_eq!(
        told,
        [
            "\"Add a reorder level to the inventory\"",
            "Write stock/reorder.py",
            "stop: checkpoint sent",
            "Bash pytest -q: 1 failed, 2 passed",
            "Write stock/reorder.py",
            "Bash pytest -q: 3 passed",
            "stop: let through, already asked in this turn; judged again, what was asked is done",
        ],
        "{said}"
    );
    assert_nothing_left(&home);
}

#[test]
fn without_git_and_without_the_small_client_the_demo_still_works() {
    let (home, programs) = (Home::new(), Home::new());
    let alone = programs.path().join("checkpointd");
    copy_program(env!("CARGO_BIN_EXE_checkpointd"), &alone);
    let mut command = home.command(&alone, &["demo"]);
    let output = run(
        command
            .env("PATH", programs.path())
            .env("TMPDIR", home.path()),
        b"",
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("Git is missing"), "{text}");
    assert_eq!(text.matches("stop: checkpoint sent").count(), 1, "{text}");
    assert_eq!(
        text.matches("stop: let through, already asked in this turn\n")
            .count(),
        1,
        "{text}"
    );
    assert_nothing_left(&home);
}

#[test]
fn an_interrupted_demo_cleans_up() {
    let home = Home::new();
    let mut command = demo(&home, &[]);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let is_up = |folder: &Path| {
        let folders = fs::read_dir(folder).expect("a folder").flatten();
        folders
            .map(|entry| entry.path().join("home/run/sock"))
            .any(|socket| socket.exists())
    };
    let folder = home.path().to_owned();
    wait(move || {
        while !is_up(&folder) {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    interrupt(&child);
    let output = wait(move || child.wait_with_output().expect("output"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
    assert_nothing_left(&home);
}

#[test]
fn a_demo_that_nobody_reads_cleans_up() {
    let home = Home::new();
    let mut command = demo(&home, &[]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    let output = wait(move || child.wait_with_output().expect("output"));
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(0), "")
    );
    assert_nothing_left(&home);
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .expect("kill")
            .success()
    );
}

#[test]
fn a_kept_demo_can_be_looked_at() {
    let home = Home::new();
    let output = run(&mut demo(&home, &["--keep"]), b"");
    let said = String::from_utf8_lossy(&output.stdout);
    let (_, after) = said.split_once("CHECKPOINTD_HOME=").expect("the folder");
    let (kept, _) = after.split_once(' ').expect("a command");
    let mut explain = home.command(env!("CARGO_BIN_EXE_checkpointd"), &["replay", "--verify"]);
    let output = run(explain.env("CHECKPOINTD_HOME", kept), b"");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "2 decisions, 2 decided the same again"
    );
    assert_eq!(
        processes_in(&home.path().canonicalize().expect("a folder")),
        Vec::<String>::new()
    );
}
