//! One pane of a tmux server: reading it, pasting into it, pressing keys in it.
//!
//! Every call names the server's socket and the pane's id, so the result does not depend on which session or window is
//! active. tmux gets only the environment variables that it needs to run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use checkpoint::terminal::View;

use super::server;
use crate::environment;
use crate::process::{self, Failure, Output};

/// The tmux variables of a snapshot, one line each, in this order.
const SNAPSHOT: [&str; 8] = [
    "#{pane_id}",
    "#{pane_dead}",
    "#{pane_in_mode}",
    "#{pane_pid}",
    "#{pane_tty}",
    "#{cursor_x}",
    "#{cursor_y}",
    "#{cursor_flag}",
];
/// How often a guarded call is tried, and the pause between tries: an agent that draws moves the cursor for a moment.
const GUARD_TRIES: u32 = 5;
const GUARD_PAUSE: Duration = Duration::from_millis(30);
/// Printed by a guarded call whose guard held.
const DONE: &str = "done";

/// The address of a pane of a tmux server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pane {
    pub(crate) socket: PathBuf,
    /// The pane's id: `%` and a number that the server does not reuse.
    pub(crate) id: String,
}

impl Pane {
    /// Reads the variables that tmux sets in a pane: `TMUX` (`socket,pid,session`) and `TMUX_PANE`. Returns `None` if they
    /// do not name a pane.
    pub(crate) fn of_env(tmux: Option<&str>, pane: Option<&str>) -> Option<Self> {
        // The socket's path may contain commas itself.
        let socket = tmux?.rsplitn(3, ',').nth(2)?;
        let id = pane?;
        let number = id.strip_prefix('%')?;
        let is_id = !number.is_empty()
            && number.len() <= 10
            && number.bytes().all(|byte| byte.is_ascii_digit());
        let socket = Path::new(socket);
        (is_id && socket.is_absolute()).then(|| Self {
            socket: socket.to_owned(),
            id: id.to_owned(),
        })
    }
}

/// Why a call of tmux or ps failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TmuxError {
    /// The pane, or the server with all its panes, is gone.
    #[error("the pane is gone: {0}")]
    PaneGone(String),
    /// Anything else, in one sentence.
    #[error("{0}")]
    Failed(String),
}

impl TmuxError {
    fn of(program: &str, failure: Failure) -> Self {
        Self::Failed(match failure {
            Failure::Missing => format!("`{program}` is not on the daemon's PATH"),
            Failure::Timeout => format!("`{program}` did not answer in time"),
            Failure::System(error) => format!("cannot run `{program}`: {error}"),
        })
    }

    fn refused(complaint: &str) -> Self {
        Self::Failed(format!("`tmux` failed: {complaint}"))
    }
}

/// The state of a pane at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaneSnapshot {
    /// The pane's first process, usually a shell.
    pub(crate) pid: u32,
    pub(crate) tty: PathBuf,
    /// Whether the pane is in a mode of tmux, such as copy mode: keys do not reach the program then.
    pub(crate) in_mode: bool,
    /// The screen and the cursor.
    pub(crate) view: View,
}

/// A condition that tmux itself checks immediately before it pastes or presses a key.
#[derive(Clone, Debug)]
pub(crate) struct Guard(String);

impl PaneSnapshot {
    /// Holds while keys reach the same place on the screen as in this snapshot.
    pub(crate) fn unchanged(&self) -> Guard {
        let (column, row) = self.view.cursor;
        self.guard(
            "#{pane_pid} #{cursor_x} #{cursor_y}",
            &format!(" {column} {row}"),
        )
    }

    /// Holds while keys reach the programs of this pane, even if they draw meanwhile.
    pub(crate) fn takes_keys(&self) -> Guard {
        self.guard("#{pane_pid}", "")
    }

    fn guard(&self, variables: &str, rest: &str) -> Guard {
        let pid = self.pid;
        Guard(format!(
            "#{{&&:#{{==:#{{pane_in_mode}},0}},#{{==:{variables},{pid}{rest}}}}}"
        ))
    }
}

/// Calls tmux for one pane. Every call fails with a [`TmuxError`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tmux<'a> {
    pub(crate) pane: &'a Pane,
    /// The longest that one call may take.
    pub(crate) within: Duration,
}

impl Tmux<'_> {
    /// Reads the pane's state. A pane whose program has ended counts as gone.
    pub(crate) fn snapshot(self) -> Result<PaneSnapshot, TmuxError> {
        let pane = self.pane.id.as_str();
        let variables = SNAPSHOT.join("\n");
        let text = self.call(
            &[
                "display-message",
                "-p",
                "-t",
                pane,
                &variables,
                ";",
                "capture-pane",
                "-p",
                "-e",
                "-t",
                pane,
            ],
            &[],
        )?;
        let mut lines = text.splitn(SNAPSHOT.len() + 1, '\n');
        let mut next = || lines.next().unwrap_or_default();
        let id = next();
        let is_dead = next() == "1";
        // Asked about a pane that is gone, some versions of tmux describe another pane, or none.
        if id != pane || is_dead {
            return Err(TmuxError::PaneGone(format!("{pane} has ended")));
        }
        let in_mode = next() != "0";
        let mut read = || {
            Some(PaneSnapshot {
                pid: next().parse().ok()?,
                tty: PathBuf::from(next()),
                in_mode,
                view: View {
                    cursor: (next().parse().ok()?, next().parse().ok()?),
                    cursor_shown: next() == "1",
                    screen: next().to_owned(),
                },
            })
        };
        read().ok_or_else(|| TmuxError::refused("tmux's description of the pane could not be read"))
    }

    /// Pastes `text` as one bracketed paste with its line breaks, through a buffer that is deleted afterward. Returns
    /// whether the guard held; otherwise nothing is pasted. After an error the text may or may not have arrived.
    pub(crate) fn paste(self, guard: &Guard, buffer: &str, text: &str) -> Result<bool, TmuxError> {
        let pane = self.pane.id.as_str();
        let paste =
            format!("paste-buffer -p -r -d -b {buffer} -t {pane} ; display-message -p {DONE}");
        let delete = format!("delete-buffer -b {buffer}");
        let load = ["load-buffer", "-b", buffer, "-", ";"];
        let guarded = ["if-shell", "-F", "-t", pane, &guard.0, &paste, &delete];
        self.try_guarded(&[&load[..], &guarded].concat(), text.as_bytes())
    }

    /// Presses a key, by tmux's name for it (`Enter`, `C-u`). Returns whether the guard held; otherwise nothing is pressed.
    pub(crate) fn press(self, guard: &Guard, key: &str) -> Result<bool, TmuxError> {
        let pane = self.pane.id.as_str();
        let press = format!("send-keys -t {pane} {key} ; display-message -p {DONE}");
        self.try_guarded(&["if-shell", "-F", "-t", pane, &guard.0, &press], &[])
    }

    fn try_guarded(self, arguments: &[&str], input: &[u8]) -> Result<bool, TmuxError> {
        for _ in 0..GUARD_TRIES {
            if self.call(arguments, input)?.trim() == DONE {
                return Ok(true);
            }
            std::thread::sleep(GUARD_PAUSE);
        }
        Ok(false)
    }

    /// Deletes a buffer that an interrupted paste may have left. Fails if there is no such buffer.
    pub(crate) fn delete_buffer(self, buffer: &str) -> Result<(), TmuxError> {
        self.call(&["delete-buffer", "-b", buffer], &[]).map(drop)
    }

    /// Leaves copy mode, so that keys reach the program again. Fails if the pane is in no mode.
    pub(crate) fn leave_mode(self) -> Result<(), TmuxError> {
        self.call(&["send-keys", "-t", &self.pane.id, "-X", "cancel"], &[])
            .map(drop)
    }

    /// Makes the pane the one that its session shows, and has the terminal that was used last show that session. Returns
    /// whether a terminal is attached to the server.
    pub(crate) fn show(self) -> Result<bool, TmuxError> {
        let id = &*self.pane.id;
        self.call(
            &["select-window", "-t", id, ";", "select-pane", "-t", id],
            &[],
        )?;
        match self.call(&["switch-client", "-t", id], &[]) {
            Ok(_) => Ok(true),
            Err(TmuxError::Failed(why)) if why.contains("no current client") => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts a text into a paste buffer, and into the clipboard of the terminal that is attached.
    pub(crate) fn copy(self, text: &str) -> Result<(), TmuxError> {
        self.call(&["load-buffer", "-w", "-"], text.as_bytes())
            .map(drop)
    }

    fn call(self, arguments: &[&str], input: &[u8]) -> Result<String, TmuxError> {
        let mut command = clean_command("tmux")?;
        if let Some(complaint) = server::objection(&self.pane.socket, self.within) {
            let socket = self.pane.socket.display();
            return Err(TmuxError::refused(&format!("{socket}: {complaint}")));
        }
        // Without -u, tmux prints every character outside ASCII as `_` to a caller without a terminal.
        command
            .arg("-u")
            .arg("-S")
            .arg(&self.pane.socket)
            .args(arguments);
        let output = process::feed(command, input, Instant::now() + self.within);
        let output = output.map_err(|failure| TmuxError::of("tmux", failure))?;
        if output.is_good() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(refusal(&output))
    }
}

/// Distinguishes a missing pane from other failures by tmux's message.
fn refusal(output: &Output) -> TmuxError {
    const GONE: [&str; 5] = [
        "can't find pane",
        "no server running",
        "error connecting to",
        "server exited",
        "lost server",
    ];
    let complaint = output.complaint();
    if GONE.iter().any(|words| complaint.starts_with(words)) {
        TmuxError::PaneGone(complaint)
    } else {
        TmuxError::refused(&complaint)
    }
}

fn clean_command(program: &'static str) -> Result<Command, TmuxError> {
    let command = environment::tool(program);
    let mut command = command.ok_or_else(|| TmuxError::of(program, Failure::Missing))?;
    command.env("LC_ALL", "C.UTF-8").current_dir("/");
    Ok(command)
}

/// Runs a program that only prints information, in the C locale.
pub(super) fn query(
    program: &'static str,
    arguments: &[&str],
    within: Duration,
) -> Result<Output, TmuxError> {
    let mut command = clean_command(program)?;
    command.args(arguments);
    let output = process::feed(command, &[], Instant::now() + within);
    output.map_err(|failure| TmuxError::of(program, failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_read_from_what_tmux_sets() {
        let pane =
            |tmux, pane| Pane::of_env(Some(tmux), Some(pane)).map(|pane| (pane.socket, pane.id));
        let known = |socket: &str, id: &str| Some((PathBuf::from(socket), id.to_owned()));
        assert_eq!(
            pane("/tmp/tmux-1000/default,4711,0", "%3"),
            known("/tmp/tmux-1000/default", "%3")
        );
        assert_eq!(
            pane("/tmp/a,b/sock,4711,12", "%0"),
            known("/tmp/a,b/sock", "%0")
        );
        for (tmux, id) in [
            ("", "%1"),
            ("/tmp/sock", "%1"),
            ("sock,1,0", "%1"),
            ("/tmp/sock,1,0", ""),
            ("/tmp/sock,1,0", "1"),
            ("/tmp/sock,1,0", "%"),
            ("/tmp/sock,1,0", "%1;kill-server"),
        ] {
            assert_eq!(pane(tmux, id), None, "{tmux} {id}");
        }
        assert_eq!(Pane::of_env(None, Some("%1")), None);
    }
}
