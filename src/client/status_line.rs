//! `checkpointd statusline`: one line for a status bar. It is part of the hook client because status bars ask as often as
//! agents call hooks, and must wait no longer (spec TURN-15).

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use journal::home::Home;
use rustix::buffer::spare_capacity;
use rustix::event::PollFlags;
use rustix::io::Errno;
use serde::Deserialize;

use super::debug::debug;
use super::exchange::{self, Answer, is_ready};

/// The longest wait in total, unless the environment sets another.
pub(super) const WAIT: Duration = Duration::from_millis(50);
/// The longest wait for the status bar's own words: tmux opens the input and never writes to it.
const INPUT_WAIT: Duration = Duration::from_millis(15);
/// More than any status bar says.
const INPUT_BYTES_MAX: usize = 256 * 1024;
const READ_BYTES: usize = 8 * 1024;

/// The line if no daemon runs.
const NO_DAEMON: &str = "cp: no daemon";

/// The subject of the line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    of: Vec<(&'static str, String)>,
    is_all: bool,
    is_json: bool,
}

impl Request {
    /// Reads the arguments; `None` if one of them is unknown.
    pub(super) fn read(arguments: &[OsString]) -> Option<Self> {
        let mut wanted = Self::default();
        let mut arguments = arguments.iter().map(|argument| argument.to_str());
        while let Some(argument) = arguments.next() {
            let argument = argument?;
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument, None),
            };
            let name = match (name, value) {
                ("--json", None) => {
                    wanted.is_json = true;
                    continue;
                }
                ("--all", None) => {
                    wanted.is_all = true;
                    continue;
                }
                ("--session", _) => "session",
                ("--pane", _) => "pane",
                ("--project", _) => "project",
                _ => return None,
            };
            let value = match value {
                Some(value) => value,
                None => arguments.next()??,
            };
            wanted.of.push((name, value.to_owned()));
        }
        (wanted.of.len() + usize::from(wanted.is_all) <= 1).then_some(wanted)
    }

    /// Returns the line, or the whole answer as JSON.
    pub(super) fn line(mut self, wait: Duration) -> Option<Vec<u8>> {
        let deadline = Instant::now() + wait;
        if self.of.is_empty()
            && !self.is_all
            && let Some(session) = session_of_input(deadline.min(Instant::now() + INPUT_WAIT))
        {
            self.of.push(("session", session));
        }
        let home = Home::from_env()?;
        let answer = exchange::send(&home.socket, self.request().as_bytes(), deadline);
        let body = match answer {
            Answer::Taken(body) => body,
            Answer::NoDaemon => nothing(NO_DAEMON),
            other => {
                debug(&format_args!("no line: {other:?}"));
                nothing("")
            }
        };
        let mut out = if self.is_json {
            body
        } else {
            let shown: Shown = serde_json::from_slice(&body).ok()?;
            shown.text.into_bytes()
        };
        if !out.is_empty() {
            out.push(b'\n');
        }
        Some(out)
    }

    fn request(&self) -> String {
        let mut request = "GET /v1/status-line".to_owned();
        let mut sign = '?';
        let mut add = |name: &str, value: &str| {
            let _ = write!(request, "{sign}{name}=");
            sign = '&';
            for byte in value.bytes() {
                let _ = write!(request, "%{byte:02X}");
            }
        };
        for (name, value) in &self.of {
            match *name {
                "project" => {
                    let folder = std::path::absolute(value).ok();
                    let folder = folder.and_then(|folder| folder.to_str().map(str::to_owned));
                    add(name, folder.as_ref().unwrap_or(value));
                }
                "pane" => {
                    add(name, value);
                    if let Ok(tmux) = std::env::var("TMUX") {
                        add("tmux", &tmux);
                    }
                }
                _ => add(name, value),
            }
        }
        request.push_str(" HTTP/1.1\r\nHost: checkpointd\r\nConnection: close\r\n\r\n");
        request
    }
}

/// Returns the answer that the daemon did not give.
fn nothing(text: &str) -> Vec<u8> {
    format!(r#"{{"text":"{text}","session":null,"sessions":null}}"#).into_bytes()
}

#[derive(Deserialize)]
struct Shown {
    text: String,
}

/// What Claude Code tells the command of its status line.
#[derive(Deserialize)]
struct Told {
    session_id: String,
}

/// Returns the session that standard input names, if a status bar says something there.
fn session_of_input(deadline: Instant) -> Option<String> {
    let stdin = rustix::stdio::stdin();
    if stdin.is_terminal() {
        return None;
    }
    let mut bytes = Vec::with_capacity(READ_BYTES);
    while bytes.len() < INPUT_BYTES_MAX && is_ready(stdin, PollFlags::IN, deadline) {
        bytes.reserve(READ_BYTES);
        match rustix::io::read(stdin, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
        // A host that leaves the input open is not waited for.
        if bytes.trim_ascii_end().ends_with(b"}")
            && let Ok(told) = serde_json::from_slice::<Told>(&bytes)
        {
            return Some(told.session_id);
        }
    }
    let told: Option<Told> = serde_json::from_slice(&bytes).ok();
    told.map(|told| told.session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Option<Request> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        Request::read(&arguments)
    }

    #[test]
    fn one_thing_is_asked_about_and_unknown_arguments_are_left_to_others() {
        let pane = read(&["--pane", "%3", "--json"]).expect("known");
        assert_eq!(pane.of, [("pane", "%3".to_owned())]);
        assert!(pane.is_json);
        assert_eq!(read(&["--pane=%3", "--json"]), Some(pane));
        assert!(read(&[]).is_some() && read(&["--all"]).is_some());
        for odd in [
            &["--help"][..],
            &["--pane"],
            &["--all=1"],
            &["--all", "--pane", "%1"],
            &["--session", "a", "--project", "/b"],
            &["word"],
        ] {
            assert_eq!(read(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn whatever_a_name_holds_stays_in_its_parameter() {
        let wanted = read(&["--session", "a b&c\r\nX: y/%ä"]).expect("known");
        let request = wanted.request();
        assert!(
            request.starts_with(
                "GET /v1/status-line?session=%61%20%62%26%63%0D%0A%58%3A%20%79%2F%25%C3%A4 HTTP/1.1\r\n"
            ),
            "{request}"
        );
    }
}
