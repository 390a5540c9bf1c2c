//! Running programs to their end, several at the same time, within one deadline. A child that is still running then is
//! killed with every process that it started.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use checkpoint::config::{UserCommand, VariableName};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::environment;

/// The most output of a command that is kept; a command that prints more is killed.
const STDOUT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The most error output of a command that is kept; the rest is read and dropped.
const STDERR_BYTES_MAX: usize = 4 * 1024;
const KEPT_BYTES_MAX: [usize; 2] = [STDOUT_BYTES_MAX, STDERR_BYTES_MAX];
const READ_BYTES: usize = 64 * 1024;
/// The longest pause between two checks whether a child that closed its output has ended.
const EXIT_POLL_MAX: Duration = Duration::from_millis(4);

/// A command's output and exit status.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) exit: ExitStatus,
    /// Whether it printed more than is kept, and was killed.
    pub(crate) is_cut: bool,
}

impl Output {
    /// Returns whether the output can be used.
    pub(crate) fn is_good(&self) -> bool {
        self.is_cut || self.exit.success()
    }

    /// Returns the first line of the error output, safe to show, or how the command ended.
    pub(crate) fn complaint(&self) -> String {
        const CHARS_MAX: usize = 200;
        let text = String::from_utf8_lossy(&self.stderr);
        match text.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => line
                .chars()
                .filter(|char| !char.is_control())
                .take(CHARS_MAX)
                .collect(),
            None => self.exit.to_string(),
        }
    }
}

/// Why a command gave no output.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The program does not exist.
    Missing,
    Timeout,
    System(io::Error),
}

/// Returns the user's own command: a line for the shell, or a program with its arguments. It gets the variables that
/// every such command gets, and those of the setting `listeners.env` (spec ENV-2).
pub(crate) fn of_user(command: &UserCommand, named: &[VariableName]) -> Command {
    let mut command = match command {
        UserCommand::Line(line) => {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", line]);
            shell
        }
        // Looked up in the `PATH` that it gets.
        UserCommand::Words(words) => {
            let mut program = Command::new(words.first().map_or("", String::as_str));
            program.args(words.iter().skip(1));
            program
        }
    };
    environment::for_user(&mut command, named);
    command
}

/// Runs the commands at the same time, and does something else when all have started. Returns their outputs in the same
/// order.
pub(crate) fn run_while(
    commands: Vec<Command>,
    deadline: Instant,
    meanwhile: impl FnOnce(),
) -> Result<Vec<Output>, Failure> {
    let mut running = Vec::with_capacity(commands.len());
    for command in commands {
        running.push(Running::start(command, Stdio::null())?);
    }
    meanwhile();
    run_to_end(running, deadline)
}

pub(crate) fn feed(command: Command, input: &[u8], deadline: Instant) -> Result<Output, Failure> {
    let stdin = if input.is_empty() {
        Stdio::null()
    } else {
        Stdio::piped()
    };
    let running = Running::start(command, stdin)?;
    Waiting { running }.feed_while(input, deadline, || ())
}

/// A running command that waits for its input. Dropping it kills the command.
pub(crate) struct Waiting {
    running: Running<'static>,
}

impl Waiting {
    pub(crate) fn start(command: Command) -> Result<Self, Failure> {
        let running = Running::start(command, Stdio::piped())?;
        Ok(Self { running })
    }

    /// Gives the command its input, and does something else while it works.
    pub(crate) fn feed_while(
        self,
        input: &[u8],
        deadline: Instant,
        meanwhile: impl FnOnce(),
    ) -> Result<Output, Failure> {
        let mut running: Running<'_> = self.running;
        if let Some((_, rest)) = &mut running.input {
            *rest = input;
        }
        running.write().map_err(Failure::System)?;
        meanwhile();
        let outputs = run_to_end(vec![running], deadline)?;
        outputs
            .into_iter()
            .next()
            .ok_or_else(|| Failure::System(io::Error::other("the child is gone")))
    }
}

fn run_to_end(mut running: Vec<Running<'_>>, deadline: Instant) -> Result<Vec<Output>, Failure> {
    let mut buffer = vec![0; READ_BYTES];
    while running.iter().any(Running::has_open_pipes) {
        let ready = wait_for_pipes(&running, deadline)?;
        for (one, ready) in running.iter_mut().zip(ready) {
            one.move_bytes(ready, &mut buffer)
                .map_err(Failure::System)?;
        }
    }
    running
        .into_iter()
        .map(|one| one.finish(deadline))
        .collect()
}

/// Which of a child's pipes are ready: its output, its error output, its input.
type Ready = [bool; 3];

/// Waits until a child printed something, can read input, or closed a pipe.
fn wait_for_pipes(running: &[Running<'_>], deadline: Instant) -> Result<Vec<Ready>, Failure> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Failure::Timeout);
    }
    let mut ready = vec![[false; 3]; running.len()];
    let mut pipes: Vec<(usize, usize, PollFd<'_>)> = Vec::with_capacity(3 * running.len());
    for (child, one) in running.iter().enumerate() {
        for (pipe, fd) in one.pipes().into_iter().enumerate() {
            let wanted = if pipe == 2 {
                PollFlags::OUT
            } else {
                PollFlags::IN
            };
            pipes.extend(fd.map(|fd| (child, pipe, PollFd::from_borrowed_fd(fd, wanted))));
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

/// A running child. Dropping it kills the child.
struct Running<'a> {
    child: Option<Child>,
    /// Its output and its error output, each with what was read of it.
    outputs: [(Option<File>, Vec<u8>); 2],
    /// Input that is not written yet.
    input: Option<(ChildStdin, &'a [u8])>,
    is_cut: bool,
}

impl Running<'_> {
    fn start(mut command: Command, stdin: Stdio) -> Result<Self, Failure> {
        command.stdin(stdin);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A process group of its own, so that killing it also kills every process that it started.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::Missing,
            _ => Failure::System(error),
        })?;
        let out = child.stdout.take().map(OwnedFd::from);
        let err = child.stderr.take().map(OwnedFd::from);
        let running = Self {
            outputs: [out, err].map(|pipe| (pipe.map(File::from), Vec::new())),
            input: child.stdin.take().map(|pipe| (pipe, &[][..])),
            child: Some(child),
            is_cut: false,
        };
        if let Some((pipe, _)) = &running.input {
            ioctl_fionbio(pipe, true).map_err(|error| Failure::System(error.into()))?;
        }
        Ok(running)
    }

    fn pipes(&self) -> [Option<BorrowedFd<'_>>; 3] {
        let [out, err] = self.outputs.each_ref().map(|(pipe, _)| pipe.as_ref());
        let input = self.input.as_ref().map(|(pipe, _)| pipe.as_fd());
        [out.map(AsFd::as_fd), err.map(AsFd::as_fd), input]
    }

    fn has_open_pipes(&self) -> bool {
        self.pipes().iter().any(Option::is_some)
    }

    /// Reads or writes once at each pipe that is ready. This does not block.
    fn move_bytes(&mut self, ready: Ready, buffer: &mut [u8]) -> io::Result<()> {
        if ready[2] {
            self.write()?;
        }
        for ((pipe, kept), (is_ready, most)) in self
            .outputs
            .iter_mut()
            .zip(ready.into_iter().zip(KEPT_BYTES_MAX))
        {
            let Some(open) = pipe.as_mut().filter(|_| is_ready) else {
                continue;
            };
            let count = read_once(open, buffer)?;
            let room = most - kept.len();
            kept.extend_from_slice(&buffer[..count.unwrap_or(0).min(room)]);
            self.is_cut |= most == STDOUT_BYTES_MAX && count > Some(room);
            if count == Some(0) {
                *pipe = None;
            }
        }
        if self.is_cut {
            self.outputs.iter_mut().for_each(|(pipe, _)| *pipe = None);
            self.input = None;
            self.kill_group();
        }
        Ok(())
    }

    /// Writes as much input as the pipe takes, and closes the pipe after the last byte. A child may close it earlier.
    fn write(&mut self) -> io::Result<()> {
        let Some((pipe, rest)) = self.input.as_mut() else {
            return Ok(());
        };
        match pipe.write(rest) {
            Ok(count) => *rest = &rest[count..],
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => *rest = &[],
            Err(error) => return Err(error),
        }
        if rest.is_empty() {
            self.input = None;
        }
        Ok(())
    }

    fn finish(mut self, deadline: Instant) -> Result<Output, Failure> {
        // A child ends a moment after its pipes close, so the first pauses are short.
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
        let [stdout, stderr] = self
            .outputs
            .each_mut()
            .map(|(_, kept)| std::mem::take(kept));
        Ok(Output {
            stdout,
            stderr,
            exit,
            is_cut: self.is_cut,
        })
    }

    fn kill_group(&self) {
        if let Some(child) = &self.child {
            // The child was not waited for yet, so its id cannot belong to another process.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.kill_group();
        let Some(mut child) = self.child.take() else {
            return;
        };
        if !matches!(child.try_wait(), Ok(Some(_))) {
            // A child that hangs in a file system dies late, so it is reaped on a thread of its own.
            let _ = std::thread::Builder::new()
                .name("reaper".into())
                .spawn(move || child.wait());
        }
    }
}

/// Reads once; `None` if a signal interrupted the call.
fn read_once(pipe: &mut impl Read, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match pipe.read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}
