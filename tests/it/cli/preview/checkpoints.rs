//! What a stop gets for the work of its turn.

use super::*;

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

/// The keys of an object, in their order.
fn keys(value: &serde_json::Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
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
        assert_eq!(
            keys(&answer),
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
            assert_eq!(
                keys(call),
                ["tool", "kind", "command", "paths", "is_error", "at"]
            );
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
        let output = checkpointd(
            &home,
            &[&["rules", "preview"], arguments.as_slice()].concat(),
        );
        assert_eq!(
            given.is_some(),
            text(&output.stderr).contains(" the transcript"),
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
        // By a transcript without calls, somebody else changed the file.
        if !more.contains(&"--transcript") {
            assert_eq!(answer["changed_files"], json!(["a.py"]));
        }
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
        &[
            "rules",
            "preview",
            "--agent",
            "codex",
            "--elapsed",
            "2m",
            "--json",
        ],
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
