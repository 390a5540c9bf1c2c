//! A machine of a test's own: a user with a home folder, and agents that only say their version.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::{put_script, run};

/// A machine with agents on it and one user.
pub(crate) struct Machine {
    root: TempDir,
}

impl Machine {
    /// Begins with these agents, each given by its name and what it says of its version.
    pub(crate) fn with(agents: &[(&str, &str)]) -> Self {
        let machine = Self {
            root: tempfile::tempdir().expect("a folder"),
        };
        fs::create_dir_all(machine.home()).expect("a folder");
        fs::create_dir_all(machine.path("bin")).expect("a folder");
        for (agent, version) in agents {
            put_script(
                &machine.path("bin").join(agent),
                &format!("#!/bin/sh\necho '{version}'\n"),
            );
        }
        machine
    }

    pub(crate) fn all() -> Self {
        Self::with(&[
            ("claude", "2.1.330 (Claude Code)"),
            ("gemini", "0.61.0"),
            ("codex", "codex-cli 0.169.0"),
        ])
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Writes a file of the user's.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, bytes).expect("writes");
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.home().join(name)).expect(name)
    }

    /// Returns a command of checkpointd's on this machine.
    pub(crate) fn command(
        &self,
        program: impl AsRef<std::ffi::OsStr>,
        arguments: &[&str],
    ) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", path);
        command
            .env("CHECKPOINTD_AUTOSTART", "0")
            .current_dir(self.home());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        run(
            &mut self.command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
            b"",
        )
    }

    /// Gives all files to a user with this id, and returns what runs commands as that one, where this test may do both.
    pub(crate) fn given_to(&self, user: u32) -> Option<impl Fn(&[&str]) -> Output> {
        let (uid, gid) = (format!("--reuid={user}"), format!("--regid={user}"));
        let program = env!("CARGO_BIN_EXE_checkpointd");
        let run_as = move |arguments: &[&str]| {
            let identity = [&*uid, &gid, "--clear-groups", program];
            let words = [&identity, arguments].concat();
            run(&mut self.command("setpriv", &words), b"")
        };
        let owner = format!("{user}:{user}");
        let mut give = Command::new("chown");
        give.args(["-hR", &owner]).arg(self.root.path());
        let may = rustix::process::geteuid().is_root()
            && run(&mut give, b"").status.success()
            && run_as(&["--version"]).status.success();
        may.then_some(run_as)
    }

    /// Runs a command that must succeed, and returns what it said.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (said, errors) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {said}{errors}"
        );
        said.into_owned()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments)).expect("JSON")
    }

    /// Returns the lines of a command's answer.
    pub(crate) fn rows(&self, arguments: &[&str]) -> Vec<Value> {
        let said = self.ok(arguments);
        let rows = said.lines().map(serde_json::from_str);
        rows.collect::<Result<_, _>>().expect("JSON")
    }

    /// Returns the command that an agent's settings have for an event.
    pub(crate) fn hook_command(&self, file: &str, event: &str) -> String {
        let settings: Value = serde_json::from_str(&self.read(file)).expect("JSON");
        let entry = &settings["hooks"][event][0];
        let command = [&entry["command"], &entry["hooks"][0]["command"]];
        let command = command.into_iter().find_map(Value::as_str);
        command.expect("a command").to_owned()
    }

    /// Runs that command, as the agent does, and returns the reply.
    #[track_caller]
    pub(crate) fn hook(&self, file: &str, event: &str, payload: &Value) -> String {
        let mut shell = self.command("sh", &["-c", &self.hook_command(file, event)]);
        shell
            .env("CHECKPOINTD_STOP_WAIT_MS", "60000")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "60000");
        let output = run(&mut shell, payload.to_string().as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a command that must fail, and returns what it said of that.
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        String::from_utf8(output.stderr)
            .expect("text")
            .replace(&*self.home().to_string_lossy(), "~")
    }

    /// Returns every file, link and folder of the user's, our own data aside.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path == self.home().join(".local") {
                    continue;
                }
                let meta = path.symlink_metadata().expect("is there");
                let content = if meta.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if meta.is_symlink() {
                    fs::read_link(&path)
                        .expect("a link")
                        .into_os_string()
                        .into_encoded_bytes()
                } else {
                    fs::read(&path).expect("readable")
                };
                tree.insert(path, (meta.permissions().mode(), content));
            }
        }
        tree
    }
}

/// A daemon on a machine; killed at the end.
pub(crate) struct RunningDaemon(Child);

impl RunningDaemon {
    pub(crate) fn start(machine: &Machine) -> Self {
        let mut command = machine.command(env!("CARGO_BIN_EXE_checkpointd"), &["daemon"]);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let daemon = Self(child);
        let began = Instant::now();
        while machine.run(&["daemon", "status"]).status.code() != Some(0) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "the daemon does not come up"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon
    }

    /// Stops it in the middle of its work: it still has its socket, and answers nothing.
    pub(crate) fn hang(&self) {
        kill_process(Pid::from_child(&self.0), Signal::STOP).expect("stops");
    }
}

impl Drop for RunningDaemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
