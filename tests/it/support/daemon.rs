//! A real daemon for a test, and the recorded hook calls that are sent through the real client.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Home, run};

/// A daemon in a home of its own; killed at the end.
pub(crate) struct Daemon {
    pub(crate) home: Home,
    pub(crate) child: Option<Child>,
}

impl Daemon {
    pub(crate) fn with(config: &str) -> Self {
        let mut daemon = Self::prepared(config);
        daemon.start();
        daemon
    }

    /// Makes a home for one that is started later.
    pub(crate) fn prepared(config: &str) -> Self {
        let home = Home::new();
        std::fs::write(home.path().join("config.yml"), config).expect("writes");
        Self { home, child: None }
    }

    /// Starts one in a home that has its configuration, and maybe a journal.
    pub(crate) fn at(home: Home) -> Self {
        let mut daemon = Self { home, child: None };
        daemon.start();
        daemon
    }

    pub(crate) fn start(&mut self) {
        self.start_with(&[]);
    }

    /// Starts it with more in its environment.
    pub(crate) fn start_with(&mut self, variables: &[(&str, &str)]) {
        self.spawn(&[], variables);
        assert!(self.comes_up(), "the daemon ended: {}", self.log());
    }

    /// Starts it by a program that becomes the daemon, such as `strace -D`. Returns false when it ended by itself.
    pub(crate) fn start_under(&mut self, wrapper: &[String]) -> bool {
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
    pub(crate) fn log(&self) -> String {
        let bytes = std::fs::read(self.home.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn spawn(&mut self, wrapper: &[String], variables: &[(&str, &str)]) {
        let daemon = env!("CARGO_BIN_EXE_checkpointd");
        let mut command = match wrapper {
            [] => self.home.command(daemon, &["daemon"]),
            [program, arguments @ ..] => {
                let mut command = self.home.command(program, &[]);
                command.args(arguments).args([daemon, "daemon"]);
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

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("kills");
            child.wait().expect("is gone");
        }
    }

    pub(crate) fn http(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<(u16, String)> {
        let mut stream = UnixStream::connect(self.home.path().join("run/sock")).ok()?;
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    /// Calls a hook as its host does, and returns what the client printed.
    pub(crate) fn hook(&self, arguments: &[&str], payload: &[u8]) -> String {
        let output = run(&mut self.home.client(arguments), payload);
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..])
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// Asks the command line, and returns the lines of its JSON answer.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, lines) = self.ask_code(arguments);
        assert_eq!(code, 0, "{arguments:?}: {lines:?}");
        lines
    }

    pub(crate) fn ask_code(&self, arguments: &[&str]) -> (i32, Vec<Value>) {
        let output = run(
            &mut self
                .home
                .command(env!("CARGO_BIN_EXE_checkpointd"), arguments),
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

    pub(crate) fn verify(&self) {
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

/// Loose enough for every recorded turn.
/// No progress documents come in between, whose moment nobody can tell.
pub(crate) const EVERY_STOP: &str = "min_turn: 0s\nheadless: always\nprogress: {auto: {interval: 0s, compaction: false, \
    subagent: false, error: false, session_end: false}}\n";

/// The calls of a recorded scenario.
pub(crate) fn recorded(scenario: &str) -> Vec<Value> {
    let path = format!(
        "{}/tests/data/fixtures/{scenario}.ndjson",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("a recording");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Sends a recorded call through the client.
pub(crate) fn play(daemon: &Daemon, call: &Value) -> String {
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
