//! The service: its files, its manager, the socket that is handed over; completions and manual pages.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, run};

const CHECKPOINTD: &str = env!("CARGO_BIN_EXE_checkpointd");

/// A home with a service manager in it, which writes down what it is told, knows whether the service was started, and
/// starts the daemon as the unit says.
struct Managed {
    home: Home,
}

impl Managed {
    fn new(manager: &str) -> Self {
        let managed = Self { home: Home::new() };
        let (programs, units) = (managed.programs(), managed.units());
        [&programs, &units].into_iter().for_each(|folder| fs::create_dir_all(folder).expect("a folder"));
        let program = programs.join("systemctl");
        fs::write(&program, manager).expect("writable");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
        managed
    }

    fn programs(&self) -> PathBuf {
        self.home.path().join("bin")
    }

    fn units(&self) -> PathBuf {
        self.home.path().join("config/systemd/user")
    }

    fn command(&self, arguments: &[&str]) -> Output {
        let mut command = self.home.command(CHECKPOINTD, arguments);
        let path = format!("{}:{}", self.programs().display(), std::env::var("PATH").expect("a PATH"));
        command.env("PATH", path).env("XDG_CONFIG_HOME", self.home.path().join("config"));
        run(&mut command, b"")
    }

    fn said(&self) -> String {
        fs::read_to_string(self.home.path().join("said")).unwrap_or_default()
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        let _ = self.command(&["daemon", "stop"]);
    }
}

/// A manager that does what systemd does with these units, as far as a shell can.
const MANAGER: &str = r#"#!/bin/sh
echo "$@" >> "$CHECKPOINTD_HOME/said"
unit="$CHECKPOINTD_HOME/config/systemd/user/checkpointd.service"
case "$2" in
  is-enabled) false ;;
  is-active) test -e "$CHECKPOINTD_HOME/up" ;;
  stop|disable) rm -f "$CHECKPOINTD_HOME/up"; "$CHECKPOINTD" daemon stop > /dev/null 2>&1; true ;;
  enable|start)
    touch "$CHECKPOINTD_HOME/up"
    start=$(sed -n 's/^ExecStart=//p' "$unit")
    (exec < /dev/null > /dev/null 2>> "$CHECKPOINTD_HOME/log"; eval "exec $start") & ;;
esac
"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_service_is_installed_asked_after_and_removed() {
    let managed = Managed::new(&MANAGER.replace("$CHECKPOINTD\"", &format!("{CHECKPOINTD}\"")));
    let status = || {
        let output = managed.command(&["service", "status", "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), answer["installed"].clone(), answer["active"].clone(), answer["daemon"]["ok"].clone())
    };
    assert_eq!(status(), (Some(3), json!(false), json!(false), Value::Null));
    assert_eq!(managed.command(&["service", "start"]).status.code(), Some(1));

    let installed = managed.command(&["service", "install"]);
    assert_eq!(installed.status.code(), Some(0), "{installed:?}");
    assert!(text(&installed.stdout).contains("added      "), "{installed:?}");
    assert_eq!(status(), (Some(0), json!(true), json!(true), json!(true)));
    assert!(managed.said().contains("--user enable --now checkpointd.socket checkpointd.service"));
    let again = text(&managed.command(&["service", "install"]).stdout);
    assert!(again.contains("unchanged  ") && !again.contains("added"), "{again}");

    assert_eq!(managed.command(&["service", "stop"]).status.code(), Some(0));
    assert_eq!(status(), (Some(3), json!(true), json!(false), Value::Null));
    let removed = managed.command(&["service", "uninstall"]);
    assert_eq!((removed.status.code(), fs::read_dir(managed.units()).expect("a folder").count()), (Some(0), 0));
    assert_eq!(text(&managed.command(&["service", "uninstall"]).stdout), "no service is installed\n");
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_manager_nothing_is_written_and_the_words_help() {
    let managed = Managed::new("#!/bin/sh\nexit 1\n");
    let output = managed.command(&["service", "install"]);
    assert_eq!((output.status.code(), fs::read_dir(managed.units()).expect("a folder").count()), (Some(3), 0));
    assert!(text(&output.stderr).contains("hint: a service is not needed: hooks start the daemon"), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_units_are_what_systemd_accepts() {
    let managed = Managed::new(MANAGER);
    let printed = text(&managed.command(&["service", "install", "--print"]).stdout);
    assert_eq!(fs::read_dir(managed.units()).expect("a folder").count(), 0, "printing writes nothing");
    for unit in printed.split("\n# ") {
        let (path, body) = unit.trim_start_matches("# ").split_once('\n').expect("a path and a text");
        fs::write(path, body).expect("writable");
    }
    assert_eq!(fs::read_dir(managed.units()).expect("a folder").count(), 2);
    let Ok(output) = Command::new("systemd-analyze")
        .args(["verify", "--user", "--man=no", "checkpointd.service", "checkpointd.socket"])
        .env("SYSTEMD_UNIT_PATH", format!("{}:/usr/lib/systemd/user", managed.units().display()))
        .env("XDG_RUNTIME_DIR", managed.home.path())
        .output()
    else {
        // The units' text is compared by the tests beside it; this machine has no second opinion.
        return;
    };
    let complaints = text(&output.stderr);
    let complaints: Vec<_> = complaints.lines().filter(|line| line.contains("checkpointd")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn a_socket_that_is_handed_over_is_served_and_left_in_place() {
    let home = Home::new();
    let socket = home.socket();
    let listener = UnixListener::bind(&socket).expect("binds");
    let log = File::create(home.path().join("log")).expect("a log");
    let script = format!("LISTEN_PID=$$ LISTEN_FDS=1 exec '{CHECKPOINTD}' daemon 3<&0 0</dev/null");
    let mut command = home.command("sh", &["-c", &script]);
    let mut child = command.stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(log).spawn().expect("starts");
    // The manager's socket takes connections before the daemon is up: a stop waits for it and is answered.
    let stop = json!({"session_id":"one","hook_event_name":"Stop","cwd":home.path(),"stop_hook_active":false});
    let output = run(&mut home.client(&["claude"]), stop.to_string().as_bytes());
    assert_eq!((output.status.code(), home.spooled().len()), (Some(0), 0), "{output:?}");
    let audit = run(&mut home.command(CHECKPOINTD, &["audit", "--json"]), b"");
    let line: Value = serde_json::from_slice(&audit.stdout).expect("one decision");
    assert_eq!(line["reason"], "no_turn_start");
    assert_eq!(run(&mut home.command(CHECKPOINTD, &["daemon", "stop"]), b"").status.code(), Some(0));
    assert!(child.wait().expect("is gone").success());
    assert!(socket.exists(), "the socket is the manager's");
}

#[test]
fn shells_are_told_the_commands_and_the_sessions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&mut home.command(CHECKPOINTD, &["completions", shell]), b"");
        assert!(output.status.success() && text(&output.stdout).contains("COMPLETE"), "{shell}: {output:?}");
    }
    let complete = |words: &[&str]| {
        let mut command = home.command(CHECKPOINTD, &[&["--", "checkpointd"], words].concat());
        command.env("COMPLETE", "fish");
        text(&run(&mut command, b"").stdout)
    };
    assert!(complete(&["ti"]).starts_with("timeline"));
    assert!(complete(&["state", ""]).starts_with("last"));
    let call = json!({"agent":"codex","payload":{"session_id":"5d0c9d4e-7f2a-4c40-9a51-0b6d5a9f6f01","hook_event_name":"SessionStart","cwd":"/","source":"startup"}});
    let mut daemon =
        home.command(CHECKPOINTD, &["daemon"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    crate::support::wait_until(|| run(&mut home.command(CHECKPOINTD, &["daemon", "status"]), b"").status.success());
    run(&mut home.command(CHECKPOINTD, &["journal", "append"]), call.to_string().as_bytes());
    let sessions = complete(&["state", "5d0c"]);
    assert!(sessions.starts_with("5d0c9d4e-7f2a-4c40-9a51-0b6d5a9f6f01\tcodex, last heard of at "), "{sessions}");
    run(&mut home.command(CHECKPOINTD, &["daemon", "stop"]), b"");
    daemon.wait().expect("is gone");
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Home::new();
    let folder = home.path().join("man");
    let output = run(&mut home.command(CHECKPOINTD, &["man", &folder.to_string_lossy()]), b"");
    assert!(output.status.success(), "{output:?}");
    for page in ["checkpointd.1", "checkpointd-audit.1", "checkpointd-service-logs.1"] {
        assert!(fs::read_to_string(folder.join(Path::new(page))).expect(page).contains(".SH NAME"));
    }
}
