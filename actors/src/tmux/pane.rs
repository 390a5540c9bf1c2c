//! One pane of a tmux server: looking at it, pasting into it, pressing keys in it.
//!
//! Every call names the server's socket and the pane's id, so that nothing depends on which session or window somebody
//! looks at. Nothing of the daemon's environment reaches tmux but what it needs to run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use checkpoint::terminal::View;

use crate::process::{self, Failure, Output};

/// The environment variables that a program gets which is run for a terminal's sake.
const KEPT_VARIABLES: [&str; 2] = ["PATH", "HOME"];
/// What is asked about a pane, in this order, one line each.
const LOOK: [&str; 9] = [
    "#{pane_id}",
    "#{pane_dead}",
    "#{pane_in_mode}",
    "#{pane_pid}",
    "#{pane_tty}",
    "#{cursor_x}",
    "#{cursor_y}",
    "#{cursor_flag}",
    "#{pane_current_command}",
];
/// How often a key that depends on what was seen is tried, and how long after each other: an agent that draws moves the
/// cursor about.
const GUARD_TRIES: u32 = 5;
const GUARD_PAUSE: Duration = Duration::from_millis(30);
/// What a guarded call prints when it was done.
const DONE: &str = "done";

/// Where an agent's terminal is: a pane of a tmux server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pane {
    /// The server's socket.
    pub socket: PathBuf,
    /// The pane's id, `%` and a number, unique for the server's life.
    pub id: String,
}

impl Pane {
    /// Reads the variables that tmux sets in a pane: `TMUX` (`socket,pid,session`) and `TMUX_PANE`. None where they do
    /// not name a pane.
    pub fn of_env(tmux: Option<&str>, pane: Option<&str>) -> Option<Self> {
        let mut parts = tmux?.rsplitn(3, ',');
        let (_session, _server, socket) = (parts.next()?, parts.next()?, parts.next()?);
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

/// Why tmux could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    /// There is no such program on the daemon's `PATH`.
    #[error("there is no program `{0}`")]
    Missing(&'static str),
    /// The pane, or the server with all its panes, is gone.
    #[error("the pane is gone: {0}")]
    PaneGone(String),
    /// It did not answer in time.
    #[error("`{0}` did not answer in time")]
    Timeout(&'static str),
    /// It refused, in its own words.
    #[error("`{program}` refused: {complaint}")]
    Refused {
        /// The program.
        program: &'static str,
        /// What it said.
        complaint: String,
    },
    /// The system refused to run it.
    #[error("cannot run `{program}`: {source}")]
    System {
        /// The program.
        program: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

impl TmuxError {
    fn of(program: &'static str, failure: Failure) -> Self {
        match failure {
            Failure::Missing => Self::Missing(program),
            Failure::Timeout => Self::Timeout(program),
            Failure::System(source) => Self::System { program, source },
        }
    }
}

/// A pane at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The pane's first process, usually a shell.
    pub pid: u32,
    /// The pane's terminal.
    pub tty: PathBuf,
    /// The program in the foreground, as tmux names it.
    pub command: String,
    /// Somebody reads back in it (copy mode) or chooses from a list: keys do not reach the program.
    pub in_mode: bool,
    /// What it shows, and where the cursor is.
    pub view: View,
}

impl Look {
    /// Returns a condition, in tmux's words, that holds while keys reach the same place as at this look.
    fn guard(&self) -> String {
        let (column, row) = self.view.cursor;
        format!(
            "#{{&&:#{{==:#{{pane_in_mode}},0}},#{{==:#{{pane_pid}} #{{cursor_x}} #{{cursor_y}},{} {column} {row}}}}}",
            self.pid
        )
    }
}

/// Calls tmux for one pane.
#[derive(Clone, Copy, Debug)]
pub struct Tmux<'a> {
    /// The pane.
    pub pane: &'a Pane,
    /// The longest that one call may take.
    pub within: Duration,
}

impl Tmux<'_> {
    /// Looks at the pane.
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`]; a pane whose program has ended counts as gone.
    pub fn look(self) -> Result<Look, TmuxError> {
        let pane = self.pane.id.as_str();
        let tell = ["display-message", "-p", "-t", pane, &LOOK.join("\n"), ";"];
        let text = self.call(
            &[&tell[..], &["capture-pane", "-p", "-e", "-t", pane]].concat(),
            &[],
        )?;
        let mut lines = text.splitn(LOOK.len() + 1, '\n');
        let mut next = || lines.next().unwrap_or_default();
        // Asked about a pane that is gone, some versions tell of another one, or of none.
        let (id, dead, in_mode) = (next(), next(), next());
        if id != pane || dead == "1" {
            return Err(TmuxError::PaneGone(format!("{pane} has ended")));
        }
        let mut look = || {
            let pid = next().parse().ok()?;
            let tty = PathBuf::from(next());
            let cursor = (next().parse().ok()?, next().parse().ok()?);
            let (cursor_shown, command) = (next() == "1", next().to_owned());
            let view = View {
                screen: next().to_owned(),
                cursor,
                cursor_shown,
            };
            Some(Look {
                pid,
                tty,
                command,
                in_mode: in_mode != "0",
                view,
            })
        };
        look().ok_or_else(|| TmuxError::Refused {
            program: "tmux",
            complaint: "it told nothing of use".into(),
        })
    }

    /// Pastes `text` as one bracketed paste, line breaks as they are, through a buffer that is gone afterwards. Returns
    /// whether it did: nothing is pasted where the pane is not as it was at `look`.
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`]. Whether the text arrived is then not known.
    pub fn paste_if(self, look: &Look, buffer: &str, text: &str) -> Result<bool, TmuxError> {
        let pane = self.pane.id.as_str();
        let paste =
            format!("paste-buffer -p -r -d -b {buffer} -t {pane} ; display-message -p {DONE}");
        let leave = format!("delete-buffer -b {buffer}");
        let load = ["load-buffer", "-b", buffer, "-", ";"];
        let guarded = ["if-shell", "-F", "-t", pane, &look.guard(), &paste, &leave];
        self.try_guarded(&[&load[..], &guarded].concat(), text.as_bytes())
    }

    /// Presses a key, by tmux's name for it (`Enter`, `C-u`). Returns whether it did: nothing is pressed where the pane
    /// is not as it was at `look`.
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`].
    pub fn press_if(self, look: &Look, key: &str) -> Result<bool, TmuxError> {
        let pane = self.pane.id.as_str();
        let press = format!("send-keys -t {pane} {key} ; display-message -p {DONE}");
        self.try_guarded(&["if-shell", "-F", "-t", pane, &look.guard(), &press], &[])
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

    /// Pastes `text` as [`Tmux::paste_if`] does, whatever the pane shows.
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`]. Whether the text arrived is then not known.
    pub fn paste(self, buffer: &str, text: &str) -> Result<(), TmuxError> {
        let pane = self.pane.id.as_str();
        let load = ["load-buffer", "-b", buffer, "-", ";"];
        let paste = ["paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", pane];
        self.call(&[&load[..], &paste].concat(), text.as_bytes())
            .map(drop)
    }

    /// Presses a key whatever the pane shows, by tmux's name for it (`Enter`, `C-u`).
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`].
    pub fn press(self, key: &str) -> Result<(), TmuxError> {
        self.call(&["send-keys", "-t", &self.pane.id, key], &[])
            .map(drop)
    }

    /// Removes a buffer that an interrupted paste may have left.
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`]; a buffer that is not there is refused.
    pub fn forget(self, buffer: &str) -> Result<(), TmuxError> {
        self.call(&["delete-buffer", "-b", buffer], &[]).map(drop)
    }

    /// Leaves copy mode, so that keys reach the program again.
    ///
    /// # Errors
    ///
    /// As every call: [`TmuxError`]; a pane that is in no mode refuses.
    pub fn leave_mode(self) -> Result<(), TmuxError> {
        self.call(&["send-keys", "-t", &self.pane.id, "-X", "cancel"], &[])
            .map(drop)
    }

    fn call(self, arguments: &[&str], input: &[u8]) -> Result<String, TmuxError> {
        let mut command = clean_command("tmux");
        // -u: without it tmux shows every character outside ASCII as `_` to a caller without a terminal.
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

/// Reads tmux's complaint: whether the pane is gone, or something else is wrong.
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
        TmuxError::Refused {
            program: "tmux",
            complaint,
        }
    }
}

/// Returns a program to be run with nothing of the daemon's environment but what it needs.
fn clean_command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir("/");
    command.envs(
        KEPT_VARIABLES
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command
}

/// Runs a program that only tells something, in the C locale.
pub(super) fn tell(
    program: &'static str,
    arguments: &[&str],
    within: Duration,
) -> Result<Output, TmuxError> {
    let mut command = clean_command(program);
    command.args(arguments);
    let outputs = process::run(vec![command], Instant::now() + within);
    let mut outputs = outputs.map_err(|failure| TmuxError::of(program, failure))?;
    outputs.pop().ok_or_else(|| TmuxError::Refused {
        program,
        complaint: "it told nothing".into(),
    })
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
