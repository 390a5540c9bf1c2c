//! `strace` around the real programs: system calls that fail on demand, and a record of what reached the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::wait_until;

/// What one traced process did.
pub struct Trace {
    pub file: PathBuf,
}

impl Trace {
    /// Starts a record in a new file.
    ///
    /// # Panics
    ///
    /// Without the program: a test that passes because it did nothing would be worse.
    pub fn to(file: PathBuf) -> Self {
        let asked = Command::new("strace")
            .arg("-V")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            asked.is_ok_and(|status| status.success()),
            "strace is missing or may not run; these tests need it: `apt-get install -y strace`"
        );
        Self { file }
    }

    /// Returns the words to put in front of a command. The tracer is its grandchild, so the process has its usual pid.
    pub fn command(&self, options: &[&str]) -> Vec<String> {
        let fixed = ["strace", "-D", "-f", "-qq", "--signal=none", "-o"];
        let mut words: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
        words.push(self.file.to_string_lossy().into_owned());
        words.extend(options.iter().map(|option| (*option).to_owned()));
        words
    }

    /// Returns the record once the traced process is gone and all of it is written: the tracer ends last.
    pub fn finished(&self) -> String {
        wait_until(|| !is_open(&self.file));
        String::from_utf8_lossy(&std::fs::read(&self.file).unwrap_or_default()).into_owned()
    }
}

/// Returns whether some process has a file open.
fn is_open(file: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    let links = processes
        .flatten()
        .filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok());
    links
        .flatten()
        .flatten()
        .any(|link| std::fs::read_link(link.path()).is_ok_and(|target| target == file))
}

/// The tracer of a process. It ends when this is dropped, and the process goes on without it.
pub struct Tracer {
    pid: String,
}

impl Tracer {
    /// Returns the tracer of a process that was started under one.
    ///
    /// # Panics
    ///
    /// If the process has none.
    pub fn of(traced: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{traced}/status")).expect("it runs");
        let mut lines = status.lines();
        let pid = lines.find_map(|line| line.strip_prefix("TracerPid:"));
        let pid = pid.map(str::trim).filter(|pid| *pid != "0");
        Self {
            pid: pid.expect("a tracer").to_owned(),
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // strace does not let go of threads that it delays, even when they are killed.
        let _ = Command::new("kill").args(["-KILL", &self.pid]).status();
    }
}
