//! Facts about a turn that its timeline does not hold.

use serde::{Deserialize, Serialize};

use super::summary::{Summary, SummaryVerdict};
use super::workspace::Workspace;

/// What was read for a decision besides [`crate::Evidence`]: from outputs, from the session before the turn, and from the
/// project's files.
///
/// It is stored as JSON, so a fact that a program does not know is skipped and a missing one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// No changed file was written, deleted or committed since the person's message, by the times of files.
    pub untouched: bool,
    /// Running background tasks after which the agent continues by itself; `None` if the host does not say what they
    /// are.
    pub returning_tasks: Option<u32>,
    /// Files that the turn edits without a read of its own, but whose text the agent had, as the agent wrote their
    /// paths; at most 256.
    pub known_files: Vec<String>,
    /// Folders of the packages that the changed files belong to, relative to the top, which is empty; sorted. Only if
    /// the policy asks for them.
    pub packages: Vec<String>,
    /// What the outputs of the timeline's calls say, in the order of the calls; calls whose output says nothing are left
    /// out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<CallOutcome>,
    /// What the person asked for in this turn, oldest first; each cut to [`crate::Event::TEXT_BYTES_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// What the agent said last, cut to [`crate::Event::TEXT_BYTES_MAX`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_message: String,
    /// Which contents of the changed files the calls ran on, as far as that was recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// What the changed files hold.
    pub files: FileFacts,
    /// What the project's own files say about verifying the changed ones; `None` if they were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Workspace>,
    /// Host and path of the repository that the project is a clone of, if it names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The git directory that all work trees of the project's repository share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_dir: Option<String>,
    /// The command by which work leaves runs in another repository.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub leaves_elsewhere: bool,
}

/// Which contents of the changed files a call ran on. A file that is in neither list is not known, perhaps because the call
/// wrote it, so the order of calls and edits decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// The call's position in the timeline, from 0.
    pub call: usize,
    /// Files that had the content that they have at the stop, apart from comments and layout where the language allows it.
    pub same: Vec<String>,
    /// Files that had another content.
    pub other: Vec<String>,
}

/// Changed files that may ask for less than their names say, by what they hold. Paths are those of
/// [`crate::ChangedFile`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileFacts {
    /// Empty files that the turn made, or found empty.
    pub empty: Vec<String>,
    /// Files whose first lines say that a program wrote them.
    pub generated: Vec<String>,
    /// Files with the same content as before the turn; they were put back, or only their mode changed.
    pub restored: Vec<String>,
    /// Manifests that name the same dependencies as before the turn.
    pub same_dependencies: Vec<String>,
    /// Files of code in which only comments and blank lines differ from what they held before the turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments_only: Vec<String>,
    /// Test files that assert less often than before the turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<String>,
}

impl Facts {
    /// Returns what the output of the call at a position of the timeline says.
    pub fn outcome(&self, call: usize) -> Option<&CallOutcome> {
        self.outcomes.iter().find(|outcome| outcome.call == call)
    }
}

/// What the output of one call says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallOutcome {
    /// The call's position in the timeline, from 0.
    pub call: usize,
    /// What its output reports on. The output of a command in the background is that of the calls that read it later.
    pub summaries: Vec<Summary>,
    /// How a command ended that went on in the background, if a later result says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<SummaryVerdict>,
}

/// Stores a value as a JSON object in formats for people, and as its text in others.
pub mod as_json {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Stores a value.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return value.serialize(serializer);
        }
        let text = serde_json::to_string(value).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }

    /// Reads a value that was stored; an empty text is the default.
    ///
    /// # Errors
    ///
    /// When it is not JSON, or something else.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Box<T>, D::Error>
    where
        T: DeserializeOwned + Default,
        D: Deserializer<'de>,
    {
        if deserializer.is_human_readable() {
            return Box::deserialize(deserializer);
        }
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Box::default());
        }
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}
