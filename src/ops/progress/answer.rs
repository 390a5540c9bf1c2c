//! Answers to requests about progress documents.

use std::path::PathBuf;

use actors::progress::{Checked, Rebuilt, Written};
use checkpoint::progress::{CheckResult, Document};
use journal::{ProgressKind, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Written(WrittenView),
    Shown(Box<Shown>),
    Checked(CheckedView),
    Rebuilt(Rebuilt),
}

/// The answer to `write`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WrittenView {
    pub(crate) seq: u64,
    pub(crate) session: String,
    pub(crate) native_session: String,
    pub(crate) agent: String,
    pub(crate) project: String,
    #[serde(rename = "type")]
    pub(crate) kind: ProgressKind,
    pub(crate) at: Timestamp,
    pub(crate) file: PathBuf,
    /// Other hints for a person.
    pub(crate) notes: Vec<String>,
}

impl From<Written> for WrittenView {
    fn from(written: Written) -> Self {
        let document = written.document;
        Self {
            seq: written.seq,
            session: document.session,
            native_session: document.native_session,
            agent: document.agent,
            project: document.project,
            kind: document.kind,
            at: document.at,
            file: written.file,
            notes: written.notes,
        }
    }
}

/// The answer to `show`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) seq: u64,
    pub(crate) file: String,
    pub(crate) markdown: String,
    pub(crate) document: Document,
}

/// The answer to `validate`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckedView {
    pub(crate) seq: u64,
    pub(crate) holds: bool,
    pub(crate) lines: Vec<CheckResult>,
}

impl From<Checked> for CheckedView {
    fn from(checked: Checked) -> Self {
        Self {
            seq: checked.document,
            holds: checked.report.holds,
            lines: checked.report.lines,
        }
    }
}
