//! Runs git: several commands at once, side by side, all within one deadline. A child that is not done by then is
//! killed with everything it started.
//!
//! Nothing of the daemon's own environment reaches git that could point it at another repository, and no setting can
//! make it wait for a person or start a program that is not needed to answer. The one exception are the `filter.*`
//! programs that a repository's attributes ask for: without them git cannot tell whether a file changed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

/// The most that is kept of a command's output; a command that prints more is stopped.
const STDOUT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most that is kept of a command's error output; the rest is read and dropped.
const STDERR_BYTES_MAX: usize = 4 * 1024;
const READ_BYTES: usize = 64 * 1024;
/// The longest pause between two looks at whether a child that closed its output has ended.
const EXIT_POLL_MAX: Duration = Duration::from_millis(4);

/// Settings that hold for every command, whatever the configuration files say.
const SETTINGS: [&str; 6] = [
    // Empty, not `false`: before git 2.36 the value was the name of a program.
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "status.relativePaths=false",
    "log.showSignature=false",
    "log.showRoot=true",
];

/// Variables that every command gets. Lazy fetching would reach for the network in a partial clone.
const VARIABLES: [(&str, &str); 4] =
    [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("LC_ALL", "C")];

/// Which git is run, and what it finds in its environment besides the daemon's own.
#[derive(Clone, Debug)]
pub(super) struct Git {
    /// The program, looked up on `PATH` unless it is a path.
    pub(super) program: OsString,
    /// Set last, so that tests can be sure of the configuration files that git reads.
    pub(super) variables: Vec<(OsString, OsString)>,
}

impl Default for Git {
    fn default() -> Self {
        Self { program: "git".into(), variables: Vec::new() }
    }
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) exit: ExitStatus,
    /// It printed more than is kept, and was stopped.
    pub(super) is_cut: bool,
}

impl Output {
    /// Returns whether what it printed may be used.
    pub(super) fn is_good(&self) -> bool {
        self.is_cut || self.exit.success()
    }

    /// Returns the first line of the error output, safe to show, or how the command ended.
    pub(super) fn complaint(&self) -> String {
        const CHARS_MAX: usize = 200;
        let text = String::from_utf8_lossy(&self.stderr);
        match text.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => line.chars().filter(|char| !char.is_control()).take(CHARS_MAX).collect(),
            None => self.exit.to_string(),
        }
    }
}

/// Why there is no output.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such program.
    Missing,
    /// The time was over first.
    Timeout,
    /// The system refused something.
    System(io::Error),
}

impl Git {
    /// Runs git in `cwd`, once for each list of arguments, all at the same time; gives the outputs in the same order.
    pub(super) fn run(&self, cwd: &Path, calls: &[Vec<String>], deadline: Instant) -> Result<Vec<Output>, Failure> {
        let mut running = Vec::with_capacity(calls.len());
        for arguments in calls {
            running.push(Running::start(self.command(cwd, arguments))?);
        }
        let mut buffer = vec![0; READ_BYTES];
        while running.iter().any(Running::is_talking) {
            let ready = wait_for_output(&running, deadline)?;
            for (one, ready) in running.iter_mut().zip(ready) {
                one.read(ready, &mut buffer).map_err(Failure::System)?;
            }
        }
        running.into_iter().map(|one| one.finish(deadline)).collect()
    }

    fn command(&self, cwd: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--no-optional-locks", "--no-pager"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_gits(name)) {
            command.env_remove(name);
        }
        command.envs(VARIABLES).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(cwd).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that killing it takes its filters and submodule children along.
        command.process_group(0);
        command
    }
}

fn is_gits(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"GIT_")
}

/// Which of a child's two pipes have something to say.
type Ready = [bool; 2];

/// Waits until some child has printed something, or closed a pipe.
fn wait_for_output(running: &[Running], deadline: Instant) -> Result<Vec<Ready>, Failure> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Failure::Timeout);
    }
    let mut ready = vec![[false; 2]; running.len()];
    let mut pipes: Vec<(usize, usize, PollFd<'_>)> = Vec::with_capacity(2 * running.len());
    for (child, one) in running.iter().enumerate() {
        for (pipe, fd) in one.pipes().into_iter().enumerate() {
            pipes.extend(fd.map(|fd| (child, pipe, PollFd::from_borrowed_fd(fd, PollFlags::IN))));
        }
    }
    let mut polled: Vec<PollFd<'_>> = pipes.iter().map(|(_, _, fd)| fd.clone()).collect();
    match poll(&mut polled, Timespec::try_from(left).ok().as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(ready),
        Err(error) => return Err(Failure::System(error.into())),
    }
    for ((child, pipe, _), fd) in pipes.iter().zip(&polled) {
        ready[*child][*pipe] = !fd.revents().is_empty();
    }
    Ok(ready)
}

/// A child that was started. Dropping it kills it.
struct Running {
    child: Option<Child>,
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    is_cut: bool,
}

impl Running {
    fn start(mut command: Command) -> Result<Self, Failure> {
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::Missing,
            _ => Failure::System(error),
        })?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        Ok(Self { child: Some(child), out, err, stdout: Vec::new(), stderr: Vec::new(), is_cut: false })
    }

    fn pipes(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [self.out.as_ref().map(AsFd::as_fd), self.err.as_ref().map(AsFd::as_fd)]
    }

    fn is_talking(&self) -> bool {
        self.out.is_some() || self.err.is_some()
    }

    /// Reads once from each pipe that is ready, which does not block then.
    fn read(&mut self, [out, err]: Ready, buffer: &mut [u8]) -> io::Result<()> {
        if let Some(pipe) = self.out.as_mut().filter(|_| out) {
            let count = read_once(pipe, buffer)?;
            let room = STDOUT_BYTES_MAX - self.stdout.len();
            self.stdout.extend_from_slice(&buffer[..count.unwrap_or(0).min(room)]);
            if count.is_some_and(|count| count > room) {
                self.is_cut = true;
                (self.out, self.err) = (None, None);
                self.kill_group();
            } else if count == Some(0) {
                self.out = None;
            }
        }
        if let Some(pipe) = self.err.as_mut().filter(|_| err) {
            let count = read_once(pipe, buffer)?;
            let room = STDERR_BYTES_MAX - self.stderr.len();
            self.stderr.extend_from_slice(&buffer[..count.unwrap_or(0).min(room)]);
            if count == Some(0) {
                self.err = None;
            }
        }
        Ok(())
    }

    fn finish(mut self, deadline: Instant) -> Result<Output, Failure> {
        // A child's pipes close a moment before it ends, so the first look rarely finds it still there.
        let mut pause = Duration::from_micros(50);
        let exit = loop {
            let Some(child) = self.child.as_mut() else {
                return Err(Failure::System(io::Error::other("the child is gone")));
            };
            if let Some(exit) = child.try_wait().map_err(Failure::System)? {
                break exit;
            }
            if Instant::now() >= deadline {
                return Err(Failure::Timeout);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(EXIT_POLL_MAX);
        };
        self.child = None;
        let (stdout, stderr) = (std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr));
        Ok(Output { stdout, stderr, exit, is_cut: self.is_cut })
    }

    fn kill_group(&self) {
        if let Some(child) = &self.child {
            // The child was not waited for yet, so its id cannot be another process's by now.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill_group();
        let Some(mut child) = self.child.take() else { return };
        if !matches!(child.try_wait(), Ok(Some(_))) {
            // A child stuck in a file system that does not answer dies late; nobody waits for that here.
            let _ = std::thread::Builder::new().name("git-reaper".into()).spawn(move || child.wait());
        }
    }
}

/// Reads once; none where a signal came first.
fn read_once(pipe: &mut impl Read, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match pipe.read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}
