//! The document: facts from the journal and git, and what the agent stated.

use journal::{ChangedFile, ProgressKind, Timestamp};
use serde::{Deserialize, Serialize};

use super::facts::{Facts, FileWork};
use super::stated::Stated;
use super::values::Percent;

/// Version of the document format. Fields are only added, with a default. A document is always rendered as its version
/// was, so that its file stays the same bytes (spec PROG-1).
///
/// - 1: first release.
/// - 2: has `others`; what steers a terminal is escaped, and a failure's words follow its outcome.
/// - 3: `others` has committed changes and leaves out earlier ones; columns without content are left out.
pub const DOCUMENT_VERSION: u32 = 4;

/// What git says of the work tree (spec PROG-14).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GitState {
    /// The top of the work tree.
    pub top: String,
    /// The branch; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The last commit's full hash; `None` before the first commit.
    pub commit: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// Files that differ from it, with git's two letters, in order.
    pub uncommitted: Vec<(String, String)>,
    /// Commits that the remote does not have; `None` without an upstream branch.
    pub ahead: Option<u32>,
    /// Commits that only the remote has.
    pub behind: Option<u32>,
}

/// A file that no tool call of the session is known to have changed: the shell, another program, or a person did, or the
/// agent only states it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherFile {
    /// The path, relative to the project.
    pub path: String,
    /// By git: `created`, `modified` or `deleted`; `stated` when git says nothing of it.
    pub status: String,
    /// Hash of the content; `None` when it does not exist.
    pub hash: Option<u64>,
    /// It was committed since the session began.
    #[serde(default)]
    pub committed: bool,
    /// It was uncommitted before the session began, and was not touched since.
    #[serde(default)]
    pub before: bool,
    /// It is not the same in the document that an incremental one builds on.
    #[serde(default)]
    pub fresh: bool,
}

/// The full document that an incremental one builds on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Sequence number of its event.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// Tool calls by then.
    pub tools: u64,
    /// Failed tool calls by then.
    pub failed: u64,
    /// The decisions that were stated by then.
    pub decisions: Vec<String>,
}

/// The open work phase by the session's phase records (spec PHASE-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPhase {
    /// Its name.
    pub name: String,
    /// 1 to 7.
    pub number: u8,
    /// The id of the phase record.
    pub checkpoint: String,
    /// Its summary.
    pub summary: String,
}

/// A progress document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// [`DOCUMENT_VERSION`].
    pub version: u32,
    /// Its type.
    pub kind: ProgressKind,
    /// The cause, one word: `command`, `interval`, `compaction`, `subagent_start`, `subagent_stop`,
    /// `error`, `session_end`, `phase`.
    pub cause: String,
    /// When it was written.
    pub at: Timestamp,
    /// The session's id.
    pub session: String,
    /// The agent's own id of it.
    pub native_session: String,
    /// The agent's name in JSON.
    pub agent: String,
    /// The project's folder.
    pub project: String,
    /// What the journal knows of the session.
    pub facts: Facts,
    /// Uncommitted and stated files that are not in the facts.
    #[serde(default)]
    pub others: Vec<OtherFile>,
    /// The state of git, or the reason why it is not known.
    pub git: Result<GitState, String>,
    /// Lock files of the project's dependencies, with the hashes of what they hold.
    pub lock_files: Vec<ChangedFile>,
    /// The open work phase.
    pub open_phase: Option<OpenPhase>,
    /// The document that an incremental one builds on.
    pub parent: Option<Parent>,
    /// What the agent stated.
    #[serde(default)]
    pub stated: Stated,
}

impl Document {
    /// Returns the document as it is journaled.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a document is plain data")
    }

    /// Reads a journaled document.
    ///
    /// # Errors
    ///
    /// Returns an error when the text is damaged or of a newer version.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("the document cannot be read: {error}"))
    }

    /// Returns whether its words are escaped and kept apart: not so in the first release.
    pub(super) fn is_escaped(&self) -> bool {
        self.version >= 2
    }

    /// Returns whether columns without content are left out: not so before version 3.
    pub(super) fn is_terse(&self) -> bool {
        self.version >= 3
    }

    /// Returns whether names are code: not so before version 4.
    pub(super) fn has_spans(&self) -> bool {
        self.version >= 4
    }

    /// Returns the files that changed in the session without a tool call that is known to have changed them.
    pub(super) fn others_of_session(&self) -> impl Iterator<Item = &OtherFile> {
        self.others.iter().filter(|file| !file.before)
    }

    /// Returns whether unfinished work is known: stated remaining work, a handoff, or uncommitted
    /// changes.
    pub fn has_more(&self) -> bool {
        let now = &self.stated.now;
        if now.status.as_deref() == Some("complete") || now.completion == Some(Percent(100)) {
            return false;
        }
        let lists = [&now.remaining, &now.blockers, &now.recovery];
        let is_stated =
            lists.into_iter().flatten().any(|list| !list.0.is_empty()) || now.next_action.is_some();
        let is_asked = matches!(self.kind, ProgressKind::Handoff | ProgressKind::Manual);
        let dirty = |git: &GitState| {
            let is_dirty =
                |file: &FileWork| git.uncommitted.iter().any(|(_, path)| *path == file.path);
            self.facts.files.iter().any(is_dirty)
                || (self.is_terse()
                    && self
                        .others_of_session()
                        .any(|file| !file.committed && file.status != "stated"))
        };
        is_stated
            || is_asked
            || self.open_phase.is_some()
            || self.git.as_ref().is_ok_and(dirty)
            || (self.git.is_err() && !self.facts.files.is_empty())
            || self
                .facts
                .failures
                .iter()
                .any(|failed| failed.resolved.is_none())
    }
}
