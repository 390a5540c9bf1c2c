//! `top` in a real terminal: what is on the screen, what keys lead to, and that nothing is left behind.

use serde_json::{Value, json};
use testkit::recordings::{CONFIG, Folders};

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::terminal::{Server, until};
use crate::support::{Home, run};

/// `top` in a pane of its own, in a shell that says afterward how it ended.
struct Top<'a> {
    server: &'a Server,
    pane: String,
}

impl<'a> Top<'a> {
    fn start(server: &'a Server, home: &Home, variables: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_checkpointd");
        let home = home.path().display();
        let shell = format!(
            "echo before; env HOME=/nowhere CHECKPOINTD_HOME='{home}' {variables} '{program}' top; echo \"code $?\"; exec cat"
        );
        let start = [
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            "-P",
            "-F",
            "#{pane_id}",
            &shell,
        ];
        Self {
            server,
            pane: server.tmux(&start),
        }
    }

    fn screen(&self) -> String {
        self.server.tmux(&["capture-pane", "-p", "-t", &self.pane])
    }

    fn shown(&self, format: &str) -> String {
        self.server
            .tmux(&["display-message", "-p", "-t", &self.pane, format])
    }

    fn press(&self, keys: &[&str]) {
        self.server
            .tmux(&[&["send-keys", "-t", &self.pane], keys].concat());
    }

    fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.server.tmux(&[
            "resize-window",
            "-t",
            &self.pane,
            "-x",
            &width,
            "-y",
            &height,
        ]);
    }

    /// Waits until the screen has a text, and returns the screen.
    #[track_caller]
    fn waits_for(&self, text: &str) -> String {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(text, || {
                last = self.screen();
                last.contains(text).then_some(())
            });
        }));
        assert!(found.is_ok(), "`{text}` does not come:\n{last}");
        last
    }

    /// Waits for its end, and checks that the terminal is as it was.
    #[track_caller]
    fn ends_cleanly(&self) {
        self.waits_for("code ");
        assert_eq!(self.screen(), "before\ncode 0");
        assert_eq!(self.shown("#{alternate_on} #{cursor_flag}"), "0 1");
        // What is typed is shown, and a line break goes to the next line: the modes of the terminal are back.
        self.press(&["-l", "typed"]);
        self.press(&["Enter"]);
        self.waits_for("code 0\ntyped\ntyped");
    }
}

/// Plays a session that was held back once, up to its last stop.
fn play_session(daemon: &Daemon) {
    let calls = recorded("claude/h-stop-block-once");
    calls
        .iter()
        .filter(|call| call["event"] != "SessionEnd")
        .for_each(|call| drop(play(daemon, call)));
}

/// Returns a screen without what differs from run to run: digits of times, and what comes after them in a line.
fn masked(screen: &str) -> String {
    let line = |line: &str| {
        let varies = [" last event ", " after"];
        let cut = varies
            .iter()
            .find_map(|word| Some((line.split_once(word)?.0, word)));
        let line = cut.map_or_else(
            || line.to_owned(),
            |(before, word)| format!("{before}{word}.."),
        );
        let is_time = |at: usize| {
            let part = line.get(at..at + 12).unwrap_or_default().as_bytes();
            part.len() == 12 && part[2] == b':' && part[5] == b':' && part[8] == b'.'
        };
        match (0..line.len()).find(|at| is_time(*at)) {
            Some(at) => format!("{}00:00:00.000{}", &line[..at], &line[at + 12..]),
            None => line,
        }
    };
    screen.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn sessions_events_and_a_drill_down_are_on_the_screen() {
    let (server, daemon) = (Server::new(), Daemon::with(EVERY_STOP));
    play_session(&daemon);
    let decision = daemon.ask(&["audit", "--verdict", "inject", "--json"])[0]["seq"].clone();
    let last = daemon.ask(&["journal", "tail", "-n", "1", "--json"])[0]["seq"].clone();
    let top = Top::start(&server, &daemon.home, "");
    top.waits_for(&format!("event {last}"));
    // The events themselves come in an answer of their own.
    let screen = top.waits_for("let through: already");
    insta::assert_snapshot!(masked(&screen), @"
     checkpointd  1 waiting  (1 session)                                   event 29
    STATE     OPEN             AGENT  TITLE             PROJECT    LAST
    waiting   -                claude [script:basic] p… project    debrief: I echoed












     57147911: [script:basic] please do it; waiting, finished, last event ..
    00:00:00.000      23  claude 57147911  decided              sent: what changed i
    00:00:00.000      24  claude 57147911  delivery attempted   hook reply of 23
    00:00:00.000      25  claude 57147911  model stepped        MessageDisplay
    00:00:00.000      26  claude 57147911  agent stopped        again
    00:00:00.000      27  claude 57147911  delivery confirmed   23 by next event
    00:00:00.000      28  claude 57147911  evidence gathered
    00:00:00.000      29  claude 57147911  decided              let through: already
     Enter pane  t timeline  e explain  m mute  c clear  w wrong  y copy  ? help
    ");

    // Live: a message of the user, with what could do harm to a terminal.
    let session = daemon.ask(&["sessions", "--json"])[0]["native_session"].clone();
    let prompt = json!({ "session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "do \x1b]0;evil\x07 it" });
    daemon.hook(
        &["claude", "UserPromptSubmit"],
        prompt.to_string().as_bytes(),
    );
    let screen = top.waits_for("running");
    assert!(
        top.waits_for("\"do \\x1b]0;evil")
            .contains("prompt submitted"),
        "{screen}"
    );
    assert_ne!(top.shown("#{pane_title}"), "evil");

    // Into the timeline, and from its decision into the explanation.
    top.press(&["Enter"]);
    let screen = top.waits_for("timeline of ");
    assert!(
        top.waits_for("turn 2").contains("agent stopped"),
        "{screen}"
    );
    // What happens meanwhile is added to it.
    for turn in 3..6 {
        let more = json!({ "session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": format!("part {turn}") });
        daemon.hook(&["claude", "UserPromptSubmit"], more.to_string().as_bytes());
        let screen = top.waits_for(&format!("\"part {turn}\""));
        assert!(screen.contains(&format!("turn {turn}")), "{screen}");
        for earlier in 2..turn {
            assert_eq!(
                screen.matches(&format!("turn {earlier}")).count(),
                1,
                "{screen}"
            );
        }
    }
    top.press(&["/"]);
    top.press(&["-l", "decided sent"]);
    top.waits_for("filter: decided sent_");
    top.press(&["Enter"]);
    top.waits_for("lines 1-1 of 1");
    top.press(&["Enter"]);
    top.waits_for(&format!(
        "decision {decision}: sent, what changed is not known"
    ));
    top.press(&["G"]);
    top.waits_for("message");
    top.waits_for("[checkpointd] ");
    top.press(&["Escape"]);
    top.waits_for("lines 1-1 of 1");
    top.press(&["Escape"]);
    top.waits_for("turn 5");
    top.press(&["BSpace"]);
    top.waits_for("  LAST");
    top.press(&["q"]);
    top.ends_cleanly();
}

#[test]
fn it_follows_the_size_of_the_terminal() {
    let (server, daemon) = (Server::new(), Daemon::with(EVERY_STOP));
    play_session(&daemon);
    let top = Top::start(&server, &daemon.home, "");
    top.waits_for("  LAST");
    top.resize(140, 40);
    let column = |screen: &str| {
        screen
            .lines()
            .find_map(|line| line.find("  LAST"))
            .unwrap_or_default()
    };
    until("the columns are wider", || {
        (column(&top.screen()) > 60).then_some(())
    });
    assert!(top.screen().lines().all(|line| line.chars().count() <= 140));
    top.resize(40, 10);
    top.waits_for("This terminal has 40x10");
    top.resize(80, 24);
    let screen = top.waits_for("  LAST");
    assert!(!screen.contains("This terminal"), "{screen}");
    top.press(&["C-c"]);
    top.ends_cleanly();
}

#[test]
fn a_daemon_that_goes_is_missed_and_found_again() {
    let (server, mut daemon) = (Server::new(), Daemon::with(EVERY_STOP));
    play_session(&daemon);
    let top = Top::start(&server, &daemon.home, "");
    top.waits_for("waiting");
    daemon.kill();
    let screen = top.waits_for("no daemon, trying again");
    assert!(screen.contains("waiting"), "what was known stays: {screen}");
    daemon.start();
    top.waits_for("daemon started");
    assert!(!top.waits_for("event ").contains("no daemon"));
    // Told to end, as by a service manager.
    let shell = top.shown("#{pane_pid}");
    let output = std::process::Command::new("pgrep")
        .args(["-P", &shell])
        .output()
        .expect("pgrep");
    let pid: i32 = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .expect("one child");
    let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    top.ends_cleanly();
}

#[test]
fn no_color_is_kept_to() {
    let (server, daemon) = (Server::new(), Daemon::with(EVERY_STOP));
    play_session(&daemon);
    let colored = |variables: &str| {
        let top = Top::start(&server, &daemon.home, variables);
        top.waits_for("waiting");
        let screen = server.tmux(&["capture-pane", "-p", "-e", "-t", &top.pane]);
        top.press(&["q"]);
        top.ends_cleanly();
        // The palette's colors, by their short codes or as those of 256.
        ["\x1b[36m", "38;5;6m"]
            .iter()
            .any(|cyan| screen.contains(cyan))
    };
    assert!(colored("A=b"));
    assert!(!colored("NO_COLOR=1"));
}

#[test]
fn without_a_terminal_it_says_what_to_do_and_without_a_daemon_it_starts_one() {
    let home = Home::new();
    let output = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &["top"]),
        b"",
    );
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(2), &b""[..])
    );
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    error: `top` needs a terminal
    hint: `checkpointd status` and `checkpointd sessions` print the same once
    ");
    // It starts the daemon, as a hook does.
    let server = Server::new();
    let top = Top::start(&server, &home, "");
    top.waits_for("(0 sessions)");
    top.press(&["q"]);
    top.ends_cleanly();
    let mut stop = home.command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon", "stop"]);
    assert!(run(&mut stop, b"").status.success());
}

/// The answer for `top` itself: nothing where nothing has happened.
#[test]
fn the_daemon_tells_only_what_is_new() {
    let daemon = Daemon::with(EVERY_STOP);
    play_session(&daemon);
    let get = |path: &str| -> Value {
        let (status, body) = daemon.http("GET", path, &[], b"").expect("an answer");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    };
    let now = get("/v1/now");
    assert_eq!(
        (&now["sessions"], &now["rows"][0]["standing"]),
        (&json!(1), &json!("waiting"))
    );
    assert_eq!(get(&format!("/v1/now?known={}", now["seq"])), Value::Null);
    assert_ne!(get("/v1/now?known=1"), Value::Null);
}

/// A session of an agent in a pane of this server.
fn session_in_pane(server: &Server, daemon: &Daemon, session: &str, pane: &str) {
    let payload = json!({ "session_id": session, "hook_event_name": "UserPromptSubmit", "cwd": format!("/{session}"), "prompt": format!("work in {session}") });
    let mut client = daemon.home.client(&["claude"]);
    client
        .env("TMUX", format!("{},1,0", server.socket().display()))
        .env("TMUX_PANE", pane);
    run(&mut client, payload.to_string().as_bytes());
}

#[test]
fn keys_act_on_a_session_and_the_filter_holds_for_events() {
    let (server, daemon) = (Server::new(), Daemon::with(EVERY_STOP));
    play_session(&daemon);
    let agent = server.tmux(&["new-session", "-d", "-P", "-F", "#{pane_id}", "exec cat"]);
    session_in_pane(&server, &daemon, "shop", &agent);
    // A person looks at `top` through a terminal that is attached.
    let top = Top::start(&server, &daemon.home, "");
    let outer = Server::new();
    let attach = format!(
        "env -u TMUX LC_ALL=C.UTF-8 tmux -S '{}' attach -t '{}'",
        server.socket().display(),
        top.pane
    );
    outer.tmux(&["new-session", "-d", &attach]);
    let client = || server.tmux(&["list-clients", "-F", "#{pane_id}"]);
    until("it is attached", || (client() == top.pane).then_some(()));
    top.waits_for("work in shop");

    top.press(&["/"]);
    top.press(&["-l", "shop"]);
    top.press(&["Enter"]);
    let screen = top.waits_for("filter: shop");
    assert!(
        screen.contains("prompt submitted") && !screen.contains("block_budget"),
        "{screen}"
    );
    top.press(&["m"]);
    top.waits_for("mute: 1 for 5m, 2 for 1h");
    top.press(&["2"]);
    top.waits_for("is muted for 1h00m, m unmutes it");
    let muted = || daemon.ask(&["journal", "state", "shop", "--json"])[0]["muted"].clone();
    assert_eq!(muted(), true);
    top.waits_for("muted");
    until("the flag is shown", || {
        top.screen().lines().nth(2)?.contains("muted").then_some(())
    });
    top.press(&["m"]);
    top.waits_for("is no longer muted");
    assert_eq!(muted(), false);
    top.press(&["c"]);
    top.waits_for("passes");
    assert_eq!(
        daemon.ask(&["journal", "state", "shop", "--json"])[0]["cleared"],
        true
    );
    // It never got a checkpoint, so there is none to mark.
    top.press(&["w"]);
    top.waits_for("no checkpoint was sent here");
    top.press(&["Escape"]);
    top.waits_for("let through: already");
    top.press(&["s"]);
    top.waits_for("sorted: the newest event first");
    // The session at the end is the recorded one, which was held back.
    top.press(&["G"]);
    top.press(&["w"]);
    top.waits_for("wrong (Enter marks it, Esc not): _");
    top.press(&["-l", "I ran them"]);
    top.press(&["Enter"]);
    top.waits_for("is marked wrong, W undoes it");
    let summary = daemon.ask(&["audit", "--verdict", "inject", "--json"]);
    let decision = summary[0]["seq"].to_string();
    let explained = &daemon.ask(&["explain", &decision, "--json"])[0];
    assert_eq!(explained["marked_wrong"][0]["note"], "I ran them");
    top.press(&["Y"]);
    top.waits_for("copied the message of decision");
    let buffer = || server.tmux(&["show-buffer"]);
    let message = summary[0]["message"].as_str().expect("a message");
    until("tmux has it", || {
        (buffer() == message.trim_end()).then_some(())
    });
    top.press(&["y"]);
    top.waits_for("copied the command that resumes it");
    until("tmux has it", || {
        buffer().contains("claude --resume").then_some(())
    });
    top.press(&["W"]);
    top.waits_for("is no longer marked wrong");
    let tail = daemon.ask(&["journal", "export"]);
    for kind in ["muted", "unmuted", "checkpoint_cleared", "marked_wrong"] {
        let order = tail.iter().find(|event| event["kind"] == kind).expect(kind);
        assert_eq!(order["payload"], json!({ "by": "top" }), "{kind}");
    }

    top.press(&["/"]);
    top.press(&["-l", "shop"]);
    top.press(&["Enter"]);
    top.waits_for("filter: shop");
    top.press(&["Enter"]);
    until("the agent's pane is shown", || {
        (client() == agent).then_some(())
    });
    top.waits_for("tmux shows pane");
    // Its pane is gone: it says so, and does nothing else.
    server.tmux(&["switch-client", "-t", &top.pane]);
    server.tmux(&["kill-pane", "-t", &agent]);
    top.press(&["Enter"]);
    top.waits_for("the pane is gone");
    top.press(&["q"]);
    top.ends_cleanly();
}

/// Questions that people come with, the keys from the first screen, and text of the answer. docs/watching.md has the table.
const QUESTIONS: [(&str, &[&str], &str); 10] = [
    ("Which agent needs me, and for what?", &[], "needs you -"),
    (
        "Which agent left something open?",
        &[],
        "open      tests not run",
    ),
    ("What is not verified?", &[], "tests not run: reorder.py"),
    ("What did the agent say last?", &[], "I echoed hi, wrote"),
    ("What was done in which turn?", &["j", "t"], "turn 1"),
    (
        "What did checkpoints ask for?",
        &["j", "e"],
        "Run the tests",
    ),
    ("Why was this sent?", &["j", "e"], "reorder.py"),
    ("Was it done, and by which call?", &["j", "e"], "not done"),
    (
        "Did it help: what was caught, and how often was it wrong?",
        &["S"],
        "marked wrong by you",
    ),
    (
        "Which past stops do other rules judge otherwise?",
        &["R"],
        "would change",
    ),
];

#[test]
fn questions_are_answered_by_two_keys_at_most() {
    let mut daemon = Daemon::prepared(CONFIG);
    let folders = Folders::new(daemon.home.path(), &["claude"]);
    folders.start(&mut daemon);
    folders.play(&daemon.home, &["claude"]);
    let ask = json!({ "session_id": "asks", "hook_event_name": "PermissionRequest", "cwd": "/asks", "tool_name": "Bash", "tool_input": { "command": "rm -rf build" } });
    daemon.hook(&["claude"], ask.to_string().as_bytes());
    let documented =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/watching.md"))
            .expect("it is there");
    let server = Server::new();
    for (question, keys, answer) in QUESTIONS {
        let top = Top::start(&server, &daemon.home, "");
        top.resize(150, 40);
        top.waits_for("LAST");
        for key in keys {
            top.press(&[key]);
        }
        top.waits_for(answer);
        let shown = keys
            .iter()
            .map(|key| format!("`{key}`"))
            .collect::<Vec<_>>()
            .join(" ");
        let shown = if shown.is_empty() {
            "0".to_owned()
        } else {
            shown
        };
        let row = documented
            .lines()
            .find(|line| line.starts_with(&format!("| {question} |")));
        assert!(
            row.expect(question).ends_with(&format!("| {shown} |")),
            "{question}: {shown}"
        );
        top.press(&["q"]);
        top.waits_for("code 0");
    }
}
