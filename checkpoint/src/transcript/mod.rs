//! Transcript text in, facts out: what the agent did in its current turn, and who spoke last.
//!
//! Facts are of the current turn, from the transcript's end (`read`), or of all turns, from its beginning (`turns.rs`).
//!
//! Three layers. `tail.rs` gives whole lines, last one first. Each agent's `transcript.rs` (see [`crate::agents`]) turns
//! its records into the common `normal::Entry`; no other code knows their formats. `normal.rs` and `join.rs` read facts
//! from the entries alone. Lines that are broken or unknown are skipped; nothing here fails or panics, whatever the
//! bytes.
//!
//! A turn begins at a real user message. Tool results, hook feedback, reminders, summaries, subagents' lines and this
//! product's own text begin none. If the beginning lies before the tail, all of the tail belongs to the turn.

pub(crate) mod facts;
pub(crate) mod forward;
mod join;
pub(crate) mod json;
pub(crate) mod normal;
pub(crate) mod outputs;
pub(crate) mod tail;
pub mod turns;

use journal::Agent;

use crate::agents;
use crate::redact::Redactor;

pub use facts::{Facts, UserText};
pub use join::{Joined, join};

/// How much of a transcript's end is read.
pub const TAIL_BYTES: usize = 512 * 1024;

/// Reads the end of an agent's transcript; none if nothing in it has that agent's format.
///
/// `from_start` says that `bytes` begin where the file begins; otherwise a first line that may be torn is left out.
/// Gemini's older format, one JSON document, can only be read whole. `prefix` is the canonical prefix of this product's
/// own text. Secrets that `redactor` knows are removed before anything is cut to its limit.
pub fn read(
    agent: Agent,
    bytes: &[u8],
    from_start: bool,
    prefix: &str,
    redactor: &Redactor,
) -> Option<Facts> {
    let text = String::from_utf8_lossy(bytes);
    let tail = tail::Tail {
        text: &text,
        from_start,
        all_turns: false,
    };
    let mut facts = agents::adapter(agent)?.transcript(tail, &agents::authors(prefix))?;
    facts.redact(redactor);
    facts.bound();
    Some(facts)
}

/// Reads the calls and prompts of all turns in a part of an agent's transcript that holds whole lines, or all of it;
/// none if nothing in it has that agent's format. Nothing is redacted or cut.
pub fn read_all(agent: Agent, bytes: &[u8], prefix: &str) -> Option<Facts> {
    let text = String::from_utf8_lossy(bytes);
    let tail = tail::Tail {
        text: &text,
        from_start: true,
        all_turns: true,
    };
    agents::adapter(agent)?.transcript(tail, &agents::authors(prefix))
}

#[cfg(test)]
pub(crate) mod tests;
