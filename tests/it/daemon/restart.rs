//! Restarting agents in a real tmux, with a small program in the agent's place.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::terminal::until;
use crate::support::{copy_program, run};

const SESSION: &str = "7e57a9e7-0000-4000-8000-00000000cafe";
const SHELL: &str = "bash --norc --noprofile -i";

/// A composer like Claude's: it takes bracketed pastes, shows them in short, and writes down what Enter sends. Ctrl-C ends
/// it, unless it is stubborn.
const AGENT: &str = r#"
stty -echo
[ "$1" = stubborn ] && trap '' INT TERM
rule=────────────────────
printf '\033[?2004hagent %s is up\r\n%s\r\n❯ \0337\r\n%s\0338' "$*" "$rule" "$rule"
bytes='' paste=''
while IFS= read -r -N 1 byte; do
    # Enter, outside of a paste.
    if [[ $byte == $'\n' && -z $bytes ]]; then
        [ -n "$paste" ] && printf %s "$paste" > "${0%/*}/part" && mv "${0%/*}/part" "${0%/*}/sent.$(date +%s%N)"
        printf '\r\033[K❯ '
        paste=''
        continue
    fi
    bytes=$bytes$byte
    if [[ $bytes == *$'\033[201~' ]]; then
        paste=${bytes#*$'\033[200~'} paste=${paste%$'\033[201~'} bytes=''
        breaks=${paste//[!$'\n']/}
        printf '\r\033[K❯ [Pasted text #1 +%d lines]' ${#breaks}
    fi
done
"#;

/// A terminal of its own, and a program that is called like an agent.
struct Stage {
    folder: TempDir,
    word: &'static str,
    pane: String,
}

impl Stage {
    fn with(program: &str) -> Self {
        Self::of("claude", program)
    }

    /// Opens a pane that shows `program`, for the agent with a word.
    fn of(word: &'static str, program: &str) -> Self {
        let mut stage = Self {
            folder: tempfile::tempdir().expect("a folder"),
            word,
            pane: String::new(),
        };
        copy_program("/bin/bash", &stage.path(word));
        fs::write(stage.path("agent"), AGENT).expect("writable");
        let program = program.replace("AGENT", &stage.agent());
        stage.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "150",
            "-y",
            "40",
            &program,
        ]);
        stage.tmux(&["set-option", "-g", "remain-on-exit", "off"]);
        stage.pane = stage
            .tmux(&["list-panes", "-a", "-F", "#{pane_id}"])
            .trim()
            .to_owned();
        stage.shows(if program == SHELL { "bash-" } else { "is up" });
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn agent(&self) -> String {
        format!(
            "{} {}",
            self.path(self.word).display(),
            self.path("agent").display()
        )
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command
            .arg("-u")
            .arg("-S")
            .arg(self.path("sock"))
            .args(arguments);
        command
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.folder.path());
        let output = command.output().expect("tmux is there");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-t", &self.pane])
    }

    /// The program in front, as tmux names it.
    fn command(&self) -> String {
        self.tmux(&[
            "display-message",
            "-p",
            "-t",
            &self.pane,
            "#{pane_current_command}",
        ])
        .trim()
        .to_owned()
    }

    /// What was sent to the agent, taken away.
    fn sent(&self) -> String {
        let file = until("something is sent to the agent", || {
            let mut entries = fs::read_dir(self.folder.path())
                .expect("a folder")
                .map(|entry| entry.expect("one").path());
            entries.find(|path| path.file_stem().is_some_and(|name| name == "sent"))
        });
        let text = fs::read_to_string(&file).expect("readable");
        fs::remove_file(file).expect("there");
        text
    }

    fn type_line(&self, line: &str) {
        self.tmux(&["send-keys", "-t", &self.pane, "-l", line]);
        self.tmux(&["send-keys", "-t", &self.pane, "Enter"]);
    }

    fn shows(&self, words: &str) {
        until(&format!("the screen shows {words}"), || {
            self.screen().contains(words).then_some(())
        });
    }

    /// Starts the agent in the pane's shell.
    fn start_agent(&self, arguments: &str) {
        self.type_line(&format!("{} {arguments}", self.agent()));
        self.shows(&format!("agent {arguments} is up"));
    }

    /// Starts a daemon that resumes by this stage's agent, and tells it of the session.
    fn daemon(&self, more: &str) -> Daemon {
        let config = format!("{EVERY_STOP}{more}\n").replace("AGENT", &self.agent());
        let daemon = Daemon::with(&config);
        self.hook(&daemon, "UserPromptSubmit", json!({ "prompt": "go" }), true);
        daemon
    }

    fn hook(&self, daemon: &Daemon, event: &str, fields: Value, in_pane: bool) -> String {
        let payload =
            json!({ "session_id": SESSION, "cwd": self.folder.path(), "hook_event_name": event });
        let mut payload = payload;
        for (key, value) in fields.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        let mut command = daemon.home.client(&[self.word]);
        if in_pane {
            command
                .env("TMUX", format!("{},1,0", self.path("sock").display()))
                .env("TMUX_PANE", &self.pane);
        }
        let output = run(&mut command, payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(self.path("sock"))
            .arg("kill-server")
            .output();
    }
}

fn decided(daemon: &Daemon) -> Vec<(Value, Value)> {
    let lines = daemon.ask(&["audit", "--json"]);
    lines
        .into_iter()
        .map(|line| (line["reason"].clone(), line["route"].clone()))
        .collect()
}

fn closed(daemon: &Daemon) -> Vec<Value> {
    let lines = daemon.ask(&[
        "journal",
        "tail",
        "-n",
        "100",
        "--kind",
        "restart_closed",
        "--json",
    ]);
    lines
        .into_iter()
        .map(|line| line["reason"].clone())
        .collect()
}

const RESUME: &str = "restart: {claude: 'AGENT --resume {session}', stop_within: 3s}";

#[test]
fn an_agent_is_stopped_started_again_and_owed_one_checkpoint() {
    let stage = Stage::with(SHELL);
    stage.start_agent("first");
    let daemon = stage.daemon(&format!("restart_delay: 100ms\n{RESUME}"));
    stage.hook(&daemon, "Stop", json!({}), true);
    let answer = daemon.ask(&["restart", "last", "--json"]);
    assert_eq!(
        (&answer[0]["did"], &answer[0]["native_session"]),
        (&json!("agent_restarted"), &json!(SESSION))
    );
    stage.shows(&format!("agent --resume {SESSION} is up"));
    let sent = stage.sent();
    assert!(sent.starts_with("[checkpointd] "), "{sent}");
    stage.hook(&daemon, "UserPromptSubmit", json!({ "prompt": sent }), true);
    let last = until("the checkpoint is confirmed", || {
        daemon
            .ask(&["audit", "--json"])
            .pop()
            .filter(|line| line["delivery"] == "confirmed")
    });
    assert_eq!(
        decided(&daemon)[1],
        (json!("restart"), json!("tmux")),
        "past the budget of the turn"
    );
    assert_eq!(
        (&last["trigger"], &last["at"], &last["message"]),
        (&answer[0]["seq"], &answer[0]["due"], &json!(sent))
    );
    assert_eq!(
        daemon.ask(&["journal", "state", "last", "--json"])[0]["restart"],
        Value::Null
    );

    // An agent that has ended needs no stopping, and what somebody half typed in its shell is no part of the command.
    stage.tmux(&["send-keys", "-t", &stage.pane, "C-c"]);
    until("the shell is back", || {
        (stage.command() == "bash").then_some(())
    });
    stage.tmux(&["send-keys", "-t", &stage.pane, "-l", "echo half "]);
    stage.shows("echo half");
    assert_eq!(
        daemon
            .http("POST", "/sessions/7e57a9e7/agent-restart", &[], b"")
            .expect("an answer")
            .0,
        200
    );
    let ups = || {
        stage
            .screen()
            .matches(&format!("agent --resume {SESSION} is up"))
            .count()
    };
    until("it is up again", || (ups() == 2).then_some(()));
    assert!(!stage.screen().contains("\nhalf"), "{}", stage.screen());
    stage.sent();
    daemon.verify();
}

#[test]
fn a_described_agent_is_resumed_as_its_description_says() {
    let stage = Stage::of("buddy", SHELL);
    stage.start_agent("first");
    let daemon = stage.daemon(
        "agents: [{name: buddy, settings: ~/.buddy/hooks.json, resume: 'AGENT again {session}'}]",
    );
    stage.hook(&daemon, "Stop", json!({}), true);
    let answer = daemon.ask(&["restart", "last", "--json"]);
    assert_eq!(answer[0]["did"], "agent_restarted", "{answer:?}");
    stage.shows(&format!("agent again {SESSION} is up"));
}

#[test]
fn an_agent_that_will_not_stop_is_killed_and_the_command_is_typed_once_it_is_gone() {
    let stage = Stage::with(SHELL);
    stage.start_agent("stubborn");
    let daemon = stage.daemon("restart: {claude: 'AGENT --resume {session}', stop_within: 300ms}");
    let (code, answer) = daemon.ask_code(&["restart", "last", "--json"]);
    assert_eq!(code, 0, "{answer:?}");
    stage.shows(&format!("agent --resume {SESSION} is up"));
    let screen = stage.screen();
    assert!(screen.find("Killed") < screen.find("--resume"), "{screen}");
}

/// Orders a restart that must be refused.
fn refuse(stage: &Stage, daemon: &Daemon, reason: &str) {
    let before = stage.screen();
    let (code, answer) = daemon.ask_code(&["restart", "last", "--json"]);
    assert_eq!(
        (code, &answer[0]["reason"]),
        (1, &json!(reason)),
        "{answer:?}"
    );
    assert_eq!(closed(daemon), [reason], "it is journaled");
    assert_eq!(
        daemon.ask(&["journal", "state", "last", "--json"])[0]["restart"],
        Value::Null,
        "no checkpoint is owed"
    );
    assert_eq!(stage.screen(), before, "nothing was typed: {reason}");
}

#[test]
fn a_restart_that_would_do_harm_is_refused_with_a_word() {
    let other = Stage::with(SHELL);
    other.type_line("cat");
    until("cat is up", || (other.command() == "cat").then_some(()));
    refuse(&other, &other.daemon(RESUME), "other_program");

    let alone = Stage::with("AGENT alone");
    refuse(&alone, &alone.daemon(RESUME), "no_shell");

    let outside = Stage::with(SHELL);
    let daemon = outside.daemon(RESUME);
    outside.hook(
        &daemon,
        "UserPromptSubmit",
        json!({ "prompt": "from elsewhere" }),
        false,
    );
    refuse(&outside, &daemon, "no_terminal");
}

#[test]
fn a_restart_leaves_the_agent_of_another_session_alone() {
    let shared = Stage::with(SHELL);
    shared.start_agent("another");
    let daemon = shared.daemon(RESUME);
    let before = closed(&daemon);
    shared.hook(
        &daemon,
        "UserPromptSubmit",
        json!({ "prompt": "x", "session_id": "another" }),
        true,
    );
    let screen = shared.screen();
    let (code, answer) = daemon.ask_code(&["restart", SESSION, "--json"]);
    assert_eq!(
        (code, &answer[0]["reason"], before.len()),
        (1, &json!("pane_taken"), 0),
        "{answer:?}"
    );
    assert_eq!(
        shared.screen(),
        screen,
        "the other session's agent is left alone"
    );
}

#[test]
fn a_restart_that_fails_says_why() {
    let stage = Stage::with(SHELL);
    let mut daemon = stage.daemon("restart: {claude: '/no/such/agent {session}'}");
    let output = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["restart", "last"]),
        b"",
    );
    let error = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(error, @r"
    error: the resume command was typed, but the agent does not run (agent_not_started)
    hint: look at its pane; `restart` in config.yml says what is typed
    ");
    stage.tmux(&["kill-server"]);
    let (code, answer) = daemon.ask_code(&["restart", "last", "--json"]);
    assert_eq!(
        (code, &answer[0]["reason"]),
        (1, &json!("pane_gone")),
        "{answer:?}"
    );
    assert_eq!(closed(&daemon), ["agent_not_started", "pane_gone"]);
    assert_eq!(
        daemon
            .http("POST", "/sessions/nobody/agent-restart", &[], b"")
            .expect("an answer")
            .0,
        404
    );
    daemon.verify();
    daemon.kill();
    assert_eq!(
        daemon.ask_code(&["restart", "last"]).0,
        3,
        "without a daemon nobody would see to its checkpoint"
    );
}

#[test]
fn an_agent_that_has_ended_is_restarted_from_the_shell_of_its_own_pane() {
    let stage = Stage::with(SHELL);
    let daemon = stage.daemon(RESUME);
    let home = daemon.home.path().display();
    let program = env!("CARGO_BIN_EXE_checkpointd");
    stage.type_line(&format!("CHECKPOINTD_HOME={home} {program} restart last"));
    stage.shows("restart &`");
    assert_eq!(closed(&daemon), ["other_program"]);
    stage.type_line(&format!(
        "clear; CHECKPOINTD_HOME={home} {program} restart last &"
    ));
    stage.shows(&format!("agent --resume {SESSION} is up"));
}

#[test]
fn the_checkpoint_after_a_restart_survives_the_daemon() {
    let stage = Stage::with(SHELL);
    stage.start_agent("first");
    let mut daemon = stage.daemon(&format!("restart_delay: 2s\n{RESUME}"));
    let answer = daemon.ask(&["restart", "last", "--json"]);
    daemon.kill();
    assert_eq!(decided(&daemon), [], "not due yet");
    daemon.start();
    until("the checkpoint is decided about", || {
        (decided(&daemon).len() == 1).then_some(())
    });
    let decision = &daemon.ask(&["audit", "--json"])[0];
    assert_eq!(
        (&decision["reason"], &decision["at"]),
        (&json!("restart"), &answer[0]["due"])
    );
    daemon.kill();
    daemon.start();
    assert_eq!(decided(&daemon).len(), 1, "once");
    daemon.verify();
}

#[test]
fn without_a_pane_the_checkpoint_after_a_restart_answers_the_next_stop() {
    let stage = Stage::with(SHELL);
    stage.start_agent("first");
    let daemon = stage.daemon(&format!("restart_delay: 1s\n{RESUME}"));
    stage.hook(&daemon, "Stop", json!({}), true);
    let answer = daemon.ask(&["restart", "last", "--json"]);
    stage.hook(
        &daemon,
        "SessionStart",
        json!({ "source": "resume" }),
        false,
    );
    let due: journal::Timestamp = answer[0]["due"]
        .as_str()
        .and_then(|due| due.parse().ok())
        .expect("a time");
    until("it is due", || {
        (journal::Timestamp::now() > due).then_some(())
    });
    assert_eq!(decided(&daemon).len(), 1, "there is nowhere to type it");
    assert!(
        !stage
            .hook(
                &daemon,
                "Stop",
                json!({ "last_assistant_message": "up again" }),
                false
            )
            .is_empty()
    );
    assert_eq!(decided(&daemon)[1], (json!("restart"), json!("hook_reply")));
    assert_eq!(closed(&daemon), ["at_next_stop"]);
    assert!(
        stage
            .hook(
                &daemon,
                "Stop",
                json!({ "last_assistant_message": "done" }),
                false
            )
            .is_empty(),
        "once"
    );
    daemon.verify();
}
