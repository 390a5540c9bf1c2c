//! The steps of a restart, on a blocking thread: look, ask the agent to stop, see that the shell is back, type.
//!
//! Before each step the pane is looked at anew: keys and signals go to the agent alone, and the resume command to a shell.

use std::time::{Duration, Instant};

use journal::Agent;
use rustix::process::{Pid, Signal, kill_process};

use crate::tmux::{self, Look, Pane, Process, Tmux, TmuxError};

/// The longest that one call of tmux or ps may take.
const CALL_WITHIN: Duration = Duration::from_secs(2);
/// Pause between two looks at the pane.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Pause between two presses of the key. Agents want it twice, the second within about a second of the first; the first
/// ends a running turn, and another one clears what was half typed.
const PRESS_EVERY: Duration = Duration::from_millis(400);
/// How often it is pressed before a signal is sent.
const PRESSES_MAX: u32 = 5;
/// How long a killed agent may take to be gone, and the shell to be back.
const SHELL_WITHIN: Duration = Duration::from_secs(3);
/// How long the resume command may take to become a running program.
const START_WITHIN: Duration = Duration::from_secs(10);
/// The buffer that the resume command is pasted through.
const BUFFER: &str = "checkpointd-restart";
/// Programs that read commands.
const SHELLS: [&str; 13] = [
    "sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "elvish",
    "xonsh",
];

/// Whom to restart, where, and by what.
pub(super) struct Subject {
    pub(super) agent: Agent,
    pub(super) pane: Pane,
    /// The agent's process, where it told.
    pub(super) known: Option<u32>,
    /// Another session's agent was heard of in the pane since.
    pub(super) taken: bool,
    /// What is typed to start it again.
    pub(super) resume: String,
}

/// How long the steps may take.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// For the agent to stop when asked to.
    pub(super) stop_within: Duration,
}

/// Why an agent was not restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session's hooks told of no pane.
    #[error("the session's terminal is not known: its agent does not run in tmux")]
    NoTerminal,
    /// The pane, or its server, is gone.
    #[error("the pane that the agent ran in is gone")]
    PaneGone,
    /// tmux or ps is missing, does not answer, or refuses.
    #[error("tmux could not be used")]
    TmuxFailed,
    /// The agent in the pane is another session's.
    #[error("another session's agent runs in the pane now")]
    PaneTaken,
    /// Another program is in front.
    #[error("the pane shows another program, neither the agent nor a shell")]
    OtherProgram,
    /// The agent is the pane's first program.
    #[error("the agent was started without a shell: its pane would close with it")]
    NoShell,
    /// It was asked, told and killed, and is still there.
    #[error("the agent is still running")]
    AgentStillRunning,
    /// The resume command was typed, and no program came up.
    #[error("the resume command was typed, but the agent does not run")]
    AgentNotStarted,
    /// The id that the host gave could say something to a shell.
    #[error("the session's id cannot be put into a command")]
    BadSessionId,
    /// A checkpoint is being typed into the pane.
    #[error("a checkpoint is on its way into the agent's terminal")]
    DeliveryUnderWay,
    /// The same session is being restarted.
    #[error("the agent is being restarted already")]
    UnderWay,
    /// The journal took no event.
    #[error("the restart could not be journaled")]
    NotJournaled,
    /// Something went wrong in checkpointd itself.
    #[error("the restart failed")]
    Failed,
}

impl Refusal {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoTerminal => "no_terminal",
            Self::PaneGone => "pane_gone",
            Self::TmuxFailed => "tmux_failed",
            Self::PaneTaken => "pane_taken",
            Self::OtherProgram => "other_program",
            Self::NoShell => "no_shell",
            Self::AgentStillRunning => "agent_still_running",
            Self::AgentNotStarted => "agent_not_started",
            Self::BadSessionId => "bad_session_id",
            Self::DeliveryUnderWay => "delivery_under_way",
            Self::UnderWay => "restart_under_way",
            Self::NotJournaled => "not_journaled",
            Self::Failed => "failed",
        }
    }
}

impl From<TmuxError> for Refusal {
    fn from(error: TmuxError) -> Self {
        match error {
            TmuxError::PaneGone(_) => Self::PaneGone,
            other => {
                tracing::warn!(error = %other, "A pane could not be used for a restart.");
                Self::TmuxFailed
            }
        }
    }
}

/// What is in front in a pane.
enum Front {
    /// The agent, by its process.
    Agent(u32),
    /// A shell that waits for a command.
    Shell,
    /// Anything else.
    Other,
}

/// Stops the agent and starts it again.
///
/// # Errors
///
/// The word that says how far it came; nothing was typed unless it is [`Refusal::AgentNotStarted`].
pub(super) fn restart(subject: &Subject, bounds: Bounds) -> Result<(), Refusal> {
    match front(subject)?.0 {
        Front::Shell => {}
        Front::Agent(_) if subject.taken => return Err(Refusal::PaneTaken),
        Front::Agent(_) => stop(subject, bounds)?,
        Front::Other => return Err(Refusal::OtherProgram),
    }
    start(subject)
}

fn tmux(subject: &Subject) -> Tmux<'_> {
    Tmux {
        pane: &subject.pane,
        within: CALL_WITHIN,
    }
}

fn front(subject: &Subject) -> Result<(Front, Look), Refusal> {
    let look = tmux(subject).look()?;
    let processes = tmux::processes(&look.tty, CALL_WITHIN)?;
    let front = match tmux::agent_among(&processes, subject.agent, subject.known) {
        Some(pid) if pid == look.pid => return Err(Refusal::NoShell),
        Some(pid) => Front::Agent(pid),
        None if is_shell_in_front(&processes) => Front::Shell,
        None => Front::Other,
    };
    Ok((front, look))
}

/// Tells whether all that takes keys is one shell.
fn is_shell_in_front(processes: &[Process]) -> bool {
    let mut in_front = processes.iter().filter(|process| process.in_front);
    match (in_front.next(), in_front.next()) {
        (Some(only), None) => {
            let mut words = only.command.split_whitespace();
            let program = words
                .next()
                .and_then(|word| word.rsplit('/').next())
                .unwrap_or_default();
            // A shell that runs a script is a program of its own.
            SHELLS.contains(&program.trim_start_matches('-'))
                && words.all(|word| word.starts_with('-'))
        }
        _ => false,
    }
}

/// Asks the agent to stop by its key, then by a signal, then kills it; and waits for the shell.
fn stop(subject: &Subject, bounds: Bounds) -> Result<(), Refusal> {
    let began = Instant::now();
    let mut presses = 0;
    let mut told = false;
    loop {
        let (front, look) = front(subject)?;
        let Front::Agent(pid) = front else { break };
        if began.elapsed() >= bounds.stop_within {
            return kill(subject);
        }
        if presses < PRESSES_MAX && began.elapsed() >= PRESS_EVERY * presses {
            if look.in_mode {
                tmux(subject).leave_mode()?;
            }
            tmux(subject).press("C-c")?;
            presses += 1;
        } else if presses == PRESSES_MAX && !told && began.elapsed() >= PRESS_EVERY * presses {
            told = true;
            signal(pid, Signal::TERM);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    shell_is_back(subject)
}

fn kill(subject: &Subject) -> Result<(), Refusal> {
    let began = Instant::now();
    while began.elapsed() < SHELL_WITHIN {
        let Front::Agent(pid) = front(subject)?.0 else {
            return shell_is_back(subject);
        };
        // Each time the one that is there: a wrapper's program may outlive the wrapper.
        signal(pid, Signal::KILL);
        std::thread::sleep(LOOK_EVERY);
    }
    Err(Refusal::AgentStillRunning)
}

/// Sends a signal. A process that has just ended needs none.
fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Waits until a shell takes the keys.
fn shell_is_back(subject: &Subject) -> Result<(), Refusal> {
    let began = Instant::now();
    loop {
        match front(subject)?.0 {
            Front::Shell => return Ok(()),
            Front::Agent(_) => return Err(Refusal::AgentStillRunning),
            Front::Other if began.elapsed() >= SHELL_WITHIN => return Err(Refusal::OtherProgram),
            Front::Other => std::thread::sleep(LOOK_EVERY),
        }
    }
}

/// Types the resume command into the shell, and waits until it has become a program.
fn start(subject: &Subject) -> Result<(), Refusal> {
    let tmux = tmux(subject);
    if tmux.look()?.in_mode {
        tmux.leave_mode()?;
    }
    // What somebody has half typed must not become a part of the command.
    tmux.press("C-u")?;
    tmux.paste(BUFFER, &subject.resume)?;
    tmux.press("Enter")?;
    let began = Instant::now();
    while began.elapsed() < START_WITHIN {
        std::thread::sleep(LOOK_EVERY);
        if !matches!(front(subject), Ok((Front::Shell, _))) {
            // A command that fails is in front for a moment, too.
            std::thread::sleep(LOOK_EVERY * 3);
            return if matches!(front(subject)?.0, Front::Shell) {
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
            parent: 1,
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
