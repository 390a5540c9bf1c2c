//! Transcript text in, facts out: what the agent did in its current turn, and who spoke last.
//!
//! Facts are of the current turn, from the transcript's end (`read`), or of all turns, from its beginning (`turns.rs`).
//!
//! Three layers. `tail.rs` gives whole lines, last one first. Each agent's `transcript.rs` (see `rooms/`) turns
//! its records into the common `normal::Entry`; no other code knows their formats. `normal.rs` and `join.rs` read facts
//! from the entries alone. Lines that are broken or unknown are skipped; nothing here fails or panics, whatever the
//! bytes.
//!
//! A turn begins at a real user message. Tool results, hook feedback, reminders, summaries, subagents' lines and this
//! product's own text begin none. If the beginning is before the tail, all of the tail belongs to the turn.

pub(crate) mod backward;
pub(crate) mod facts;
pub(crate) mod forward;
mod join;
pub(crate) mod json;
pub mod normal;
pub(crate) mod outputs;
mod subagents;
pub(crate) mod tail;
pub mod turns;

use journal::Agent;

use crate::rooms;
use redact::Redactor;

pub use facts::Subagent;
pub use facts::{Facts, Said, UserText};
pub use join::{Joined, join};
pub use outputs::TaskEnd;
pub use tail::{Part, ReadBefore};

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
    let mut part = Some(Part::of(bytes, from_start));
    read_back(agent, &mut || part.take(), prefix, redactor)
}

/// Reads an agent's transcript like [`read`], from its end back to where the turn began, or as far as `before` gives parts.
pub fn read_back<'t>(
    agent: Agent,
    before: ReadBefore<'_, 't>,
    prefix: &str,
    redactor: &Redactor,
) -> Option<Facts> {
    let mut facts = facts(agent, before, prefix, false)?;
    facts.redact(redactor);
    facts.bound();
    Some(facts)
}

/// Reads the transcript of a subagent, all of it or as far as `before` gives parts; none if nothing in it has the agent's
/// format.
pub fn read_subagent<'t>(
    agent: Agent,
    before: ReadBefore<'_, 't>,
    prefix: &str,
    redactor: &Redactor,
) -> Option<Facts> {
    let adapter = rooms::adapter(agent)?;
    let parts = tail::Parts::new(before);
    let tail = tail::Tail::new(&parts, true);
    let lines = adapter.subagents?.lines;
    let mut facts = backward::read(tail, &rooms::authors(prefix), adapter.tools, lines)?;
    facts.redact(redactor);
    facts.bound();
    Some(facts)
}

/// Reads the calls and prompts of all turns in a part of an agent's transcript that holds whole lines, or all of it;
/// none if nothing in it has that agent's format. Nothing is redacted or cut.
pub fn read_all(agent: Agent, bytes: &[u8], prefix: &str) -> Option<Facts> {
    let mut part = Some(Part::of(bytes, true));
    facts(agent, &mut || part.take(), prefix, true)
}

fn facts<'t>(
    agent: Agent,
    before: ReadBefore<'_, 't>,
    prefix: &str,
    all_turns: bool,
) -> Option<Facts> {
    let parts = tail::Parts::new(before);
    let tail = tail::Tail::new(&parts, all_turns);
    rooms::adapter(agent)?.transcript(tail, &rooms::authors(prefix))
}

#[cfg(test)]
pub(crate) mod tests;
