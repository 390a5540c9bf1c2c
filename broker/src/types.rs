//! What goes between the two programs.

use serde::{Deserialize, Serialize};

use crate::Source;

/// What a run says of where it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Its last event's number.
    pub last: u64,
    /// Its hash.
    pub chain: String,
    /// A hash of the machine's history up to there that only the machine can make.
    pub proof: String,
}

/// The last message of a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Its number in the stream.
    pub sequence: u64,
    /// What it says; `None` if it is no run.
    pub marks: Option<Marks>,
}

/// What a collector has of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// The last event.
    pub last: u64,
    /// The hash of the run that ends there.
    pub chain: String,
    /// The machine's proof for it; empty if it is not known.
    pub proof: String,
    /// When the collector asked to be sent again what follows; 0 if it did not.
    pub ask: u64,
    /// The last event that it knows to be missing; 0 if it knows of none.
    pub missing: u64,
}

/// A run as it came.
#[derive(Debug, Serialize, Deserialize)]
pub struct Received {
    /// Which journal the server says that it is from; `None` if the subject or the message is not right.
    pub source: Option<Source>,
    /// Its number in the stream.
    pub sequence: u64,
    /// What it says of where it ends.
    pub marks: Option<Marks>,
    /// Its lines, packed.
    pub body: Vec<u8>,
}

/// Runs as the stream has them, oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    /// The runs.
    pub runs: Vec<Received>,
    /// The number to read from next.
    pub next: u64,
    /// How many runs the stream has after these.
    pub behind: u64,
}

/// What the stream of runs says of itself.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Look {
    /// The number of its first run.
    pub first: u64,
    /// The number of its last run, which may be removed; 0 if there never was one.
    pub last: u64,
    /// Whether most of its space is taken.
    pub is_nearly_full: bool,
    /// What is not as it should be, one line each: replicas that are missing, away or behind, and limits.
    pub notes: Vec<String>,
}

/// A certificate authority, in PEM.
#[derive(Clone, Serialize, Deserialize)]
pub struct Authority {
    /// Its certificate.
    pub certificate: String,
    /// Its key. A program that has the key can act as every machine.
    pub key: String,
}

/// A certificate that an authority issued.
#[derive(Serialize, Deserialize)]
pub struct Issued {
    /// The certificate, in PEM.
    pub certificate: String,
    /// Its key, in PEM.
    pub key: String,
    /// The last day on which it holds, such as `2027-12-26`.
    pub until: String,
}

/// What a client shows to the broker.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Credentials {
    /// Nothing: for a broker on this machine only.
    #[default]
    None,
    /// A user and a password.
    Password(String, String),
    /// In PEM: a key, its certificate, then that of the authority of the fleet's servers.
    Certificate(String),
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Password(..) => "Password",
            Self::Certificate(_) => "Certificate",
        })
    }
}

impl Credentials {
    /// Reads the text of a file: PEM, or one line `user:password`. What is in the PEM is checked by [`crate::check`].
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.contains("-----BEGIN ") {
            return Ok(Self::Certificate(text.to_owned()));
        }
        match text.trim().split_once(':') {
            Some((user, password)) if !user.is_empty() && !text.trim().contains('\n') => {
                Ok(Self::Password(user.to_owned(), password.to_owned()))
            }
            _ => Err("it is neither PEM nor one line `user:password`".into()),
        }
    }
}
