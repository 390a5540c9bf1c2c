//! The HTTP/1.1 request that carries a hook call from the client to the daemon: over the socket, or with the same bytes in
//! a spool frame. The client writes it; the daemon reads it from the spool.
//!
//! ```text
//! POST /v1/hooks/claude HTTP/1.1
//! Host: checkpointd
//! Content-Type: application/json
//! Checkpointd-Event: Stop            (only if the payload does not name it)
//! Checkpointd-Id: <uuid>
//! Checkpointd-At: <RFC 3339, UTC>
//! Checkpointd-Env: {"TMUX":"..",..}
//! Checkpointd-Client: 0.1.0
//! Checkpointd-Truncated: 1           (only if stdin was truncated)
//! Content-Length: <bytes>
//!
//! <payload as the host sent it>
//! ```

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::{Agent, Timestamp};

/// Header: name of the event, if the payload has none.
pub const EVENT: &str = "Checkpointd-Event";
/// Header: UUID of the call.
pub const ID: &str = "Checkpointd-Id";
/// Header: time of the call.
pub const AT: &str = "Checkpointd-At";
/// Header: hook-relevant environment variables, a JSON object of strings.
pub const ENV: &str = "Checkpointd-Env";
/// Header: version of the client.
pub const CLIENT: &str = "Checkpointd-Client";
/// Header: set if the client did not read all of stdin.
pub const TRUNCATED: &str = "Checkpointd-Truncated";

/// The general environment variables that a hook call passes on, before those of agents and after them.
const GENERAL: [&[&str]; 2] = [
    &["TMUX", "TMUX_PANE", "TMPDIR"],
    &[
        "CHECKPOINTD_TTY",
        "CHECKPOINTD_WORKING_SLUG",
        "CHECKPOINTD_LISTENER",
        "CHECKPOINTD_TERMINAL_PID",
        "CI",
    ],
];

/// The environment variables that a hook call passes on. None of them holds a secret.
pub static ENV_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| [GENERAL[0], Agent::VARIABLES, GENERAL[1]].concat());

/// A hook call without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// Name of the agent, as on the command line.
    pub agent: &'a str,
    /// Name of the event, if given on the command line.
    pub event: Option<&'a str>,
    /// UUID of the call, hyphenated.
    pub id: &'a str,
    /// When the hook was called.
    pub at: SystemTime,
    /// Hook-relevant environment variables.
    pub env: &'a [(&'a str, String)],
    /// Whether stdin was truncated.
    pub truncated: bool,
}

impl Head<'_> {
    /// Returns the head of the request for a payload of `length` bytes.
    pub fn to_bytes(&self, length: usize) -> Vec<u8> {
        let mut out = String::with_capacity(512);
        let agent = token(self.agent);
        let _ = write!(
            out,
            "POST /v1/hooks/{agent} HTTP/1.1\r\nHost: checkpointd\r\nContent-Type: application/json\r\n"
        );
        if let Some(event) = self.event {
            let _ = write!(out, "{EVENT}: {}\r\n", token(event));
        }
        let _ = write!(
            out,
            "{ID}: {}\r\n{AT}: {}\r\n{CLIENT}: {}\r\n",
            self.id,
            Timestamp::from(self.at),
            env!("CARGO_PKG_VERSION")
        );
        if !self.env.is_empty() {
            let env = self.env.iter();
            let env: Map<_, _> = env
                .map(|(name, value)| ((*name).to_owned(), value.as_str().into()))
                .collect();
            let _ = write!(out, "{ENV}: ");
            push_ascii(&mut out, &Value::from(env).to_string());
            out.push_str("\r\n");
        }
        if self.truncated {
            let _ = write!(out, "{TRUNCATED}: 1\r\n");
        }
        let _ = write!(out, "Content-Length: {length}\r\n\r\n");
        out.into_bytes()
    }
}

/// Replaces characters that are unsafe in a URL or a header by `_`.
fn token(word: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    word.chars().take(64).map(safe).collect()
}

/// Writes JSON in ASCII, for use in a header.
fn push_ascii(out: &mut String, json: &str) {
    for c in json.chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
}

/// A parsed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// Name of the agent, from the path.
    pub agent: &'a str,
    /// Headers in their order.
    pub headers: Vec<(&'a str, &'a str)>,
    /// The payload.
    pub body: &'a [u8],
}

impl<'a> Received<'a> {
    /// Parses a request whose head [`Head::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a request.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let split = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let split = split.ok_or("the head of the request is incomplete")?;
        let head = std::str::from_utf8(&bytes[..split]);
        let head = head.map_err(|_| "the head of the request is not UTF-8")?;
        let mut lines = head.split("\r\n");
        let agent = lines
            .next()
            .unwrap_or_default()
            .strip_prefix("POST /v1/hooks/");
        let agent = agent.and_then(|rest| rest.strip_suffix(" HTTP/1.1"));
        let agent = agent.ok_or("not a hook request")?;
        let headers = lines.filter_map(|line| line.split_once(": ")).collect();
        Ok(Self {
            agent,
            headers,
            body: &bytes[split + 4..],
        })
    }

    /// Returns the value of a header; ignores the case of its name.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(*value)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        let env = [("TMUX", "/tmp/tmux \"1\",\\ü\n".to_owned())];
        let at = UNIX_EPOCH + Duration::from_micros(1_795_295_936_177_105);
        let head = Head {
            agent: "claude",
            event: Some("Stop"),
            id: "01a1fffa-28d2-7052-8d5e-d33d1a413d46",
            at,
            env: &env,
            truncated: true,
        };
        let mut bytes = head.to_bytes(2);
        bytes.extend_from_slice(b"{}");
        let read = Received::parse(&bytes).expect("whole");
        assert_eq!((read.agent, read.body), ("claude", &b"{}"[..]));
        assert_eq!(read.header("checkpointd-event"), Some("Stop"));
        assert_eq!(read.header(AT), Some("2026-11-21T21:18:56.177105Z"));
        assert_eq!(
            read.header(ENV),
            Some(r#"{"TMUX":"/tmp/tmux \"1\",\\\u00fc\n"}"#)
        );
        assert_eq!(read.header(TRUNCATED), Some("1"));
        assert_eq!(read.header("content-length"), Some("2"));
    }

    #[test]
    fn a_hostile_agent_name_cannot_add_headers() {
        let head = Head {
            agent: "a/../b\r\nX: y",
            event: None,
            id: "i",
            at: UNIX_EPOCH,
            env: &[],
            truncated: false,
        };
        let text = String::from_utf8(head.to_bytes(0)).expect("text");
        assert!(
            text.starts_with("POST /v1/hooks/a_.._b__X__y HTTP/1.1\r\n"),
            "{text}"
        );
    }
}
