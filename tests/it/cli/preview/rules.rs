//! A project's own settings and rules.

use super::*;

#[test]
fn a_work_item_that_expects_other_files_is_named() {
    let plan = "# Plan\n\n## Files to Change\n\n| File | Change |\n| --- | --- |\n| `src/planned.py` | all |\n";
    let (home, project) = project(&["a.py"]);
    write(&project, "todos/other-work/implementation-plan.md", plan);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "plan"]);
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
    home.trust(&project);
    write(&project, "todos/login/implementation-plan.md", plan);
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-qm", "plan"]);
    let _daemon = Daemon::at(home.clone());
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
        "rules",
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
            "no/such/folder is not a folder",
        ),
        (vec!["--elapsed", "soon"], "--elapsed: `soon`"),
        (vec!["--elapsed", "90"], "--elapsed: `90`"),
    ] {
        let output = checkpointd(
            &home,
            &[
                &["rules", "preview", "--agent", "claude"],
                arguments.as_slice(),
            ]
            .concat(),
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
        &["rules", "preview", "--agent", "claude", "--session", "last"],
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
        "rules",
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
        "sent: work is open  (turn of 2m00s, claude)",
        "  daemon code              teleclaude/core/a.py",
        "  3 calls, 0 failed; from the transcript",
        "    to do  Run `make restart` then `make status`",
        "           looked for  make restart",
        "           found       call 1 `make restart`: came before the last edit",
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
        text(&rules(&["match", "--json", path(&inside), "./README.md", "x.unknown"]).stdout);
    let tested: Vec<Value> = tested
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let shown: Vec<_> = tested
        .iter()
        .map(|line| (line["path"].as_str(), line["rules"][0]["name"].as_str()))
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
    home.trust(&project);
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
