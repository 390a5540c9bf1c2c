//! A person's own run: the command is as it would be without, and its result counts where the same contents are judged.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::stop;
use super::turns::Scene;
use crate::support::{git, program, run, wait_until};

/// A scene whose `pytest` does what the test says.
struct Runs {
    scene: Scene,
}

impl Runs {
    fn new() -> Self {
        let scene = Scene::new("");
        let folder = scene.daemon.home.path().join("bin");
        std::fs::create_dir_all(&folder).expect("a folder");
        let runs = Self { scene };
        runs.pytest("exit 0");
        runs
    }

    fn pytest(&self, does: &str) {
        let file = self.scene.daemon.home.path().join("bin/pytest");
        std::fs::write(&file, format!("#!/bin/sh\n{does}\n")).expect("writes");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("is ours");
    }

    fn command(&self, line: &[&str]) -> Command {
        let home = &self.scene.daemon.home;
        let mut command = home.command(program("checkpointd"), &[]);
        let path = std::env::var("PATH").expect("a path");
        let bin = home.path().join("bin");
        command
            .args(["run", "--"])
            .args(line)
            .current_dir(&self.scene.project)
            .env("PATH", format!("{}:{path}", bin.display()));
        command
    }

    /// Runs a command; returns once what it ran on was read.
    fn run(&self, line: &[&str]) {
        let before = self.examined();
        assert!(run(&mut self.command(line), b"").status.success());
        wait_until(|| self.examined() > before);
    }

    fn examined(&self) -> usize {
        let asked = ["journal", "tail", "--json", "--kind", "call_examined"];
        self.scene.daemon.ask(&asked).len()
    }

    fn reported(&self) -> Vec<Value> {
        let asked = ["journal", "tail", "--json", "--kind", "tool_finished"];
        let mut all = self.scene.daemon.ask(&asked);
        all.retain(|event| event["agent"] == "person");
        all
    }

    /// What of the session is open.
    fn open(&self) -> i32 {
        self.scene.daemon.ask_code(&["open", "last", "--json"]).0
    }
}

#[test]
fn a_run_after_the_stop_settles_what_was_left() {
    let runs = Runs::new();
    let scene = &runs.scene;
    scene.prompt("one", true);
    scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
    assert_eq!(scene.stop("one"), "actions_due");
    assert_eq!(runs.open(), 1);

    // One that failed shows nothing, nor does one that could not show a mistake.
    runs.pytest("exit 1");
    let failed = run(&mut runs.command(&["pytest", "-q"]), b"");
    assert_eq!(failed.status.code(), Some(1));
    run(&mut runs.command(&["true"]), b"");
    wait_until(|| runs.reported().len() == 2 && runs.examined() == 1);
    assert_eq!(runs.open(), 1);

    runs.pytest("exit 0");
    runs.run(&["pytest", "-q"]);
    assert_eq!(runs.open(), 0);
    let (code, table) = scene.daemon.ask_code(&["open", "last", "--json"]);
    let why = table[0]["answers"][0]["why"].as_str().expect("a text");
    assert_eq!(code, 0);
    assert!(why.contains("`pytest -q` in a run of your own"), "{why}");
    assert_eq!(scene.daemon.ask_code(&["open", "--json"]).0, 0);
    let sessions = scene.daemon.ask(&["sessions", "--json"]);
    assert_eq!(
        sessions.len(),
        1,
        "a person's runs are no session of an agent"
    );

    // It is in the record, and again when that is made from the journal.
    git::git(&scene.project, &["commit", "-qam", "next"]);
    let ask = |line: &[&str]| {
        let mut command = scene.daemon.home.command(program("checkpointd"), line);
        run(command.current_dir(&scene.project), b"")
    };
    let made = ask(&["record", "--unsigned", "--output", "../record"]);
    assert!(made.status.success(), "{made:?}");
    let verified = ask(&["record", "verify", "../record", "--unsigned", "--json"]);
    let said: Value = serde_json::from_slice(&verified.stdout).expect("JSON");
    assert_eq!(
        (&said["accepted"], &said["recomputed"]),
        (&json!(true), &json!(true)),
        "{said}"
    );
    let run = &said["statement"]["predicate"]["runs"][0];
    assert_eq!(
        (&run["agent"], &run["command"]),
        (&json!("person"), &json!("pytest -q")),
        "{said}"
    );

    // Other contents are not what it ran on.
    scene.prompt("two", true);
    scene.write("two", &scene.project.join("stock.py"), "count = 3\n");
    assert_eq!(scene.stop("two"), "actions_due");
    assert_eq!(runs.open(), 1);
}

#[test]
fn what_ended_before_a_question_is_in_the_answer() {
    let runs = Runs::new();
    let scene = &runs.scene;
    // Enough that the look at what it ran on takes longer than the question.
    for number in 0..600 {
        let file = scene.project.join(format!("old{number}.py"));
        std::fs::write(file, "a = 1\n").expect("writes");
    }
    scene.prompt("one", true);
    scene.write("one", &scene.project.join("stock.py"), "count = 2\n");
    assert_eq!(scene.stop("one"), "actions_due");
    assert!(
        run(&mut runs.command(&["pytest", "-q"]), b"")
            .status
            .success()
    );
    let mut open = scene.daemon.home.command(program("checkpointd"), &[]);
    open.args(["open", "--worktree", "--json"]);
    let said = run(open.current_dir(&scene.project), b"");
    let said: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    let units = said["units"].as_array().expect("a list");
    let unit = units.iter().find(|unit| unit["file"] == "stock.py");
    assert_eq!(unit.expect("it changed")["answer"], "done", "{unit:?}");
}

#[test]
fn a_run_counts_at_the_next_stop_also_if_no_daemon_ran_then() {
    let mut runs = Runs::new();
    runs.scene.prompt("one", true);
    let file = runs.scene.project.join("stock.py");
    runs.scene.write("one", &file, "count = 2\n");
    runs.run(&["sh", "-c", "cd . && pytest -q"]);
    assert_eq!(runs.scene.stop("one"), "silent_all_clear");

    runs.scene.prompt("two", true);
    runs.scene.write("two", &file, "count = 3\n");
    stop(&mut runs.scene.daemon);
    assert!(run(&mut runs.command(&["pytest"]), b"").status.success());
    runs.scene.daemon.start();
    wait_until(|| runs.examined() == 2);
    assert_eq!(runs.scene.stop("two"), "silent_all_clear");
}

#[test]
fn the_command_is_as_it_would_be_without() {
    let runs = Runs::new();
    let script = "cat; echo said >&2; exit 7";
    let output = run(&mut runs.command(&["sh", "-c", script]), b"given\n");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(
        (&output.stdout[..], &output.stderr[..]),
        (&b"given\n"[..], &b"said\n"[..])
    );

    // What ends it, ends the program around it.
    for signal in ["TERM", "KILL", "SEGV", "INT"] {
        let output = run(
            &mut runs.command(&["sh", "-c", &format!("kill -{signal} $$")]),
            b"",
        );
        let bare = Command::new("sh")
            .args(["-c", &format!("kill -{signal} $$")])
            .status();
        assert_eq!(
            output.status.signal(),
            bare.expect("runs").signal(),
            "{signal}"
        );
        // A shell without job control has its background commands ignore an interrupt.
        assert!(
            signal == "INT" || output.status.signal().is_some(),
            "{signal}"
        );
    }

    // A signal for the program around it reaches it.
    let script = "trap 'echo ended; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let mut child = runs
        .command(&["sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut output = child.stdout.take().expect("a pipe");
    let mut ready = [0; 6];
    output.read_exact(&mut ready).expect("it says so");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "ended\n");
    assert_eq!(child.wait().expect("it ended").code(), Some(3));

    // What it was started to ignore, the command ignores.
    let mut nohup = runs.scene.daemon.home.command("sh", &[]);
    let script = r#"trap '' HUP; exec "$0" run -- sh -c 'kill -HUP $$; exit 4'"#;
    nohup.arg("-c").arg(script).arg(program("checkpointd"));
    assert_eq!(run(&mut nohup, b"").status.code(), Some(4));

    let missing = run(&mut runs.command(&["no-such-program"]), b"");
    assert_eq!(missing.status.code(), Some(127));
}

#[test]
fn an_agents_call_is_not_a_persons() {
    let runs = Runs::new();
    let mut command = runs.command(&["pytest", "-q"]);
    assert!(
        run(command.env("CLAUDE_CODE_SESSION_ID", "s"), b"")
            .status
            .success()
    );
    run(&mut runs.command(&["pytest", "'q r'"]), b"");
    let reported = runs.reported();
    assert_eq!(reported.len(), 1, "{reported:?}");
}
