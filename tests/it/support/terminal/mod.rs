//! A tmux server of a test's own, with agents in its panes.

pub(crate) mod program;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Home, run};
use program::{SETUP, Setup, TEST};

/// After this long what a test waits for does not come; far above what a slow machine needs.
const LIMIT: Duration = Duration::from_secs(120);

/// Waits until something holds.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = holds() {
            return value;
        }
        assert!(began.elapsed() < LIMIT, "it does not come: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server, ended with the test.
pub(crate) struct Server {
    folder: TempDir,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        let output = run(&mut self.command(arguments), b"");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8");
        command
            .env("HOME", self.folder.path())
            .arg("-S")
            .arg(self.socket())
            .args(["-f", "/dev/null"])
            .args(arguments);
        command
    }

    /// Starts an agent in a pane of its own, by a shell that stays when the agent ends.
    pub(crate) fn agent(
        &self,
        home: &Home,
        agent: &str,
        change: impl FnOnce(&mut Setup),
    ) -> Agent<'_> {
        let number = std::fs::read_dir(self.folder.path())
            .expect("a folder")
            .count();
        let folder = self.folder.path().join(format!("{agent}-{number}"));
        std::fs::create_dir(&folder).expect("a folder");
        let mut setup = Setup {
            agent: agent.into(),
            folder: folder.clone(),
            hook: env!("CARGO_BIN_EXE_checkpointd-hook").into(),
            brackets: true,
            notify_only: false,
            tell_after_ms: 0,
        };
        change(&mut setup);
        let program = folder.join(agent);
        std::os::unix::fs::symlink(std::env::current_exe().expect("a path"), &program)
            .expect("links");
        let words = [
            format!("CHECKPOINTD_HOME={}", home.path().display()),
            "CHECKPOINTD_AUTOSTART=0".into(),
            "CHECKPOINTD_STOP_WAIT_MS=60000".into(),
            "CHECKPOINTD_PLAIN_WAIT_MS=60000".into(),
            format!("{SETUP}={}", serde_json::to_string(&setup).expect("plain")),
        ];
        let words = words.map(|word| format!("'{word}'")).join(" ");
        let shell = format!(
            "env {words} '{}' {TEST} --exact --nocapture >/dev/null; exec cat",
            program.display()
        );
        let size = ["-x", "200", "-y", "50"];
        let start = [
            &["new-session", "-d", "-P", "-F", "#{pane_id}"][..],
            &size,
            &[&shell],
        ]
        .concat();
        let pane = self.tmux(&start);
        until("the agent is up", || {
            folder.join("ready").exists().then_some(())
        });
        Agent {
            server: self,
            pane,
            folder,
            name: agent.into(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

/// An agent in a pane.
pub(crate) struct Agent<'a> {
    pub(crate) server: &'a Server,
    pub(crate) pane: String,
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
}

impl Agent<'_> {
    /// Returns the variables that tmux sets in the pane.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let tmux = format!("{},1,0", self.server.socket().display());
        vec![
            ("TMUX".into(), tmux),
            ("TMUX_PANE".into(), self.pane.clone()),
        ]
    }

    pub(crate) fn switch(&self, name: &str, on: bool) {
        let path = self.folder.join(name);
        if on {
            std::fs::write(path, b"").expect("writes")
        } else {
            std::fs::remove_file(path).expect("was there")
        }
    }

    /// Lets the agent call its notify program.
    pub(crate) fn notifies(&self, payload: &str) {
        let (new, path) = (self.folder.join("notify.new"), self.folder.join("notify"));
        std::fs::write(&new, payload).expect("writes");
        std::fs::rename(new, &path).expect("is there");
        until("it was called", || (!path.exists()).then_some(()));
    }

    /// Types as a person does.
    pub(crate) fn types(&self, text: &str) {
        self.server
            .tmux(&["send-keys", "-t", &self.pane, "-l", text]);
        until("it is shown", || self.screen().contains(text).then_some(()));
    }

    pub(crate) fn screen(&self) -> String {
        self.server.tmux(&["capture-pane", "-p", "-t", &self.pane])
    }

    /// Returns all that was submitted or approved.
    pub(crate) fn log(&self) -> Vec<Value> {
        lines(&self.folder.join("log"))
    }

    /// Returns the texts that were submitted, without the line break that an Enter that came too soon may have left.
    pub(crate) fn submitted(&self) -> Vec<String> {
        let text = |line: Value| {
            line["text"]
                .as_str()
                .expect("nothing was approved")
                .trim_end()
                .to_owned()
        };
        self.log().into_iter().map(text).collect()
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
