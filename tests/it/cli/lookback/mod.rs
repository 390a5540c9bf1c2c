//! `lookback`: what the agents' own transcripts come to, and their import into the journal.

mod covering;
mod database;
mod ends;
mod import;
mod rules;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use journal::Timestamp;
use serde_json::{Value, json};

use crate::support::{Home, run};

/// A user's home with transcripts, and a home for the product.
struct User {
    home: Home,
}

impl User {
    fn new() -> Self {
        let home = Home::new();
        fs::create_dir_all(home.path().join("user")).expect("a folder");
        Self { home }
    }

    fn folder(&self, path: &str) -> PathBuf {
        let folder = self.home.path().join("user").join(path);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = self
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), arguments);
        command.env("HOME", self.home.path().join("user"));
        let output = run(&mut command, b"");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (
            output.status.code().expect("no signal"),
            text(output.stdout),
            text(output.stderr),
        )
    }

    #[track_caller]
    fn well(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {out}{error}");
        out
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.well(arguments)).expect("JSON")
    }

    /// Puts recorded transcripts of three agents where the agents keep them.
    fn put_recorded(&self) {
        self.put_recorded_of(&[
            ("claude", ".claude/projects/-home-user-project"),
            ("codex", ".codex/sessions/2026/11/21"),
            ("gemini", ".gemini/tmp/project/chats"),
        ]);
    }

    /// Puts the recorded transcripts of agents into their places.
    fn put_recorded_of(&self, places: &[(&str, &str)]) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures");
        for (agent, place) in places {
            for scenario in fs::read_dir(fixtures.join(agent))
                .expect("recordings")
                .flatten()
            {
                let files = fs::read_dir(scenario.path())
                    .into_iter()
                    .flatten()
                    .flatten();
                for file in files.filter(|_| scenario.path().is_dir()) {
                    let name = file.file_name().to_string_lossy().into_owned();
                    let name = name.rsplit("__").next().unwrap_or(&name).to_owned();
                    fs::copy(file.path(), self.folder(place).join(name)).expect("copied");
                }
            }
        }
    }

    /// Makes a Rust project in a repository.
    fn project(&self) -> PathBuf {
        let project = self.folder("shop");
        for (path, text) in [
            ("Cargo.toml", "[package]\nname = \"shop\"\n"),
            (".gitignore", "/target\n"),
        ] {
            fs::write(project.join(path), text).expect("written");
        }
        fs::create_dir(project.join("target")).expect("a folder");
        fs::write(project.join("target/x"), "").expect("written");
        git(&project, &["init", "-q"]);
        project
    }

    /// Writes a transcript of Claude Code: turns of a message, calls and an answer, ten minutes each.
    fn put_session(&self, project: &Path, session: &str, began: Timestamp, turns: &[&[Did<'_>]]) {
        let mut lines = Vec::new();
        for (number, did) in turns.iter().enumerate() {
            let at = |second: u64| {
                began
                    .plus(Duration::from_secs(number as u64 * 600 + second))
                    .to_string()
            };
            let line = |second: u64, kind: &str, content: Value| {
                json!({ "type": kind, "sessionId": session, "cwd": project, "version": "2.1.0", "timestamp": at(second),
                    "message": { "role": kind, "content": content } })
                .to_string()
            };
            lines.push(line(
                0,
                "user",
                json!(format!("task {number} of {session}")),
            ));
            let (mut says, mut calls) = ("Done.", Vec::new());
            for did in *did {
                match did {
                    Says(text) => says = text,
                    did => calls.push(did),
                }
            }
            for (call, did) in (1..).zip(calls) {
                let id = format!("{session}-{number}-{call}");
                let (name, input, failed) = did.call(project);
                let used = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
                lines.push(line(call * 10, "assistant", used));
                let result = json!([{ "type": "tool_result", "tool_use_id": id, "is_error": failed,
                    "content": if failed { "Exit code 101\ntest result: FAILED. 1 passed; 2 failed; 0 ignored" } else { "ok" } }]);
                lines.push(line(call * 10 + 5, "user", result));
            }
            lines.push(line(
                500,
                "assistant",
                json!([{ "type": "text", "text": says }]),
            ));
        }
        let place = self.folder(".claude/projects/-shop");
        let text = lines.join("\n") + "\n";
        fs::write(place.join(format!("{session}.jsonl")), text).expect("written");
    }
}

#[derive(Clone, Copy)]
enum Did<'a> {
    Read(&'a str),
    Edited(&'a str),
    Ran(&'a str),
    Failed(&'a str),
    Says(&'a str),
}

use Did::{Edited, Failed, Ran, Read, Says};

impl Did<'_> {
    fn call(self, project: &Path) -> (&'static str, Value, bool) {
        let path = |path: &str| project.join(path);
        match self {
            Read(file) => ("Read", json!({ "file_path": path(file) }), false),
            Edited(file) => (
                "Edit",
                json!({ "file_path": path(file), "old_string": "a", "new_string": "b" }),
                false,
            ),
            Ran(line) => ("Bash", json!({ "command": line }), false),
            Failed(line) => ("Bash", json!({ "command": line }), true),
            Says(_) => unreachable!("a text is no call"),
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
        .args(arguments)
        .current_dir(folder);
    let done = run(&mut command, b"");
    assert!(done.status.success(), "{done:?}");
}

fn days_ago(days: u64) -> Timestamp {
    Timestamp::now().minus(Duration::from_secs(days * 86_400))
}

fn count(groups: &Value, agent: &str) -> (u64, u64) {
    let groups = groups.as_array().expect("groups").iter();
    let of = groups.filter(|group| group["agent"] == agent);
    of.fold((0, 0), |(sessions, turns), group| {
        let number = |name: &str| group[name].as_u64().expect("a number");
        (sessions + number("sessions"), turns + number("turns"))
    })
}

#[test]
fn recorded_transcripts_of_all_agents_are_found_and_cut() {
    let user = User::new();
    user.put_recorded();
    // The database of opencode is in `database.rs`.
    user.put_recorded_of(&[
        ("qwen", ".qwen/projects/p/chats"),
        ("copilot", ".copilot/session-state/s"),
        ("droid", ".factory/sessions/p"),
        ("pi", ".pi/agent/sessions/p"),
        ("kimi", ".kimi-code/sessions/p/s/agents/main"),
        ("vibe", ".vibe/logs/session/unified/s/journal"),
        ("grok", ".grok/sessions/p/s"),
    ]);
    let answer = user.json(&["lookback", "--since", "2020-01-01", "--json"]);
    assert_eq!(answer["problems"], json!([]));
    let groups = &answer["groups"];
    assert_eq!(count(groups, "claude"), (10, 12));
    assert_eq!(count(groups, "codex"), (8, 12));
    assert_eq!(count(groups, "gemini"), (8, 11));
    for agent in ["qwen", "copilot", "droid", "pi", "kimi", "grok"] {
        assert_eq!(count(groups, agent), (1, 1), "{agent}");
    }
    assert_eq!(count(groups, "vibe"), (1, 2));
    // One was stopped by a person.
    assert_eq!(answer["total"]["interrupted"], 1);
    let of_claude = user.json(&[
        "lookback",
        "--since",
        "2020-01-01",
        "--agent",
        "claude",
        "--json",
    ]);
    assert_eq!(of_claude["total"]["turns"], 12);
    // Nothing was kept, and nothing needs a journal.
    assert!(!user.home.path().join("journal").exists());
}

#[test]
fn a_project_that_is_not_there_is_a_mistake() {
    let user = User::new();
    let (code, out, error) = user.run(&["lookback", "--project", "/nosuch"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.contains("there is no folder /nosuch"), "{error}");
}

#[test]
fn older_formats_are_read() {
    let user = User::new();
    let project = user.project();
    let cwd = project.to_str().expect("text");
    let claude = [
        json!({ "type": "user", "sessionId": "old", "cwd": cwd, "timestamp": "2025-06-01T10:00:00Z", "message": { "content": "one" } }),
        json!({ "type": "assistant", "sessionId": "old", "cwd": cwd, "timestamp": "2025-06-01T10:05:00Z", "message": { "content": "done" } }),
    ];
    let codex = [
        json!({ "timestamp": "2025-09-01T10:00:00Z", "type": "session_meta", "payload": { "id": "old", "cwd": cwd, "cli_version": "0.30.0" } }),
        json!({ "timestamp": "2025-09-01T10:00:01Z", "type": "event_msg", "payload": { "type": "user_message", "message": "one" } }),
        json!({ "timestamp": "2025-09-01T10:00:09Z", "type": "event_msg", "payload": { "type": "user_message", "message": "two" } }),
    ];
    let lines = |lines: &[Value]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let gemini = json!({ "sessionId": "old", "projectHash": "h", "messages": [
        { "id": "1", "type": "user", "timestamp": "2025-10-01T10:00:01Z", "content": "fix it" },
        { "id": "2", "type": "gemini", "timestamp": "2025-10-01T10:01:00Z", "content": "done" } ] });
    fs::write(
        user.folder(".claude/projects/p").join("old.jsonl"),
        lines(&claude),
    )
    .expect("written");
    fs::write(
        user.folder(".codex/archived_sessions")
            .join("rollout-old.jsonl"),
        lines(&codex),
    )
    .expect("written");
    fs::write(
        user.folder(".gemini/tmp/p/chats").join("session-old.json"),
        gemini.to_string(),
    )
    .expect("written");
    fs::write(
        user.folder(".gemini/tmp/p").join(".project_root"),
        format!("{cwd}\n"),
    )
    .expect("written");
    let answer = user.json(&[
        "lookback",
        "--since",
        "2020-01-01",
        "--project",
        cwd,
        "--json",
    ]);
    assert_eq!(answer["problems"], json!([]));
    let turns = ["claude", "codex", "gemini"].map(|agent| count(&answer["groups"], agent).1);
    assert_eq!(turns, [1, 2, 1]);
}

#[test]
fn a_broken_file_costs_that_file_only_and_is_named() {
    let user = User::new();
    user.put_recorded();
    let place = user.folder(".claude/projects/-home-user-project");
    let whole =
        fs::read_to_string(place.join("10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl")).expect("text");
    let cut = whole.trim_end().len() - 40;
    fs::write(
        place.join("half.jsonl"),
        whole[..cut].replace("10e54898", "20e54898"),
    )
    .expect("written");
    fs::write(place.join("noise.jsonl"), [0xff, 0xfe, 0x00, b'\n', b'{']).expect("written");
    fs::write(
        user.folder(".gemini/tmp/x/chats").join("session-1.json"),
        "{\"messages\":[",
    )
    .expect("written");
    let answer = user.json(&["lookback", "--since", "2020-01-01", "--json"]);
    let problems = answer["problems"].as_array().expect("problems");
    let shown: Vec<_> = problems
        .iter()
        .map(|problem| {
            let file = Path::new(problem["file"].as_str().expect("a path"));
            let name = file.file_name().expect("a name").to_string_lossy();
            format!("{name}: {}", problem["problem"].as_str().expect("text"))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "half.jsonl: 1 line cannot be read, the first is line 42",
            "noise.jsonl: it does not have the agent's format",
            "session-1.json: it does not have the agent's format",
        ]
    );
    // The half-written copy has the same message at the same time: it is the same turn.
    assert_eq!(count(&answer["groups"], "codex").1, 12);
    assert_eq!(count(&answer["groups"], "gemini").1, 11);
    assert_eq!(count(&answer["groups"], "claude").1, 12);
    let (_, _, error) = user.run(&["lookback", "--since", "2020-01-01", "--limit", "10"]);
    assert!(
        error.contains("half.jsonl: 1 line cannot be read"),
        "{error}"
    );
}

#[test]
fn turns_are_judged_by_what_is_known_of_the_past() {
    let user = User::new();
    let project = user.project();
    user.put_session(
        &project,
        "aaaa",
        days_ago(3),
        &[
            &[Read("src/lib.rs"), Edited("src/lib.rs")],
            &[Read("src/lib.rs"), Edited("src/lib.rs"), Ran("cargo test")],
            &[Edited("src/lib.rs"), Failed("cargo test")],
            &[Ran("ls")],
            &[
                Ran("cat > src/new.rs <<'E'\nfn a() {}\nE"),
                Ran("git add -A && git commit -m x"),
            ],
            &[Edited("target/out.rs"), Edited("/elsewhere/x.rs")],
        ],
    );
    let answer = user.json(&["lookback", "--json"]);
    let total = &answer["total"];
    let figures = [
        "turns",
        "code_changed",
        "nothing_run",
        "tests_failed",
        "error_left",
    ]
    .map(|name| total[name].as_u64().expect("a number"));
    assert_eq!(figures, [6, 4, 2, 1, 0], "{answer:#}");
    let worth = answer["worth"].as_array().expect("turns");
    assert_eq!(worth[0]["prompt"], "task 2 of aaaa");
    assert!(
        worth[0]["open"]
            .as_str()
            .is_some_and(|line| line.contains("aaaa"))
    );
    assert_eq!(
        user.json(&["lookback", "--limit", "1", "--json"])["worth"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert_eq!(
        user.json(&["lookback", "--since", "1d", "--json"])["total"]["turns"],
        0
    );
    assert_eq!(
        user.json(&["lookback", "--project", "/", "--agent", "codex", "--json"])["total"]["turns"],
        0
    );

    let csv = user.well(&["lookback", "--csv"]);
    let rows = csv.lines().filter(|line| line.starts_with("20"));
    assert_eq!(rows.count(), 6, "{csv}");
    let text = user.well(&["lookback", "--limit", "10"]);
    assert!(
        text.contains("2 of 6 turns ended with code changed and nothing run after it"),
        "{text}"
    );
}

#[test]
fn it_opens_with_what_is_worst_in_twelve_lines() {
    let user = User::new();
    let project = user.project();
    let edits: &[Did<'_>] = &[Edited("src/lib.rs")];
    let claims: &[Did<'_>] = &[
        Ran("cargo test"),
        Edited("src/lib.rs"),
        Says("All tests pass."),
    ];
    let holds: &[Did<'_>] = &[
        Edited("src/lib.rs"),
        Ran("cargo test"),
        Says("All tests pass."),
    ];
    user.put_session(&project, "aaaa", days_ago(3), &[edits; 4]);
    user.put_session(
        &project,
        "bbbb",
        days_ago(2),
        &[claims, holds, &[Failed("cargo test")]],
    );
    let said = user.well(&["lookback"]);
    assert!(said.lines().count() <= 12, "{said}");
    for line in [
        "       5 ended with code changed and nothing run after it",
        "       1 claim passing tests, but none passed after the last edit",
        "       1 ended with failing tests",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(said.matches("&& claude --resume").count(), 3, "{said}");
    assert!(
        said.contains("`checkpointd init` would have asked at "),
        "{said}"
    );
    // Nothing was written, not even a folder.
    for made in [".local/state", ".local/share", "../journal", "../run"] {
        assert!(!user.home.path().join("user").join(made).exists(), "{made}");
    }
}

#[test]
fn commits_of_the_turn_count_as_its_changes() {
    let user = User::new();
    let project = user.project();
    let began = days_ago(2);
    user.put_session(
        &project,
        "bbbb",
        began,
        &[&[Ran("./generate.sh")], &[Ran("./generate.sh")]],
    );
    fs::create_dir_all(project.join("src")).expect("a folder");
    fs::write(project.join("src/made.rs"), "fn a() {}\n").expect("written");
    git(&project, &["add", "src/made.rs"]);
    let at = began.plus(Duration::from_secs(60)).as_micros() / 1_000_000;
    let mut commit = Command::new("git");
    commit
        .args([
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit",
            "-qm",
            "one",
        ])
        .env("GIT_COMMITTER_DATE", format!("@{at} +0000"))
        .current_dir(&project);
    assert!(run(&mut commit, b"").status.success());
    let rows = user.well(&["lookback", "--csv"]);
    let changed: Vec<_> = rows
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(7).expect("a column"))
        .collect();
    assert_eq!(changed, ["1", "0"], "{rows}");
}

#[test]
fn init_ends_with_a_line_of_what_is_there() {
    let user = User::new();
    let project = user.project();
    user.put_session(
        &project,
        "cccc",
        days_ago(1),
        &[&[Edited("src/lib.rs")], &[Ran("ls")]],
    );
    let out = user.well(&["init", "--agent", "claude"]);
    let last = out
        .lines()
        .rfind(|line| line.starts_with("In the last 30 days"));
    assert_eq!(
        last,
        Some(
            "In the last 30 days 1 of 2 turns ended with code changed and nothing run after it: `checkpointd lookback`"
        ),
        "{out}"
    );
    let empty = User::new();
    assert!(
        !empty
            .well(&["init", "--agent", "claude"])
            .contains("In the last")
    );
}
