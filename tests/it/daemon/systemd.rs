//! The service with systemd: its units, and what its manager is told.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::terminal::until;
use crate::support::{Home, put_script, run, text};

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
        [&programs, &units]
            .into_iter()
            .for_each(|folder| fs::create_dir_all(folder).expect("a folder"));
        put_script(&programs.join("systemctl"), manager);
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
        let path = format!(
            "{}:{}",
            self.programs().display(),
            std::env::var("PATH").expect("a PATH")
        );
        command
            .env("PATH", path)
            .env("XDG_CONFIG_HOME", self.home.path().join("config"));
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
    test -e "$CHECKPOINTD_HOME/up" && exit
    touch "$CHECKPOINTD_HOME/up"
    start=$(sed -n 's/^ExecStart=//p' "$unit")
    (exec < /dev/null > /dev/null 2>> "$CHECKPOINTD_HOME/log"; eval "exec $start") & ;;
esac
"#;

#[test]
fn a_service_is_installed_asked_after_and_removed() {
    let managed = Managed::new(&MANAGER.replace("$CHECKPOINTD\"", &format!("{CHECKPOINTD}\"")));
    let status = || {
        let output = managed.command(&["daemon", "service", "status", "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (
            output.status.code(),
            answer["installed"].clone(),
            answer["active"].clone(),
            answer["daemon"]["ok"].clone(),
        )
    };
    assert_eq!(status(), (Some(3), json!(false), json!(false), Value::Null));
    assert_eq!(
        managed
            .command(&["daemon", "service", "start"])
            .status
            .code(),
        Some(1)
    );

    let installed = managed.command(&["daemon", "service", "install"]);
    assert_eq!(installed.status.code(), Some(0), "{installed:?}");
    assert!(
        text(&installed.stdout).contains("added      "),
        "{installed:?}"
    );
    assert_eq!(status(), (Some(0), json!(true), json!(true), json!(true)));
    assert!(
        managed
            .said()
            .contains("--user enable --now checkpointd.socket checkpointd.service")
    );
    let again = text(&managed.command(&["daemon", "service", "install"]).stdout);
    assert!(
        again.contains("unchanged  ") && !again.contains("added"),
        "{again}"
    );

    assert_eq!(
        managed
            .command(&["daemon", "service", "stop"])
            .status
            .code(),
        Some(0)
    );
    // The real manager waits until the daemon has ended; the one of this test only asks it to.
    let stopped = (Some(3), json!(true), json!(false), Value::Null);
    until("it has stopped", || (status() == stopped).then_some(()));
    let removed = managed.command(&["daemon", "service", "uninstall"]);
    assert_eq!(
        (
            removed.status.code(),
            fs::read_dir(managed.units()).expect("a folder").count()
        ),
        (Some(0), 0)
    );
    assert_eq!(
        text(&managed.command(&["daemon", "service", "uninstall"]).stdout),
        "no service is installed\n"
    );
}

#[test]
fn without_a_manager_nothing_is_written_and_the_words_help() {
    let managed = Managed::new("#!/bin/sh\nexit 1\n");
    let output = managed.command(&["daemon", "service", "install"]);
    assert_eq!(
        (
            output.status.code(),
            fs::read_dir(managed.units()).expect("a folder").count()
        ),
        (Some(3), 0)
    );
    assert!(
        text(&output.stderr).contains("hint: a service is optional: hooks start the daemon"),
        "{output:?}"
    );
}

#[test]
fn the_units_are_what_systemd_accepts() {
    let managed = Managed::new(MANAGER);
    let printed = text(
        &managed
            .command(&["daemon", "service", "install", "--print"])
            .stdout,
    );
    assert_eq!(
        fs::read_dir(managed.units()).expect("a folder").count(),
        0,
        "printing writes nothing"
    );
    for unit in printed.split("\n# ") {
        let (path, body) = unit
            .trim_start_matches("# ")
            .split_once('\n')
            .expect("a path and a text");
        fs::write(path, body).expect("writable");
    }
    assert_eq!(fs::read_dir(managed.units()).expect("a folder").count(), 2);
    let Ok(output) = Command::new("systemd-analyze")
        .args([
            "verify",
            "--user",
            "--man=no",
            "checkpointd.service",
            "checkpointd.socket",
        ])
        .env(
            "SYSTEMD_UNIT_PATH",
            format!("{}:/usr/lib/systemd/user", managed.units().display()),
        )
        .env("XDG_RUNTIME_DIR", managed.home.path())
        .output()
    else {
        // The units' text is compared by the tests beside it; this machine has no second opinion.
        return;
    };
    let complaints = text(&output.stderr);
    let complaints: Vec<_> = complaints
        .lines()
        .filter(|line| line.contains("checkpointd"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

/// Restricts as much as the manager can do, and no more: a service that does not start would leave hook calls waiting.
#[test]
fn the_service_is_restricted_as_far_as_the_manager_can() {
    for (trial, exposure_max) in [("exit 0", "30"), ("exit 1", "65")] {
        let managed = Managed::new(MANAGER);
        let script = format!("#!/bin/sh\necho \"$@\" >> \"$CHECKPOINTD_HOME/tried\"\n{trial}\n");
        put_script(&managed.programs().join("systemd-run"), &script);
        let installed = managed.command(&["daemon", "service", "install"]);
        assert_eq!(installed.status.code(), Some(0), "{installed:?}");
        let tried = fs::read_to_string(managed.home.path().join("tried")).expect("it was tried");
        assert!(
            tried.contains("--user") && tried.contains("PrivateUsers=yes"),
            "{tried}"
        );
        let unit = managed.units().join("checkpointd.service");
        let service = fs::read_to_string(&unit).expect("readable");
        assert!(service.contains("\nLimitCORE=0\n"));
        assert_eq!(
            service.contains("\nCapabilityBoundingSet=\n"),
            trial == "exit 0",
            "{service}"
        );
        let threshold = format!("--threshold={exposure_max}");
        let analysis = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--no-pager", &threshold])
            .arg(&unit)
            .output();
        // The units' text is compared above; this machine may have no second opinion.
        let Ok(analysis) = analysis else { return };
        assert!(analysis.status.success(), "{}", text(&analysis.stdout));
    }
}
