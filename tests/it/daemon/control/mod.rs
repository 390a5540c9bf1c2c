//! What people order of sessions and are told of them: the way out, mutes, the notification flag, listeners.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::terminal::until;
use crate::support::{Home, run};

mod ends;
mod way_out;

const SESSION: &str = "5c1d8f0a-0000-4000-8000-00000000c0de";

/// Calls a hook of Claude as it would, with a TMPDIR.
fn hook(home: &Home, session: &str, event: &str, fields: Value) -> String {
    let mut payload = json!({ "session_id": session, "cwd": home.path(), "hook_event_name": event, "prompt_id": "p" });
    for (key, value) in fields.as_object().expect("an object") {
        payload[key] = value.clone();
    }
    let mut command = home.client(&["claude"]);
    command.env("TMPDIR", home.path());
    let output = run(&mut command, payload.to_string().as_bytes());
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    String::from_utf8(output.stdout).expect("text")
}

fn prompt(home: &Home, text: &str) {
    hook(
        home,
        SESSION,
        "UserPromptSubmit",
        json!({ "prompt": text, "prompt_id": text }),
    );
}

/// Stops, saying this. Returns whether the agent was held back. Two stops in a row must not say the same: such are taken
/// for one call of a hook that is registered twice.
fn stop(home: &Home, turn: &str, words: &str) -> bool {
    !hook(
        home,
        SESSION,
        "Stop",
        json!({ "prompt_id": turn, "last_assistant_message": words }),
    )
    .is_empty()
}

fn reasons(daemon: &Daemon) -> Vec<String> {
    let lines = daemon.ask(&["audit", "--json"]);
    lines
        .iter()
        .map(|line| line["reason"].as_str().expect("a word").to_owned())
        .collect()
}

fn kinds(daemon: &Daemon, wanted: &str) -> usize {
    daemon
        .ask(&["journal", "tail", "-n", "1000", "--kind", wanted, "--json"])
        .len()
}

/// What a command printed for people.
fn said(daemon: &Daemon, arguments: &[&str]) -> (i32, String, String) {
    let output = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
        b"",
    );
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        output.status.code().expect("no signal"),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_clear_lets_one_stop_pass_with_the_daemon_and_without() {
    let mut daemon = Daemon::with(EVERY_STOP);
    prompt(&daemon.home, "one");
    let cleared = daemon.ask(&["mute", "--once", "last", "--json"]);
    assert_eq!(
        (&cleared[0]["did"], &cleared[0]["native_session"]),
        (&json!("checkpoint_cleared"), &json!(SESSION))
    );
    assert_eq!(
        daemon.ask(&["journal", "state", "last", "--json"])[0]["cleared"],
        true
    );
    assert!(!stop(&daemon.home, "one", "done"));
    assert!(
        stop(&daemon.home, "one", "really done"),
        "it was for one stop"
    );
    assert_eq!(reasons(&daemon), ["escape_hatch", "generic"]);

    daemon.kill();
    let (code, text, _) = said(&daemon, &["mute", "--once", "5c1d8f0a"]);
    assert_eq!(
        (code, text.as_str()),
        (0, "claude session 5c1d8f0a: its next stop passes\n")
    );
    daemon.start();
    assert_eq!(
        daemon.ask(&["journal", "state", "last", "--json"])[0]["cleared"],
        true,
        "the daemon knows of it"
    );
    prompt(&daemon.home, "two");
    assert!(
        stop(&daemon.home, "two", "done"),
        "a real message has taken it back"
    );
    assert_eq!(
        (
            kinds(&daemon, "checkpoint_cleared"),
            kinds(&daemon, "escape_hatch_used")
        ),
        (2, 1)
    );
    daemon.verify();
}

#[test]
fn the_marker_file_lets_one_stop_pass_and_is_gone() {
    let daemon = Daemon::with(&format!(
        "{EVERY_STOP}hooks: {{escape_marker: let_me_go}}\n"
    ));
    let marker = daemon.home.path().join("let_me_go");
    fs::write(daemon.home.path().join("checkpointd_clear"), "").expect("writable");
    prompt(&daemon.home, "one");
    fs::write(&marker, "").expect("writable");
    assert!(!stop(&daemon.home, "one", "done"));
    assert!(!marker.exists(), "it is used up");
    let told = hook(&daemon.home, SESSION, "Stop", json!({ "prompt_id": "one" }));
    assert_ne!(told, "");
    let used = daemon.ask(&["journal", "tail", "--kind", "escape_hatch_used", "--json"]);
    assert_eq!((used.len(), &used[0]["by"]), (1, &json!("marker")));

    // One from before the message was for the turn before.
    fs::write(&marker, "").expect("writable");
    let old = std::time::SystemTime::now() - Duration::from_secs(60);
    fs::File::options()
        .write(true)
        .open(&marker)
        .and_then(|file| file.set_modified(old))
        .expect("dated");
    prompt(&daemon.home, "two");
    assert!(
        stop(&daemon.home, "two", "done"),
        "a real message has taken it back"
    );
    assert!(!marker.exists());
    assert_eq!(reasons(&daemon), ["escape_hatch", "generic", "generic"]);
    daemon.verify();
}

#[test]
fn a_muted_session_is_left_alone_until_it_is_not() {
    let mut daemon = Daemon::with(EVERY_STOP);
    prompt(&daemon.home, "one");
    let muted = daemon.ask(&["mute", SESSION, "--for", "2h", "--json"]);
    assert!(muted[0]["until"].is_string(), "{muted:?}");
    assert!(!stop(&daemon.home, "one", "done"));
    assert_eq!(daemon.ask(&["sessions", "--json"])[0]["muted"], true);
    assert!(said(&daemon, &["sessions"]).1.contains("waiting, muted"));
    daemon.ask(&["mute", "--off", "last", "--json"]);
    assert!(stop(&daemon.home, "one", "really done"));

    daemon.kill();
    let (code, text, _) = said(&daemon, &["mute", "last"]);
    assert_eq!(
        (code, text.as_str()),
        (0, "claude session 5c1d8f0a: muted\n")
    );
    daemon.start();
    prompt(&daemon.home, "two");
    assert!(!stop(&daemon.home, "two", "done"));
    // A mute that is over: what happened in it was muted, what happens now is not.
    daemon.ask(&["mute", "last", "--for", "1ms", "--json"]);
    until("the mute ends", || {
        (daemon.ask(&["sessions", "--json"])[0]["muted"] == false).then_some(())
    });
    assert!(stop(&daemon.home, "two", "really done"));
    assert_eq!(reasons(&daemon), ["muted", "generic", "muted", "generic"]);
    daemon.verify();
}

#[test]
fn an_order_that_cannot_be_met_says_why() {
    let mut daemon = Daemon::with(EVERY_STOP);
    prompt(&daemon.home, "one");
    hook(
        &daemon.home,
        "5c1d8f0a-other",
        "UserPromptSubmit",
        json!({ "prompt": "x" }),
    );
    let refusals = |daemon: &Daemon| {
        let table: [&[&str]; 5] = [
            &["mute", "--once", "nobody"],
            &["mute", "--off", "5c1d8f0a"],
            &["mute", "last", "--for", "0s"],
            &["mute", "last", "--for", "soon"],
            &["mute", "--once", ""],
        ];
        table.map(|arguments| {
            let (code, out, err) = said(daemon, arguments);
            assert_eq!(out, "", "{arguments:?}");
            let line = err.lines().next().unwrap_or_default();
            let several = line.starts_with("error: several");
            if let Some((begin, ids)) = line.split_once("`: ").filter(|_| several) {
                // Each is named in full, so that one can be chosen.
                assert_eq!(ids.split(", ").count(), 2, "{ids}");
                return format!("{code} {begin}`");
            }
            format!("{code} {line}")
        })
    };
    let with = refusals(&daemon);
    assert_eq!(
        with,
        [
            "1 error: there is no session `nobody`: `checkpointd sessions` lists them",
            "1 error: several sessions begin with `5c1d8f0a`",
            "2 error: a mute without a duration has no effect",
            "2 error: `soon` is not a duration; write a duration such as `500ms`, `30s`, `20m` or `1h30m`",
            "1 error: several sessions begin with ``",
        ]
    );
    for (path, body, status) in [
        ("/sessions/nobody/clear", &b""[..], 404),
        ("/sessions/last/mute", b"{\"for\":\"soon\"}", 400),
        ("/sessions/last/mute", b"{\"until\":\"2h\"}", 400),
        ("/sessions/last/mute", b"{\"for\":\"2h\"}", 200),
        ("/sessions/last/unmute", b"", 200),
    ] {
        let answer = daemon.http("POST", path, &[], body).expect("an answer");
        assert_eq!(answer.0, status, "{path} {answer:?}");
    }
    daemon.kill();
    assert_eq!(refusals(&daemon), with, "the same without a daemon");
    let nowhere = Home::new();
    let output = run(
        &mut nowhere.command(
            env!("CARGO_BIN_EXE_checkpointd"),
            &["mute", "--once", "last"],
        ),
        b"",
    );
    assert_eq!(output.status.code(), Some(3), "no daemon and no journal");
}

/// A listener that writes down all it is told: one file a call.
fn scribe(folder: &Path) -> String {
    let script = folder.join("scribe.sh");
    let text = "cat > \"$1/$$.part\"\nprintf '\\n%s %s %s %s %s' \"$CHECKPOINTD_EVENT\" \"$CHECKPOINTD_REASON\" \\\n\
                \"$CHECKPOINTD_AGENT\" \"$CHECKPOINTD_TURN\" \"$CHECKPOINTD_MESSAGE\" >> \"$1/$$.part\"\n\
                mv \"$1/$$.part\" \"$1/$$.told\"\n";
    fs::write(&script, text).expect("writable");
    let words = json!(["sh", script, folder]);
    format!(
        "listeners: {{agent_finished: [{words}], needs_attention: [{words}], checkpoint_sent: [{words}]}}\n"
    )
}

/// What a scribe has written down, taken away.
fn take_told(folder: &Path, count: usize) -> Vec<String> {
    let files = || -> Vec<PathBuf> {
        let entries = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path());
        entries
            .filter(|path| path.extension().is_some_and(|ending| ending == "told"))
            .collect()
    };
    until(&format!("{count} listeners have run"), || {
        (files().len() >= count).then_some(())
    });
    let mut told: Vec<_> = files()
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).expect("readable");
            fs::remove_file(file).expect("there");
            text
        })
        .collect();
    told.sort();
    told
}

/// Asks for a permission, which is told at once, and gets it.
fn ask_permission(daemon: &Daemon, folder: &Path) {
    let dialog = json!({ "prompt_id": "one", "tool_name": "Bash", "tool_input": { "command": "rm -rf build" } });
    hook(&daemon.home, SESSION, "PreToolUse", dialog.clone());
    hook(&daemon.home, SESSION, "PermissionRequest", dialog.clone());
    hook(
        &daemon.home,
        SESSION,
        "Notification",
        json!({ "notification_type": "permission_prompt" }),
    );
    assert_eq!(
        take_told(folder, 1),
        ["Debrief.\nneeds_attention permission claude 1 Bash rm -rf build"]
    );
    let status = daemon.ask(&["status", "--json"]);
    assert_eq!(
        (
            &status[0]["waiting"],
            &status[0]["waiting_for_you"][0]["session"]
        ),
        (&json!(1), &session_id(daemon))
    );
    hook(&daemon.home, SESSION, "PostToolUse", dialog);
}

#[test]
fn listeners_are_told_once_of_what_counts_also_across_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut daemon = Daemon::with(&format!("{EVERY_STOP}{}", scribe(folder.path())));
    prompt(&daemon.home, "one");
    assert!(stop(
        &daemon.home,
        "one",
        "Done; $(touch x) `id`\n\"quoted\""
    ));
    assert_eq!(
        take_told(folder.path(), 1),
        ["Done; $(touch x) `id`\n\"quoted\"\ncheckpoint_sent hook_reply claude 1 "],
        "held back: the checkpoint is news, the stop is none"
    );
    assert!(!stop(&daemon.home, "one", "Debrief."));
    assert_eq!(
        take_told(folder.path(), 1),
        ["Debrief.\nagent_finished block_budget claude 1 "]
    );
    ask_permission(&daemon, folder.path());

    daemon.kill();
    daemon.start();
    assert!(
        !stop(&daemon.home, "one", "Debrief."),
        "the same words again"
    );
    prompt(&daemon.home, "two");
    daemon.ask(&["mute", "last", "--json"]);
    assert!(!stop(&daemon.home, "two", "Muted."));
    daemon.ask(&["mute", "--off", "last", "--json"]);
    prompt(&daemon.home, "three");
    daemon.ask(&["mute", "--once", "last", "--json"]);
    assert!(!stop(&daemon.home, "three", "New words."));
    assert_eq!(
        take_told(folder.path(), 1),
        ["New words.\nagent_finished escape_hatch claude 3 "]
    );
    assert_eq!(
        reasons(&daemon),
        [
            "generic",
            "block_budget",
            "block_budget",
            "muted",
            "escape_hatch"
        ]
    );
    assert_eq!(
        kinds(&daemon, "announced"),
        4,
        "nothing else was told, nor of the past after the restart"
    );
    daemon.verify();
}

fn session_id(daemon: &Daemon) -> Value {
    daemon.ask(&["journal", "state", "last", "--json"])[0]["session"].clone()
}

#[test]
fn a_listener_that_hangs_is_killed_with_its_children_and_others_wait_their_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display();
    // The child outlives its parent unless the whole group is killed; the second one closes its output before it reads.
    let config = format!(
        "{EVERY_STOP}listeners:\n  timeout: 2s\n  at_once: 1\n  agent_finished:\n  - sleep 1000 & echo $! > {path}/child; wait\n  \
         - exec > {path}/part 2>&1; cat; mv {path}/part {path}/second.told\n  - [/no/such/program]\n  - exit 7\n"
    );
    let daemon = Daemon::with(&config);
    prompt(&daemon.home, "one");
    stop(&daemon.home, "one", "held");
    assert!(!stop(&daemon.home, "one", "between us"));
    assert_eq!(take_told(folder.path(), 1), ["between us"]);
    let child = fs::read_to_string(folder.path().join("child")).expect("the first one ran before");
    let alive = || Path::new("/proc").join(child.trim()).join("stat");
    until("the child is gone", || {
        let stat = fs::read_to_string(alive()).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    });
    let log = || fs::read_to_string(daemon.home.path().join("log")).expect("a log");
    until("the last one has failed", || {
        log().contains("exit status: 7").then_some(())
    });
    for words in ["timed out and was killed", "program does not exist"] {
        assert!(log().contains(words), "{}", log());
    }
    assert!(
        !log().contains("between us"),
        "what the agent said is not logged: {}",
        log()
    );
    assert!(!stop(&daemon.home, "one", "and the daemon lives"));
}

#[test]
fn nothing_is_told_of_what_is_long_past() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::with(&format!("{EVERY_STOP}{}", scribe(folder.path())));
    let line = |at: &str, event: &str, words: &str| {
        json!({ "agent": "claude", "at": at, "payload": { "session_id": "old", "cwd": "/nowhere",
            "hook_event_name": event, "prompt": words, "last_assistant_message": words } })
    };
    let lines = [
        line("2026-01-01T00:00:00Z", "UserPromptSubmit", "go"),
        line("2026-01-01T00:01:00Z", "Stop", "Old."),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let append = ["journal", "append"];
    let output = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &append),
        lines.as_bytes(),
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    until("the old stop is decided about", || {
        (reasons(&daemon).len() == 1).then_some(())
    });
    // An agent that a listener runs: news of it would be told by another one, for ever.
    let mut own = daemon.home.client(&["claude"]);
    let payload = json!({ "session_id": "own", "cwd": "/nowhere", "hook_event_name": "UserPromptSubmit", "prompt": "x" });
    run(
        own.env("CHECKPOINTD_LISTENER", "1"),
        payload.to_string().as_bytes(),
    );
    let mut own = daemon.home.client(&["claude"]);
    let payload = json!({ "session_id": "own", "cwd": "/nowhere", "hook_event_name": "Stop" });
    let held = run(
        own.env("CHECKPOINTD_LISTENER", "1"),
        payload.to_string().as_bytes(),
    );
    assert!(
        !held.stdout.is_empty(),
        "but it is journaled and answered as any other"
    );
    prompt(&daemon.home, "one");
    stop(&daemon.home, "one", "held");
    // What is told is what the agent said last, by then.
    until("the checkpoint is told of", || {
        (kinds(&daemon, "announced") == 1).then_some(())
    });
    stop(&daemon.home, "one", "New.");
    let told = take_told(folder.path(), 2);
    assert!(
        told[0].starts_with("New.\n") && told[1].starts_with("held\n"),
        "{told:?}"
    );
    assert_eq!(kinds(&daemon, "announced"), 2);
}
