//! The real daemon in a home of its own, for as long as a bench needs it.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The daemon may take this long to come up, and anything to answer.
const LIMIT: Duration = Duration::from_secs(60);

/// A running daemon. Dropping this kills it with no chance to do anything.
pub(crate) struct Daemon {
    child: Child,
    home: PathBuf,
}

impl Daemon {
    /// Starts it, and returns how long it took until it said that it takes hooks.
    pub(crate) fn start(home: &Path) -> (Self, Duration) {
        let log = std::fs::File::create(home.join("daemon.log")).expect("a file");
        let began = Instant::now();
        let child = program(home).arg("daemon").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let mut daemon = Self { child: child.expect("a process"), home: home.to_owned() };
        while daemon.get("/healthz").is_none_or(|(status, _)| status != 200) {
            assert!(daemon.child.try_wait().expect("a process").is_none(), "the daemon ended: see {}", home.display());
            assert!(began.elapsed() < LIMIT, "the daemon does not come up");
            std::thread::sleep(Duration::from_millis(1));
        }
        (daemon, began.elapsed())
    }

    /// Asks it for something: the status, and what came with it. None where nobody listens.
    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = UnixStream::connect(self.home.join("run/sock")).ok()?;
        stream.set_read_timeout(Some(LIMIT)).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some((answer.split(' ').nth(1)?.parse().ok()?, answer))
    }

    /// Returns its memory now and at most, in MB.
    pub(crate) fn memory(&self) -> (f64, f64) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a field");
            line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<f64>().expect("a number") / 1024.0
        };
        (field("VmRSS"), field("VmHWM"))
    }

    /// Returns the processor time that it has used.
    pub(crate) fn spent(&self) -> Duration {
        spent(&format!("/proc/{}/stat", self.child.id()), false)
    }

    /// Stops it as a person would, and returns how long that took.
    pub(crate) fn stop(mut self) -> Duration {
        let began = Instant::now();
        let stopped = program(&self.home).args(["daemon", "stop"]).stdout(Stdio::null()).status().expect("a process");
        assert!(stopped.success(), "the daemon does not stop");
        self.child.wait().expect("a process");
        began.elapsed()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Returns the processor time that a process has used, or that its ended children have: on a busy machine that says
/// more than the clock. It is counted in hundredths of a second.
pub(crate) fn spent(stat: &str, children: bool) -> Duration {
    let stat = std::fs::read_to_string(stat).expect("it runs");
    // The second field is the program's name in parentheses, and may hold anything.
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let from = if children { 13 } else { 11 };
    let ticks: u64 = fields[from..from + 2].iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Returns the real program, living in `home`.
pub(crate) fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_checkpointd"));
    command.env("CHECKPOINTD_HOME", home).env("CHECKPOINTD_AUTOSTART", "0").env_remove("CHECKPOINTD_SOCKET");
    command
}

/// What a command of the real program printed, and what it took.
pub(crate) struct Ran {
    pub(crate) answer: String,
    pub(crate) time: Duration,
    /// Processor time of the command itself.
    pub(crate) spent: Duration,
}

/// Runs a command of the real program to its end.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> Ran {
    let (before, began) = (spent("/proc/self/stat", true), Instant::now());
    let output = program(home).args(arguments).stderr(Stdio::null()).output().expect("a process");
    let time = began.elapsed();
    assert!(output.status.success(), "{arguments:?}: {}", output.status);
    let answer = String::from_utf8(output.stdout).expect("text");
    Ran { answer, time, spent: spent("/proc/self/stat", true) - before }
}
