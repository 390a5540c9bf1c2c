//! The files in `examples/`, each used as its user would use it, with the real programs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const SESSION: &str = "5c1d8f0a-0000-4000-8000-00000000e4a7";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name)
}

/// A user with an empty home folder; a daemon started for the user is killed with it.
struct User {
    home: TempDir,
    daemon: Option<Child>,
}

impl User {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().expect("a folder"),
            daemon: None,
        }
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.home.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("CHECKPOINTD_AUTOSTART", "0")
            .env("CHECKPOINTD_STOP_WAIT_MS", "60000")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "60000");
        command
    }

    /// Runs `checkpointd` and returns what it printed.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        succeeded(self.command(env!("CARGO_BIN_EXE_checkpointd"), arguments))
    }

    fn start_daemon(&mut self) {
        let mut command = self.command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.daemon = Some(command.spawn().expect("starts"));
        let socket = self.home.path().join(".local/state/checkpointd/run/sock");
        eventually("the daemon listens", || {
            std::os::unix::net::UnixStream::connect(&socket).ok()
        });
    }

    /// Calls a hook as Claude Code does. Returns the reply.
    #[track_caller]
    fn hook(&self, event: &str, fields: &[(&str, &str)]) -> String {
        let mut payload =
            json!({ "session_id": SESSION, "cwd": self.home.path(), "hook_event_name": event });
        for (name, value) in fields {
            payload[*name] = json!(value);
        }
        let mut command = self.command(env!("CARGO_BIN_EXE_checkpointd-hook"), &["claude"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(payload.to_string().as_bytes())
            .expect("writes");
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{output:?}");
        text(output)
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn text(output: Output) -> String {
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn succeeded(mut command: Command) -> String {
    let output = command.output().expect("runs");
    assert!(output.status.success(), "{command:?}: {output:?}");
    text(output)
}

#[track_caller]
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "not yet: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Copies an example to a path below the user's home.
fn install(user: &User, name: &str, path: &str) {
    let path = user.home.path().join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::copy(example(name), path).expect("copies");
}

#[test]
fn the_configuration_logs_finished_agents_and_redacts_its_own_tokens() {
    let mut user = User::new();
    install(&user, "config.yml", ".config/checkpointd/config.yml");
    install(
        &user,
        "listeners/finished.sh",
        ".config/checkpointd/finished.sh",
    );
    user.run(&["config", "check"]);
    user.start_daemon();

    user.hook(
        "UserPromptSubmit",
        &[("prompt", "deploy with ACME-0123456789ABCDEF")],
    );
    let reply = user.hook(
        "Stop",
        &[("last_assistant_message", "Deployed.\nSecond line")],
    );
    assert_eq!(reply, "", "a short turn passes");
    let log = user.home.path().join(".local/state/finished-agents.log");
    let logged = eventually("the listener has run", || {
        fs::read_to_string(&log)
            .ok()
            .filter(|text| text.ends_with('\n'))
    });
    assert!(logged.contains(" claude in "), "{logged}");
    assert!(logged.ends_with(": Deployed.\n"), "{logged}");
    let journal = user.run(&["journal", "export"]);
    assert!(journal.contains("deploy with [redacted:"), "{journal}");
    assert!(!journal.contains("0123456789ABCDEF"), "{journal}");
}

#[test]
fn the_rule_of_the_project_asks_for_its_actions() {
    let user = User::new();
    install(
        &user,
        "project/.checkpointd.yml",
        "project/.checkpointd.yml",
    );
    let project = user.home.path().join("project");
    let project = project.to_str().expect("text");
    fs::create_dir(format!("{project}/migrations")).expect("a folder");
    fs::write(format!("{project}/migrations/1.sql"), "create table a;\n").expect("writes");
    succeeded(user.command("git", &["init", "-q", project]));
    user.run(&["rules", "check", "--project", project]);
    user.run(&["rules", "trust", "--project", project]);

    let preview = |elapsed: &str| -> Value {
        let answer = user.run(&[
            "rules",
            "preview",
            "--json",
            "--agent",
            "claude",
            "--project",
            project,
            "--elapsed",
            elapsed,
        ]);
        serde_json::from_str(&answer).expect("JSON")
    };
    let due = preview("3m");
    assert_eq!(due["reason"], "actions_due", "{due}");
    let message = due["message"].as_str().expect("a message");
    let actions: Vec<_> = message
        .lines()
        .filter(|line| line.contains("make "))
        .collect();
    assert_eq!(
        actions,
        [
            "1. Run the migration against a copy of the database (`make migrate-test`) (asked for by the project's .checkpointd.yml)",
            "2. Update the schema documentation (`make schema-docs`) (asked for by the project's .checkpointd.yml)",
        ],
        "{message}"
    );
    assert_eq!(
        preview("90s")["verdict"],
        "pass",
        "under the project's two minutes"
    );
}

/// The agents themselves are not run: their descriptions are read, and what `init` would write is planned.
#[test]
fn the_described_agents_can_be_installed() {
    let names = fs::read_dir(example("agents")).expect("a folder");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["codebuddy.yml", "goose.yml", "vscode.yml"]);
    for file in names {
        let user = User::new();
        let name = file.strip_suffix(".yml").expect("YAML");
        install(
            &user,
            &format!("agents/{file}"),
            ".config/checkpointd/config.yml",
        );
        user.run(&["config", "check"]);
        let said = user.run(&["init", "--agent", name, "--diff"]);
        assert!(
            said.contains(&format!("checkpointd-hook {name} Stop")),
            "{said}"
        );
    }
}
