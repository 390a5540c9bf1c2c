//! Sessions in lists: what waits is first and never left out, and people know each by its title.

use std::fs;

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::{run, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");

fn hook(daemon: &Daemon, session: &str, event: &str, fields: Value) {
    let mut payload =
        json!({ "session_id": session, "hook_event_name": event, "cwd": daemon.home.path() });
    let fields = fields.as_object().expect("an object").clone();
    payload.as_object_mut().expect("an object").extend(fields);
    daemon.hook(&["claude"], payload.to_string().as_bytes());
}

fn prompt(daemon: &Daemon, session: &str, text: &str) {
    hook(
        daemon,
        session,
        "UserPromptSubmit",
        json!({ "prompt": text }),
    );
}

/// Has many sessions, in which nothing is expected of anyone, come after all others.
fn many_newer(daemon: &Daemon, count: usize) {
    let line = |number: usize| {
        let payload = json!({ "session_id": format!("newer-{number}"), "hook_event_name": "SessionStart", "source": "startup", "cwd": "/elsewhere" });
        json!({ "agent": "claude", "payload": payload }).to_string()
    };
    let lines: Vec<_> = (0..count).map(line).collect();
    let mut append = daemon.home.command(PROGRAM, &["journal", "append"]);
    let output = run(&mut append, lines.join("\n").as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

fn say(daemon: &Daemon, arguments: &[&str]) -> String {
    let output = run(&mut daemon.home.command(PROGRAM, arguments), b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn find<'a>(rows: &'a [Value], native: &str) -> &'a Value {
    rows.iter()
        .find(|row| row["native_session"] == native)
        .unwrap_or_else(|| panic!("{native} is not among {} rows", rows.len()))
}

/// What every view says of the sessions that are told of here.
fn rows_of_now(daemon: &Daemon) -> Vec<Value> {
    let (_, answer) = daemon.http("GET", "/v1/now", &[], b"").expect("an answer");
    let now: Value = serde_json::from_str(&answer).expect("JSON");
    now["rows"].as_array().expect("rows").clone()
}

/// Plays sessions in each state, and after them many in which nothing is expected of anyone.
fn sessions_in_each_state() -> Daemon {
    let daemon = Daemon::with("min_turn: 1h\n");
    prompt(&daemon, "idle", "Fix the parser\nof the shop");
    hook(&daemon, "idle", "Stop", json!({}));
    hook(
        &daemon,
        "idle",
        "Notification",
        json!({ "notification_type": "idle_prompt", "message": "waiting" }),
    );
    prompt(&daemon, "asks", "Remove the cache");
    hook(
        &daemon,
        "asks",
        "PermissionRequest",
        json!({ "tool_name": "Bash", "tool_input": { "command": "rm -r cache" } }),
    );
    prompt(&daemon, "works", "Write the manual");
    prompt(&daemon, "over", "Say hello");
    hook(&daemon, "over", "SessionEnd", json!({ "reason": "exit" }));
    many_newer(&daemon, 230);
    daemon
}

#[test]
fn every_view_has_one_definition_of_what_waits_and_lists_it_first() {
    let daemon = sessions_in_each_state();
    let rows = daemon.ask(&["sessions", "--json"]);
    let now = rows_of_now(&daemon);
    let sql = daemon.ask(&["journal", "sql", "select * from sessions", "--json"]);
    for (native, need, status, title) in [
        ("asks", "you", "needs_you", "Remove the cache"),
        ("works", "running", "running", "Write the manual"),
        ("idle", "finished", "waiting", "Fix the parser of the shop"),
    ] {
        let row = find(&rows, native);
        assert_eq!(
            (&row["status"], &row["title"]),
            (&json!(status), &json!(title))
        );
        let row = find(&now, native);
        assert_eq!(
            (&row["standing"], &row["title"]),
            (&json!(status), &json!(title))
        );
        assert_eq!(row["need"], need, "{row}");
        let row = find(&sql, native);
        assert_eq!(
            (&row["status"], &row["title"]),
            (&json!(status), &json!(title))
        );
    }
    assert_eq!(find(&rows, "over")["status"], "ended");
    let first: Vec<_> = rows[..3].iter().map(|row| &row["native_session"]).collect();
    assert_eq!(first, ["asks", "works", "idle"]);
    let first: Vec<_> = now[..3].iter().map(|row| &row["native_session"]).collect();
    assert_eq!(first, ["asks", "works", "idle"]);
    assert_eq!(
        (rows.len(), now.len()),
        (234, 203),
        "the newest 200, and what waits or runs"
    );

    let status = &daemon.ask(&["status", "--json"])[0];
    assert_eq!(
        (&status["running"], &status["waiting"], &status["sessions"]),
        (&json!(1), &json!(2), &json!(234))
    );
    assert_eq!(
        status["waiting_for_you"][1]["title"],
        "Fix the parser of the shop"
    );
    daemon.verify();
}

#[test]
fn a_long_list_is_cut_behind_what_waits_and_can_be_narrowed() {
    let daemon = sessions_in_each_state();
    let text = say(&daemon, &["sessions"]);
    assert!(
        text.contains("needs you") && text.contains("Remove the cache"),
        "{text}"
    );
    assert!(
        text.contains("and 204 more: `checkpointd sessions --all`"),
        "{text}"
    );
    let shown = |limit| {
        say(&daemon, &["sessions", "--limit", limit])
            .lines()
            .count()
    };
    assert_eq!(shown("2"), shown("0") + 2, "besides what waits or runs");

    let only = |arguments: &[&str]| {
        daemon
            .ask(&[&["sessions", "--json"], arguments].concat())
            .len()
    };
    assert_eq!(only(&["PARSER"]), 1);
    assert_eq!(only(&["--state", "waiting", "--state", "needs_you"]), 2);
    assert_eq!(only(&["--project", "/elsewhere", "--agent", "claude"]), 230);
    assert_eq!(only(&["--since", "last year"]), 234);
    assert_eq!(only(&["nothing-has-this"]), 0);
}

#[test]
fn what_no_agent_worked_in_is_not_listed_and_is_not_the_last_session() {
    let daemon = Daemon::with(EVERY_STOP);
    prompt(&daemon, "real", "Fix the parser");
    hook(&daemon, "test", "CheckpointdDoctor", json!({}));
    daemon.hook(
        &["claude"],
        br#"{"session_id":"by-hand","hook_event_name":"Stop"}"#,
    );
    let names = |arguments: &[&str]| -> Vec<String> {
        let rows = daemon.ask(arguments);
        rows.iter()
            .map(|row| row["native_session"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&["sessions", "--json"]), ["real"]);
    assert_eq!(names(&["sessions", "--all", "--json"]).len(), 3);
    assert_eq!(rows_of_now(&daemon).len(), 1);
    assert_eq!(daemon.ask(&["status", "--json"])[0]["sessions"], 1);
    for command in [
        &["journal", "state", "--json"][..],
        &["journal", "state", "last", "--json"],
    ] {
        assert_eq!(names(command), ["real"]);
    }
    assert!(say(&daemon, &["timeline"]).contains("Fix the parser"));
    assert!(say(&daemon, &["mute", "--off"]).contains("was not muted"));
    assert!(say(&daemon, &["mute"]).contains("muted"));
    assert!(say(&daemon, &["mute", "--off"]).contains("no longer muted"));
    assert!(say(&daemon, &["mute", "--once"]).contains("its next stop passes"));
    let unmuted = daemon.ask(&[
        "journal", "tail", "-n", "100", "--kind", "unmuted", "--json",
    ]);
    assert_eq!(unmuted.len(), 1, "what is not muted is not unmuted");
}

#[test]
fn a_branch_and_a_pane_are_shown_and_completed() {
    let daemon = Daemon::with(EVERY_STOP);
    let git = daemon.home.path().join(".git");
    fs::create_dir(&git).expect("a folder");
    fs::write(git.join("HEAD"), "ref: refs/heads/topic/parser\n").expect("writes");
    let payload = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Fix it", "cwd": daemon.home.path() });
    let mut client = daemon.home.client(&["claude"]);
    client.env("TMUX", "/tmp/none,1,0").env("TMUX_PANE", "%42");
    run(&mut client, payload.to_string().as_bytes());
    // A later tmux server has a pane of the same name.
    let later = payload.to_string().replace("\"s\"", "\"later\"");
    let mut client = daemon.home.client(&["claude"]);
    client.env("TMUX", "/tmp/none,2,0").env("TMUX_PANE", "%42");
    run(&mut client, later.as_bytes());
    for (server, session) in [("/tmp/none,1,3", "s"), ("/tmp/none,2,0", "later")] {
        let mut here = daemon
            .home
            .command(PROGRAM, &["journal", "state", "--json"]);
        here.env("TMUX", server).env("TMUX_PANE", "%42");
        let state = text(&run(&mut here, b"").stdout);
        let state: Value = serde_json::from_str(&state).expect("JSON");
        assert_eq!(state["native_session"], session);
    }
    let row = &daemon.ask(&["sessions", "--json"])[0];
    assert_eq!(
        (&row["branch"], &row["pane"]),
        (&json!("topic/parser"), &json!("%42"))
    );
    let mut complete = daemon
        .home
        .command(PROGRAM, &["--", "checkpointd", "timeline", ""]);
    complete.env("COMPLETE", "fish");
    let output = run(&mut complete, b"");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("claude: Fix it, topic/parser %42, running"),
        "{text}"
    );
}

#[test]
fn explain_is_about_the_last_checkpoint_and_names_the_other_stops() {
    let daemon = Daemon::with("min_turn: 0s\nheadless: always\n");
    fs::write(daemon.home.path().join("a.rs"), "x").expect("writes");
    prompt(&daemon, "s", "Fix it");
    hook(&daemon, "s", "Stop", json!({}));
    hook(&daemon, "s", "Stop", json!({ "stop_hook_active": true }));
    let decisions = daemon.ask(&["audit", "--json"]);
    let words: Vec<_> = decisions.iter().map(|row| &row["verdict"]).collect();
    assert_eq!(words, ["inject", "pass"]);
    let explained = &daemon.ask(&["explain", "--json"])[0];
    assert_eq!(explained["decision"]["seq"], decisions[0]["seq"]);
    assert_eq!(explained["others"][0]["seq"], decisions[1]["seq"]);
    let text = say(&daemon, &["explain", "-v"]);
    let text = Vec::from_iter(text.split_whitespace()).join(" ");
    let other = format!("(`checkpointd explain {}`)", decisions[1]["seq"]);
    assert!(
        text.contains("the turn's other stop, ") && text.contains(&other),
        "{text}"
    );
    assert!(
        text.contains("muted: no") && !text.contains("Off"),
        "{text}"
    );
}
