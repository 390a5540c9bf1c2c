//! What agents and tools wrote reaches no terminal and no file of ours as it is: nothing steers what shows it.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP};
use crate::support::git::commit_all;
use crate::support::run;
use crate::support::terminal::{Server, until};

/// Sets a title, clears the screen, colors, deletes, and turns the direction.
const WORD: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}word";

fn steers(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A session with hostile words in every place.
fn tell(daemon: &Daemon, project: &Path) {
    let call = |event: &str, fields: serde_json::Value| {
        let mut payload =
            json!({ "session_id": format!("s{WORD}"), "cwd": project, "hook_event_name": event });
        let fields = fields.as_object().expect("an object").clone();
        payload.as_object_mut().expect("an object").extend(fields);
        daemon.hook(&["claude"], payload.to_string().as_bytes());
    };
    call(
        "UserPromptSubmit",
        json!({ "prompt": format!("please {WORD}") }),
    );
    let command = json!({ "command": format!("cargo test {WORD}") });
    for tool in ["Bash", &format!("mcp__{WORD}")] {
        call(
            "PostToolUseFailure",
            json!({ "tool_name": tool, "tool_use_id": tool, "tool_input": command, "error": format!("Exit code 1\n{WORD}") }),
        );
    }
    let path = project.join(format!("{WORD}.rs"));
    fs::write(&path, "x").expect("writes");
    call(
        "PostToolUse",
        json!({ "tool_name": "Write", "tool_use_id": "w", "tool_input": { "file_path": path, "content": WORD },
            "tool_response": { "type": "create" } }),
    );
    call("Stop", json!({ "last_assistant_message": WORD }));
    call(
        "Notification",
        json!({ "message": WORD, "notification_type": "permission_prompt" }),
    );
}

const PEOPLE: [&str; 16] = [
    "rules",
    "config show",
    "rules trust --list",
    "status",
    "sessions",
    "timeline",
    "audit",
    "explain",
    "journal state",
    "journal tail -n 100",
    "journal sql 'select * from events'",
    "journal sql 'select * from decisions'",
    "journal sql 'select * from tools'",
    "progress show",
    "progress validate",
    "rules preview",
];
const OTHERS: [&str; 2] = ["journal export", "progress phase list"];
const CSV: [&str; 3] = [
    "audit",
    "journal sql 'select * from events'",
    "journal sql 'select * from tools'",
];

/// Runs commands in a terminal, and returns what they wrote to it.
fn in_terminal(daemon: &Daemon, project: &Path, lines: &[String]) -> String {
    let server = Server::new();
    let at = |name: &str| daemon.home.path().join(name);
    let (script, seen, go, errors) = (at("script"), at("seen"), at("go"), at("errors"));
    let program = env!("CARGO_BIN_EXE_checkpointd");
    let commands: String = lines
        .iter()
        .map(|line| format!("'{program}' {line} 2>>'{}'\n", errors.display()))
        .collect();
    let text = format!(
        "cd '{}' || exit 1\nwhile [ ! -e '{}' ]; do sleep 0.05; done\n{commands}echo the-end\nexec cat\n",
        project.display(),
        go.display()
    );
    fs::write(&script, text).expect("writes");
    let home = format!("CHECKPOINTD_HOME={}", daemon.home.path().display());
    let shell = format!(
        "exec env NO_COLOR=1 HOME=/nowhere '{home}' sh '{}'",
        script.display()
    );
    let pane = server.tmux(&[
        "new-session",
        "-d",
        "-x",
        "200",
        "-y",
        "50",
        "-P",
        "-F",
        "#{pane_id}",
        &shell,
    ]);
    server.tmux(&[
        "pipe-pane",
        "-t",
        &pane,
        &format!("cat > '{}'", seen.display()),
    ]);
    fs::write(go, "").expect("writes");
    let text = || String::from_utf8_lossy(&fs::read(&seen).unwrap_or_default()).into_owned();
    until("the end of the commands", || {
        text().contains("the-end").then_some(())
    });
    // A terminal gets a carriage return with every line break.
    let said = fs::read_to_string(errors).expect("refusals");
    assert!(
        said.contains("error: ") && said.contains("\\x1b[2J"),
        "{said}"
    );
    text().replace("\r\n", "\n") + &said
}

#[test]
fn nothing_steers_a_terminal_or_a_document() {
    let daemon = Daemon::with(EVERY_STOP);
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join(WORD.replace('/', ""));
    fs::create_dir(&project).expect("a folder");
    fs::write(project.join("a"), "1").expect("writes");
    commit_all(&project);
    tell(&daemon, &project);
    let mut write = daemon.home.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["progress", "write", "--from", "-", "--json"],
    );
    let stated = json!({ "summary": WORD, "remaining": [WORD], "notes": WORD }).to_string();
    let written = run(write.current_dir(&project), stated.as_bytes());
    assert_eq!(written.status.code(), Some(0));
    let written: serde_json::Value = serde_json::from_slice(&written.stdout).expect("JSON");
    let document = fs::read_to_string(written["file"].as_str().expect("a path")).expect("there");
    assert!(!document.contains(steers), "{document:?}");
    assert!(
        document.contains("\\x1b]0;x\\x07") && document.contains("\\u{202e}"),
        "{document}"
    );

    let people = PEOPLE.iter().map(|line| (*line).to_owned());
    let json = PEOPLE.iter().map(|line| format!("{line} --json"));
    let csv = CSV.iter().map(|line| format!("{line} --csv"));
    let all: Vec<String> = people
        .chain(json)
        .chain(csv)
        .chain(OTHERS.map(str::to_owned))
        .chain(
            ["timeline", "explain --session", "journal state"]
                .map(|word| format!("{word} '{WORD}'")),
        )
        .collect();
    let seen = in_terminal(&daemon, &project, &all);
    if let Some(place) = seen.find(steers) {
        let around: String = seen[..place].chars().rev().take(300).collect();
        panic!("{:?}", around.chars().rev().collect::<String>());
    }
    for shown in [
        "\\x1b]0;x\\x07",
        "\\u{202e}",
        "\\u001b",
        "\\u009b31m\\u007f\\u202e\\u2066word",
    ] {
        assert!(seen.contains(shown), "{shown} is not in {seen}");
    }
    // Programs get the same text from JSON, and the text itself in CSV.
    let events = daemon.ask(&[
        "journal",
        "tail",
        "-n",
        "100",
        "--kind",
        "prompt_submitted",
        "--json",
    ]);
    assert_eq!(events[0]["text"], format!("please {WORD}"));
    let csv = daemon.home.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["journal", "sql", "select command from tools", "--csv"],
    );
    let csv = run(&mut { csv }, b"");
    assert!(String::from_utf8_lossy(&csv.stdout).contains(WORD));
}
