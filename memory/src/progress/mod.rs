//! Progress documents (spec PROG-1): the state of a session's work at one moment, so that a later
//! session can continue it.
//!
//! Facts come from the journal and git, judgments from the agent, and the two are kept apart. A
//! document is data; the Markdown file is rendered from it, so that the file can always be rebuilt
//! from the journal.

mod difference;
mod document;
mod facts;
mod headings;
mod input;
mod lines;
mod lists;
mod markdown;
mod offer;
mod render;
mod report;
mod sections;
mod stated;
#[cfg(test)]
mod tests;
mod values;

pub use difference::difference;
pub use document::{DOCUMENT_VERSION, Document, GitState, OpenPhase, OtherFile, Parent};
pub use facts::{Facts, Failed, FileWork, Worked, facts};
pub use input::{INPUT_BYTES_MAX, read};
pub use offer::{OFFER_BYTES_MAX, offer};
pub use render::{render, render_whole};
pub use report::{CheckResult, Elsewhere, Now, Report, compare};
pub use stated::{Judgments, PHASES, STATUSES, Stated};
pub use values::{Decision, FileNote, Percent, Pointer, Texts};
