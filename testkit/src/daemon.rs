//! A real daemon for a test, and the recorded hook calls that are sent through the real client.

use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Home, http, program, run};

/// A daemon in a home of its own; killed at the end.
pub struct Daemon {
    pub home: Home,
    pub child: Option<Child>,
}

impl Daemon {
    pub fn with(config: &str) -> Self {
        let mut daemon = Self::prepared(config);
        daemon.start();
        daemon
    }

    /// Makes a home for one that is started later.
    pub fn prepared(config: &str) -> Self {
        let home = Home::new();
        std::fs::write(home.path().join("config.yml"), config).expect("writes");
        Self { home, child: None }
    }

    /// Starts one in a home that has its configuration, and maybe a journal.
    pub fn at(home: Home) -> Self {
        let mut daemon = Self { home, child: None };
        daemon.start();
        daemon
    }

    pub fn start(&mut self) {
        self.start_with(&[]);
    }

    /// Starts it with more in its environment.
    pub fn start_with(&mut self, variables: &[(&str, &str)]) {
        self.spawn(&[], variables);
        assert!(self.comes_up(), "the daemon ended: {}", self.log());
    }

    /// Starts it by a program that becomes the daemon, such as `strace -D`. Returns false when it ended by itself.
    pub fn start_under(&mut self, wrapper: &[String]) -> bool {
        self.spawn(wrapper, &[]);
        self.comes_up()
    }

    fn comes_up(&mut self) -> bool {
        let began = Instant::now();
        while self
            .http("GET", "/healthz", &[], b"")
            .is_none_or(|(status, _)| status != 200)
        {
            if self
                .child
                .as_mut()
                .is_none_or(|child| child.try_wait().expect("a child").is_some())
            {
                return false;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "the daemon does not come up: {}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    /// Returns what the daemon has said since its start.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.home.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn spawn(&mut self, wrapper: &[String], variables: &[(&str, &str)]) {
        let daemon = program("checkpointd");
        let mut command = match wrapper {
            [] => self.home.command(&daemon, &["daemon"]),
            [program, arguments @ ..] => {
                let mut command = self.home.command(program, &[]);
                command.args(arguments).arg(&daemon).arg("daemon");
                command
            }
        };
        command.envs(variables.iter().copied());
        let log = std::fs::File::create(self.home.path().join("log")).expect("a log");
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("starts");
        self.child = Some(child);
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("kills");
            child.wait().expect("is gone");
        }
    }

    pub fn http(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<(u16, String)> {
        let stream = UnixStream::connect(self.home.path().join("run/sock")).ok()?;
        let headers = [&[("Host", "x")], headers].concat();
        let answer = http::ask(stream, method, path, &headers, body)?;
        Some((answer.status, answer.body))
    }

    /// Calls a hook as its host does, and returns what the client printed.
    pub fn hook(&self, arguments: &[&str], payload: &[u8]) -> String {
        let output = run(&mut self.home.client(arguments), payload);
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..])
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// Asks the command line, and returns the lines of its JSON answer.
    pub fn ask(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, lines) = self.ask_code(arguments);
        assert_eq!(code, 0, "{arguments:?}: {lines:?}");
        lines
    }

    pub fn ask_code(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let output = run(
            &mut self.home.command(program("checkpointd"), arguments),
            b"",
        );
        // Shown where a test fails.
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("text");
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect();
        (output.status.code().expect("no signal"), lines)
    }

    pub fn verify(&self) {
        for arguments in [
            ["journal", "verify", "--json"],
            ["replay", "--verify", "--json"],
        ] {
            let (code, lines) = self.ask_code(&arguments);
            assert_eq!(code, 0, "{arguments:?}: {lines:?}");
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Loose enough for every recorded turn. No progress documents are written, because their moment is
/// not predictable.
pub const EVERY_STOP: &str = "min_turn: 0s\nheadless: always\nprogress: {auto: {interval: 0s, compaction: false, \
    subagent: false, error: false, session_end: false}}\n";

/// The calls of a recorded scenario.
pub fn recorded(scenario: &str) -> Vec<Value> {
    let path = format!(
        "{}/tests/data/fixtures/{scenario}.ndjson",
        concat!(env!("CARGO_MANIFEST_DIR"), "/..")
    );
    let text = std::fs::read_to_string(path).expect("a recording");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Sends a recorded call through the client.
pub fn play(daemon: &Daemon, call: &Value) -> String {
    let (agent, event) = (
        call["agent"].as_str().expect("a word"),
        call["event"].as_str().expect("a word"),
    );
    let payload = call["payload"].to_string();
    if event == "notify" {
        daemon.hook(&[agent, &payload], b"")
    } else {
        daemon.hook(&[agent, event], payload.as_bytes())
    }
}
