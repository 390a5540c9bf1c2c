//! The address of an OpenTelemetry collector.

use serde::Serialize;

use super::text::{from_text, or_word};

/// Returns whether a text is `HOST:PORT`.
pub(super) fn is_host_and_port(text: &str) -> bool {
    let (host, port) = text.rsplit_once(':').unwrap_or_default();
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let number = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match number {
        Some(number) => number.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(is_inner),
    };
    is_host
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// The address of an OTLP/HTTP collector: `http://HOST:PORT`, with an optional path prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Endpoint(String);

impl Endpoint {
    /// The longest endpoint in bytes.
    pub const BYTES_MAX: usize = 300;
    const SCHEME: &str = "http://";

    /// Returns `HOST:PORT`.
    pub fn authority(&self) -> &str {
        self.parts().0
    }

    /// Returns the path prefix: empty, or a path with a leading and without a trailing slash.
    pub fn path(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        let rest = self
            .0
            .strip_prefix(Self::SCHEME)
            .unwrap_or(&self.0)
            .trim_end_matches('/');
        rest.split_at(rest.find('/').unwrap_or(rest.len()))
    }
}

from_text!(
    Endpoint,
    "an address such as `http://localhost:4318`",
    |text: String| {
        if text.starts_with("https://") {
            return Err("only `http://` is supported; a local collector can forward to `https://`");
        }
        let endpoint = Self(text);
        let text = endpoint.0.as_str();
        let is_path = endpoint
            .path()
            .chars()
            .all(|c| c.is_ascii_graphic() && !matches!(c, '?' | '#'));
        if !text.starts_with(Self::SCHEME)
            || text.len() > Self::BYTES_MAX
            || !is_host_and_port(endpoint.authority())
            || !is_path
        {
            return Err("expected `none`, or `http://HOST:PORT` such as `http://localhost:4318`");
        }
        Ok(endpoint)
    }
);

/// The address of a collector, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaybeEndpoint(pub Option<Endpoint>);

or_word!(
    MaybeEndpoint,
    Endpoint,
    "none",
    "an address such as `http://localhost:4318`, or `none`"
);
