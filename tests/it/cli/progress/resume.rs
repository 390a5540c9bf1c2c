//! What a session that begins hears of earlier work.

use super::*;

/// The reply to a session that begins has the document's statements, and no field that a host does not know.
fn offers_all_that_is_stated(reply: &Value) {
    let output = &reply["hookSpecificOutput"];
    let text = output["additionalContext"]
        .as_str()
        .expect("a text")
        .to_owned();
    let exact = json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } });
    assert_eq!(*reply, exact, "no field that a host does not know");
    for words in [
        "Goal: A parser",
        "Must read:\n- `src.rs` goes on here",
        "Validation: it still holds.",
        "progress-checkpoint-",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_session_that_begins_is_told_in_each_agents_dialect() {
    let (daemon, project, elsewhere) = (
        Daemon::with("progress: {resume: true}\n"),
        repository(),
        repository(),
    );
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
    let mut write = vec!["progress", "write", "--type", "handoff"];
    write.extend(["--session", "s-one", "--from", "-", "--json"]);
    ask(&daemon.home, top, &write, STATED);
    for agent in ["claude", "codex", "gemini"] {
        let reply: Value =
            serde_json::from_str(&begin(agent, &format!("s-{agent}"), top, "startup"))
                .expect("JSON");
        offers_all_that_is_stated(&reply);
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
    let (daemon, project) = (Daemon::with("progress: {resume: true}\n"), repository());
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
    let (daemon, project) = (Daemon::with("progress: {resume: true}\n"), repository());
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
