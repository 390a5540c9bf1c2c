//! `doctor` from the outside, and `uninstall` with a daemon running.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use journal::Agent;
use serde_json::Value;

use crate::support::machine::{Machine, RunningDaemon};
use crate::support::{copy_program, run};

/// Returns a check's status and what is to be done.
fn check(answer: &Value, name: &str) -> (String, String) {
    let found = answer["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|check| check["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name}: {answer}"));
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    assert!(!text("detail").is_empty());
    // Whoever reads of trouble is told what to do.
    assert_eq!(
        matches!(&*text("status"), "warn" | "fail"),
        !text("fix").is_empty(),
        "{found}"
    );
    (text("status"), text("detail"))
}

fn doctor(machine: &Machine, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = machine.run(&[&["doctor", "--json"], arguments].concat());
    (
        output.status.code(),
        serde_json::from_slice(&output.stdout).expect("JSON"),
    )
}

#[test]
fn right_after_init_all_is_well_and_what_is_missing_is_only_warned_of() {
    let machine = Machine::with(&[
        ("claude", "2.1.330 (Claude Code)"),
        ("codex", "codex-cli 0.169.0"),
    ]);
    machine.ok(&["init", "--agent", "codex"]);
    let (code, answer) = doctor(&machine, &[]);
    assert_eq!(
        (code, &answer["ok"]),
        (Some(0), &Value::Bool(true)),
        "{answer}"
    );
    let status = |name: &str| check(&answer, name).0;
    for name in [
        "binary",
        "config",
        "spool",
        "permissions",
        "codex.hooks",
        "codex.trust",
        "disk",
        "clock",
    ] {
        assert_eq!(status(name), "pass", "{name}");
    }
    for name in ["daemon", "claude.hooks", "codex.firing"] {
        assert_eq!(status(name), "warn", "{name}");
    }
    for name in ["socket", "journal", "agents"] {
        assert_eq!(status(name), "skip", "{name}");
    }
    assert!(check(&answer, "agents").1.contains("Gemini CLI"));
}

#[test]
fn trouble_is_found_and_mended() {
    let machine = Machine::all();
    machine.ok(&["init"]);
    let pristine = machine.read(".codex/hooks.json");
    // Installed twice for one event, by hand and in an older form.
    let double =
        r#""Stop": [{"hooks": [{"type": "command", "command": "/old/checkpointd-hook claude"}]}, "#;
    let settings = machine
        .read(".claude/settings.json")
        .replacen("\"Stop\": [", double, 1);
    machine.write(".claude/settings.json", settings);
    machine.write(
        ".gemini/settings.json",
        machine
            .read(".gemini/settings.json")
            .replace("\"timeout\": 7000", "\"timeout\": 100"),
    );
    machine.write(
        ".codex/hooks.json",
        pristine.replace("\"timeout\": 7", "\"timeout\": 5"),
    );
    let installed = machine.home().join(".local/share/checkpointd/installed");
    fs::set_permissions(&installed, Permissions::from_mode(0o755)).expect("sets");

    let (code, answer) = doctor(&machine, &[]);
    assert_eq!((code, &answer["ok"]), (Some(1), &Value::Bool(false)));
    let detail = |name: &str| {
        let (status, detail) = check(&answer, name);
        assert_eq!(status, "fail", "{name}");
        detail
    };
    assert_eq!(detail("claude.hooks"), "doubled: Stop");
    assert_eq!(
        detail("gemini.hooks"),
        "stale (another program, time limit or condition): SessionStart, AfterAgent"
    );
    assert_eq!(
        detail("codex.hooks"),
        "stale (another program, time limit or condition): SessionStart, Stop"
    );
    assert!(detail("codex.trust").ends_with(": SessionStart, Stop"));
    detail("permissions");

    let (code, answer) = doctor(&machine, &["--fix"]);
    assert_eq!(
        (code, &answer["ok"]),
        (Some(0), &Value::Bool(true)),
        "{answer}"
    );
    assert_eq!(
        answer["mended"].as_array().map(Vec::len),
        Some(4),
        "{answer}"
    );
    assert_eq!(machine.read(".codex/hooks.json"), pristine);
}

/// A `sudo` left folders of the user's to root.
#[test]
fn folders_that_the_user_may_not_enter_or_write_to_do_not_pass_for_missing_ones() {
    let machine = Machine::with(&[("claude", "2.1.330 (Claude Code)")]);
    machine.ok(&["init"]);
    let local = machine.home().join(".local");
    let Some(run_as) = machine.given_to(1234) else {
        return;
    };
    std::os::unix::fs::chown(&local, Some(0), Some(0)).expect("root may");
    for (mode, is_empty) in [(0o700, false), (0o755, false), (0o755, true)] {
        fs::set_permissions(&local, Permissions::from_mode(mode)).expect("set");
        if is_empty {
            fs::remove_dir_all(local.join("share")).expect("removed");
        }
        let output = run_as(&["doctor", "--json"]);
        let answer = serde_json::from_slice(&output.stdout).expect("JSON");
        // The folder of the state is missing in any case.
        let (status, detail) = check(&answer, "folders");
        assert!(
            status == "fail" && detail.contains("/.local belongs to uid 0"),
            "{mode:o}: {detail}"
        );
        let text = answer.to_string();
        assert!(text.contains("sudo chown -R"), "{text}");
        for name in ["journal", "spool", "permissions", "trust"] {
            assert!(!text.contains(&format!("\"name\":\"{name}\"")), "{text}");
        }
        for command in [&["status"][..], &["sessions"], &["init"]] {
            let output = run_as(command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success());
            assert!(
                said.contains("/.local belongs to uid 0") && said.contains("sudo chown -R"),
                "{mode:o} {command:?}: {said}"
            );
        }
    }
}

#[test]
fn an_agent_that_is_too_old_for_hooks_is_found() {
    let machine = Machine::with(&[
        ("qwen", "0.10.1"),
        ("copilot", "GitHub Copilot CLI 1.0.102"),
    ]);
    machine.ok(&["init", "--agent", "qwen", "--agent", "copilot"]);
    let (code, answer) = doctor(&machine, &[]);
    assert_eq!(code, Some(1), "{answer}");
    let (status, detail) = check(&answer, "qwen.version");
    assert!(status == "fail" && detail.contains("0.10.1"), "{detail}");
    assert_eq!(check(&answer, "copilot.version").0, "pass");
}

#[test]
fn hooks_that_are_switched_off_and_a_wrong_configuration_are_found() {
    let machine = Machine::all();
    machine.write(".claude/settings.json", r#"{"disableAllHooks": true}"#);
    machine.write(
        ".gemini/settings.json",
        "{\"hooksConfig\": {\"enabled\": false}}",
    );
    machine.write(".codex/config.toml", "[features]\nhooks = false\n");
    machine.ok(&["init"]);
    let (code, answer) = doctor(&machine, &[]);
    assert_eq!(code, Some(1));
    for (agent, switch) in [
        ("claude", "disableAllHooks"),
        ("gemini", "hooksConfig.enabled"),
        ("codex", "features.hooks"),
    ] {
        let (status, detail) = check(&answer, &format!("{agent}.hooks"));
        assert!(status == "fail" && detail.contains(switch), "{detail}");
    }
    // A project's own settings are another layer, and so is a neighbor that makes the agent ignore the whole file.
    for (hooks, expected) in [
        (
            r#""Stop": [{"command": "x"}]"#,
            "hooks.Stop[0] has no list `hooks`",
        ),
        (
            r#""Stopp": [{"hooks": [{"type": "command", "command": "x"}]}]"#,
            "hooks.Stopp is no event; `Stop` is",
        ),
        (
            r#""Stop": [{"hooks": [{"type": "command"}]}]"#,
            "hooks.Stop[0].hooks[0] has no `command`",
        ),
        (
            r#""Stop": [{"hooks": [{"type": "comand", "command": "x"}]}]"#,
            "hooks.Stop[0].hooks[0] has no `type`",
        ),
        (
            r#""PreToolUse": [{"matcher": 5, "hooks": [{"type": "command", "command": "x"}]}]"#,
            "hooks.PreToolUse[0] has a `matcher`",
        ),
        (
            r#""PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]"#,
            "hooks.PreToolUse[0].hooks[0] has a `timeout`",
        ),
        (
            r#""TaskCompleted": [{"matcher": "", "hooks": [{"type": "http", "url": "x", "timeout": 5}]}]"#,
            "",
        ),
    ] {
        machine.write(
            ".claude/settings.json",
            format!("{{\"hooks\": {{{hooks}}}}}"),
        );
        machine.ok(&["init", "--agent", "claude"]);
        let (status, detail) = check(&doctor(&machine, &[]).1, "claude.hooks");
        let named = detail.contains(expected);
        assert!(
            named && (status == "warn") != expected.is_empty(),
            "{hooks}: {detail}"
        );
    }
    machine.write(".claude/settings.json", "{}");
    machine.ok(&["init", "--agent", "claude"]);
    machine.write("code/.git/HEAD", "ref: refs/heads/main\n");
    machine.write(
        "code/.claude/settings.local.json",
        r#"{"disableAllHooks": true}"#,
    );
    let program = env!("CARGO_BIN_EXE_checkpointd");
    let mut command = machine.command(program, &["doctor", "--json"]);
    let output = run(command.current_dir(machine.home().join("code")), b"");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let (status, detail) = check(&answer, "claude.hooks");
    assert!(
        status == "fail" && detail.contains("code/.claude/settings.local.json"),
        "{detail}"
    );
    machine.write(".config/checkpointd/config.yml", "min_turn: soon\n");
    assert_eq!(check(&doctor(&machine, &[]).1, "config").0, "fail");
}

#[test]
fn a_test_event_goes_through_the_installed_command_into_the_journal() {
    let machine = Machine::all();
    // A path that a shell would take apart.
    let folder = machine.path("it's my bin");
    fs::create_dir_all(&folder).expect("a folder");
    for program in [
        env!("CARGO_BIN_EXE_checkpointd"),
        env!("CARGO_BIN_EXE_checkpointd-hook"),
    ] {
        let name = std::path::Path::new(program).file_name().expect("a name");
        copy_program(program, &folder.join(name));
    }
    let installed = |arguments: &[&str]| {
        run(
            &mut machine.command(folder.join("checkpointd"), arguments),
            b"",
        )
    };
    for agent in Agent::WORDS {
        let output = installed(&["init", "--agent", agent]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let waiting = installed(&["doctor", "--fire", "claude", "--json"]);
    assert!(String::from_utf8_lossy(&waiting.stdout).contains("waits in the spool"));

    let daemon = RunningDaemon::start(&machine);
    for agent in Agent::WORDS {
        let output = installed(&["doctor", "--fire", agent, "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            check(&answer, &format!("{agent}.fire")).0,
            "pass",
            "{answer}"
        );
    }
    // No agent worked in the sessions of these tests, so nothing shows one.
    let status = machine.ok(&["status"]);
    assert!(!status.contains("agents "), "{status}");
    for command in ["timeline", "mute"] {
        let refused = machine.refused(&[command]);
        assert!(refused.contains("there are no sessions yet"), "{refused}");
    }
    let sessions = machine.ok(&["sessions"]);
    assert!(sessions.contains("Restart your agents"), "{sessions}");
    let answer = serde_json::from_slice(&installed(&["doctor", "--json"]).stdout).expect("JSON");
    for name in ["daemon", "journal", "spool", "permissions", "claude.hooks"] {
        assert_eq!(check(&answer, name).0, "pass", "{answer}");
    }
    // A test is no sign of life of the agent.
    assert_eq!(check(&answer, "claude.firing").0, "warn");
    let payload = r#"{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"}"#;
    run(
        &mut machine.command(env!("CARGO_BIN_EXE_checkpointd-hook"), &["claude"]),
        payload.as_bytes(),
    );
    assert_eq!(check(&doctor(&machine, &[]).1, "claude.firing").0, "pass");
    // A transcript that is much newer than the last event is of a session that calls no hook.
    let transcript = machine.write(".claude/projects/-code/s2.jsonl", "{}\n");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600);
    let file = fs::File::options().append(true).open(transcript);
    let set = file.expect("opens").set_modified(later);
    set.expect("a time");
    let (status, detail) = check(&doctor(&machine, &[]).1, "claude.firing");
    assert!(
        status == "warn" && detail.contains("s2.jsonl") && detail.contains("ran without hooks"),
        "{detail}"
    );

    // The program is gone: the hook says nothing and succeeds, and doctor sees it.
    fs::remove_file(folder.join("checkpointd-hook")).expect("removes");
    let settings: Value =
        serde_json::from_str(&machine.read(".gemini/settings.json")).expect("JSON");
    let command = settings["hooks"]["AfterAgent"][0]["hooks"][0]["command"]
        .as_str()
        .expect("a command");
    let output = run(&mut machine.command("sh", &["-c", command]), b"{}");
    assert_eq!(
        (output.status.code(), output.stdout, output.stderr),
        (Some(0), Vec::new(), Vec::new())
    );
    let broken = serde_json::from_slice(&installed(&["doctor", "--json"]).stdout).expect("JSON");
    assert_eq!(check(&broken, "binary").0, "fail");
    drop(daemon);
}

#[test]
fn uninstalling_stops_the_daemon_and_removes_the_data_unless_told_otherwise() {
    let machine = Machine::with(&[("claude", "2.1.330")]);
    machine.ok(&["init"]);
    let share = machine.home().join(".local/share/checkpointd");
    for (arguments, stays) in [
        (vec!["uninstall", "--agent", "claude"], true),
        (vec!["uninstall", "--keep-data"], false),
        (vec!["uninstall"], false),
        (vec!["uninstall", "--yes"], false),
    ] {
        let _daemon = RunningDaemon::start(&machine);
        machine.ok(&arguments);
        let runs = machine.run(&["daemon", "status"]).status.code() == Some(0);
        assert!(
            runs == stays && share.join("journal").exists(),
            "{arguments:?}"
        );
    }
    let kept = machine.json(&["uninstall", "--json"]);
    assert!(kept["kept"].to_string().contains("journal"), "{kept}");
    assert!(share.join("journal").exists(), "nobody asked for it");
    for leftover in [
        ".local/share/man/man1/checkpointd.1",
        ".local/share/man/man1/checkpointd-top.1",
    ] {
        machine.write(leftover, "manual");
    }
    let others = machine.write(".local/share/man/man1/checkpointdx.1", "manual");
    std::fs::create_dir_all(share.join("checkpoints")).expect("folders");
    std::fs::create_dir_all(share.join("progress")).expect("a folder");
    let answer = machine.json(&["uninstall", "--purge", "--json"]);
    let pages = std::fs::read_dir(others.parent().expect("a folder"))
        .expect("listed")
        .count();
    assert!(pages == 1 && others.exists());
    assert!(answer["data"].to_string().contains("journal"), "{answer}");
    assert!(!share.exists() && !machine.home().join(".local/state/checkpointd").exists());
}
