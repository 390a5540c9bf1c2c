//! What the daemon takes over from its starter, and which files, folders and sockets of others it relies on.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::terminal::until;
use crate::support::{Act, Home, http, put_script, run, serve, text, wait_until};

/// Makes a folder with a program named `git` that leaves a trace and fails.
fn foreign_git(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    put_script(&folder.join("git"), "#!/bin/sh\ntouch \"$0.ran\"\nexit 1\n");
}

fn git(project: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments)
        .current_dir(project);
    assert!(run(&mut git, b"").status.success(), "{arguments:?}");
}

/// Makes a project with a commit.
fn project(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("main.rs"), "fn main() {}\n").expect("written");
    git(folder, &["init", "-q"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "Begin"]);
}

/// Has a session in a project edit a file and stop.
fn stop(home: &Home, project: &Path) -> String {
    let file = project.join("main.rs");
    let call = |more: serde_json::Value| {
        let mut payload = json!({
            "session_id": "5c1d8f0a-0000-4000-8000-00000000c0de", "cwd": project, "prompt_id": "p",
        });
        for (key, value) in more.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        let output = run(
            &mut home.client(&["claude"]),
            payload.to_string().as_bytes(),
        );
        assert_eq!(output.status.code(), Some(0));
        text(&output.stdout)
    };
    call(json!({"hook_event_name": "UserPromptSubmit", "prompt": "please"}));
    fs::write(&file, "fn main() { run() }\n").expect("written");
    call(json!({
        "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "t",
        "tool_input": {"file_path": file}, "tool_response": {},
    }));
    call(json!({"hook_event_name": "Stop", "last_assistant_message": "Done."}))
}

fn variables(bytes: &[u8], end: u8) -> BTreeMap<String, String> {
    let lines = bytes.split(|byte| *byte == end);
    lines
        .filter_map(|line| {
            String::from_utf8_lossy(line)
                .into_owned()
                .split_once('=')
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// A hook starts the daemon from within a project: with the search path of that project, and with tokens.
#[test]
fn neither_tokens_nor_search_path_of_the_starter_reach_the_daemon_or_its_children() {
    let mut daemon = Daemon::prepared("");
    let home = daemon.home.path().to_owned();
    let bin = home.join("project/node_modules/.bin");
    let written = home.join("written");
    let line = format!("env > {0}.new && mv {0}.new {0}", written.display());
    fs::write(
        home.join("config.yml"),
        format!(
            "{EVERY_STOP}listeners: {{checkpoint_sent: [{}], env: [NTFY_TOPIC]}}\n",
            json!(line)
        ),
    )
    .expect("written");
    project(&home.join("project"));
    foreign_git(&bin);
    let path = format!(
        "{}:bin:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    daemon.start_with(&[
        ("PATH", &path),
        ("LANG", "C.UTF-8"),
        ("DISPLAY", ":7"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus"),
        ("NTFY_TOPIC", "told"),
        ("GITHUB_TOKEN", "planted-token"),
        ("SSH_AUTH_SOCK", "/planted-agent"),
        ("LD_LIBRARY_PATH", "/planted-libraries"),
        ("GIT_DIR", "/planted-git"),
    ]);
    assert!(stop(&daemon.home, &home.join("project")).contains("Not verified yet"));
    until("the listener has run", || written.exists().then_some(()));
    assert!(!bin.join("git.ran").exists());

    let listener = variables(&fs::read(&written).expect("readable"), b'\n');
    let environ = fs::read(format!("/proc/{}/environ", daemon.pid()));
    let own = environ
        .as_ref()
        .map_or_else(|_| listener.clone(), |bytes| variables(bytes, 0));
    if environ.is_ok() {
        assert_eq!(own["MIMALLOC_PURGE_DELAY"], "50");
    }
    assert_eq!(listener.get("MIMALLOC_PURGE_DELAY"), None);
    for given in [&own, &listener] {
        assert_eq!(given.get("DISPLAY").map(String::as_str), Some(":7"));
        assert_eq!(given.get("NTFY_TOPIC").map(String::as_str), Some("told"));
        assert_eq!(
            given.get("DBUS_SESSION_BUS_ADDRESS").map(String::as_str),
            Some("unix:path=/run/bus")
        );
        for name in [
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "LD_LIBRARY_PATH",
            "GIT_DIR",
        ] {
            assert_eq!(given.get(name), None, "{name}");
        }
        let path = given.get("PATH").map_or("", String::as_str);
        assert!(
            !path.contains("node_modules")
                && path
                    .split(':')
                    .all(|folder| folder.is_empty() || folder.starts_with('/')),
            "{path}"
        );
    }
    assert!(listener["PATH"].contains("/usr/bin"), "{listener:?}");
}

/// A program in a folder that the user named is used, unless others can write to the folder.
#[test]
fn a_named_folder_of_programs_is_used_if_only_its_owner_can_write_to_it() {
    for (mode, is_used) in [(0o755, true), (0o775, false), (0o757, false)] {
        let mut daemon = Daemon::prepared("");
        let home = daemon.home.path().to_owned();
        let bin = home.join("bin");
        let config = format!("{EVERY_STOP}daemon: {{path: [{}]}}\n", bin.display());
        fs::write(home.join("config.yml"), config).expect("written");
        project(&home.join("project"));
        foreign_git(&bin);
        fs::set_permissions(&bin, Permissions::from_mode(mode)).expect("set");
        daemon.start();
        let reply = stop(&daemon.home, &home.join("project"));
        assert_eq!(bin.join("git.ran").exists(), is_used, "{mode:o}: {reply}");
        let (_, answer) = daemon.ask_code(&["doctor", "--json"]);
        let checks = answer[0]["checks"].as_array().expect("a list").clone();
        let config = checks
            .iter()
            .find(|check| check["name"] == "config")
            .expect("a check");
        assert_eq!(
            config["status"],
            if is_used { "pass" } else { "warn" },
            "{config}"
        );
    }
}

/// Returns what `doctor` says of a check.
fn doctor(daemon: &Daemon, name: &str) -> (String, String) {
    let (_, answer) = daemon.ask_code(&["doctor", "--json"]);
    let checks = answer[0]["checks"].as_array().expect("a list");
    let check = checks
        .iter()
        .find(|check| check["name"] == name)
        .expect("a check");
    let word = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    (word("status"), word("fix"))
}

fn refused_config(daemon: &Daemon) -> String {
    let status = daemon.ask(&["status", "--json"]);
    status[0]
        .pointer("/daemon/config_error")
        .or_else(|| status[0].get("config_error"))
        .and_then(|error| error.as_str())
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_configuration_that_others_can_write_is_not_used_and_the_words_say_what_to_do() {
    let table = [
        ("config.yml", 0o600, None),
        ("config.yml", 0o644, None),
        ("config.yml", 0o664, Some("chmod go-w")),
        ("config.yml", 0o646, Some("chmod go-w")),
    ];
    for (name, mode, advice) in table {
        let mut daemon = Daemon::prepared(&format!(
            "{EVERY_STOP}listeners: {{checkpoint_sent: ['touch \"$CHECKPOINTD_HOME/told\"']}}\n"
        ));
        let home = daemon.home.path().to_owned();
        fs::set_permissions(home.join(name), Permissions::from_mode(mode)).expect("set");
        daemon.start();
        stop(&daemon.home, &home);
        assert_eq!(
            refused_config(&daemon).contains("chmod go-w"),
            advice.is_some(),
            "{mode:o}"
        );
        let (status, fix) = doctor(&daemon, "config");
        match advice {
            None => {
                assert_eq!(status, "pass");
                wait_until(|| home.join("told").exists());
            }
            Some(advice) => {
                assert_eq!(status, "fail");
                assert_eq!(fix, format!("`{advice} {}`", home.join(name).display()));
                assert!(!home.join("told").exists());
                // Repaired as advised, it is used at once.
                fs::set_permissions(home.join(name), Permissions::from_mode(mode & !0o022))
                    .expect("set");
                wait_until(|| refused_config(&daemon).is_empty());
            }
        }
    }
}

#[test]
fn a_home_that_others_can_write_gets_no_daemon() {
    let daemon = Daemon::prepared("");
    let home = daemon.home.path().to_owned();
    for mode in [0o770, 0o707, 0o1777] {
        fs::set_permissions(&home, Permissions::from_mode(mode)).expect("set");
        let output = run(
            &mut daemon
                .home
                .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]),
            b"",
        );
        assert_eq!(output.status.code(), Some(2), "{mode:o}");
        let expected = format!("hint: `chmod go-w {}`", home.display());
        assert!(text(&output.stderr).contains(&expected), "{output:?}");
        assert!(!home.join("journal").exists());
        let (status, fix) = doctor(&daemon, "permissions");
        assert_eq!(
            (&*status, fix),
            ("fail", format!("`chmod go-w {}`", home.display()))
        );
    }
}

/// Gives a file to another user, where this test may.
fn give_away(path: &Path) -> bool {
    std::os::unix::fs::lchown(path, Some(65534), Some(65534)).is_ok()
}

#[test]
fn files_of_another_user_are_not_used() {
    let mut daemon = Daemon::prepared(EVERY_STOP);
    let home = daemon.home.path().to_owned();
    if !give_away(&home.join("config.yml")) {
        return;
    }
    daemon.start();
    assert!(refused_config(&daemon).contains("belongs to another user (uid 65534)"));
    assert_eq!(
        doctor(&daemon, "config").1,
        format!("`chown \"$USER\" {}`", home.join("config.yml").display())
    );
    daemon.kill();
    assert!(give_away(&home));
    let output = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]),
        b"",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("belongs to another user"),
        "{output:?}"
    );
}

/// Root comes into a user's home with `sudo -E`, or in a container that has the home mounted.
#[test]
fn root_leaves_the_journal_of_another_user_as_it_is() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let calls = recorded("codex/h-normal");
    calls.iter().for_each(|call| drop(play(&daemon, call)));
    daemon.kill();
    let home = daemon.home.path().to_owned();
    let give = |owner: &str| {
        let mut give = Command::new("chown");
        give.args(["-hR", owner]).arg(&home);
        run(&mut give, b"").status.success()
    };
    let files = || {
        let mut list = Command::new("find");
        list.arg(&home)
            .args(["-type", "f", "-printf", "%P %U %s %i\n"]);
        text(&run(&mut list, b"").stdout).to_owned()
    };
    let before = files();
    if !give("65534") {
        return;
    }
    let given = files();
    for command in [
        &["status"][..],
        &["sessions"],
        &["journal", "verify"],
        &["journal", "compact"],
        &["mute", "last"],
        &["doctor"],
    ] {
        let program = env!("CARGO_BIN_EXE_checkpointd");
        let output = run(&mut daemon.home.command(program, command), b"");
        let said = [text(&output.stdout), text(&output.stderr)].concat();
        assert!(!output.status.success(), "{command:?}: {said}");
        assert!(said.contains("uid 65534"), "{command:?}: {said}");
        assert!(!said.contains("chown"), "{command:?}: {said}");
    }
    let output = run(&mut daemon.home.client(&["claude"]), PROMPT);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(files(), given);
    assert!(give("0"));
    assert_eq!(files(), before);
    daemon.start();
    assert_eq!(daemon.ask(&["sessions", "--json"]).len(), 1);
    daemon.verify();
}

const PROMPT: &[u8] =
    br#"{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":"planted"}"#;

/// Somebody else listens where the daemon would: in a folder that all can write to, or with a socket of their own.
#[test]
fn the_client_gives_nothing_to_a_socket_that_others_own_or_can_replace() {
    for (mode, owner, is_used) in [
        (0o700, None, true),
        (0o1777, None, true),
        (0o777, None, false),
        (0o775, None, false),
        (0o700, Some(()), false),
        (0o1777, Some(()), false),
    ] {
        let home = Home::new();
        let folder = home.path().join("run");
        fs::create_dir_all(&folder).expect("a folder");
        let requests = serve(&home.socket(), |_| Act::Reply(http(200, "{}")));
        if owner.is_some() && !give_away(&home.socket()) {
            continue;
        }
        fs::set_permissions(&folder, Permissions::from_mode(mode)).expect("set");
        let output = run(&mut home.client(&["claude"]), PROMPT);
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..])
        );
        assert_eq!(requests.try_recv().is_ok(), is_used, "{mode:o} {owner:?}");
        assert_eq!(
            home.spooled().len(),
            usize::from(!is_used),
            "{mode:o} {owner:?}"
        );
        let asked = run(
            &mut home.command(
                env!("CARGO_BIN_EXE_checkpointd"),
                &["mute", "--once", "last"],
            ),
            b"",
        );
        assert_eq!(requests.try_recv().is_ok(), is_used, "{asked:?}");
    }
}
