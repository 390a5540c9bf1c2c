//! The steps of a restart, on a blocking thread: ask the agent to stop, wait for the shell, type the resume command
//! (spec RESTART-5 to RESTART-7).
//!
//! Each step first reads the pane again: keys and signals go only to the agent, and the resume command only to a shell.

use std::time::{Duration, Instant};

use journal::Agent;
use rustix::process::{Pid, Signal, kill_process};

use crate::tmux::{self, Pane, PaneSnapshot, Process, Tmux, TmuxError};

/// The longest that one call of tmux or ps may take.
const CALL_WITHIN: Duration = Duration::from_secs(2);
/// Pause between two snapshots of the pane.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// Pause between two presses of `C-c`. Agents exit at the second of two presses within about a second. An earlier press
/// interrupts a running turn, or clears a half-typed message.
const PRESS_EVERY: Duration = Duration::from_millis(400);
/// Presses before a signal is sent.
const PRESSES_MAX: u32 = 5;
/// How long a killed agent may take to end, and the shell to return to the foreground.
const SHELL_WITHIN: Duration = Duration::from_secs(3);
/// How long the resume command may take to start a program.
const START_WITHIN: Duration = Duration::from_secs(10);
/// The tmux buffer for the resume command.
const BUFFER: &str = "checkpointd-restart";
const SHELLS: [&str; 13] = [
    "sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "elvish",
    "xonsh",
];

/// The agent to restart.
pub(super) struct Target {
    pub(super) agent: Agent,
    pub(super) pane: Pane,
    /// The agent's process, if the agent reported it.
    pub(super) known: Option<u32>,
    /// Whether another session's agent runs in the pane by now.
    pub(super) is_pane_taken: bool,
    /// The command that starts the agent again.
    pub(super) resume: String,
}

journal::words! {
    /// Why an agent was not restarted.
    #[derive(thiserror::Error)]
    pub enum Refusal {
        /// The session's hook calls name no pane.
        #[error("the session's terminal is not known: its agent does not run in tmux")]
        NoTerminal = "no_terminal",
        /// The pane, or its server, is gone.
        #[error("the pane that the agent ran in is gone")]
        PaneGone = "pane_gone",
        /// tmux or ps is missing, does not answer, or fails.
        #[error("tmux could not be used")]
        TmuxFailed = "tmux_failed",
        /// The agent in the pane is another session's.
        #[error("another session's agent runs in the pane now")]
        PaneTaken = "pane_taken",
        /// Another program is in the foreground.
        #[error("the pane shows another program, neither the agent nor a shell")]
        OtherProgram = "other_program",
        /// The agent is the pane's first program.
        #[error("the agent was started without a shell: its pane would close with it")]
        NoShell = "no_shell",
        /// The key, the signal and the kill did not stop it.
        #[error("the agent is still running")]
        AgentStillRunning = "agent_still_running",
        /// The resume command started no program.
        #[error("the resume command was typed, but the agent does not run")]
        AgentNotStarted = "agent_not_started",
        /// The host's id has characters that a shell could interpret.
        #[error("the session's id cannot be put into a command")]
        BadSessionId = "bad_session_id",
        /// A checkpoint is being typed into the pane.
        #[error("a checkpoint is on its way into the agent's terminal")]
        DeliveryUnderWay = "delivery_under_way",
        /// An earlier restart of the session has not finished.
        #[error("the agent is being restarted already")]
        UnderWay = "restart_under_way",
        /// The journal did not take an event.
        #[error("the restart could not be journaled")]
        NotJournaled = "not_journaled",
        /// An internal error.
        #[error("the restart failed")]
        Failed = "failed",
    }
}

impl From<TmuxError> for Refusal {
    fn from(error: TmuxError) -> Self {
        match error {
            TmuxError::PaneGone(_) => Self::PaneGone,
            other => {
                tracing::warn!(error = %other, "Could not use a pane for a restart.");
                Self::TmuxFailed
            }
        }
    }
}

/// The program in the foreground of a pane.
enum Front {
    Agent(u32),
    /// A shell that waits for a command.
    Shell,
    Other,
}

/// Stops the agent, within `stop_within` before it is killed, and starts it again.
///
/// # Errors
///
/// The step that failed. The resume command was typed only if this is [`Refusal::AgentNotStarted`].
pub(super) fn restart(target: &Target, stop_within: Duration) -> Result<(), Refusal> {
    match front(target)?.0 {
        Front::Shell => {}
        Front::Agent(_) if target.is_pane_taken => return Err(Refusal::PaneTaken),
        Front::Agent(_) => stop(target, stop_within)?,
        Front::Other => return Err(Refusal::OtherProgram),
    }
    start(target)
}

fn tmux(target: &Target) -> Tmux<'_> {
    Tmux {
        pane: &target.pane,
        within: CALL_WITHIN,
    }
}

fn front(target: &Target) -> Result<(Front, PaneSnapshot), Refusal> {
    let pane = tmux(target).snapshot()?;
    let processes = tmux::processes(&pane.tty, CALL_WITHIN)?;
    let front = match tmux::agent_among(&processes, target.agent, target.known) {
        Some(pid) if pid == pane.pid => return Err(Refusal::NoShell),
        Some(pid) => Front::Agent(pid),
        None if is_shell_in_front(&processes) => Front::Shell,
        None => Front::Other,
    };
    Ok((front, pane))
}

/// Returns whether the only process in the foreground is a shell that waits for a command.
fn is_shell_in_front(processes: &[Process]) -> bool {
    let mut in_front = processes.iter().filter(|process| process.in_front);
    match (in_front.next(), in_front.next()) {
        (Some(only), None) => {
            let mut words = only.command.split_whitespace();
            let program = words
                .next()
                .and_then(|word| word.rsplit('/').next())
                .unwrap_or_default();
            // A shell with an argument runs a script and reads no commands.
            SHELLS.contains(&program.trim_start_matches('-'))
                && words.all(|word| word.starts_with('-'))
        }
        _ => false,
    }
}

/// Asks the agent to stop by key, then by signal, then kills it; and waits for the shell.
fn stop(target: &Target, within: Duration) -> Result<(), Refusal> {
    let began = Instant::now();
    let mut presses = 0;
    let mut was_signaled = false;
    loop {
        let (front, pane) = front(target)?;
        let Front::Agent(pid) = front else { break };
        if began.elapsed() >= within {
            return kill(target);
        }
        let is_due = began.elapsed() >= PRESS_EVERY * presses;
        if presses < PRESSES_MAX && is_due {
            if pane.in_mode {
                tmux(target).leave_mode()?;
            }
            tmux(target).press(&pane.takes_keys(), "C-c")?;
            presses += 1;
        } else if presses == PRESSES_MAX && !was_signaled && is_due {
            was_signaled = true;
            signal(pid, Signal::TERM);
        }
        std::thread::sleep(POLL_EVERY);
    }
    wait_for_shell(target)
}

fn kill(target: &Target) -> Result<(), Refusal> {
    let began = Instant::now();
    while began.elapsed() < SHELL_WITHIN {
        let Front::Agent(pid) = front(target)?.0 else {
            return wait_for_shell(target);
        };
        // The process of this snapshot: a wrapper's child may outlive the wrapper.
        signal(pid, Signal::KILL);
        std::thread::sleep(POLL_EVERY);
    }
    Err(Refusal::AgentStillRunning)
}

/// Sends a signal. It is no error if the process has just ended.
fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn wait_for_shell(target: &Target) -> Result<(), Refusal> {
    let began = Instant::now();
    loop {
        match front(target)?.0 {
            Front::Shell => return Ok(()),
            Front::Agent(_) => return Err(Refusal::AgentStillRunning),
            Front::Other if began.elapsed() >= SHELL_WITHIN => return Err(Refusal::OtherProgram),
            Front::Other => std::thread::sleep(POLL_EVERY),
        }
    }
}

/// Types the resume command into the shell, and waits until it has started a program.
fn start(target: &Target) -> Result<(), Refusal> {
    let tmux = tmux(target);
    let pane = tmux.snapshot()?;
    if pane.in_mode {
        tmux.leave_mode()?;
    }
    // The prompt may still be drawing, so the guard allows the cursor to move.
    let guard = pane.takes_keys();
    // Half-typed text must not become a part of the command, so it is cleared first.
    let is_typed = tmux.press(&guard, "C-u")?
        && tmux.paste(&guard, BUFFER, &target.resume)?
        && tmux.press(&guard, "Enter")?;
    if !is_typed {
        return Err(Refusal::AgentNotStarted);
    }
    let began = Instant::now();
    while began.elapsed() < START_WITHIN {
        std::thread::sleep(POLL_EVERY);
        if !matches!(front(target), Ok((Front::Shell, _))) {
            // A command that fails is in the foreground for a moment, too.
            std::thread::sleep(POLL_EVERY * 3);
            return if matches!(front(target)?.0, Front::Shell) {
                Err(Refusal::AgentNotStarted)
            } else {
                Ok(())
            };
        }
    }
    Err(Refusal::AgentNotStarted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_one_that_waits_for_commands() {
        let process = |command: &str, in_front| Process {
            pid: 7,
            in_front,
            command: command.to_owned(),
        };
        for (commands, expected) in [
            (&["-bash"][..], true),
            (&["/usr/bin/zsh -l"], true),
            (&["fish"], true),
            (&["bash build.sh"], false),
            (&["vim"], false),
            (&["sh", "cat"], false),
            (&["bash -c x"], false),
            (&[], false),
        ] {
            let mut processes: Vec<_> = commands
                .iter()
                .map(|command| process(command, true))
                .collect();
            processes.push(process("sleep 1000", false));
            assert_eq!(is_shell_in_front(&processes), expected, "{commands:?}");
        }
    }
}
