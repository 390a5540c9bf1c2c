//! Where a fleet's broker is, and what this machine sends to it.

use serde::{Serialize, Serializer};

use super::endpoint::is_host_and_port;
use super::text::{from_text, or_word};

journal::words! {
    /// How much of each event a machine sends, from less to more.
    #[derive(PartialOrd, Ord)]
    pub enum FleetLevel {
        /// Decisions and deliveries, without texts, commands and paths.
        Decisions = "decisions",
        /// All events, without texts, commands and paths.
        Skeleton = "skeleton",
        /// Everything, with prompts and payloads.
        All = "all",
    }
}

/// The addresses of a broker's servers, separated by commas: `tls://HOST:PORT`, or on this machine `nats://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers(String);

from_text!(Servers, "servers", |text: String| Self::check(&text)
    .map(|()| Self(text)));

impl Servers {
    /// The longest list in bytes.
    pub const BYTES_MAX: usize = 1_000;

    /// Returns the addresses.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn check(text: &str) -> Result<(), String> {
        let form = "expected `none`, or servers such as `tls://broker-1:4222,tls://broker-2:4222`";
        if text.len() > Self::BYTES_MAX {
            return Err(form.into());
        }
        for server in text.split(',') {
            let (scheme, place) = server.trim().split_once("://").ok_or(form)?;
            let (host, _) = place.rsplit_once(':').ok_or(form)?;
            let is_here = ["localhost", "127.0.0.1", "[::1]"].contains(&host);
            match scheme {
                _ if !is_host_and_port(place) => return Err(form.into()),
                "tls" => {}
                "nats" if is_here => {}
                "nats" => {
                    return Err(format!(
                        "`nats://` is not encrypted, so it is for this machine only: write `tls://{place}`"
                    ));
                }
                _ => return Err(form.into()),
            }
        }
        Ok(())
    }
}

/// The servers of a broker, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaybeServers(pub Option<Servers>);

or_word!(
    MaybeServers,
    Servers,
    "none",
    "servers such as `tls://broker-1:4222`, or `none`"
);

/// The name of a machine, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaybeName(pub Option<String>);

impl Serialize for MaybeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_deref().unwrap_or("none"))
    }
}

from_text!(
    MaybeName,
    "a name such as `laptop-7`, or `none`",
    |text: String| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=40).contains(&text.len()) || !text.bytes().all(plain) {
            return Err(format!(
                "`{text}` is no name of a machine: use 1 to 40 lower-case letters, digits and `-`"
            ));
        }
        Ok(Self((text != "none").then_some(text)))
    }
);

#[cfg(test)]
mod tests {
    use super::Servers;

    #[test]
    fn only_this_machine_is_spoken_to_without_encryption() {
        for right in [
            "tls://broker-1:4222",
            "tls://a.lan:4222, tls://[::1]:4223",
            "nats://127.0.0.1:4222,nats://localhost:4223",
        ] {
            assert_eq!(Servers::check(right), Ok(()), "{right}");
        }
        let refused = Servers::check("nats://broker-1:4222").expect_err("not encrypted");
        assert!(refused.contains("not encrypted"), "{refused}");
        for wrong in [
            "",
            "broker-1:4222",
            "tls://broker-1",
            "tls://:4222",
            "tls://a:0",
            "tls://me:secret@a:4222",
            "tls://a:4222,",
            "tls://a:4222\r\nPUB x:1",
            "ws://a:4222",
        ] {
            assert!(Servers::check(wrong).is_err(), "{wrong}");
        }
    }
}
