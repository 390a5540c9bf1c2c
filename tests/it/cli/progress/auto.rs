//! Documents that are written by themselves.

use super::*;

/// The events that a document is written at: name, fields, type and cause of the document.
fn steps() -> [(&'static str, Value, &'static str, &'static str); 5] {
    [
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
    ]
}

/// Type and cause of every document that was written.
fn causes(daemon: &Daemon) -> Vec<(String, String)> {
    events(daemon, "progress_written")
        .iter()
        .map(|line| {
            (
                line["progress"].as_str().expect("a word").to_owned(),
                line["document"]["cause"]
                    .as_str()
                    .expect("a word")
                    .to_owned(),
            )
        })
        .collect()
}

#[test]
fn documents_come_by_themselves_and_go_to_our_own_folder() {
    let (daemon, project) = (Daemon::with("progress: {resume: true}\n"), repository());
    let top = project.path();
    for (count, (event, fields, kind, cause)) in steps().into_iter().enumerate() {
        work(&daemon.home, "s-one", top, &format!("{count}.rs"));
        hook(&daemon.home, "claude", "s-one", top, event, fields);
        let all = until("it is written", || {
            Some(causes(&daemon)).filter(|all| all.len() > count)
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
}

#[test]
fn documents_go_to_the_project_and_at_an_interval_when_set() {
    let config = "progress: {path: now.md, auto: {place: project, compaction: false, subagent: false, error: false, session_end: false, interval: 1ms}}";
    let (daemon, project) = (Daemon::with(config), repository());
    for (event, fields, ..) in steps() {
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
        .map(|line| line["document"]["cause"] == "interval")
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
            "progress",
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
                ask(
                    &daemon.home,
                    top,
                    &["progress", "phase", "complete", &id, "--json"],
                    ""
                )
                .0
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
            let documents: Vec<_> = lines.iter().map(|line| line["document"].clone()).collect();
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

/// Calls a shell command that ended like this.
fn shell(daemon: &Daemon, project: &Path, id: &str, command: &str, failed: bool) {
    let event = if failed {
        "PostToolUseFailure"
    } else {
        "PostToolUse"
    };
    let mut fields = json!({ "tool_name": "Bash", "tool_use_id": id, "prompt_id": "p", "tool_input": { "command": command },
        "tool_response": { "stdout": "" } });
    if failed {
        fields["error"] = json!("Exit code 2\nmake: *** [all] Error 2");
    }
    hook(&daemon.home, "claude", "s-one", project, event, fields);
}

#[test]
fn a_failed_tool_call_has_a_document_and_a_series_of_them_has_no_series() {
    let (daemon, project) = (Daemon::with("progress: {resume: true}\n"), repository());
    let top = project.path();
    work(&daemon.home, "s-one", top, "one.rs");
    shell(&daemon, top, "t1", "make", false);
    shell(&daemon, top, "t2", "make all", true);
    let error = ("error".to_owned(), "error".to_owned());
    let all = until("it is written", || {
        Some(causes(&daemon)).filter(|all| !all.is_empty())
    });
    assert_eq!(all, std::slice::from_ref(&error));
    let (_, shown) = ask(&daemon.home, top, &["progress", "show", "--json"], "");
    let text = shown["markdown"].as_str().expect("text");
    assert!(
        text.contains("not resolved: `Bash` `make all`, which said"),
        "{text}"
    );
    for id in ["t3", "t4", "t5"] {
        shell(&daemon, top, id, "make all", true);
    }
    // What comes last is written in any case.
    work(&daemon.home, "s-one", top, "two.rs");
    hook(
        &daemon.home,
        "claude",
        "s-one",
        top,
        "SessionEnd",
        json!({ "reason": "other" }),
    );
    let all = until("the last one is written", || {
        Some(causes(&daemon)).filter(|all| all.iter().any(|(_, cause)| cause == "session_end"))
    });
    assert_eq!(all, [error, ("full".to_owned(), "session_end".to_owned())]);
}
