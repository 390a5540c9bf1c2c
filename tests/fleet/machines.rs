//! Machines with real daemons, and a real collector.

use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::daemon::{Daemon, EVERY_STOP, play, recorded};
use testkit::{Home, http, program, run, wait_until};

/// A machine asks again after at most a minute, and a collector asks for what it lacks after ten.
const PATIENCE: Duration = Duration::from_secs(900);

/// A machine that sends what it journals.
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) daemon: Daemon,
    calls: u64,
}

impl Machine {
    pub(crate) fn new(name: &str, url: &str, level: &str) -> Self {
        let fleet = format!("fleet: {{url: '{url}', machine: {name}, level: {level}}}\n");
        Self::with(name, &fleet)
    }

    pub(crate) fn with(name: &str, fleet: &str) -> Self {
        Self {
            name: name.to_owned(),
            daemon: Daemon::with(&format!("{EVERY_STOP}{fleet}")),
            calls: 0,
        }
    }

    /// One whose daemon is prepared by the test.
    pub(crate) fn stopped(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            daemon: Daemon::prepared(""),
            calls: 1_000_000,
        }
    }

    /// Plays recorded sessions, with decisions.
    pub(crate) fn works(&self) {
        self.plays("claude/h-stop-block-once");
        self.plays("codex/h-stop-block-once");
    }

    /// Plays a recorded session.
    pub(crate) fn plays(&self, scenario: &str) {
        for call in recorded(scenario) {
            play(&self.daemon, &call);
        }
    }

    fn call(&self, call: u64, command: &str) -> Value {
        json!({ "session_id": format!("load-{}", self.name), "hook_event_name": "PostToolUse",
            "tool_name": "Bash", "tool_use_id": format!("t{call}"), "cwd": "/nowhere/project",
            "tool_input": { "command": command }, "tool_response": "ok" })
    }

    /// Journals calls of tools that verify nothing, so that no event about them comes later.
    pub(crate) fn calls_tools(&mut self, count: u64) {
        let mut lines = String::new();
        for call in self.calls..self.calls + count {
            let payload = self.call(call, &format!("ls case_{call}"));
            lines += &json!({ "agent": "claude", "payload": payload }).to_string();
            lines.push('\n');
        }
        self.calls += count;
        let answer = self
            .daemon
            .http("POST", "/v1/append", &[], lines.as_bytes());
        let (status, body) = answer.expect("an answer");
        assert_eq!(status, 200, "{body}");
    }

    /// Kills the daemon and starts it again.
    pub(crate) fn restarts(&mut self) {
        self.daemon.kill();
        self.daemon.start();
    }

    /// Runs a command that must succeed.
    pub(crate) fn does(&self, arguments: &[&str]) {
        let mut command = self.daemon.home.command(program("checkpointd"), arguments);
        let out = run(&mut command, b"");
        assert!(out.status.success(), "{arguments:?}: {out:?}");
    }

    pub(crate) fn status(&self) -> Value {
        self.daemon.ask(&["status", "--json"]).remove(0)
    }

    /// Returns the id of its journal.
    pub(crate) fn journal(&self) -> String {
        let id = &self.status()["journal"]["id"];
        id.as_str().expect("an id").to_owned()
    }

    /// Returns the subject of its messages.
    pub(crate) fn subject(&self) -> String {
        format!("ckpt.v1.{}.{}", self.name, self.journal().replace('-', ""))
    }

    /// Returns what its daemon says of the fleet.
    pub(crate) fn fleet(&self) -> Value {
        self.status()["daemon"]["fleet"].clone()
    }

    pub(crate) fn trouble(&self) -> String {
        self.fleet()["trouble"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn events(&self) -> Vec<Value> {
        let out = run(
            &mut self
                .daemon
                .home
                .command(program("checkpointd"), &["journal", "export"]),
            b"",
        );
        lines(&out.stdout)
    }
}

/// Asks a question of the page and the command line over a socket.
pub(crate) fn query(home: &Home, question: &Value) -> Vec<Value> {
    let socket = UnixStream::connect(home.path().join("run/sock")).expect("it runs");
    let headers = [("Host", "x"), ("Content-Type", "application/json")];
    let body = question.to_string();
    let answer = http::ask(socket, "POST", "/v1/query", &headers, body.as_bytes());
    answer.expect("an answer").lines()
}

fn lines(text: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(text.to_vec()).expect("text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// A collector.
pub(crate) struct Collector {
    pub(crate) home: Home,
    child: Option<Child>,
}

impl Collector {
    pub(crate) fn new(url: &str) -> Self {
        Self::with(&format!("fleet: {{url: '{url}'}}\n"))
    }

    pub(crate) fn with(config: &str) -> Self {
        let home = Home::new();
        std::fs::write(home.path().join("config.yml"), config).expect("writes");
        Self::at(home)
    }

    /// Starts one in a home that has its configuration.
    pub(crate) fn at(home: Home) -> Self {
        let mut collector = Self { home, child: None };
        collector.start();
        collector
    }

    /// Kills it and starts it again.
    pub(crate) fn restarts(&mut self) {
        self.kill();
        self.start();
    }

    /// Stops it as a person does.
    pub(crate) fn stop(&mut self) {
        assert_eq!(self.asked(&["daemon", "stop"]).0, 0);
        if let Some(mut child) = self.child.take() {
            child.wait().expect("it ends");
        }
    }

    pub(crate) fn start(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.home.path().join("log"))
            .expect("a log");
        let child = self
            .home
            .command(program("checkpointd"), &["fleet", "collect"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("starts");
        self.child = Some(child);
        wait_until(|| self.asked(&["daemon", "status", "--json"]).0 == 0);
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("kills");
            child.wait().expect("is gone");
        }
    }

    fn asked(&self, arguments: &[&str]) -> (i32, Vec<u8>) {
        let out = run(
            &mut self.home.command(program("checkpointd"), arguments),
            b"",
        );
        eprint!("{}", String::from_utf8_lossy(&out.stderr));
        (out.status.code().expect("no signal"), out.stdout)
    }

    /// Runs a command that must succeed.
    pub(crate) fn does(&self, arguments: &[&str]) {
        assert_eq!(self.asked(arguments).0, 0, "{arguments:?}");
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, out) = self.asked(arguments);
        assert_eq!(code, 0, "{arguments:?}: {}", String::from_utf8_lossy(&out));
        lines(&out)
    }

    pub(crate) fn status(&self) -> Value {
        self.ask(&["status", "--json"]).remove(0)
    }

    /// Returns what `doctor` prints, whether all is well or not.
    pub(crate) fn doctor(&self) -> String {
        String::from_utf8_lossy(&self.asked(&["doctor"]).1).into_owned()
    }

    pub(crate) fn collects(&self) -> Value {
        self.status()["daemon"]["fleet"]["collects"].clone()
    }

    /// Returns the number of the last event here of a machine's present journal.
    pub(crate) fn last_of(&self, machine: &Machine) -> u64 {
        let journal = machine.status()["journal"]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let ask = format!(
            "select coalesce(max(journal_seq), 0) as last from events where journal = '{journal}' and kind != 'run_received'"
        );
        self.ask(&["journal", "sql", "--json", &ask])[0]["last"]
            .as_u64()
            .expect("a number")
    }

    /// Waits until everything of a machine is here.
    pub(crate) fn waits_for(&self, machine: &Machine) {
        wait_until(|| {
            let last = machine.events().len() as u64;
            let here = self.last_of(machine);
            here == last
        });
    }

    /// Waits until everything of these machines is here, with one question for all of them.
    pub(crate) fn waits_for_all(&self, machines: &[Machine]) {
        let all = "select journal, max(journal_seq) as last from events where kind != 'run_received' group by 1";
        let began = Instant::now();
        loop {
            let here: HashMap<_, _> = self
                .ask(&["journal", "sql", "--json", all])
                .into_iter()
                .map(|row| (row["journal"].to_string(), row["last"].as_u64()))
                .collect();
            let late = machines.iter().find(|machine| {
                let status = machine.status();
                here.get(&status["journal"]["id"].to_string()) != Some(&status["events"].as_u64())
            });
            let Some(late) = late else { return };
            assert!(
                began.elapsed() < PATIENCE,
                "{}: {} here: {}",
                late.name,
                late.fleet(),
                self.collects()
            );
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// Everything of a machine is here exactly once and in order, and says the same.
    pub(crate) fn assert_has(&self, machine: &Machine) {
        self.assert_has_all(std::slice::from_ref(machine));
    }

    /// The same of several machines. Returns how many events that are.
    pub(crate) fn assert_has_all(&self, machines: &[Machine]) -> usize {
        let (code, out) = self.asked(&["journal", "export"]);
        assert_eq!(code, 0);
        let mut here: HashMap<_, Vec<_>> = HashMap::new();
        for line in lines(&out) {
            if line["kind"] != "run_received" {
                here.entry(line["journal"].to_string())
                    .or_default()
                    .push(line);
            }
        }
        let mut events = 0;
        for machine in machines {
            let journal = machine.status()["journal"]["id"].to_string();
            let here = here.remove(&journal).unwrap_or_default();
            let there = machine.events();
            events += there.len();
            let numbers: Vec<_> = here
                .iter()
                .map(|line| line["journal_seq"].as_u64())
                .collect();
            let wanted: Vec<_> = (1..=there.len() as u64).map(Some).collect();
            assert_eq!(numbers, wanted, "{}: once each, in order", machine.name);
            for (here, there) in here.iter().zip(&there) {
                for field in ["kind", "at", "recorded_at", "agent", "call"] {
                    assert_eq!(here[field], there[field], "{} {field}", machine.name);
                }
                assert_eq!(here["machine"], machine.name.as_str());
            }
        }
        events
    }

    pub(crate) fn verify(&self) {
        for arguments in [
            ["journal", "verify", "--json"],
            ["replay", "--verify", "--json"],
        ] {
            let (code, out) = self.asked(&arguments);
            assert_eq!(code, 0, "{arguments:?}: {}", String::from_utf8_lossy(&out));
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
            let last: Vec<_> = log.lines().rev().take(10).collect();
            eprintln!("collector: {last:#?}");
        }
        self.kill();
    }
}
