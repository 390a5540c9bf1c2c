//! `preview` and `rules` as commands, with real repositories and transcripts in the three agents' formats.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Home, run, text, wait_until};
use transcripts::Did::{self, Edited, Failed, Ran, Read};
use transcripts::{at, transcript};

mod transcripts;

const AGENTS: [&str; 3] = ["claude", "gemini", "codex"];

/// Returns a repository with these files committed, in a home of its own.
fn project(files: &[&str]) -> (Home, PathBuf) {
    let home = Home::new();
    let project = home.path().join("project");
    fs::create_dir_all(&project).expect("a folder");
    for file in files {
        write(&project, file, "before\n");
    }
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "-A"]);
    git(
        &project,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "all",
        ],
    );
    (home, project)
}

fn git(project: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(project)
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    // Long ago, so that no turn of a test made the commit.
    command.env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z");
    assert!(
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .expect("git runs")
            .success(),
        "{arguments:?}"
    );
}

fn write(project: &Path, file: &str, text: &str) {
    let path = project.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("writable");
}

fn checkpointd(home: &Home, arguments: &[&str]) -> Output {
    run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
        b"",
    )
}

/// Runs `preview --json` in a project.
#[track_caller]
fn preview(home: &Home, arguments: &[&str]) -> Value {
    let output = checkpointd(home, &[&["preview", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|item| item["text"].as_str().or(item.as_str()).expect("text"))
        .collect()
}

const RESTART: &str = "Run `make restart` then `make status`";
const RELOAD: &str = "Run `pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'`";
const LOGS: &str = "Check the logs with `instrukt-ai-logs teleclaude --since 4m`";
const TESTS: &str = "Run targeted tests for the changed behavior";
const NO_RESTART: &str = "Daemon code was modified but `make restart` was not observed this turn";
const NO_LOGS: &str = "The turn ends but `instrukt-ai-logs` was not observed this turn";
const NO_TESTS: &str =
    "Daemon code was modified but a test run (`pytest` or `make test`) was not observed this turn";
const DAEMON: &str = "teleclaude/core/a.py";
const TUI: &str = "teleclaude/cli/tui/v.py";

/// What was done, and what a preview says to it: reason, actions, observations.
type Row = (
    &'static str,
    Vec<Did>,
    &'static str,
    Vec<&'static str>,
    Vec<&'static str>,
);

/// Checks that all three agents' transcripts of the same work give the same answer, and the right one.
#[track_caller]
fn check(home: &Home, project: &Path, rows: Vec<Row>) {
    for (when, did, reason, actions, observations) in rows {
        let mut first = None;
        for agent in AGENTS {
            let file = transcript(home, agent, project, &did);
            let mut answer = preview(
                home,
                &[
                    "--agent",
                    agent,
                    "--project",
                    path(project),
                    "--transcript",
                    path(&file),
                    "--elapsed",
                    "180.2s",
                ],
            );
            let timeline = answer["timeline"].take();
            assert_eq!(timeline["source"], "transcript");
            assert_eq!(
                timeline["calls"].as_array().map(Vec::len),
                Some(did.len()),
                "{when}, {agent}"
            );
            assert_eq!(answer["reason"], reason, "{when}, {agent}");
            assert_eq!(texts(&answer["actions"]), actions, "{when}, {agent}");
            assert_eq!(
                texts(&answer["observations"]),
                observations,
                "{when}, {agent}"
            );
            assert_eq!(answer["all_clear"], reason == "all_clear");
            assert_eq!(
                (&answer["verdict"], &answer["route"]),
                (&json!("inject"), &json!("hook_reply"))
            );
            assert_eq!(
                *first.get_or_insert_with(|| answer.clone()),
                answer,
                "{when}, {agent}"
            );
        }
    }
}

#[test]
fn the_same_work_gets_the_same_checkpoint_from_every_agent() {
    let (home, project) = project(&[DAEMON, TUI, "README.md"]);
    write(&project, DAEMON, "after\n");
    let edited = [Read(DAEMON), Edited(DAEMON)];
    let then = |more: &[Did]| [&edited, more].concat();
    let unread =
        "Files were edited without being read first this turn — verify changes are correct";
    let error = "A command returned errors — verify the issue is resolved";
    let done = [
        Ran("make restart"),
        Ran("make status"),
        Ran("instrukt-ai-logs teleclaude --since 4m"),
        Ran("pytest -q"),
    ];
    check(
        &home,
        &project,
        vec![
            (
                "nothing done",
                then(&[]),
                "actions_due",
                vec![RESTART, LOGS, TESTS],
                vec![NO_RESTART, NO_LOGS, NO_TESTS],
            ),
            (
                "restarted",
                then(&done[..2]),
                "actions_due",
                vec![LOGS, TESTS],
                vec![NO_LOGS, NO_TESTS],
            ),
            ("all done", then(&done), "all_clear", vec![], vec![]),
            (
                "a failure left",
                [then(&done), vec![Failed("deploy", "no")]].concat(),
                "observations_only",
                vec![],
                vec![error],
            ),
            (
                "unread",
                [vec![Edited(DAEMON)], done.to_vec()].concat(),
                "observations_only",
                vec![],
                vec![unread],
            ),
        ],
    );
}

#[test]
fn other_files_ask_for_other_things() {
    let (home, project) = project(&[DAEMON, TUI, "README.md"]);
    write(&project, "README.md", "after\n");
    let looked = vec![
        Read("README.md"),
        Edited("README.md"),
        Ran("instrukt-ai-logs teleclaude --since 4m"),
    ];
    check(
        &home,
        &project,
        vec![("documentation", looked, "docs_only", vec![], vec![])],
    );
    write(&project, TUI, "after\n");
    let tui = vec![
        Read(TUI),
        Edited(TUI),
        Ran("pytest"),
        Ran("instrukt-ai-logs teleclaude"),
    ];
    let reloaded = [
        tui.clone(),
        vec![Ran("pkill -SIGUSR2 -f -- '-m teleclaude.cli.telec$'")],
    ]
    .concat();
    let missing = "TUI code was modified but `pkill -SIGUSR2` was not observed this turn";
    check(
        &home,
        &project,
        vec![
            ("TUI", tui, "actions_due", vec![RELOAD], vec![missing]),
            ("TUI reloaded", reloaded, "all_clear", vec![], vec![]),
        ],
    );
}

#[test]
fn a_timeline_has_what_the_interface_promises() {
    let (home, project) = project(&["a.py"]);
    let did = [
        Read("a.py"),
        Edited("a.py"),
        Failed("pytest", "1 failed"),
        Ran("echo hi"),
    ];
    for agent in AGENTS {
        let file = transcript(&home, agent, &project, &did);
        let answer = preview(
            &home,
            &[
                "--agent",
                agent,
                "--project",
                path(&project),
                "--transcript",
                path(&file),
            ],
        );
        let keys: Vec<_> = answer
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            keys,
            [
                "verdict",
                "reason",
                "route",
                "changed_files",
                "timeline",
                "categories",
                "actions",
                "observations",
                "all_clear",
                "message"
            ]
        );
        let calls = answer["timeline"]["calls"].as_array().expect("calls");
        let kinds: Vec<_> = calls
            .iter()
            .map(|call| call["kind"].as_str().expect("a kind"))
            .collect();
        assert_eq!(
            kinds,
            [
                if agent == "codex" { "shell" } else { "read" },
                "edit",
                "shell",
                "shell"
            ],
            "{agent}"
        );
        for call in calls {
            let keys: Vec<_> = call
                .as_object()
                .expect("an object")
                .keys()
                .map(String::as_str)
                .collect();
            assert_eq!(keys, ["tool", "kind", "command", "paths", "is_error", "at"]);
        }
        assert_eq!(
            (&calls[2]["is_error"], &calls[3]["is_error"]),
            (&json!(true), &json!(false)),
            "{agent}"
        );
        assert_eq!(calls[3]["command"], "echo hi");
        assert_eq!(calls[3]["at"], "2026-01-01T00:00:07.000000Z");
    }
}

#[test]
fn without_a_transcript_the_files_speak_and_nothing_is_made_up() {
    let (home, project) = project(&[DAEMON]);
    write(&project, DAEMON, "after\n");
    let foreign = home.path().join("foreign.jsonl");
    fs::write(&foreign, "{\"not\":\"one of ours\"}\n").expect("writable");
    let missing = home.path().join("missing.jsonl");
    for given in [None, Some(&foreign), Some(&missing), Some(&project)] {
        let mut arguments = vec![
            "--agent",
            "claude",
            "--project",
            path(&project),
            "--elapsed",
            "180.2s",
        ];
        arguments.extend(
            given
                .into_iter()
                .flat_map(|file| ["--transcript", path(file)]),
        );
        let answer = preview(&home, &arguments);
        assert_eq!(answer["timeline"], json!({ "source": "none", "calls": [] }));
        assert_eq!(texts(&answer["actions"]), [RESTART, LOGS, TESTS]);
        assert_eq!(answer["observations"], json!([]));
        let output = checkpointd(&home, &[&["preview"], arguments.as_slice()].concat());
        assert_eq!(
            given.is_some(),
            text(&output.stderr).starts_with("note: the transcript "),
            "{output:?}"
        );
    }
    assert!(
        !home.path().join("journal").exists(),
        "a preview needs no journal"
    );
}

#[test]
fn exits_come_before_everything() {
    let (home, project) = project(&["a.py"]);
    write(&project, "a.py", "after\n");
    let base = ["--agent", "claude", "--project", path(&project)];
    let reason = |more: &[&str]| {
        let answer = preview(&home, &[&base, more].concat());
        let (verdict, word) = (
            answer["verdict"].as_str().expect("a word"),
            answer["reason"].as_str().expect("a word"),
        );
        assert_eq!(
            verdict == "pass",
            answer["route"].is_null() && answer["message"].is_null()
        );
        assert_eq!(answer["changed_files"], json!(["a.py"]));
        format!("{verdict} {word}")
    };
    assert_eq!(reason(&[]), "pass no_turn_start");
    assert_eq!(reason(&["--elapsed", "29.9s"]), "pass below_threshold");
    assert_eq!(reason(&["--elapsed", "30s"]), "inject actions_due");
    let own = home.path().join("own.jsonl");
    let said = |second: usize, words: &str| json!({"type":"user","sessionId":"s","timestamp":at(second),"message":{"role":"user","content":words}});
    fs::write(
        &own,
        format!(
            "{}\n{}\n",
            said(0, "go"),
            said(9, "[TeleClaude Checkpoint] - x")
        ),
    )
    .expect("writable");
    assert_eq!(reason(&["--transcript", path(&own)]), "pass own_prompt");
    let now = journal::Timestamp::now().to_string();
    let fresh = json!({"type":"user","sessionId":"s","timestamp":now,"message":{"role":"user","content":"go"}});
    fs::write(&own, format!("{fresh}\n")).expect("writable");
    assert_eq!(
        reason(&["--transcript", path(&own)]),
        "pass below_threshold"
    );
}

#[test]
fn without_a_repository_the_message_is_the_general_one() {
    let home = Home::new();
    let output = checkpointd(
        &home,
        &["preview", "--agent", "codex", "--elapsed", "2m", "--json"],
    );
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&answer["reason"], &answer["changed_files"]),
        (&json!("generic"), &Value::Null)
    );
    assert!(
        answer["message"]
            .as_str()
            .expect("a text")
            .contains("Continue or validate your work if needed.")
    );
}

#[test]
fn a_work_item_that_expects_other_files_is_named() {
    let plan = "# Plan\n\n## Files to Change\n\n| File | Change |\n| --- | --- |\n| `src/planned.py` | all |\n";
    let (home, project) = project(&["a.py"]);
    write(&project, "todos/other-work/implementation-plan.md", plan);
    git(&project, &["add", "-A"]);
    git(
        &project,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "plan",
        ],
    );
    write(&project, "a.py", "after\n");
    let drift = "Active work item `other-work` expects changes in different files — verify you are working on the right task";
    let base = [
        "--agent",
        "gemini",
        "--project",
        path(&project),
        "--elapsed",
        "31s",
    ];
    let answer = |more: &[&str]| preview(&home, &[&base, more].concat());
    assert!(texts(&answer(&["--slug", "other-work"])["observations"]).contains(&drift));
    for slug in ["no-such-item", "../todos/other-work"] {
        assert!(
            !texts(&answer(&["--slug", slug])["observations"])
                .iter()
                .any(|line| line.contains("work item"))
        );
    }
    write(&project, "src/planned.py", "new\n");
    assert!(!texts(&answer(&["--slug", "other-work"])["observations"]).contains(&drift));
}

#[test]
fn a_session_may_name_its_work_item_itself() {
    let plan = "## Files to Change\n\n| File |\n| --- |\n| `src/planned.py` |\n";
    let (home, project) = project(&["a.py"]);
    write(
        &project,
        ".checkpointd.yml",
        "working_slug: unplanned\nmin_turn: 0s\n",
    );
    write(&project, "todos/login/implementation-plan.md", plan);
    git(&project, &["add", "-A"]);
    git(
        &project,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "plan",
        ],
    );
    let _daemon = Daemon::start(&home);
    let call = |event: &str, more: &Value| {
        let payload = hook(&project, home.path(), event, 0, more)["payload"].to_string();
        let mut client = home.client(&["claude"]);
        text(
            &run(
                client.env("CHECKPOINTD_WORKING_SLUG", "login"),
                payload.as_bytes(),
            )
            .stdout,
        )
    };
    call("UserPromptSubmit", &json!({"prompt":"go"}));
    write(&project, "a.py", "after\n");
    let reply = call("Stop", &json!({"stop_hook_active":false}));
    assert!(
        reply.contains("Active work item `login` expects changes in different files"),
        "{reply}"
    );
}

#[test]
fn a_broken_project_file_costs_only_itself() {
    let (home, project) = project(&["a.py"]);
    write(&project, "a.py", "after\n");
    let file = project.join(".checkpointd.yml");
    let arguments = [
        "preview",
        "--agent",
        "claude",
        "--project",
        path(&project),
        "--elapsed",
        "90s",
        "--json",
    ];
    let hostile = [
        "min_trun: 3s\n",
        "a: &a [*a, *a]\n",
        "\u{0}\u{1}",
        "enabled: [\n",
        &"x".repeat(300 * 1024),
    ];
    for text in hostile {
        fs::write(&file, text).expect("writable");
        let output = checkpointd(&home, &arguments);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (output.status.code(), &answer["reason"]),
            (Some(0), &json!("actions_due"))
        );
        assert!(
            String::from_utf8_lossy(&output.stderr)
                .starts_with("note: .checkpointd.yml was not used: ")
        );
    }
    fs::write(&file, "enabled: false\n").expect("writable");
    let answer: Value =
        serde_json::from_slice(&checkpointd(&home, &arguments).stdout).expect("JSON");
    assert_eq!(
        (&answer["verdict"], &answer["reason"]),
        (&json!("pass"), &json!("project_off"))
    );
}

#[test]
fn mistakes_on_the_command_line_come_with_a_hint() {
    let home = Home::new();
    for (arguments, words) in [
        (
            vec!["--project", "no/such/folder"],
            "no/such/folder is no folder",
        ),
        (vec!["--elapsed", "soon"], "--elapsed: `soon`"),
        (vec!["--elapsed", "90"], "--elapsed: `90`"),
    ] {
        let output = checkpointd(
            &home,
            &[&["preview", "--agent", "claude"], arguments.as_slice()].concat(),
        );
        let stderr = text(&output.stderr);
        assert_eq!(
            (output.status.code(), text(&output.stdout).as_str()),
            (Some(2), "")
        );
        assert!(
            stderr.contains(words) && stderr.contains("\nhint: "),
            "{stderr}"
        );
    }
    let output = checkpointd(
        &home,
        &["preview", "--agent", "claude", "--session", "last"],
    );
    assert_eq!(
        output.status.code(),
        Some(3),
        "there is no journal: {output:?}"
    );
}

#[test]
fn people_see_how_each_action_came_about() {
    let (home, project) = project(&[DAEMON]);
    write(&project, DAEMON, "after\n");
    let file = transcript(
        &home,
        "claude",
        &project,
        &[Ran("make restart"), Read(DAEMON), Edited(DAEMON)],
    );
    let arguments = [
        "preview",
        "--agent",
        "claude",
        "--project",
        path(&project),
        "--transcript",
        path(&file),
        "--elapsed",
        "2m",
    ];
    let shown = text(&checkpointd(&home, &arguments).stdout);
    for line in [
        "inject: actions_due  (turn of 2m00s, claude)",
        "  daemon code              teleclaude/core/a.py",
        "  3 calls, 0 failed; from the transcript",
        "    due   Run `make restart` then `make status`",
        "          looked for  make restart",
        "          found       call 1 `make restart`: came before the last edit",
        "  [TeleClaude Checkpoint] - Context-aware checkpoint",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "`{line}` is not in\n{shown}"
        );
    }
}

#[test]
fn rules_are_listed_tested_and_checked() {
    let (home, project) = project(&["Cargo.toml", "src/a.rs"]);
    let rules = |arguments: &[&str]| {
        checkpointd(
            &home,
            &[&["rules", "--project", path(&project)], arguments].concat(),
        )
    };
    let listed: Value = serde_json::from_slice(&rules(&["--json"]).stdout).expect("JSON");
    assert_eq!(
        (&listed["packs"], &listed["enabled"]),
        (&json!(["rust", "generic"]), &json!(true))
    );
    assert!(text(&rules(&["list"]).stdout).starts_with("packs: rust, generic\n"));
    let inside = project.join("src/a.rs");
    let tested =
        text(&rules(&["test", "--json", path(&inside), "./README.md", "x.unknown"]).stdout);
    let tested: Vec<Value> = tested
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let shown: Vec<_> = tested
        .iter()
        .map(|line| (line["path"].as_str(), line["rules"][0]["rule"].as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (Some("src/a.rs"), Some("Rust code")),
            (Some("README.md"), Some("no code changes")),
            (Some("x.unknown"), Some("code"))
        ]
    );
    assert_eq!(rules(&["check"]).status.code(), Some(2), "there is none");
    write(
        &project,
        ".checkpointd.yml",
        "rules:\n  - name: own\n    include: ['src/**']\n    needs: [tests]\n",
    );
    assert_eq!(rules(&["check"]).status.code(), Some(0));
    let listed: Value = serde_json::from_slice(&rules(&["--json"]).stdout).expect("JSON");
    assert_eq!(
        (&listed["rules"][0]["name"], &listed["rules"][0]["pack"]),
        (&json!("own"), &json!("own"))
    );
    write(
        &project,
        ".checkpointd.yml",
        "enabled: true\nscope: world\n",
    );
    let output = rules(&["check"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains(".checkpointd.yml:2:8: `world` is not one of worktree, turn"),
        "{stderr}"
    );
    let output = rules(&["check", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (output.status.code(), &answer["ok"], &answer["line"]),
        (Some(1), &json!(false), &json!(2))
    );
}

/// Returns a recorded hook call of a session in a project, some time ago.
fn hook(project: &Path, tmp: &Path, event: &str, seconds_ago: u64, more: &Value) -> Value {
    let at = journal::Timestamp::now()
        .minus(Duration::from_secs(seconds_ago))
        .to_string();
    let mut payload =
        json!({"session_id":"one","hook_event_name":event,"cwd":project,"prompt_id":"p1"});
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    json!({"agent":"claude","at":at,"env":{"TMPDIR":tmp},"payload":payload})
}

#[test]
fn a_session_of_the_journal_speaks_for_itself() {
    let (home, project) = project(&[DAEMON]);
    write(&project, DAEMON, "after\n");
    let tmp = home.path().join("tmp");
    fs::create_dir(&tmp).expect("a folder");
    let restarted = json!({"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make restart && make status"},
        "tool_response":{"stdout":"fine","stderr":""}});
    let lines = [
        hook(
            &project,
            &tmp,
            "UserPromptSubmit",
            180,
            &json!({"prompt":"go"}),
        ),
        hook(&project, &tmp, "PostToolUse", 20, &restarted),
    ];
    let lines = lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let append = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "append"]),
        lines.as_bytes(),
    );
    assert_eq!(append.status.code(), Some(0), "{append:?}");
    let arguments = ["--agent", "claude", "--session", "one"];
    let answer = preview(&home, &arguments);
    assert_eq!(
        (&answer["reason"], &answer["timeline"]["source"]),
        (&json!("actions_due"), &json!("journal"))
    );
    assert_eq!(answer["changed_files"], json!([DAEMON]));
    assert!(!texts(&answer["actions"]).contains(&RESTART), "{answer}");
    assert_eq!(
        preview(&home, &[&arguments[..], &["--elapsed", "29s"]].concat())["reason"],
        "below_threshold"
    );
    let marker = tmp.join("teleclaude_checkpoint_clear");
    fs::write(&marker, "").expect("writable");
    assert_eq!(preview(&home, &arguments)["reason"], "escape_hatch");
    assert!(marker.exists(), "a preview uses nothing up");
    fs::remove_file(&marker).expect("there");
    let wrong = checkpointd(&home, &["preview", "--agent", "codex", "--session", "one"]);
    assert_eq!(wrong.status.code(), Some(2));
    let events = |home: &Home| text(&checkpointd(home, &["journal", "stats", "--json"]).stdout);
    assert!(events(&home).contains("\"events\":2,"), "{}", events(&home));

    let daemon = Daemon::start(&home);
    let mut by_daemon = preview(&home, &arguments);
    let mut answer = answer;
    // Time went on, so the log window may have grown.
    for answer in [&mut by_daemon, &mut answer] {
        ["actions", "message"]
            .into_iter()
            .for_each(|key| drop(answer[key].take()));
    }
    assert_eq!(by_daemon, answer);
    drop(daemon);
}

#[test]
fn only_what_changes_in_the_turn_counts_where_a_project_says_so() {
    let (home, project) = project(&["a.py", "b.py"]);
    write(&project, ".checkpointd.yml", "scope: turn\nmin_turn: 0s\n");
    write(&project, "a.py", "before the turn\n");
    let _daemon = Daemon::start(&home);
    let call = |event: &str, more: &Value| {
        let payload = hook(&project, home.path(), event, 0, more)["payload"].to_string();
        let output = run(&mut home.client(&["claude"]), payload.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        text(&output.stdout)
    };
    call("UserPromptSubmit", &json!({"prompt":"go"}));
    let taken = || {
        !checkpointd(&home, &["tail", "--json", "--kind", "baseline_taken"])
            .stdout
            .is_empty()
    };
    wait_until(taken);
    write(&project, "b.py", "in the turn\n");
    let answer = preview(&home, &["--agent", "claude", "--session", "one"]);
    assert_eq!(
        (&answer["reason"], &answer["changed_files"]),
        (&json!("actions_due"), &json!(["b.py"]))
    );
    assert!(call("Stop", &json!({"stop_hook_active":false})).contains("Context-aware checkpoint"));
    let explained = checkpointd(&home, &["explain", "--json"]);
    let explained: Value = serde_json::from_slice(&explained.stdout).expect("JSON");
    assert_eq!(
        explained["rules"]["trace"][0]["files"],
        json!(["b.py"]),
        "{explained}"
    );
    assert_eq!(
        preview(&home, &["--agent", "claude", "--session", "one"])["reason"],
        "block_budget"
    );
    let verified = checkpointd(&home, &["replay", "--verify"]);
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    // Without a session nobody knows what had changed before.
    let answer = preview(
        &home,
        &[
            "--agent",
            "claude",
            "--project",
            path(&project),
            "--elapsed",
            "1m",
        ],
    );
    assert_eq!(
        answer["changed_files"],
        json!([".checkpointd.yml", "a.py", "b.py"])
    );
}

/// A daemon that ends with the test.
struct Daemon(Child);

impl Daemon {
    fn start(home: &Home) -> Self {
        let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]);
        command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let daemon = Self(command.spawn().expect("runs"));
        wait_until(|| checkpointd(home, &["daemon", "status"]).status.code() == Some(0));
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
