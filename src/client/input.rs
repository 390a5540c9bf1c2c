//! What a hook call brings along: words on the command line, a payload on standard input, and a few environment
//! variables. Nothing here judges the payload: the daemon does.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::os::unix::ffi::OsStringExt as _;
use std::time::{Duration, Instant, SystemTime};

use journal::request::ENV_NAMES;
use rustix::buffer::spare_capacity;
use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::exchange::is_ready;

/// The largest payload; what comes after it is read and dropped.
const STDIN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long standard input may be silent before it is taken for complete.
const STDIN_SILENCE: Duration = Duration::from_secs(1);
/// How long standard input may take altogether, for a host that never closes it and never falls silent.
const STDIN_WAIT: Duration = Duration::from_secs(10);
/// The room that a read gets at first.
const READ_BYTES: usize = 16 * 1024;
/// The longest value of an environment variable that is passed on: a request's head must stay small.
const ENV_VALUE_BYTES_MAX: usize = 4096;
/// How far up a process with a terminal is looked for.
const ANCESTORS_MAX: usize = 8;

/// One hook call.
#[derive(Debug)]
pub(super) struct Call {
    /// The agent's word.
    pub(super) agent: String,
    /// The event, where the command line names it.
    pub(super) event: Option<String>,
    /// The payload as it came.
    pub(super) payload: Vec<u8>,
    /// Whether there may have been more of the payload.
    pub(super) truncated: bool,
    /// When the call began.
    pub(super) at: SystemTime,
    /// Whether the host reads what is printed. Codex does not after a notification.
    pub(super) is_reply_read: bool,
}

impl Call {
    /// Reads a call from the arguments behind the program's name and, unless they hold it, standard input.
    ///
    /// Returns none for a person who typed the program's bare name.
    pub(super) fn read(arguments: Vec<OsString>) -> Option<Self> {
        let at = SystemTime::now();
        let is_bare = arguments.is_empty();
        let mut arguments = arguments.into_iter().map(OsString::into_vec);
        let mut agent = text(arguments.next().unwrap_or_default());
        if agent.is_empty() {
            // Nobody's call is worth a count: it tells of a hook that is set up wrongly.
            "unknown".clone_into(&mut agent);
        }
        let (event, payload) = match (arguments.next(), arguments.next_back()) {
            (Some(event), Some(payload)) => (Some(text(event)), Some(payload)),
            (Some(word), None) if word == b"notify" => (Some(text(word)), Some(Vec::new())),
            (Some(word), None) if is_event(&word) => (Some(text(word)), None),
            (Some(payload), None) => (Some("notify".to_owned()), Some(payload)),
            (None, _) => (None, None),
        };
        if let Some(payload) = payload {
            return Some(Self {
                agent,
                event,
                payload,
                truncated: false,
                at,
                is_reply_read: false,
            });
        }
        let stdin = rustix::stdio::stdin();
        let (payload, truncated) = if stdin.is_terminal() {
            if is_bare {
                return None;
            }
            (Vec::new(), false)
        } else {
            read_stdin()
        };
        Some(Self {
            agent,
            event,
            payload,
            truncated,
            at,
            is_reply_read: true,
        })
    }

    /// Returns what the agent does with a reply to this call.
    pub(super) fn awaits(&self) -> Awaits {
        // The payload's word counts for more than the command line's: so does the daemon see it.
        let event = event_name(&self.payload).or(self.event.as_deref().map(str::as_bytes));
        match event.filter(|_| self.is_reply_read) {
            Some(b"Stop" | b"AfterAgent") => Awaits::Decision,
            Some(b"SessionStart") => Awaits::Greeting,
            _ => Awaits::Nothing,
        }
    }
}

/// What an agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// It does not look at the reply.
    Nothing,
    /// What there is to go on with, as its session begins. Its user waits, so it is had quickly or not at all.
    Greeting,
    /// Whether it may stop.
    Decision,
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns whether a word can be an event's name, and not a payload.
fn is_event(word: &[u8]) -> bool {
    (1..=64).contains(&word.len())
        && word
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// Returns the value of `hook_event_name`, without parsing: of the first one, which is the payload's own unless the
/// agent puts a tool's data in front. Within JSON strings the quotes are escaped, so that texts do not match.
fn event_name(payload: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"hook_event_name\"";
    let mut rest = payload;
    loop {
        let found = rest
            .windows(KEY.len())
            .position(|window| window[0] == b'"' && window == KEY)?;
        rest = &rest[found + KEY.len()..];
        if let Some(value) = rest.trim_ascii_start().strip_prefix(b":") {
            let value = value.trim_ascii_start().strip_prefix(b"\"")?;
            let end = value.iter().position(|byte| *byte == b'"')?;
            return Some(&value[..end]);
        }
    }
}

/// Reads standard input to its end or its limits, and returns whether it was cut.
fn read_stdin() -> (Vec<u8>, bool) {
    let stdin = rustix::stdio::stdin();
    let deadline = Instant::now() + STDIN_WAIT;
    let mut payload = Vec::with_capacity(READ_BYTES);
    let mut is_over = false;
    loop {
        if payload.try_reserve(READ_BYTES / 4).is_err() {
            return (payload, true);
        }
        if !is_ready(
            stdin,
            PollFlags::IN,
            deadline.min(Instant::now() + STDIN_SILENCE),
        ) {
            return (payload, true);
        }
        match rustix::io::read(stdin, spare_capacity(&mut payload)) {
            Ok(0) => return (payload, is_over),
            // The rest is read all the same: the host would trip over a pipe that closes while it writes.
            Ok(_) if payload.len() > STDIN_BYTES_MAX => {
                payload.truncate(STDIN_BYTES_MAX);
                is_over = true;
            }
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return (payload, true),
        }
    }
}

/// Collects the environment variables that the daemon wants to know.
pub(super) fn environment(agent: &str) -> Vec<(&'static str, String)> {
    const TTY: &str = "CHECKPOINTD_TTY";
    const TERMINAL_PID: &str = "CHECKPOINTD_TERMINAL_PID";
    let mut known: Vec<(&str, String)> = Vec::with_capacity(ENV_NAMES.len());
    for name in ENV_NAMES {
        let value = std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        known.extend(
            value
                .filter(|value| value.len() <= ENV_VALUE_BYTES_MAX)
                .map(|value| (name, value)),
        );
    }
    // Gemini says nowhere whether a person watches, but its hooks share its terminal.
    if agent == "gemini" && known.iter().all(|(name, _)| *name != TTY) && has_terminal() {
        known.push((TTY, "1".to_owned()));
    }
    // A pane may be somebody else's: Codex's background process keeps the variables of whoever started it.
    let is_known = |wanted: &str| known.iter().any(|(name, _)| *name == wanted);
    if is_known("TMUX_PANE")
        && !is_known(TERMINAL_PID)
        && let Some(pid) = terminal_pid()
    {
        known.push((TERMINAL_PID, pid.to_string()));
    }
    known
}

/// Returns the nearest process above this one that has a terminal, 0 where none has, and nothing where the system does
/// not tell.
fn terminal_pid() -> Option<u32> {
    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..ANCESTORS_MAX {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold anything; behind it are state, parent, group, session and terminal.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (parent, terminal) = (fields.nth(1)?, fields.nth(2)?);
        if terminal != "0" {
            return Some(pid);
        }
        pid = parent.parse().ok()?;
        if pid <= 1 {
            break;
        }
    }
    Some(0)
}

fn has_terminal() -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open("/dev/tty", flags, Mode::empty()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payloads_own_event_is_found_without_parsing() {
        let event = |payload: &str| {
            event_name(payload.as_bytes()).map(|name| String::from_utf8_lossy(name).into_owned())
        };
        assert_eq!(
            event(r#"{"hook_event_name":"Stop"}"#).as_deref(),
            Some("Stop")
        );
        assert_eq!(
            event("{\"a\":1, \"hook_event_name\" \t\r\n: \n \"SubagentStop\"").as_deref(),
            Some("SubagentStop")
        );
        let quoted = r#"{"prompt":"\"hook_event_name\":\"Stop\"","x":"hook_event_name","hook_event_name":"PostToolUse"}"#;
        assert_eq!(event(quoted).as_deref(), Some("PostToolUse"));
        for none in [
            "",
            "{}",
            r#"{"hook_event_name":7}"#,
            r#"{"hook_event_name":"St"#,
            r#"{"hook_event_name""#,
        ] {
            assert_eq!(event(none), None, "{none}");
        }
    }

    #[test]
    fn only_events_with_a_use_for_the_reply_wait() {
        use Awaits::{Decision, Greeting, Nothing};
        let awaits = |payload: &str, event: Option<&str>, is_reply_read| {
            let (event, payload) = (event.map(str::to_owned), payload.as_bytes().to_vec());
            let (agent, truncated, at) = (String::new(), false, SystemTime::UNIX_EPOCH);
            Call {
                agent,
                event,
                payload,
                truncated,
                at,
                is_reply_read,
            }
            .awaits()
        };
        assert_eq!(
            awaits(r#"{"hook_event_name":"Stop"}"#, None, true),
            Decision
        );
        assert_eq!(awaits("", Some("AfterAgent"), true), Decision);
        assert_eq!(awaits("{}", Some("SessionStart"), true), Greeting);
        assert_eq!(awaits("{}", Some("SubagentStop"), true), Nothing);
        assert_eq!(
            awaits(r#"{"hook_event_name":"PostToolUse"}"#, Some("Stop"), true),
            Nothing
        );
        assert_eq!(awaits("{}", Some("Stop"), false), Nothing);
        assert_eq!(awaits("{}", None, true), Nothing);
    }
}
