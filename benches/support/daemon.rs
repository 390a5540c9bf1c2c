//! The real daemon in a home of its own, for as long as a bench needs it.

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
        Self::start_as(home, &["daemon"])
    }

    /// Starts it by another command, such as a collector's.
    pub(crate) fn start_as(home: &Path, arguments: &[&str]) -> (Self, Duration) {
        let log = std::fs::File::create(home.join("daemon.log")).expect("a file");
        let began = Instant::now();
        let child = program(home)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let mut daemon = Self {
            child: child.expect("a process"),
            home: home.to_owned(),
        };
        while daemon
            .get("/healthz")
            .is_none_or(|(status, _)| status != 200)
        {
            assert!(
                daemon.child.try_wait().expect("a process").is_none(),
                "the daemon ended: see {}",
                home.display()
            );
            assert!(began.elapsed() < LIMIT, "the daemon does not come up");
            std::thread::sleep(Duration::from_millis(1));
        }
        (daemon, began.elapsed())
    }

    /// Sends a request and returns the HTTP status and the body, or `None` if the daemon does not listen.
    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        let stream = UnixStream::connect(self.home.join("run/sock")).ok()?;
        stream.set_read_timeout(Some(LIMIT)).ok()?;
        let answer = testkit::http::ask(stream, "GET", path, &[("Host", "bench")], b"")?;
        Some((answer.status, answer.body))
    }

    /// Returns its memory now and at most, in MB.
    pub(crate) fn memory(&self) -> (f64, f64) {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let field = |name: &str| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .expect("a field");
            line.trim_matches([':', ' ', '\t', 'k', 'B'])
                .parse::<f64>()
                .expect("a number")
                / 1024.0
        };
        (field("VmRSS"), field("VmHWM"))
    }

    /// Returns the processor time that it has used: on a busy machine that says more than the clock.
    pub(crate) fn spent(&self) -> Duration {
        processor(&format!("/proc/{}/stat", self.child.id()))[0]
    }

    /// Stops it as a person would, and returns how long that took.
    pub(crate) fn stop(mut self) -> Duration {
        let began = Instant::now();
        let stopped = program(&self.home)
            .args(["daemon", "stop"])
            .stdout(Stdio::null())
            .status()
            .expect("a process");
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

/// Returns the processor time of a process and of its ended children, counted in hundredths of a second.
pub(crate) fn processor(stat: &str) -> [Duration; 2] {
    let stat = std::fs::read_to_string(stat).expect("it runs");
    // The second field is the program's name in parentheses, and may hold anything.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: Vec<u64> = fields
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse().ok())
        .collect();
    [ticks[0] + ticks[1], ticks[2] + ticks[3]].map(|ticks| Duration::from_millis(ticks * 10))
}

/// Returns the real program, living in `home`.
pub(crate) fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_checkpointd"));
    command
        .env("CHECKPOINTD_HOME", home)
        .env("CHECKPOINTD_AUTOSTART", "0")
        .env_remove("CHECKPOINTD_SOCKET");
    command
}

/// Runs a command of the real program to its end, and returns its output.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> String {
    let output = program(home)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .expect("a process");
    assert!(output.status.success(), "{arguments:?}: {}", output.status);
    String::from_utf8(output.stdout).expect("text")
}
