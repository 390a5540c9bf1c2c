//! Previews of sessions that are in the journal.

use super::*;

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
    let wrong = checkpointd(
        &home,
        &["rules", "preview", "--agent", "codex", "--session", "one"],
    );
    assert_eq!(wrong.status.code(), Some(2));
    let events = |home: &Home| text(&checkpointd(home, &["journal", "stats", "--json"]).stdout);
    assert!(events(&home).contains("\"events\":2,"), "{}", events(&home));

    let _daemon = Daemon::at(home.clone());
    let mut by_daemon = preview(&home, &arguments);
    let mut answer = answer;
    // Time went on, so the log window may have grown.
    for answer in [&mut by_daemon, &mut answer] {
        ["actions", "message"]
            .into_iter()
            .for_each(|key| drop(answer[key].take()));
    }
    assert_eq!(by_daemon, answer);
}

#[test]
fn only_what_changes_in_the_turn_counts_where_a_project_says_so() {
    let (home, project) = project(&["a.py", "b.py"]);
    write(&project, ".checkpointd.yml", "scope: turn\nmin_turn: 0s\n");
    home.trust(&project);
    write(&project, "a.py", "before the turn\n");
    let _daemon = Daemon::at(home.clone());
    let call = |event: &str, more: &Value| {
        let payload = hook(&project, home.path(), event, 0, more)["payload"].to_string();
        let output = run(&mut home.client(&["claude"]), payload.as_bytes());
        assert_eq!(output.status.code(), Some(0));
        text(&output.stdout)
    };
    call("UserPromptSubmit", &json!({"prompt":"go"}));
    let taken = || {
        !checkpointd(
            &home,
            &["journal", "tail", "--json", "--kind", "baseline_taken"],
        )
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
    assert!(call("Stop", &json!({"stop_hook_active":false})).contains("Not verified yet"));
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
