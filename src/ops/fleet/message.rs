//! Runs as messages: the lines of an export, compressed, and no larger than the broker takes.

use std::io::Read as _;

use journal::{Journal, Payload};

use super::levels::Level;
use super::problem::{Result, refuse};
use super::send::{Cut, Sender};

/// Lines of more bytes than this begin another run.
const RUN_BYTES: usize = 128 * 1024;
/// The largest body of a message.
const BODY_BYTES_MAX: usize = 240 * 1024;
/// The largest run, unpacked. A run that is larger was not made by this program.
const PLAIN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How hard zstd tries; its fastest.
const LEVEL: i32 = 1;
/// The memory that a message may ask for, as a power of two.
const WINDOW_LOG_MAX: u32 = 23;

/// A run that can be sent.
pub(crate) struct Outgoing {
    /// The last event of the run.
    pub(crate) last: u64,
    pub(crate) chain: String,
    pub(crate) body: Vec<u8>,
}

/// How much of the next events goes into one message. Each is tried if the one before is too large.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Many,
    One,
    WithoutPayload,
    OnlyItsNumber,
}

/// Returns the run after the event `last`, whose run has the chain `previous`; `None` if there is no later event up to
/// `through`. An event that is too large for a message goes without its payload, and at last only by its number.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn next_run(
    journal: &Journal,
    (level, machine): (Level, &str),
    (last, previous): (u64, &str),
    through: u64,
) -> journal::Result<Option<Outgoing>> {
    let identity = journal.identity()?;
    let mut smallest = None;
    for fit in [Fit::Many, Fit::One, Fit::WithoutPayload, Fit::OnlyItsNumber] {
        let cut = Cut {
            identity: &identity,
            level,
        };
        let mut sender = Sender::after(cut, machine, last, previous);
        let mut lines = Vec::new();
        let mut seq = last;
        let is_done = |seq, sender: &Sender<'_>| {
            seq >= through || sender.bytes() >= RUN_BYTES || (fit != Fit::Many && seq > last)
        };
        while lines.is_empty() && !is_done(seq, &sender) {
            let Some(envelope) = journal.event(seq + 1)? else {
                break;
            };
            seq += 1;
            let payload = match (level, fit) {
                (Level::All, Fit::Many | Fit::One) => journal.kept_payload(seq)?,
                (Level::All, Fit::WithoutPayload) => Payload::Dropped,
                _ => Payload::None,
            };
            if fit == Fit::OnlyItsNumber {
                sender.withhold(&envelope);
            } else {
                lines = sender.take(&envelope, &payload).unwrap_or_default();
            }
        }
        if seq == last {
            return Ok(None);
        }
        if lines.is_empty() {
            lines = sender.run();
        }
        let run = Outgoing {
            last: seq,
            chain: sender.previous().to_owned(),
            body: pack(&lines),
        };
        if run.body.len() <= BODY_BYTES_MAX {
            return Ok(Some(run));
        }
        smallest = Some(run);
    }
    Ok(smallest)
}

fn pack(lines: &[String]) -> Vec<u8> {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    zstd::bulk::compress(text.as_bytes(), LEVEL).expect("there is memory for it")
}

pub(super) fn unpack(body: &[u8]) -> Result<String> {
    let mut text = String::new();
    let read = zstd::Decoder::with_buffer(body).and_then(|mut packed| {
        packed.window_log_max(WINDOW_LOG_MAX)?;
        packed.take(PLAIN_BYTES_MAX).read_to_string(&mut text)
    });
    read.map_err(|error| refuse(format!("the message cannot be unpacked: {error}")))?;
    if text.len() as u64 == PLAIN_BYTES_MAX {
        return Err(refuse("the message is too large"));
    }
    Ok(text)
}
