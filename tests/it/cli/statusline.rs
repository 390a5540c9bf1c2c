//! `statusline`: what a status bar shows of real sessions, and that it never makes its host wait.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::git::commit_all;

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::terminal::{Server, until};
use crate::support::{Home, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");
/// What the status line of Claude Code gets.
const TOLD: &str = r#"{"hook_event_name":"Status","session_id":"shop","cwd":"/","model":{"id":"m","display_name":"M"},"workspace":{"current_dir":"/"}}"#;

fn line(home: &Home, arguments: &[&str], input: &str) -> String {
    let arguments = [&["statusline"], arguments].concat();
    let output = run(&mut home.command(PROGRAM, &arguments), input.as_bytes());
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    String::from_utf8(output.stdout).expect("text")
}

fn hook(daemon: &Daemon, project: &Path, session: &str, event: &str, fields: Value) -> String {
    let mut payload = json!({ "session_id": session, "hook_event_name": event, "cwd": project });
    let fields = fields.as_object().expect("an object").clone();
    payload.as_object_mut().expect("an object").extend(fields);
    daemon.hook(&["claude"], payload.to_string().as_bytes())
}

/// A project with a test, in a repository.
fn project(daemon: &Daemon) -> PathBuf {
    let project = daemon.home.path().join("shop");
    fs::create_dir_all(project.join("tests")).expect("folders");
    fs::write(
        project.join("pyproject.toml"),
        "[project]\nname = \"shop\"\n",
    )
    .expect("writes");
    fs::write(project.join("shop.py"), "price = 1\n").expect("writes");
    fs::write(
        project.join("tests/test_shop.py"),
        "import shop\n\ndef test_price():\n    assert shop.price\n",
    )
    .expect("writes");
    commit_all(&project);
    project
}

#[test]
fn one_session_shows_what_is_not_proved_yet_and_many_are_counted() {
    let daemon = Daemon::with(EVERY_STOP);
    let project = project(&daemon);
    let shows = |arguments: &[&str], input: &str, expected: &str| {
        until(expected, || {
            let shown = line(&daemon.home, arguments, input);
            (shown == expected).then_some(())
        });
    };
    shows(&[], "", "cp: idle\n");
    shows(&[], TOLD, "");
    hook(
        &daemon,
        &project,
        "shop",
        "UserPromptSubmit",
        json!({ "prompt": "Raise the price" }),
    );
    shows(&[], TOLD, "cp: <1m\n");
    fs::write(project.join("shop.py"), "price = 2\n").expect("writes");
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": project.join("shop.py") }, "tool_response": { "success": true } });
    hook(&daemon, &project, "shop", "PostToolUse", edit);
    let reply = hook(&daemon, &project, "shop", "Stop", json!({}));
    assert!(reply.contains("pytest"), "{reply}");
    shows(&[], TOLD, "cp: 1 open · 1 sent · <1m\n");
    let tests = json!({ "tool_name": "Bash", "tool_input": { "command": "pytest" },
        "tool_response": { "stdout": "===== 1 passed in 0.01s =====", "stderr": "", "interrupted": false } });
    hook(&daemon, &project, "shop", "PostToolUse", tests);
    shows(&["--session", "shop"], "", "cp: 1 sent · <1m\n");
    hook(
        &daemon,
        &project,
        "shop",
        "Stop",
        json!({ "stop_hook_active": true }),
    );
    shows(&["--session", "shop"], "", "cp: waiting · 1 sent\n");
    let answer = line(&daemon.home, &["--json"], TOLD);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["text"], "cp: waiting · 1 sent");
    let one = &answer["session"];
    assert_eq!(
        (
            &one["status"],
            &one["open"],
            &one["blocked"],
            &one["turn_ms"]
        ),
        (&json!("waiting"), &json!(0), &json!(1), &Value::Null)
    );

    let other = daemon.home.path().join("other");
    fs::create_dir(&other).expect("a folder");
    hook(
        &daemon,
        &other,
        "else",
        "UserPromptSubmit",
        json!({ "prompt": "x" }),
    );
    shows(&["--all"], TOLD, "cp: 1 waiting · 1 running\n");
    let folder = other.to_str().expect("text");
    shows(&["--project", folder], "", "cp: 1 running\n");
    daemon.ask(&["mute", "else", "--json"]);
    shows(&["--session", "else"], "", "cp: muted · <1m\n");
    // The small client answers too.
    let output = run(&mut daemon.home.client(&["statusline", "--all"]), b"");
    assert_eq!(output.stdout, "cp: 1 waiting · 1 running\n".as_bytes());
}

#[test]
fn tmux_shows_the_session_of_its_own_pane() {
    let (server, daemon) = (Server::new(), Daemon::with(EVERY_STOP));
    let pane = server.tmux(&["new-session", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    let socket = server.socket();
    let own = server.tmux(&["display-message", "-p", "#{pid}"]);
    let prompt = |session: &str, tmux: &Path, server: &str| {
        let payload = json!({ "session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": "/" });
        let mut client = daemon.home.client(&["claude"]);
        client
            .env("TMUX_PANE", &pane)
            .env("TMUX", format!("{},{server},0", tmux.display()));
        run(&mut client, payload.to_string().as_bytes());
    };
    prompt("here", &socket, own.trim());
    // Panes of the same name of other servers.
    prompt("there", Path::new("/tmp/other"), own.trim());
    prompt("earlier", &socket, "1");
    for other in ["there", "earlier"] {
        daemon.ask(&["mute", other, "--json"]);
    }
    let home = daemon.home.path().display();
    let format = format!(
        "#(env CHECKPOINTD_HOME='{home}' CHECKPOINTD_PLAIN_WAIT_MS=60000 '{PROGRAM}' statusline --pane '#{{pane_id}}')"
    );
    for (option, value) in [
        ("status-right", &*format),
        ("status-interval", "1"),
        ("status-left", ""),
    ] {
        server.tmux(&["set", "-g", option, value]);
    }
    // Only a terminal that is attached has a status bar.
    let outer = Server::new();
    let attach = format!(
        "env -u TMUX LC_ALL=C.UTF-8 tmux -S '{}' attach",
        socket.display()
    );
    let screen = outer.tmux(&["new-session", "-d", "-P", "-F", "#{pane_id}", &attach]);
    until("the line", || {
        let shown = outer.tmux(&["capture-pane", "-p", "-t", &screen]);
        let bar = shown.lines().next_back().unwrap_or_default();
        bar.ends_with("cp: <1m").then_some(())
    });
}

#[test]
fn its_host_never_waits() {
    let home = Home::new();
    assert_eq!(line(&home, &[], ""), "cp: no daemon\n");
    let json: Value = serde_json::from_str(&line(&home, &["--json"], "")).expect("JSON");
    assert_eq!(
        json,
        json!({ "text": "cp: no daemon", "session": null, "sessions": null })
    );
    // A daemon that hangs: it neither accepts nor answers.
    let _listener = UnixListener::bind(home.socket()).expect("a socket");
    let mut command = home.command(PROGRAM, &["statusline"]);
    command.env_remove("CHECKPOINTD_PLAIN_WAIT_MS");
    let began = Instant::now();
    let output = run(&mut command, TOLD.as_bytes());
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(40),
        "it waits for an answer: {took:?}"
    );
    assert!(took < Duration::from_secs(2), "{took:?}");
    // What it does not know is told where a person reads it, and its host gets an empty line.
    for options in [&["--odd"][..], &["--all", "--session", "a"], &["--pane"]] {
        let arguments = [&["statusline"], options].concat();
        let output = run(&mut home.command(PROGRAM, &arguments), b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
        assert!(String::from_utf8_lossy(&output.stderr).contains(options[0]));
    }
    let help = run(&mut home.command(PROGRAM, &["statusline", "--help"]), b"");
    let help = String::from_utf8(help.stdout).expect("text");
    assert!(
        help.contains("settings.json") && help.contains("status-right"),
        "{help}"
    );
}
