//! Requests and answers as bytes. Each has its length before it, in four bytes.
//!
//! Both programs come with one release, so the form needs no version.

use std::time::Duration;

use bincode::config::standard;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Authority, Credentials, Head, Marks, Problem, Result, Source};

/// The largest request or answer: one request for messages brings at most 16 MB.
const BYTES_MAX: u32 = 64 << 20;

/// What `checkpointd-fleet` is asked. The type of each answer is that of the function of [`crate::Broker`].
#[derive(Serialize, Deserialize)]
#[expect(missing_docs, reason = "they are the functions of `Broker`")]
pub enum Ask {
    Check(Credentials),
    NewAuthority,
    Issue(Authority, Vec<String>),
    Connect {
        servers: String,
        name: String,
        credentials: Credentials,
    },
    Prepare(i64),
    Sources,
    Look,
    Purge {
        machine: String,
        journal: Option<String>,
    },
    FirstSince(String),
    PurgeBefore(Source, u64),
    Read {
        from: u64,
        of: Option<Source>,
        within: Duration,
    },
    LastRun(Source),
    Head(Source),
    Publish {
        source: Source,
        expected: u64,
        marks: Marks,
        body: Vec<u8>,
    },
    SayHead(Source, Head),
}

/// Returns a request or an answer as bytes, with its length.
pub fn frame(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bincode::serde::encode_into_std_write(value, &mut bytes, standard())
        .expect("memory takes plain data");
    let length = u32::try_from(bytes.len() - 4).expect("it is far smaller");
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// Returns how many bytes follow a length.
///
/// # Errors
///
/// [`Problem::Later`] if they are too many.
pub fn length(bytes: [u8; 4]) -> Result<usize> {
    let length = u32::from_le_bytes(bytes);
    if length > BYTES_MAX {
        return Err(Problem::Later(format!("an answer of {length} bytes")));
    }
    Ok(length as usize)
}

/// Reads what follows a length.
///
/// # Errors
///
/// [`Problem::Later`] if it has another form.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let read = bincode::serde::decode_from_slice(bytes, standard());
    read.map(|(value, _)| value)
        .map_err(|error| Problem::Later(format!("an answer of another form: {error}")))
}
