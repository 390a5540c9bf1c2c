//! What agents tell stays with its owner: no secret on the disk, no content in the log, nothing for other users.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::daemon::{Daemon, EVERY_STOP, play, recorded};
use crate::support::{Home, run, wait_until};

/// Secrets of nobody, each beginning with a text that its redacted form has not.
fn secrets() -> Vec<(&'static str, String)> {
    let random = "q7Rk2ZpX9vLm4TbN8sWc1HdJ6yGf3QaE5uKo0PiB";
    vec![
        ("prompt", format!("sk-{}-api03-{random}{random}", "ant")),
        ("command", format!("{}_{random}", "ghp")),
        ("output", format!("{}{}", "AKIA", "QZX7NN3EXAMPLE42")),
        ("notification", format!("{}-{random}", "glpat")),
        ("last message", format!("{}-123456789012-{random}", "xoxb")),
        ("transcript", format!("{}_{random}", "npm")),
        ("not JSON", format!("{}{}", "AIza", &random[..35])),
        ("long", format!("hunter2{random}")),
        ("own pattern", "CORP-4711-0815".to_owned()),
    ]
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        found.push(folder.clone());
        for entry in fs::read_dir(&folder).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found
}

/// Sends calls with a secret in every place that a text can have.
fn tell_secrets(daemon: &Daemon, transcript: &Path, turn: &str) {
    let of: std::collections::HashMap<_, _> = secrets().into_iter().collect();
    let line = |kind: &str, message: serde_json::Value| {
        json!({ "type": kind, "uuid": "u", "sessionId": "s", "timestamp": "2026-11-21T21:19:03.095Z", "message": message }).to_string()
    };
    let command = format!("echo {}", of["transcript"]);
    let call = json!([{ "type": "tool_use", "id": "toolu_9", "name": "Bash", "input": { "command": command } }]);
    let lines = [
        line(
            "user",
            json!({ "role": "user", "content": format!("go {}", of["transcript"]) }),
        ),
        line("assistant", json!({ "role": "assistant", "content": call })),
    ];
    fs::write(transcript, lines.join("\n") + "\n").expect("writes");
    let hook = |event: &str, fields: serde_json::Value| {
        let mut payload = json!({
            "session_id": "594047f2-1c3d-4e5f-8a9b-0c1d2e3f4a5b", "cwd": "/p", "hook_event_name": event, "prompt_id": turn,
            "transcript_path": transcript,
        });
        for (key, value) in fields.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        daemon.hook(&["claude", event], payload.to_string().as_bytes())
    };
    let long = format!("{}PASSWORD={}", "x".repeat(32_760), of["long"]);
    hook(
        "UserPromptSubmit",
        json!({ "prompt": format!("use {}\nand {}", of["prompt"], of["own pattern"]) }),
    );
    let input = json!({ "command": format!("gh --token {} pr list", of["command"]), "other": long.repeat(3) });
    hook(
        "PreToolUse",
        json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_input": input }),
    );
    let failed = json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_input": input, "error": format!("denied: {}", of["output"]) });
    hook("PostToolUseFailure", failed);
    hook(
        "Notification",
        json!({ "notification_type": "idle_prompt", "message": of["notification"] }),
    );
    daemon.hook(
        &["claude", "Stop"],
        format!("not JSON {}", of["not JSON"]).as_bytes(),
    );
    hook(
        "Stop",
        json!({ "last_assistant_message": of["last message"], "stop_hook_active": false }),
    );
}

/// Checks that the secrets reached the spool: otherwise the test tells nothing.
fn check_spooled(home: &Home) {
    let spooled: Vec<u8> = home.spooled().concat();
    for (place, secret) in secrets()
        .into_iter()
        .filter(|(place, _)| *place != "transcript")
    {
        assert!(
            spooled
                .windows(secret.len())
                .any(|part| part == secret.as_bytes()),
            "{place}: the test tells nothing"
        );
    }
}

/// Checks that a secret of every kind was seen.
fn check_redacted(daemon: &Daemon, exported: &str) {
    for kind in [
        "anthropic_key",
        "github_token",
        "aws_key_id",
        "gitlab_token",
        "slack_token",
        "token",
        "google_key",
        "secret",
        "extra",
    ] {
        assert!(
            exported.contains(&format!("[redacted: {kind}]")),
            "{kind} was never seen: {}",
            daemon.ask(&["explain", "--json"])[0]["evidence"]
        );
    }
}

/// Checks that no file has a secret, and that the log has no content.
fn check_files(folder: &Path) {
    let mut looked = 0;
    for file in files_below(folder).iter().filter(|path| path.is_file()) {
        let mut bytes = Vec::new();
        fs::File::open(file)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .expect("readable");
        looked += bytes.len();
        for (place, secret) in secrets() {
            let found = bytes
                .windows(12)
                .any(|part| part == &secret.as_bytes()[..12]);
            assert!(!found, "{place}: {} has it", file.display());
        }
        let content = ["pr list", "PASSWORD", "denied:", "not JSON [", "echo "];
        if file.ends_with("log") {
            let log = String::from_utf8_lossy(&bytes);
            assert!(log.contains("Ready."), "{log}");
            assert!(
                content.iter().all(|words| !log.contains(words)),
                "content in the log: {log}"
            );
        }
    }
    assert!(looked > 10_000);
}

/// No secret of a hook call is found in any file, and nothing of the call in the log.
#[test]
fn no_file_has_a_secret_and_the_log_has_no_content() {
    let mut daemon = Daemon::with(&format!("{EVERY_STOP}redact:\n  extra: ['CORP-[0-9-]+']\n"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let transcript = elsewhere.path().join("t.jsonl");
    tell_secrets(&daemon, &transcript, "turn-1");
    // Once more through the spool.
    daemon.kill();
    fs::remove_dir_all(daemon.home.path().join("journal")).expect("removed");
    tell_secrets(&daemon, &transcript, "turn-2");
    check_spooled(&daemon.home);
    daemon.start();
    wait_until(|| daemon.home.spooled().is_empty());
    tell_secrets(&daemon, &transcript, "turn-3");
    daemon.verify();

    let exported = run(
        &mut daemon
            .home
            .command(env!("CARGO_BIN_EXE_checkpointd"), &["journal", "export"]),
        b"",
    )
    .stdout;
    let exported = String::from_utf8(exported).expect("text");
    check_redacted(&daemon, &exported);
    daemon.kill();
    check_files(daemon.home.path());
    // Payloads and events lie in the files packed, so they are looked at unpacked too.
    for (place, secret) in secrets() {
        assert!(
            !exported.contains(&secret[..12]),
            "{place}: the journal has it"
        );
    }
}

#[test]
fn recorded_sessions_leave_no_word_in_the_log() {
    let mut daemon = Daemon::with(EVERY_STOP);
    let mut words = Vec::new();
    for scenario in ["claude/t-main", "codex/t-main", "gemini/h-normal"] {
        for call in recorded(scenario) {
            let texts = [
                &call["payload"]["prompt"],
                &call["payload"]["tool_input"]["command"],
            ];
            words.extend(
                texts
                    .iter()
                    .filter_map(|text| text.as_str())
                    .filter(|text| text.len() > 8)
                    .map(str::to_owned),
            );
            play(&daemon, &call);
        }
    }
    daemon.kill();
    let log = fs::read_to_string(daemon.home.path().join("log")).expect("a log");
    assert!(words.len() > 3 && log.contains("Ready."));
    assert!(
        words.iter().all(|text| !log.contains(text.as_str())),
        "{log}"
    );
}

#[test]
fn whatever_the_umask_all_that_is_made_is_the_owners_alone() {
    let home = Home::new();
    fs::write(home.path().join("config.yml"), EVERY_STOP).expect("writes");
    let open = |program: &str, arguments: &str| {
        let line = format!("umask 000; exec '{program}' {arguments}");
        let mut command = home.command("/bin/sh", &["-c", &line]);
        command.env_remove("CHECKPOINTD_AUTOSTART");
        command
    };
    let (client, program) = (
        env!("CARGO_BIN_EXE_checkpointd-hook"),
        env!("CARGO_BIN_EXE_checkpointd"),
    );
    let prompt = br#"{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":"hi"}"#;
    run(
        open(client, "claude").env("CHECKPOINTD_AUTOSTART", "0"),
        prompt,
    );
    assert_eq!(home.spooled().len(), 1);
    let private = |when: &str| {
        for path in files_below(home.path()) {
            let meta = fs::symlink_metadata(&path).expect("there");
            let is_ours = path != home.path() && !path.ends_with("config.yml");
            let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
            assert!(
                !is_ours || meta.permissions().mode() & 0o777 == wanted,
                "{when}: {} {:o}",
                path.display(),
                meta.permissions().mode()
            );
        }
    };
    private("spooled");
    let started = run(&mut open(program, "daemon --detach"), b"");
    assert!(
        started.status.success(),
        "{}",
        String::from_utf8_lossy(&started.stderr)
    );
    run(&mut open(client, "claude"), prompt);
    let socket = home.path().join("run/sock");
    let is_socket = fs::metadata(&socket)
        .expect("there")
        .file_type()
        .is_socket();
    let another = as_another_user(&home, &socket);
    private("running");
    let stopped = run(&mut open(program, "daemon stop"), b"");
    private("stopped");
    assert!(stopped.status.success() && is_socket);
    if let Some(answer) = another {
        assert_eq!(answer, "", "another user was answered");
    }
}

/// Asks the daemon as another user, where this test may become one, with the folders opened to all for it: what then
/// refuses is the daemon's own look at who calls. Returns what was answered.
fn as_another_user(home: &Home, socket: &Path) -> Option<String> {
    let may = is_root()
        && Command::new("setpriv")
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success());
    let may = may
        && Command::new("python3")
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success());
    if !may {
        return None;
    }
    let opened = [
        home.path().to_owned(),
        home.path().join("run"),
        socket.to_owned(),
    ];
    let before: Vec<_> = opened
        .iter()
        .map(|path| fs::metadata(path).expect("there").permissions())
        .collect();
    let ask = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
        s.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')\nprint(s.recv(4096).decode(),end='')";
    let as_user = |user: &str| {
        let identity = [
            format!("--reuid={user}"),
            format!("--regid={user}"),
            "--clear-groups".to_owned(),
        ];
        let mut command = Command::new("setpriv");
        command
            .args(identity)
            .args(["python3", "-c", ask])
            .arg(socket)
            .current_dir("/");
        String::from_utf8_lossy(&run(&mut command, b"").stdout).into_owned()
    };
    assert_eq!(
        as_user("65534"),
        "",
        "the modes alone keep another user out"
    );
    for path in &opened {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("opened");
    }
    let (own, other) = (as_user("0"), as_user("65534"));
    for (path, permissions) in opened.iter().zip(before) {
        fs::set_permissions(path, permissions).expect("closed again");
    }
    assert!(own.starts_with("HTTP/1.1 200"), "the test asks well: {own}");
    Some(other)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
