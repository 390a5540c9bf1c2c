//! `init` and `uninstall` from the outside: a home of its own, agents that only say their version, real settings files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use rustix::fs::XattrFlags;
use serde_json::Value;

use crate::support::machine::Machine;
use crate::support::{put_script, run};

fn sample(name: &str) -> Vec<u8> {
    fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/settings")
            .join(name),
    )
    .expect("a sample")
}

/// Returns the states of an agent's entries in a file.
fn statuses(answer: &Value, agent: &str, file: &str) -> Vec<String> {
    let of_agent = answer["agents"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|plan| plan["agent"] == agent);
    let files = of_agent.expect("the agent")["files"]
        .as_array()
        .expect("a list")
        .clone();
    let of_file = files
        .into_iter()
        .find(|one| one["path"].as_str().expect("a path").ends_with(file))
        .expect("the file");
    let entries = of_file["entries"].as_array().expect("a list").clone();
    entries
        .iter()
        .map(|entry| entry["status"].as_str().expect("a word").to_owned())
        .collect()
}

#[test]
fn in_and_out_again_leaves_every_file_as_it_was() {
    for (claude, gemini, codex) in [
        (
            "claude-foreign-hooks.json",
            "gemini-comments.json",
            "codex-comments.toml",
        ),
        ("crlf.json", "byte-order-mark.json", "codex-crlf.toml"),
        ("one-line.json", "tabs.json", "codex-no-final-newline.toml"),
        ("braces.json", "empty.json", "codex-empty.toml"),
        (
            "unusual-layout.json",
            "unicode.json",
            "codex-byte-order-mark.toml",
        ),
    ] {
        let machine = Machine::all();
        let settings = machine.write(".claude/settings.json", sample(claude));
        fs::set_permissions(&settings, Permissions::from_mode(0o640)).expect("sets");
        machine.write(".gemini/settings.json", sample(gemini));
        machine.write(".codex/config.toml", sample(codex));
        machine.write(".qwen/settings.json", sample(gemini));
        let before = machine.tree();

        let answer = machine.json(&["init", "--json"]);
        assert!(
            statuses(&answer, "codex", "hooks.json")
                .iter()
                .all(|status| status == "added")
        );
        let once = machine.tree();
        assert_eq!(
            settings.metadata().expect("is there").permissions().mode() & 0o777,
            0o640
        );
        let answer = machine.json(&["init", "--json"]);
        assert_eq!(answer["changed"], false);
        assert!(
            statuses(&answer, "claude", "settings.json")
                .iter()
                .all(|status| status == "already there")
        );
        assert_eq!(machine.tree(), once);

        machine.ok(&["uninstall", "--purge"]);
        assert_eq!(machine.tree(), before);
        assert!(!machine.home().join(".local/share/checkpointd").exists());
    }
}

#[test]
fn a_dry_run_and_a_diff_write_nothing_anywhere() {
    let machine = Machine::all();
    machine.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    let before = machine.tree();
    let listed = machine.ok(&["init", "--dry-run"]);
    assert!(
        listed.contains(".claude/settings.json: 18 added") && !listed.contains("+++"),
        "{listed}"
    );
    let said = machine.ok(&["init", "--diff"]);
    assert!(
        said.contains("-  \"a\": 1\n+  \"a\": 1,\n") && said.contains("+++ "),
        "{said}"
    );
    assert!(!said.contains('\x1b'), "colors are for terminals");
    assert_eq!(machine.tree(), before);
    assert!(!machine.home().join(".local").exists());

    machine.ok(&["init"]);
    let installed = machine.tree();
    assert!(
        machine
            .ok(&["uninstall", "--dry-run"])
            .contains("-  \"hooks\": {")
    );
    assert_eq!(machine.tree(), installed);
}

#[test]
fn three_agents_are_set_up_in_a_few_lines() {
    let agents = [
        ("claude", "2.1.330"),
        ("codex", "0.169.0"),
        ("gemini", "0.61.0"),
    ];
    let said = Machine::with(&agents).ok(&["init"]);
    assert!(said.lines().count() <= 15, "{said}");
}

#[test]
fn links_stay_links_and_what_they_name_is_written() {
    let machine = Machine::all();
    let dotfile = machine.write("dotfiles/claude.json", sample("tabs.json"));
    machine.write("dotfiles/empty/keep", "");
    fs::create_dir_all(machine.home().join(".claude")).expect("a folder");
    symlink(
        "../dotfiles/claude.json",
        machine.home().join(".claude/settings.json"),
    )
    .expect("links");
    symlink("dotfiles/empty", machine.home().join(".codex")).expect("links");
    let before = machine.tree();
    machine.ok(&["init"]);
    assert!(machine.home().join(".claude/settings.json").is_symlink());
    assert!(
        fs::read_to_string(&dotfile)
            .expect("readable")
            .contains("checkpointd-hook")
    );
    assert!(
        machine
            .read("dotfiles/empty/config.toml")
            .contains("/home/.codex/hooks.json:stop:0:0")
    );
    machine.ok(&["uninstall"]);
    assert_eq!(machine.tree(), before);
}

#[test]
fn hard_links_and_access_lists_stay() {
    let machine = Machine::all();
    let settings = machine.write(".claude/settings.json", sample("tabs.json"));
    let dotfile = machine.home().join("dotfile");
    fs::hard_link(&settings, &dotfile).expect("links");
    let listed = machine.write(".gemini/settings.json", "{}\n");
    // user::rw-, user:1000:rw-, group::r--, mask::rw-, other::---
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, access, id) in [
        (1_u16, 6_u16, !0_u32),
        (2, 6, 1000),
        (4, 4, !0),
        (16, 6, !0),
        (32, 0, !0),
    ] {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&access.to_le_bytes());
        list.extend_from_slice(&id.to_le_bytes());
    }
    let name = "system.posix_acl_access";
    // Not every file system has them.
    let has_lists = rustix::fs::setxattr(&listed, name, &list, XattrFlags::empty()).is_ok();
    let access = || {
        let mut value = vec![0; 1024];
        let length = rustix::fs::getxattr(&listed, name, &mut value[..]).unwrap_or_default();
        value.truncate(length);
        value
    };
    let before = (machine.tree(), access());
    assert!(!has_lists || before.1 == list);
    for command in ["init", "uninstall"] {
        machine.ok(&[command]);
        assert_eq!(settings.metadata().expect("there").nlink(), 2, "{command}");
        let is_set_up = |path| {
            fs::read_to_string(path)
                .expect("readable")
                .contains("checkpointd-hook")
        };
        assert_eq!(is_set_up(&dotfile), command == "init");
        assert_eq!(is_set_up(&listed), command == "init");
        assert_eq!(access(), before.1, "{command}");
    }
    assert_eq!(machine.tree(), before.0);
}

#[test]
fn settings_of_a_foreign_group_are_written_and_those_of_another_owner_refused_in_words() {
    let machine = Machine::all();
    let settings = machine.write(".claude/settings.json", "{}\n");
    let Some(run_as) = machine.given_to(1234) else {
        return;
    };
    let give = |user, group| {
        std::os::unix::fs::chown(&settings, Some(user), Some(group)).expect("root may");
    };
    give(1234, 0);
    for command in ["init", "uninstall"] {
        let output =
            run_as(&[command, "--agent", "claude"][..if command == "init" { 3 } else { 1 }]);
        assert!(output.status.success(), "{command}: {output:?}");
        let meta = settings.metadata().expect("there");
        assert_eq!((meta.uid(), meta.gid()), (1234, 0), "{command}");
    }
    assert_eq!(fs::read(&settings).expect("readable"), b"{}\n");
    give(0, 0);
    let output = run_as(&["init", "--agent", "claude"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("belongs to uid 0, and you may not write to it") && !said.contains("chmod"),
        "{said}"
    );
}

#[test]
fn root_changes_nothing_in_the_home_of_another_user() {
    let machine = Machine::all();
    machine.write(".claude/settings.json", "{}\n");
    let Some(run_as) = machine.given_to(1234) else {
        return;
    };
    let refused = |arguments: &[&str]| {
        let before = machine.tree();
        let output = machine.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{arguments:?}: {said}");
        assert!(
            said.contains("uid 1234") && said.contains("sudo -u '#1234'"),
            "{said}"
        );
        assert_eq!(machine.tree(), before);
    };
    refused(&["init", "--agent", "claude"]);
    assert!(!machine.home().join(".local").exists());
    assert!(run_as(&["init", "--agent", "claude"]).status.success());
    refused(&["init", "--agent", "codex"]);
    refused(&["uninstall", "--yes"]);
}

#[test]
fn what_cannot_be_written_or_read_is_said_and_nothing_is_done_by_halves() {
    let machine = Machine::all();
    let settings = machine.write(".gemini/settings.json", "{}");
    let refuse = |agent| {
        let before = machine.tree();
        let said = machine.refused(&["init", "--agent", agent]);
        assert_eq!(machine.tree(), before, "{said}");
        said
    };
    fs::set_permissions(&settings, Permissions::from_mode(0o444)).expect("sets");
    insta::assert_snapshot!(refuse("gemini"), @"error: ~/.gemini/settings.json is read-only: make it writable (`chmod u+w`) and try again");
    fs::set_permissions(&settings, Permissions::from_mode(0o644)).expect("sets");
    let folder = settings.parent().expect("a folder");
    fs::set_permissions(folder, Permissions::from_mode(0o555)).expect("sets");
    insta::assert_snapshot!(refuse("gemini"), @"error: the folder ~/.gemini is read-only: make it writable and try again");
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("sets");
    machine.write(".gemini/settings.json", "{\n  \"a\": 1,\n}\n");
    insta::assert_snapshot!(refuse("gemini"), @"error: ~/.gemini/settings.json: line 2, column 9: trailing commas are not allowed; nothing was changed");
    machine.write(".gemini/settings.json", b"\xff\xfe{");
    insta::assert_snapshot!(refuse("gemini"), @"error: ~/.gemini/settings.json is not UTF-8 text; nothing was changed");
    machine.write(".gemini/settings.json", "{}");
    machine.write(".codex/config.toml", "a = [1\n");
    insta::assert_snapshot!(refuse("codex"), @"error: ~/.codex/config.toml: line 1, column 7: unclosed array, expected `]`; nothing was changed");
}

#[test]
fn one_agents_broken_settings_do_not_stop_the_others() {
    let machine = Machine::all();
    let broken = machine.write(".gemini/settings.json", "{ broken");
    let said = machine.refused(&["init"]);
    assert!(
        said.contains(".gemini/settings.json") && said.contains("the other agents are set up"),
        "{said}"
    );
    assert_eq!(fs::read(broken).expect("reads"), b"{ broken");
    assert!(
        machine
            .read(".claude/settings.json")
            .contains("checkpointd-hook")
    );
    assert!(
        machine
            .read(".codex/hooks.json")
            .contains("checkpointd-hook")
    );
    let output = machine.run(&["init", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["failed"][0]["agent"], "gemini");
}

#[test]
fn where_others_have_written_since_only_ours_goes() {
    let machine = Machine::all();
    machine.write(".claude/settings.json", sample("claude-foreign-hooks.json"));
    machine.ok(&["init", "--commands"]);
    // As agents do: read, reorder, add, write.
    let mut settings: Value =
        serde_json::from_str(&machine.read(".claude/settings.json")).expect("JSON");
    settings["model"] = "sonnet".into();
    settings.sort_all_objects();
    machine.write(
        ".claude/settings.json",
        serde_json::to_string(&settings).expect("writes"),
    );
    machine.write(
        ".gemini/settings.json",
        machine
            .read(".gemini/settings.json")
            .replacen('{', "{\n  \"ui\": {},", 1),
    );
    machine.write(".codex/prompts/handoff.md", "mine now");
    let said = machine.ok(&["uninstall"]);
    assert!(
        said.contains("handoff.md has been edited and is kept"),
        "{said}"
    );

    let mut expected: Value =
        serde_json::from_slice(&sample("claude-foreign-hooks.json")).expect("JSON");
    expected["model"] = "sonnet".into();
    expected.sort_all_objects();
    assert_eq!(
        machine.read(".claude/settings.json"),
        serde_json::to_string(&expected).expect("writes")
    );
    assert_eq!(
        machine.read(".gemini/settings.json"),
        "{\n  \"ui\": {}\n}\n"
    );
    assert_eq!(machine.read(".codex/prompts/handoff.md"), "mine now");
    assert!(
        !machine.home().join(".codex/config.toml").exists()
            && !machine.home().join(".codex/hooks.json").exists()
    );
}

#[test]
fn a_second_init_after_others_have_written_still_leads_back() {
    let machine = Machine::with(&[("claude", "2.1.330")]);
    machine.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    machine.ok(&["init"]);
    let client = env!("CARGO_BIN_EXE_checkpointd-hook");
    let elsewhere = machine
        .read(".claude/settings.json")
        .replace(client, "/old/place/checkpointd-hook");
    machine.write(
        ".claude/settings.json",
        elsewhere.replacen("\"a\": 1", "\"a\": 2", 1),
    );
    let answer = machine.json(&["init", "--json"]);
    assert!(
        statuses(&answer, "claude", "settings.json")
            .iter()
            .all(|status| status == "updated"),
        "{answer}"
    );
    let settings = machine.read(".claude/settings.json");
    assert!(
        !settings.contains("/old/place") && settings.matches("\"Stop\"").count() == 1,
        "{settings}"
    );
    machine.ok(&["uninstall", "--keep-data"]);
    assert_eq!(machine.read(".claude/settings.json"), "{\n  \"a\": 2\n}\n");
    assert!(
        machine
            .home()
            .join(".local/share/checkpointd/installed")
            .exists()
    );
}

#[test]
fn commands_of_the_users_own_stay() {
    let machine = Machine::with(&[("claude", "2.1.330")]);
    machine.write(".claude/commands/checkpoint.md", "mine");
    let answer = machine.json(&["init", "--commands", "--json"]);
    assert_eq!(statuses(&answer, "claude", "checkpoint.md"), ["kept"]);
    assert!(
        machine
            .read(".claude/commands/handoff.md")
            .contains("checkpointd progress write --type handoff")
    );
    machine.ok(&["uninstall"]);
    assert_eq!(machine.read(".claude/commands/checkpoint.md"), "mine");
    assert!(!machine.home().join(".claude/commands/handoff.md").exists());
}

#[test]
fn hooks_of_others_in_codex_stay_trusted_when_their_place_changes() {
    let machine = Machine::with(&[("codex", "codex-cli 0.169.0")]);
    machine.ok(&["init"]);
    let own = r#""Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]"#;
    let hooks = machine.read(".codex/hooks.json");
    let mut parsed: Value = serde_json::from_str(&hooks).expect("JSON");
    let theirs: Value = serde_json::from_str(&format!("{{{own}}}")).expect("JSON");
    parsed["hooks"]["Stop"]
        .as_array_mut()
        .expect("a list")
        .push(theirs["Stop"][0].clone());
    machine.write(".codex/hooks.json", parsed.to_string());
    let key = format!("{}/.codex/hooks.json:stop", machine.home().display());
    let trusted = format!(
        "{}\n[hooks.state.\"{key}:1:0\"]\ntrusted_hash = \"theirs\"\n",
        machine.read(".codex/config.toml")
    );
    machine.write(".codex/config.toml", trusted);
    machine.ok(&["uninstall"]);
    assert_eq!(
        machine.read(".codex/hooks.json"),
        theirs.to_string().replacen("{", "{\"hooks\":{", 1) + "}"
    );
    assert_eq!(
        machine.read(".codex/config.toml").trim(),
        format!("[hooks.state.\"{key}:0:0\"]\ntrusted_hash = \"theirs\"")
    );
}

#[test]
fn hooks_of_the_users_own_in_codexs_settings_are_named() {
    let machine = Machine::with(&[("codex", "codex-cli 0.169.0")]);
    let own = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"say\"\n";
    machine.write(".codex/config.toml", own);
    let text = machine.ok(&["init", "--agent", "codex"]);
    assert!(
        text.contains("note: Codex runs your hooks in config.toml beside these"),
        "{text}"
    );
    assert!(machine.read(".codex/config.toml").starts_with(own));
}

#[test]
fn a_codex_without_hooks_is_notified_and_a_notify_of_the_users_own_stays() {
    let machine = Machine::with(&[("codex", "codex-cli 0.98.0")]);
    let config = machine.write(".codex/config.toml", "model = \"x\"\n");
    machine.ok(&["init"]);
    let client = env!("CARGO_BIN_EXE_checkpointd-hook");
    assert_eq!(
        machine.read(".codex/config.toml"),
        format!("notify = [\"{client}\", \"codex\"]\nmodel = \"x\"\n")
    );
    assert!(!machine.home().join(".codex/hooks.json").exists());
    // Its successor has hooks.
    put_script(
        &machine.path("bin/codex"),
        "#!/bin/sh\necho codex-cli 0.169.0\n",
    );
    machine.ok(&["init"]);
    assert!(!machine.read(".codex/config.toml").contains("notify"));
    machine.ok(&["uninstall"]);
    assert_eq!(
        fs::read_to_string(&config).expect("readable"),
        "model = \"x\"\n"
    );

    put_script(
        &machine.path("bin/codex"),
        "#!/bin/sh\necho codex-cli 0.98.0\n",
    );
    machine.write(".codex/config.toml", "notify = [\"say\"]\n");
    let said = machine.ok(&["init"]);
    assert!(
        said.contains("calls a program of") && said.contains("yours, which stays"),
        "{said}"
    );
    assert_eq!(machine.read(".codex/config.toml"), "notify = [\"say\"]\n");
}

#[test]
fn agents_are_found_by_program_or_folder_where_their_variables_say() {
    let machine = Machine::with(&[]);
    let said = machine.refused(&["init"]);
    assert!(said.starts_with("error: no agent was found"), "{said}");
    fs::create_dir_all(machine.home().join(".gemini")).expect("a folder");
    let answer = machine.json(&["init", "--json"]);
    let agents: Vec<_> = answer["agents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|plan| &plan["agent"])
        .collect();
    assert_eq!(agents, ["gemini"]);

    let mut command = machine.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &["init", "--agent", "claude", "--agent", "codex"],
    );
    command
        .env("CLAUDE_CONFIG_DIR", machine.path("claude"))
        .env("CODEX_HOME", machine.path("codex"));
    assert_eq!(run(&mut command, b"").status.code(), Some(0));
    assert!(
        machine.path("claude/settings.json").exists() && machine.path("codex/hooks.json").exists()
    );
    assert!(!machine.home().join(".claude").exists());
}

#[test]
fn a_client_that_is_on_path_by_a_link_is_called_by_the_link() {
    let machine = Machine::with(&[("claude", "2.1.330")]);
    let link = machine.path("bin/checkpointd-hook");
    symlink(env!("CARGO_BIN_EXE_checkpointd-hook"), &link).expect("links");
    machine.ok(&["init"]);
    assert!(
        machine
            .read(".claude/settings.json")
            .contains(&format!("exec {} claude", link.display()))
    );
}

#[test]
fn a_project_gets_settings_of_its_own() {
    let machine = Machine::all();
    let project = machine.home().join("code");
    fs::create_dir_all(&project).expect("a folder");
    let answer = machine.json(&["init", "--json", "--project", "code"]);
    for file in [
        "code/.claude/settings.json",
        "code/.gemini/settings.json",
        "code/.codex/hooks.json",
    ] {
        assert!(machine.read(file).contains("checkpointd-hook"), "{file}");
    }
    assert!(answer.to_string().contains("trusted"), "{answer}");
    let project = project.canonicalize().expect("is there");
    assert!(
        machine
            .read(".codex/config.toml")
            .contains(&format!("{}/.codex/hooks.json:stop:0:0", project.display()))
    );
    assert!(!machine.home().join(".claude").exists());
    machine.ok(&["uninstall", "--agent", "codex"]);
    assert!(!project.join(".codex").exists() && !machine.home().join(".codex").exists());
    assert!(project.join(".claude").exists());
    machine.ok(&["uninstall"]);
    assert!(!project.join(".claude").exists());
}

#[test]
fn a_link_of_a_clone_leads_no_change_out_of_it() {
    let machine = Machine::all();
    let outside = machine.home().join("outside");
    fs::create_dir_all(&outside).expect("a folder");
    fs::write(outside.join("settings.json"), "{}").expect("written");
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(to, machine.home().join(from)).expect("a link");
    };
    for at in ["folder", "file", "nowhere"] {
        fs::create_dir_all(machine.home().join(at)).expect("a folder");
    }
    fs::create_dir_all(machine.home().join("file/.claude")).expect("a folder");
    link("../outside", "folder/.claude");
    link("../../outside/settings.json", "file/.claude/settings.json");
    link("../outside/new", "nowhere/.claude");
    let before = machine.tree();
    for at in ["folder", "file", "nowhere"] {
        let output = machine.run(&["init", "--agent", "claude", "--project", at]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{at}: {said}");
        assert!(
            said.contains("leads out of the project by a link"),
            "{at}: {said}"
        );
    }
    assert_eq!(machine.tree(), before);
}

#[test]
fn what_is_no_file_is_named_and_not_read() {
    let machine = Machine::all();
    machine.ok(&["init", "--agent", "claude"]);
    let settings = machine.home().join("code/.claude/settings.json");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    for make in ["mkfifo", "ln"] {
        let _ = fs::remove_file(&settings);
        let mut command = std::process::Command::new(make);
        if make == "ln" {
            command.args(["-s", "/dev/zero"]);
        }
        assert!(command.arg(&settings).status().expect("it runs").success());
        let output = machine.run(&["init", "--agent", "claude", "--project", "code"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{make}: {said}");
        assert!(
            said.contains("not a regular file") || said.contains("leads out"),
            "{said}"
        );
    }
    let own = machine.home().join(".claude/settings.json");
    fs::remove_file(&own).expect("removes");
    let made = std::process::Command::new("mkfifo").arg(&own).status();
    assert!(made.expect("it runs").success());
    // It ends, and says that the hooks are not there.
    assert!(!machine.run(&["doctor"]).status.success());
}

#[test]
fn copilots_hooks_of_a_project_are_a_file_of_their_own() {
    let machine = Machine::with(&[("copilot", "1.0.102")]);
    machine.write("code/.github/hooks/own.json", "{}");
    let before = machine.tree();
    machine.ok(&["init", "--agent", "copilot", "--project", "code"]);
    let command: Value =
        serde_json::from_str(&machine.read("code/.github/hooks/checkpointd.json")).expect("JSON");
    let command = command["hooks"]["agentStop"][0]["bash"].as_str();
    assert!(command.is_some_and(|it| it.contains("checkpointd-hook copilot agentStop; exit 0")));
    assert!(!machine.home().join(".copilot").exists());
    machine.ok(&["uninstall", "--agent", "copilot"]);
    assert_eq!(machine.tree(), before);
}
