//! Progress documents from the outside: written by command and by themselves, checked, and told to a session that begins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::daemon::Daemon;
use crate::support::terminal::until;
use crate::support::{Home, run, wait_until};

const LATEST: &str = ".ai-instructions/concepts/memory-bank/progress-checkpoint.md";
const STATED: &str = "## Goal\nA parser\n\n## Remaining\n- error messages\n\n## Must Read\n- src.rs - goes on here\n";

/// A repository with one commit.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("src.rs"), "one\n").expect("writes");
    fs::write(folder.path().join("Cargo.lock"), "1\n").expect("writes");
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "first"]);
    folder
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@x",
        "-c",
        "commit.gpgsign=false",
    ]);
    assert!(
        command
            .args(arguments)
            .current_dir(folder)
            .status()
            .expect("git")
            .success(),
        "{arguments:?}"
    );
}

/// Calls a hook of an agent in a project, and returns what the client printed.
fn hook(
    home: &Home,
    agent: &str,
    session: &str,
    project: &Path,
    event: &str,
    fields: Value,
) -> String {
    let mut payload = json!({ "session_id": session, "cwd": project, "hook_event_name": event });
    fields
        .as_object()
        .expect("an object")
        .iter()
        .for_each(|(key, value)| payload[key] = value.clone());
    let output = run(&mut home.client(&[agent]), payload.to_string().as_bytes());
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    String::from_utf8(output.stdout).expect("text")
}

/// A session that has asked for something and edited a file.
fn work(home: &Home, session: &str, project: &Path, file: &str) {
    hook(
        home,
        "claude",
        session,
        project,
        "SessionStart",
        json!({ "source": "startup" }),
    );
    hook(
        home,
        "claude",
        session,
        project,
        "UserPromptSubmit",
        json!({ "prompt": "go on", "prompt_id": "p" }),
    );
    let path = project.join(file);
    fs::write(&path, format!("by {session}\n")).expect("writes");
    let fields = json!({ "tool_name": "Write", "tool_use_id": format!("{session}-{file}"), "prompt_id": "p",
        "tool_input": { "file_path": path, "content": "x" }, "tool_response": { "type": "create" } });
    hook(home, "claude", session, project, "PostToolUse", fields);
}

fn command(home: &Home, project: &Path, arguments: &[&str]) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), arguments);
    command.current_dir(project);
    command
}

fn ask(home: &Home, project: &Path, arguments: &[&str], input: &str) -> (i32, Value) {
    let output = run(&mut command(home, project, arguments), input.as_bytes());
    let text = String::from_utf8(output.stdout).expect("text");
    let code = output.status.code().expect("no signal");
    (
        code,
        serde_json::from_str(&text).unwrap_or_else(|_| {
            panic!(
                "{code} {text} {:?}",
                String::from_utf8_lossy(&output.stderr)
            )
        }),
    )
}

fn events(daemon: &Daemon, kind: &str) -> Vec<Value> {
    daemon.ask(&["tail", "-n", "1000", "--kind", kind, "--json"])
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

#[test]
fn a_document_is_written_shown_and_checked_with_the_daemon_and_without() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    let write = [
        "progress", "write", "--type", "handoff", "--from", "-", "--json",
    ];
    let (code, written) = ask(&daemon.home, top, &write, STATED);
    assert_eq!(
        (code, &written["type"], &written["native_session"]),
        (0, &json!("handoff"), &json!("s-one")),
        "{written}"
    );
    let text = fs::read_to_string(top.join(LATEST)).expect("the shared one leads to it");
    for words in [
        "# Session Handoff Checkpoint",
        "| new.rs | - | created | written once |",
        "- [ ] error messages",
        "**Branch**: main",
        "Yes - new.rs",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let (code, report) = ask(&daemon.home, top, &["progress", "validate", "--json"], "");
    assert_eq!((code, &report["holds"]), (0, &json!(true)), "{report}");
    daemon.kill();

    let (_, shown) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
    assert_eq!(
        (shown["markdown"].as_str(), &shown["seq"]),
        (Some(text.as_str()), &written["seq"]),
        "the file is what the journal says"
    );
    let (code, later) = ask(
        &daemon.home,
        top,
        &["progress", "write", "--type", "incremental", "--json"],
        "",
    );
    assert_eq!((code, &later["type"]), (0, &json!("incremental")));
    assert_eq!(
        fs::read_to_string(top.join(LATEST)).expect("there"),
        text,
        "the full one stays the latest"
    );
    fs::write(top.join("new.rs"), "by somebody\n").expect("writes");
    fs::write(top.join("Cargo.lock"), "2\n").expect("writes");
    git(top, &["commit", "-qm", "second", "Cargo.lock"]);
    let (code, report) = ask(&daemon.home, top, &["progress", "validate", "--json"], "");
    let bad: Vec<_> = report["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .filter(|line| line["ok"] == false)
        .collect();
    let checks: Vec<_> = bad
        .iter()
        .map(|line| line["check"].as_str().expect("a word"))
        .collect();
    assert_eq!(
        (code, checks),
        (1, vec!["git", "files", "dependencies"]),
        "{report}"
    );
    let output = run(
        &mut command(&daemon.home, top, &["progress", "validate"]),
        b"",
    );
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        said.contains("FAIL  files         changed since: new.rs\n"),
        "{said}"
    );

    daemon.start();
    assert_eq!(
        (
            events(&daemon, "progress_written").len(),
            events(&daemon, "progress_validated").len()
        ),
        (2, 3)
    );
    let refused = run(
        &mut command(&daemon.home, top, &["progress", "write", "--from", "-"]),
        b"{\"mood\": 1}",
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no field `mood`"));
    daemon.verify();
}

#[test]
fn lost_files_come_back_by_command_with_the_daemon_and_without() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    for session in ["s-one", "s-two"] {
        work(&daemon.home, session, top, &format!("{session}.rs"));
        ask(
            &daemon.home,
            top,
            &["progress", "write", "--session", session, "--json"],
            "",
        );
    }
    let folder = top
        .join(LATEST)
        .parent()
        .expect("a folder")
        .canonicalize()
        .expect("there");
    let read = || {
        documents(&folder)
            .into_iter()
            .map(|file| (fs::read(&file).expect("readable"), file))
    };
    let written: Vec<_> = read().collect();
    assert_eq!(written.len(), 3, "two and the link");
    for is_up in [true, false] {
        if !is_up {
            daemon.kill();
        }
        fs::remove_dir_all(&folder).expect("there");
        let output = run(
            &mut command(&daemon.home, top, &["progress", "rebuild"]),
            b"",
        );
        let said = String::from_utf8(output.stdout).expect("text");
        assert_eq!(
            (output.status.code(), said.lines().count()),
            (Some(0), 4),
            "{said}"
        );
        assert!(
            said.ends_with("3 files written anew, 0 are as they should be\n"),
            "{said}"
        );
        assert_eq!(read().collect::<Vec<_>>(), written);
        fs::write(&written[0].1, "mine\n").expect("writes");
        let (code, answer) = ask(&daemon.home, top, &["progress", "rebuild", "--json"], "");
        assert_eq!(
            (
                code,
                &answer["edited"],
                &answer["unchanged"],
                &answer["rebuilt"]
            ),
            (0, &json!([written[0].1]), &json!(1), &json!([]))
        );
        let (_, answer) = ask(
            &daemon.home,
            top,
            &["progress", "rebuild", "--force", "--json"],
            "",
        );
        let kept = answer["kept"][0].as_str().expect("a path");
        assert_eq!(fs::read_to_string(kept).expect("there"), "mine\n");
        fs::remove_file(kept).expect("there");
        assert_eq!(read().collect::<Vec<_>>(), written);
    }
    let refused = run(
        &mut command(
            &daemon.home,
            top,
            &["progress", "rebuild", "--session", "nobody"],
        ),
        b"",
    );
    assert_eq!(refused.status.code(), Some(1));
    daemon.start();
    daemon.verify();
}

#[test]
fn the_users_own_checks_count_and_have_an_end() {
    let config = "progress: {checks: [{name: up, run: 'true'}, {name: down, run: [sh, -c, 'echo not there >&2; exit 3']}, {name: slow, run: sleep 100, timeout: 200ms}]}";
    let (daemon, project) = (Daemon::with(config), repository());
    work(&daemon.home, "s-one", project.path(), "new.rs");
    ask(
        &daemon.home,
        project.path(),
        &["progress", "write", "--json"],
        "",
    );
    let (code, report) = ask(
        &daemon.home,
        project.path(),
        &["progress", "validate", "--json"],
        "",
    );
    let found: Vec<_> = report["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .filter(|line| line["check"] == "external")
        .map(|line| line["found"].as_str().expect("text"))
        .collect();
    assert_eq!(
        (code, found),
        (
            1,
            vec![
                "up: good",
                "down: not there",
                "slow: no answer within 200ms"
            ]
        )
    );
}

#[test]
fn two_sessions_that_write_at_once_keep_their_documents() {
    let (daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    let sessions = ["s-one", "s-two", "s-three"];
    sessions
        .iter()
        .for_each(|session| work(&daemon.home, session, top, &format!("{session}.rs")));
    std::thread::scope(|scope| {
        for session in sessions {
            let home = &daemon.home;
            scope.spawn(move || {
                for round in 0..4 {
                    let stated = format!("## Summary\n{session} in round {round}\n");
                    let (code, _) = ask(
                        home,
                        top,
                        &[
                            "progress",
                            "write",
                            "--session",
                            session,
                            "--from",
                            "-",
                            "--json",
                        ],
                        &stated,
                    );
                    assert_eq!(code, 0);
                }
            });
        }
    });
    let folder = top.join(LATEST).parent().expect("a folder").to_owned();
    let files = documents(&folder);
    assert_eq!(
        files.len(),
        4,
        "one for each session and the shared one, nothing left behind: {files:?}"
    );
    for session in sessions {
        let (_, shown) = ask(
            &daemon.home,
            top,
            &["progress", "show", "--session", session, "--json"],
            "",
        );
        let file = shown["file"].as_str().expect("a path");
        let text = fs::read_to_string(file).expect("readable");
        assert_eq!(Some(text.as_str()), shown["markdown"].as_str());
        assert!(text.contains(&format!("{session} in round 3\n")), "{text}");
    }
    let (_, last) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
    let link = fs::canonicalize(top.join(LATEST)).expect("a link");
    assert_eq!(
        link,
        fs::canonicalize(last["file"].as_str().expect("a path")).expect("there"),
        "the journal's order is the files'"
    );
}

#[test]
fn a_writer_that_is_killed_leaves_the_old_document_or_the_new_one() {
    let (mut daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    ask(&daemon.home, top, &["progress", "write", "--json"], "");
    daemon.kill();
    let filler = "- a step that makes the document long enough to be cut\n".repeat(3_000);
    for round in 0..25_u64 {
        let input = project.path().join("input.md");
        fs::write(
            &input,
            format!("## Remaining\n{filler}\n## Notes\nround {round}\n"),
        )
        .expect("writes");
        let mut write = command(
            &daemon.home,
            top,
            &["progress", "write", "--from", "input.md"],
        );
        let mut child = write
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_millis(8 * round));
        let _ = child.kill();
        child.wait().expect("is gone");
        let text = fs::read_to_string(top.join(LATEST)).expect("always there");
        assert!(
            text.starts_with("# Progress Checkpoint\n") && text.contains("**Ahead/Behind Remote**"),
            "a half: {}",
            text.len()
        );
    }
    let (code, _) = ask(&daemon.home, top, &["progress", "write", "--json"], "");
    let folder = top.join(LATEST).parent().expect("a folder").to_owned();
    let files = documents(&folder);
    assert_eq!(
        (code, files.len()),
        (0, 2),
        "what was unfinished is cleared away: {files:?}"
    );

    // The daemon is killed while it writes for many.
    daemon.start();
    for round in 0..5_u64 {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let mut write = command(
                    &daemon.home,
                    top,
                    &["progress", "write", "--from", "input.md"],
                );
                write
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("starts")
            })
            .collect();
        std::thread::sleep(Duration::from_millis(30 * round));
        daemon.kill();
        for mut writer in writers {
            writer.wait().expect("ends");
        }
        daemon.start();
        // A document that is in the journal and not in its file yet is no work of a person's.
        let (code, rebuilt) = ask(&daemon.home, top, &["progress", "rebuild", "--json"], "");
        assert_eq!(
            (code, &rebuilt["edited"], &rebuilt["problems"]),
            (0, &json!([]), &json!([])),
            "{rebuilt}"
        );
        let (_, shown) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
        assert_eq!(
            fs::read_to_string(top.join(LATEST)).ok().as_deref(),
            shown["markdown"].as_str()
        );
    }
    ask(&daemon.home, top, &["progress", "write", "--json"], "");
    assert_eq!(documents(&folder).len(), 2, "nothing is left behind");
    daemon.verify();
}

#[test]
fn a_file_of_somebodys_own_and_a_link_out_of_the_project_are_left_alone() {
    let (daemon, project, outside) = (
        Daemon::with("progress: {path: docs/now.md}"),
        repository(),
        tempfile::tempdir().expect("a folder"),
    );
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    fs::create_dir(top.join("docs")).expect("makes");
    fs::write(top.join("docs/now.md"), "mine").expect("writes");
    let (code, written) = ask(&daemon.home, top, &["progress", "write", "--json"], "");
    assert!(
        code == 0
            && written["notes"][0]
                .as_str()
                .expect("a note")
                .contains("somebody's own"),
        "{written}"
    );
    assert_eq!(
        fs::read_to_string(top.join("docs/now.md")).expect("there"),
        "mine"
    );
    fs::remove_dir_all(top.join("docs")).expect("removes");
    std::os::unix::fs::symlink(outside.path(), top.join("docs")).expect("links");
    let (_, written) = ask(&daemon.home, top, &["progress", "write", "--json"], "");
    assert!(
        written["notes"][0]
            .as_str()
            .expect("a note")
            .contains("leads out of the project"),
        "{written}"
    );
    assert_eq!(documents(outside.path()), Vec::<PathBuf>::new());
    assert!(Path::new(written["file"].as_str().expect("a path")).starts_with(daemon.home.path()));
}

#[test]
fn a_session_that_begins_is_told_what_there_is_in_each_agents_dialect() {
    let (daemon, project, elsewhere) = (Daemon::with("{}"), repository(), repository());
    let top = project.path();
    let begin = |agent: &str, session: &str, project: &Path, source: &str| {
        hook(
            &daemon.home,
            agent,
            session,
            project,
            "SessionStart",
            json!({ "source": source }),
        )
    };
    assert_eq!(
        begin("claude", "s-none", top, "startup"),
        "",
        "there is nothing to go on with"
    );
    work(&daemon.home, "s-one", top, "new.rs");
    ask(
        &daemon.home,
        top,
        &[
            "progress",
            "write",
            "--type",
            "handoff",
            "--session",
            "s-one",
            "--from",
            "-",
            "--json",
        ],
        STATED,
    );
    for agent in ["claude", "codex", "gemini"] {
        let reply: Value =
            serde_json::from_str(&begin(agent, &format!("s-{agent}"), top, "startup"))
                .expect("JSON");
        let output = &reply["hookSpecificOutput"];
        let text = output["additionalContext"]
            .as_str()
            .expect("a text")
            .to_owned();
        let exact = json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } });
        assert_eq!(reply, exact, "no field that a host does not know");
        for words in [
            "Goal: A parser",
            "Must read:\n- src.rs goes on here",
            "Validation: it still holds.",
            "progress-checkpoint-",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
    }
    assert_eq!(
        begin("claude", "s-one", top, "resume"),
        "",
        "it has all of it"
    );
    assert_eq!(
        begin("codex", "s-other", elsewhere.path(), "startup"),
        "",
        "another project"
    );
    fs::write(top.join("new.rs"), "by somebody\n").expect("writes");
    assert!(begin("gemini", "s-late", top, "startup").contains("it does not hold any more"));
    let offered = events(&daemon, "resume_offered");
    assert_eq!(offered.len(), 4);
    daemon.ask(&["mute", "s-one", "--json"]);
    fs::write(
        daemon.home.path().join("config.yml"),
        "progress: {resume: false}",
    )
    .expect("writes");
    let number = std::cell::Cell::new(0);
    until("it is off", || {
        number.set(number.get() + 1);
        begin("claude", &format!("s-off-{}", number.get()), top, "startup")
            .is_empty()
            .then_some(())
    });
    daemon.verify();
}

#[test]
fn gemini_is_told_after_clear_with_the_first_message_for_it_does_not_look_at_the_reply_to_that_start()
 {
    let (daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "new.rs");
    ask(
        &daemon.home,
        top,
        &[
            "progress", "write", "--type", "handoff", "--from", "-", "--json",
        ],
        STATED,
    );
    let gemini = |session: &str, event: &str, fields: Value| {
        hook(&daemon.home, "gemini", session, top, event, fields)
    };
    assert_eq!(
        gemini("g-one", "SessionStart", json!({ "source": "clear" })),
        ""
    );
    let reply: Value = serde_json::from_str(&gemini(
        "g-one",
        "BeforeAgent",
        json!({ "prompt": "go on" }),
    ))
    .expect("JSON");
    let text = reply["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .expect("a text")
        .to_owned();
    let exact = json!({ "hookSpecificOutput": { "hookEventName": "BeforeAgent", "additionalContext": text } });
    assert_eq!(reply, exact);
    assert_eq!(events(&daemon, "resume_offered")[0]["text"], text);
    gemini(
        "g-one",
        "AfterAgent",
        json!({ "prompt": "go on", "prompt_response": "done" }),
    );
    assert_eq!(
        gemini("g-one", "BeforeAgent", json!({ "prompt": "and now" })),
        "",
        "once"
    );
    // Who was told at the start is not told again.
    assert_ne!(
        gemini("g-two", "SessionStart", json!({ "source": "startup" })),
        ""
    );
    assert_eq!(
        gemini("g-two", "BeforeAgent", json!({ "prompt": "go on" })),
        ""
    );
    assert_eq!(events(&daemon, "resume_offered").len(), 2);
    daemon.verify();
}

#[test]
fn in_gemini_a_subagent_is_a_tool_call_and_only_a_compression_that_was_asked_for_counts() {
    let (daemon, project) = (Daemon::with("{}"), repository());
    let gemini = |event: &str, fields: Value| {
        hook(
            &daemon.home,
            "gemini",
            "g-one",
            project.path(),
            event,
            fields,
        )
    };
    let tool = |event: &str, name: &str, id: &str| {
        let input = json!({ "file_path": project.path().join(id), "command": id });
        gemini(
            event,
            json!({ "tool_name": name, "tool_input": input, "tool_response": { "llmContent": "ok" } }),
        );
    };
    let kinds = || {
        let line = |line: &Value| line["progress"].as_str().expect("a word").to_owned();
        events(&daemon, "progress_written")
            .iter()
            .map(line)
            .collect::<Vec<_>>()
    };
    let wait_for = |count: usize| {
        until("it is written", || {
            Some(kinds()).filter(|kinds| kinds.len() >= count)
        })
    };
    gemini("SessionStart", json!({ "source": "startup" }));
    gemini("BeforeAgent", json!({ "prompt": "go on" }));
    tool("AfterTool", "write_file", "a.rs");
    gemini("PreCompress", json!({ "trigger": "auto" }));
    tool("BeforeTool", "invoke_agent", "part");
    assert_eq!(wait_for(1), ["pre-operation"]);
    tool("AfterTool", "invoke_agent", "part");
    assert_eq!(wait_for(2)[1], "incremental");
    tool("AfterTool", "write_file", "b.rs");
    gemini("PreCompress", json!({ "trigger": "manual" }));
    assert_eq!(
        wait_for(3),
        ["pre-operation", "incremental", "pre-compaction"]
    );
    daemon.verify();
}

#[test]
fn documents_come_by_themselves_and_go_to_our_own_folder_unless_told_otherwise() {
    let (daemon, project) = (Daemon::with("{}"), repository());
    let top = project.path();
    let causes = || {
        events(&daemon, "progress_written")
            .iter()
            .map(|line| {
                let document: Value =
                    serde_json::from_str(line["document"].as_str().expect("text")).expect("JSON");
                (
                    line["progress"].as_str().expect("a word").to_owned(),
                    document["cause"].as_str().expect("a word").to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let steps = [
        (
            "PreCompact",
            json!({ "trigger": "auto" }),
            "pre-compaction",
            "compaction",
        ),
        (
            "SubagentStart",
            json!({ "agent_id": "a", "agent_type": "x" }),
            "pre-operation",
            "subagent_start",
        ),
        (
            "SubagentStop",
            json!({ "agent_id": "a", "agent_type": "x" }),
            "incremental",
            "subagent_stop",
        ),
        (
            "StopFailure",
            json!({ "error": "overloaded" }),
            "error",
            "error",
        ),
        (
            "SessionEnd",
            json!({ "reason": "other" }),
            "full",
            "session_end",
        ),
    ];
    for (count, (event, fields, kind, cause)) in steps.clone().into_iter().enumerate() {
        work(&daemon.home, "s-one", top, &format!("{count}.rs"));
        hook(&daemon.home, "claude", "s-one", top, event, fields);
        let all = until("it is written", || {
            Some(causes()).filter(|all| all.len() > count)
        });
        assert_eq!(all[count], (kind.to_owned(), cause.to_owned()));
    }
    assert!(
        !top.join(".ai-instructions").exists(),
        "nobody asked for files in the repository"
    );
    let file = events(&daemon, "progress_written")[4]["file"]
        .as_str()
        .expect("a path")
        .to_owned();
    assert!(
        Path::new(&file).starts_with(daemon.home.path().join("progress")),
        "{file}"
    );
    let reply = hook(
        &daemon.home,
        "codex",
        "s-two",
        top,
        "SessionStart",
        json!({ "source": "startup" }),
    );
    assert!(
        reply.contains("The agent stated nothing"),
        "the ended session's work is offered: {reply}"
    );

    let config = "progress: {path: now.md, auto: {place: project, compaction: false, subagent: false, error: false, session_end: false, interval: 1ms}}";
    let (daemon, project) = (Daemon::with(config), repository());
    for (event, fields, ..) in steps {
        work(&daemon.home, "s-one", project.path(), "a.rs");
        hook(
            &daemon.home,
            "claude",
            "s-one",
            project.path(),
            event,
            fields,
        );
    }
    until("it has worked long enough", || {
        project.path().join("now.md").exists().then_some(())
    });
    let words: Vec<_> = events(&daemon, "progress_written")
        .iter()
        .map(|line| {
            line["document"]
                .as_str()
                .expect("text")
                .contains("\"cause\":\"interval\"")
        })
        .collect();
    assert!(
        words.iter().all(|is_interval| *is_interval),
        "the others are off"
    );
}

#[test]
fn a_work_phase_that_begins_or_ends_has_a_document_unless_that_is_off() {
    for is_on in [true, false] {
        let (folder, project) = (tempfile::tempdir().expect("a folder"), repository());
        let (top, folder) = (project.path(), folder.path().display());
        let daemon = Daemon::with(&format!(
            "phase: {{folder: {folder}}}\nprogress: {{auto: {{phase: {is_on}}}}}"
        ));
        work(&daemon.home, "s-one", top, "new.rs");
        let make = [
            "phase",
            "create",
            "--phase",
            "build",
            "--number",
            "4",
            "--summary",
            "half",
            "--json",
        ];
        let (code, made) = ask(&daemon.home, top, &make, "");
        let id = made["checkpointId"].as_str().expect("an id").to_owned();
        assert_eq!(
            (
                code,
                ask(&daemon.home, top, &["phase", "complete", &id, "--json"], "").0
            ),
            (0, 0)
        );
        // What ends the session comes last, and is written in any case: it has work that is in no document yet.
        let written = |expected| events(&daemon, "progress_written").len() == expected;
        wait_until(|| written(if is_on { 2 } else { 0 }));
        work(&daemon.home, "s-one", top, "more.rs");
        hook(
            &daemon.home,
            "claude",
            "s-one",
            top,
            "SessionEnd",
            json!({ "reason": "other" }),
        );
        let documents = until("the last one is written", || {
            let lines = events(&daemon, "progress_written");
            let read = |line: &Value| {
                serde_json::from_str(line["document"].as_str().expect("text")).expect("JSON")
            };
            let documents: Vec<Value> = lines.iter().map(read).collect();
            documents
                .last()
                .is_some_and(|last| last["cause"] == "session_end")
                .then_some(documents)
        });
        let causes: Vec<_> = documents
            .iter()
            .map(|document| document["cause"].as_str().expect("a word"))
            .collect();
        let expected = if is_on {
            vec!["phase", "phase", "session_end"]
        } else {
            vec!["session_end"]
        };
        assert_eq!(causes, expected);
    }
}
