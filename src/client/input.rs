//! The input of a hook call: arguments, a payload on standard input, and some environment
//! variables. The daemon validates the payload.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use journal::request::ENV_NAMES;
use memchr::memmem;
use rustix::buffer::spare_capacity;
use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::debug::debug;
use super::ending;
use super::exchange::is_ready;

/// The largest payload; the rest is read and dropped.
const STDIN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Standard input counts as complete after this silence.
const STDIN_SILENCE: Duration = Duration::from_secs(1);
/// The longest time to read standard input, for a host that never closes it and keeps writing.
const STDIN_WAIT: Duration = Duration::from_secs(10);
/// The initial size of a read.
const READ_BYTES: usize = 16 * 1024;
/// The longest environment value passed on: the request's head must stay small.
const ENV_VALUE_BYTES_MAX: usize = 4096;
/// How many ancestors are searched for a process with a terminal.
const ANCESTORS_MAX: usize = 8;

#[derive(Debug)]
pub(super) struct Call {
    pub(super) agent: String,
    /// The event, if the command line names it.
    pub(super) event: Option<String>,
    /// The payload, unchanged.
    pub(super) payload: Vec<u8>,
    /// Whether the payload may be incomplete.
    pub(super) truncated: bool,
    /// When the call began.
    pub(super) at: SystemTime,
    /// Whether the host reads the output. Codex does not after a notification.
    pub(super) is_reply_read: bool,
}

impl Call {
    /// Reads a call from the arguments after the program's name and, unless they hold the payload,
    /// from standard input.
    ///
    /// Returns `None` without arguments on a terminal: a person typed the program's name.
    pub(super) fn read(arguments: Vec<OsString>) -> Option<Self> {
        let at = SystemTime::now();
        let is_bare = arguments.is_empty();
        let arguments = arguments.into_iter().map(OsString::into_vec);
        let (marks, arguments): (Vec<_>, Vec<_>) =
            arguments.partition(|argument| argument.starts_with(MARK));
        let mut arguments = arguments.into_iter();
        let mut agent = text(arguments.next().unwrap_or_default());
        if let Some(caller) = marks.into_iter().find_map(marked) {
            agent = caller;
        }
        if agent.is_empty() {
            // A call without an agent is still journaled: it shows a misconfigured hook.
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
        // The host ended the call before it said anything.
        if payload.is_empty() && ending::is_asked() {
            return None;
        }
        match guest(&agent, &payload) {
            Some((guest, true)) => guest.clone_into(&mut agent),
            Some((guest, false)) => {
                debug(&format!(
                    "{guest} also runs the hooks of {agent}; this call is not for it"
                ));
                return None;
            }
            None => {}
        }
        Some(Self {
            agent,
            event,
            payload,
            truncated,
            at,
            is_reply_read: true,
        })
    }

    /// Returns what the agent waits for after this call.
    pub(super) fn awaits(&self) -> Awaits {
        // The payload takes precedence over the command line, as in the daemon.
        let event = event_name(&self.payload).or(self.event.as_deref().map(str::as_bytes));
        match event.filter(|_| self.is_reply_read) {
            Some(b"Stop" | b"stop" | b"AfterAgent" | b"agentStop" | b"post_agent") => {
                Awaits::Decision
            }
            Some(b"SessionStart") => Awaits::Greeting,
            Some(
                b"PreToolUse" | b"BeforeTool" | b"SubagentStop" | b"TaskCompleted"
                | b"TeammateIdle",
            ) => Awaits::Call,
            _ => Awaits::Nothing,
        }
    }
}

/// `--as=VARIABLE:AGENT`: the caller is that agent if the variable is set, even if it has read another agent's
/// settings.
const MARK: &[u8] = b"--as=";

/// Returns the agent that a mark names, if its variable is set.
fn marked(mark: Vec<u8>) -> Option<String> {
    let mark = text(mark);
    let (variable, agent) = mark.strip_prefix("--as=")?.split_once(':')?;
    std::env::var_os(variable).filter(|value| !value.is_empty())?;
    Some(agent.to_owned())
}

/// What an agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// The agent ignores the reply.
    Nothing,
    /// The context at the start of a session. The user waits, so the deadline is short.
    Greeting,
    /// Whether the agent may stop.
    Decision,
    /// Whether a tool may run, or a part of the work may end. The reply is mostly empty.
    Call,
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns whether a word can be an event's name rather than a payload.
fn is_event(word: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=64).contains(&word.len()) && word.iter().all(is_plain)
}

/// Finds the value of `hook_event_name`, which Grok calls `hookEventName`, without parsing: the first occurrence, which is
/// the payload's own unless the agent puts a tool's data first. Quotes within JSON strings are escaped, so texts do not
/// match.
fn event_name(payload: &[u8]) -> Option<&[u8]> {
    named(payload, b"\"hook_event_name\"").or_else(|| named(payload, b"\"hookEventName\""))
}

fn named<'a>(payload: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let value = memmem::find_iter(payload, key).find_map(|at| {
        let after = payload[at + key.len()..].trim_ascii_start();
        after.strip_prefix(b":")
    });
    let value = value?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = value.iter().position(|byte| *byte == b'"')?;
    Some(&value[..end])
}

/// Reads standard input to its end or a limit. Returns whether it was cut.
fn read_stdin() -> (Vec<u8>, bool) {
    let stdin = rustix::stdio::stdin();
    let deadline = Instant::now() + STDIN_WAIT;
    let mut payload = Vec::with_capacity(READ_BYTES);
    let mut is_over = false;
    loop {
        if payload.try_reserve(READ_BYTES / 4).is_err() {
            return (payload, true);
        }
        let until = deadline.min(Instant::now() + STDIN_SILENCE);
        if !is_ready(stdin, PollFlags::IN, until) {
            return (payload, true);
        }
        match rustix::io::read(stdin, spare_capacity(&mut payload)) {
            Ok(0) => return (payload, is_over),
            // The rest is read too: the host would fail to write to a closed pipe.
            Ok(_) if payload.len() > STDIN_BYTES_MAX => {
                payload.truncate(STDIN_BYTES_MAX);
                is_over = true;
            }
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return (payload, true),
        }
    }
}

const GROK: &str = "grok";

/// A host that also runs hooks of other agents' settings.
struct Guest {
    name: &'static str,
    /// The agents whose hooks it runs.
    hosts: &'static [&'static str],
    /// A variable that it sets for hooks; empty if it sets none.
    variable: &'static str,
    /// Whether a payload is its own. One agent may have started the other, which inherits its variables.
    is_its: fn(&[u8]) -> bool,
}

const GUESTS: [Guest; 6] = [
    Guest {
        name: GROK,
        hosts: &["claude", "cursor"],
        variable: "GROK_SESSION_ID",
        is_its: names_event_in_one_word,
    },
    Guest {
        name: "copilot",
        hosts: &["claude"],
        variable: "COPILOT_CLI",
        is_its: tells_time,
    },
    Guest {
        name: "cursor",
        hosts: &["claude"],
        variable: "CURSOR_VERSION",
        is_its: |payload| contains(payload, b"\"cursor_version\""),
    },
    Guest {
        name: "Continue",
        hosts: &["claude"],
        variable: "CONTINUE_PROJECT_DIR",
        is_its: |_| std::env::var_os("CLAUDECODE").is_none(),
    },
    Guest {
        name: "VS Code",
        hosts: &["claude", "copilot"],
        variable: "",
        is_its: names_event_in_one_word,
    },
    Guest {
        name: "dsh",
        hosts: &["claude", "codex"],
        variable: "",
        is_its: |payload| contains(payload, b"\"session_id\":\"session-"),
    },
];

/// Returns the host that makes this call in an agent's name, and whether to journal the call under the host's: only where
/// it has no hooks of its own that say the same, and is an agent that is known.
fn guest(agent: &str, payload: &[u8]) -> Option<(&'static str, bool)> {
    let is_set = |variable: &str| variable.is_empty() || std::env::var_os(variable).is_some();
    let mut guests = GUESTS.iter().filter(|guest| guest.hosts.contains(&agent));
    let found = guests.find(|guest| is_set(guest.variable) && (guest.is_its)(payload))?;
    Some((found.name, found.name == GROK && !has_groks_hooks()))
}

/// Returns whether Grok has the hooks that `init` installs for it. It runs those of all its files one after the other, so
/// that the second call of a stop comes after the first one is answered.
fn has_groks_hooks() -> bool {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("GROK_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".grok")));
    folder.is_some_and(|folder| folder.join("hooks/checkpointd.json").is_file())
}

/// Returns whether these bytes are in a payload. Quotes within JSON strings are escaped, so texts do not match.
fn contains(payload: &[u8], part: &[u8]) -> bool {
    memmem::find(payload, part).is_some()
}

/// Returns whether a payload names its event as Grok and VS Code do, and not as Claude Code does.
fn names_event_in_one_word(payload: &[u8]) -> bool {
    contains(payload, b"\"hookEventName\"") && !contains(payload, b"\"hook_event_name\"")
}

/// Returns whether a payload says the time before the folder, as Copilot's do. Claude Code's do not say it, and what a tool
/// says comes after the folder.
fn tells_time(payload: &[u8]) -> bool {
    let place = |key| memmem::find(payload, key);
    place(b"\"timestamp\"").is_some_and(|time| place(b"\"cwd\"").is_none_or(|cwd| time < cwd))
}

/// Collects the environment variables that the daemon evaluates.
pub(super) fn environment(agent: &str) -> Vec<(&'static str, String)> {
    const TTY: &str = "CHECKPOINTD_TTY";
    const TERMINAL_PID: &str = "CHECKPOINTD_TERMINAL_PID";
    let mut known: Vec<(&str, String)> = Vec::with_capacity(ENV_NAMES.len());
    for &name in ENV_NAMES.iter() {
        let value = std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let value = value.filter(|value| value.len() <= ENV_VALUE_BYTES_MAX);
        known.extend(value.map(|value| (name, value)));
    }
    // Other agents do not say whether they are interactive, but their hooks share their terminal.
    if !matches!(agent, "claude" | "codex")
        && known.iter().all(|(name, _)| *name != TTY)
        && has_terminal()
    {
        known.push((TTY, "1".to_owned()));
    }
    // The pane may belong to another process: Codex's background process keeps the variables of its
    // starter.
    let is_known = |wanted: &str| known.iter().any(|(name, _)| *name == wanted);
    if is_known("TMUX_PANE")
        && !is_known(TERMINAL_PID)
        && let Some(pid) = terminal_pid()
    {
        known.push((TERMINAL_PID, pid.to_string()));
    }
    known
}

/// Returns the nearest ancestor with a terminal, 0 if none has one, or `None` if the system does
/// not tell.
fn terminal_pid() -> Option<u32> {
    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..ANCESTORS_MAX {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may contain anything; state, parent, group, session and terminal follow it.
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
    fn copilot_is_known_by_what_it_says_in_claude_codes_name() {
        for (payload, expected) in [
            (
                r#"{"hook_event_name":"Stop","session_id":"8532b57c","timestamp":"2026-11-22T18:28:23.395Z","cwd":"/p"}"#,
                true,
            ),
            (
                r#"{"session_id":"10e54898","transcript_path":"/t","cwd":"/p","hook_event_name":"Stop"}"#,
                false,
            ),
            (
                r#"{"session_id":"10e54898","cwd":"/p","tool_name":"Bash","tool_input":{"timestamp":"now"}}"#,
                false,
            ),
            ("", false),
        ] {
            assert_eq!(tells_time(payload.as_bytes()), expected, "{payload}");
        }
    }

    #[test]
    fn cursor_names_its_version() {
        for (payload, expected) in [
            (
                r#"{"conversation_id":"a","cursor_version":"3.7.21","hook_event_name":"stop"}"#,
                true,
            ),
            (
                r#"{"prompt":"what is \"cursor_version\"?","hook_event_name":"Stop"}"#,
                false,
            ),
            ("", false),
        ] {
            let names = contains(payload.as_bytes(), b"\"cursor_version\"");
            assert_eq!(names, expected, "{payload}");
        }
    }

    #[test]
    fn only_events_with_a_use_for_the_reply_wait() {
        use Awaits::{Call as ToolCall, Decision, Greeting, Nothing};
        let awaits = |payload: &str, event: Option<&str>, is_reply_read| {
            Call {
                agent: String::new(),
                event: event.map(str::to_owned),
                payload: payload.as_bytes().to_vec(),
                truncated: false,
                at: SystemTime::UNIX_EPOCH,
                is_reply_read,
            }
            .awaits()
        };
        assert_eq!(
            awaits(r#"{"hook_event_name":"Stop"}"#, None, true),
            Decision
        );
        assert_eq!(awaits("", Some("AfterAgent"), true), Decision);
        assert_eq!(awaits("", Some("agentStop"), true), Decision);
        assert_eq!(
            awaits(r#"{"hook_event_name":"post_agent"}"#, None, true),
            Decision
        );
        assert_eq!(awaits("{}", Some("SessionStart"), true), Greeting);
        assert_eq!(awaits("{}", Some("BeforeTool"), true), ToolCall);
        assert_eq!(awaits("{}", Some("SubagentStop"), true), ToolCall);
        assert_eq!(awaits("{}", Some("SubagentStart"), true), Nothing);
        assert_eq!(
            awaits(r#"{"hook_event_name":"PostToolUse"}"#, Some("Stop"), true),
            Nothing
        );
        assert_eq!(awaits("{}", Some("Stop"), false), Nothing);
        assert_eq!(awaits("{}", None, true), Nothing);
    }
}
