//! A person's own run, reported as an agent's tool call is.
//!
//! The command inherits everything, and ends this program as it ended itself. What it ran on is read by the daemon
//! (spec EVID-22). In an agent's tool call nothing is reported: its hooks do. It is in the client because that program
//! starts fast.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use checkpoint::{shell, text};
use journal::Agent;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use serde_json::json;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::low_level::{emulate_default_handler, pipe};

use super::ending;
use super::input::{Call, environment};

/// Signals that a terminal sends to the command, too.
const OF_TERMINAL: [i32; 2] = [SIGINT, SIGQUIT];
/// Signals that are passed on to the command.
const PASSED_ON: [i32; 4] = [SIGHUP, SIGTERM, SIGUSR1, SIGUSR2];
/// What the names of variables have in common in which agents give their tools the session's id.
const SESSION: &str = "SESSION";
/// The runs of a folder are one session. Its id is no longer than this.
const FOLDER_BYTES_MAX: usize = 256;
/// How shells exit if a command cannot be run, and if it was not found.
const NOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;
/// How shells exit if a signal ended the command; its number is added.
const SIGNALED: i32 = 128;

/// Runs a command and has the call with this id delivered, and ends as the command ended.
pub(super) fn run(line: &[OsString], id: &str, deliver: impl FnOnce(&Call)) -> u8 {
    let Some((program, arguments)) = line.split_first() else {
        return 0;
    };
    let signals = signals().unwrap_or_default();
    let began = Instant::now();
    let mut child = match Command::new(program).args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("checkpointd run: {}: {error}", program.display());
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            return if is_missing { NOT_FOUND } else { NOT_RUN };
        }
    };
    match wait(&mut child, &signals) {
        Ok(status) => {
            if let Some(call) = call(line, id, began.elapsed(), status) {
                ending::watch();
                deliver(&call);
            }
            end(status)
        }
        Err(error) => {
            eprintln!("checkpointd run: {error}");
            NOT_RUN
        }
    }
}

/// Takes the signals that would end this program before its command, but those that it was started to ignore.
fn signals() -> io::Result<Vec<(i32, UnixStream)>> {
    let ignored = ignored();
    let is_taken = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    for signal in OF_TERMINAL.into_iter().filter(is_taken) {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    let passed = PASSED_ON.into_iter().filter(is_taken);
    // It tells that the command ended.
    let all = passed.chain([SIGCHLD]).map(|signal| {
        let (read, write) = UnixStream::pair()?;
        pipe::register(signal, write)?;
        Ok((signal, read))
    });
    all.collect()
}

/// Waits for the command, and passes signals on to it.
fn wait(child: &mut Child, signals: &[(i32, UnixStream)]) -> io::Result<ExitStatus> {
    if signals.is_empty() {
        return child.wait();
    }
    let command = Pid::from_child(child);
    loop {
        let waited = signals.iter();
        let waited = waited.map(|(_, came)| PollFd::new(came, PollFlags::IN));
        let mut waited: Vec<_> = waited.collect();
        // An interruption is a signal that came.
        let _ = poll(&mut waited, None);
        let ready: Vec<bool> = waited.iter().map(|one| !one.revents().is_empty()).collect();
        for ((signal, came), _) in signals.iter().zip(ready).filter(|(_, ready)| *ready) {
            let mut came: &UnixStream = came;
            let _ = came.read(&mut [0; 16]);
            if let Some(signal) =
                Signal::from_named_raw(*signal).filter(|one| *one != Signal::CHILD)
            {
                let _ = kill_process(command, signal);
            }
        }
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
    }
}

/// Returns the signals that are ignored, a bit for each, as far as the system tells.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    u64::from_str_radix(mask.unwrap_or_default().trim(), 16).unwrap_or_default()
}

/// Returns what is reported of a run; nothing of an agent's.
fn call(line: &[OsString], id: &str, lasted: Duration, status: ExitStatus) -> Option<Call> {
    let at = SystemTime::now();
    let environment = environment(Agent::PERSON);
    let mut variables = environment.iter();
    if variables.any(|(name, value)| name.contains(SESSION) && !value.is_empty()) {
        return None;
    }
    let folder = std::env::current_dir().unwrap_or_default();
    let words = line.iter().map(|word| word.to_string_lossy());
    let words: Vec<String> = words.map(|word| shell::quoted(&word)).collect();
    let payload = json!({
        "session_id": text::tail(&folder.to_string_lossy(), FOLDER_BYTES_MAX),
        "cwd": folder.to_string_lossy(),
        "tool_use_id": id,
        "tool_name": "Bash",
        "tool_input": { "command": words.join(" ") },
        "tool_response": { "exit_code": code(status) },
        // What is written in the first millisecond is not what it ran on.
        "duration_ms": lasted.as_millis() as u64 + 1,
    });
    Some(Call {
        agent: Agent::PERSON.to_owned(),
        event: Some("PostToolUse".to_owned()),
        payload: payload.to_string().into_bytes(),
        truncated: false,
        at,
        is_reply_read: false,
    })
}

fn code(status: ExitStatus) -> i32 {
    let signaled = || status.signal().map(|signal| SIGNALED + signal);
    status.code().or_else(signaled).unwrap_or_default()
}

/// Ends this program as its command ended.
fn end(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = setrlimit(Resource::Core, none);
        let _ = emulate_default_handler(signal);
    }
    u8::try_from(code(status)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use journal::request::ENV_NAMES;

    use super::*;

    #[test]
    fn the_variables_of_sessions_are_known_by_their_names() {
        let variables: Vec<_> = checkpoint::agents::session_variables().collect();
        assert!(variables.len() > 3, "{variables:?}");
        for name in variables {
            assert!(
                name.contains(SESSION) && ENV_NAMES.contains(&name),
                "{name}"
            );
        }
    }
}
