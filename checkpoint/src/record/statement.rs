//! What a verification record states.

use journal::Timestamp;
use serde::{Deserialize, Serialize};

use crate::judging::Verified;

/// Type of the statement.
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// Type of the predicate; its schema is `docs/record/v1.schema.json`.
pub const PREDICATE: &str = "https://github.com/checkpointd/checkpointd/record/v1";
/// What a record does not prove.
pub const LIMITS: [&str; 3] = [
    "it says what was recorded on the author's machine, not that this machine told the truth",
    "a file counts as verified by what ran on its content; other files may have been different then",
    "files that are `unknown` were changed where nothing was recorded, or the record does not say",
];

/// How much of the history is in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// No paths, no commands, no sessions.
    Summary,
    /// Paths and commands.
    Commands,
    /// Also why each answer was given and what the checkpoints asked for.
    Full,
}

/// The statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Statement {
    /// Always [`STATEMENT`].
    #[serde(rename = "_type")]
    pub kind: String,
    /// The commit, if there is one, and the tree.
    pub subject: Vec<Subject>,
    /// Always [`PREDICATE`].
    pub predicate_type: String,
    /// What was verified.
    pub predicate: Predicate,
}

/// What a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// `commit` or `tree`.
    pub name: String,
    /// Its object id.
    pub digest: Digest,
}

/// An object id of git, by the kind of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Digest {
    /// Of a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<String>,
    /// Of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_tree: Option<String>,
    /// Of a file's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_blob: Option<String>,
}

/// What was verified. Lists are sorted, and times are those of events, so that equal journals give equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// How much is in it.
    pub level: Level,
    /// The commit that the changes are counted from; none if they begin with nothing.
    pub base: Option<Digest>,
    /// What tells the repository from others.
    pub repository: Home,
    /// How many of each there are.
    pub totals: Totals,
    /// The changed files, sorted by path.
    pub units: Vec<Unit>,
    /// The calls that the answers name, by the time that they were made.
    pub runs: Vec<Run>,
    /// The checkpoints that were sent while these files were changed, in order.
    pub demands: Vec<Demand>,
    /// What kept checkpoints from being sent meanwhile, in order.
    pub switches: Vec<Switch>,
    /// The journal that says so.
    pub journal: Head,
    /// The program that read it.
    pub producer: Producer,
}

/// What tells a repository from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// Host and path of the repository that it is a clone of; not at level `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// Counts of the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Changed files.
    pub units: usize,
    /// Of them verified.
    pub done: usize,
    /// Of them not known.
    pub unknown: usize,
    /// Of them open.
    pub open: usize,
    /// Calls that verify.
    pub runs: usize,
    /// Of them failed.
    pub failed: usize,
    /// Checkpoints sent.
    pub demands: usize,
    /// Of them with everything done.
    pub met: usize,
    /// Of them whose first check failed.
    pub caught: usize,
    /// What was switched off.
    pub switches: usize,
}

/// A changed file with its answer. It may also be one that is gone, or a submodule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Its path; not at level `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the tree holds there: a blob, the commit of a submodule, or nothing.
    pub content: Digest,
    /// What the base holds there, where the tree holds no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Digest>,
    /// Whether it was verified.
    pub answer: Verified,
    /// The row of the answer table.
    pub row: String,
    /// The run that shows it, by its place in the list.
    pub run: Option<usize>,
    /// The decision that judged it.
    pub decision: Option<u64>,
    /// What is doubtful of the run, for people to look at; not at level `summary`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// In words; only at level `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A call that an answer names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// When it was made.
    pub at: Timestamp,
    /// The agent.
    pub agent: String,
    /// The session; not at level `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its command line, shortened and redacted; not at level `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How it ended: `passed`, `failed` or `unknown`.
    pub ended: String,
    /// Tests that passed, as its output says.
    pub passed: Option<u64>,
    /// Tests that failed.
    pub failed: Option<u64>,
    /// Tests that were skipped.
    pub skipped: Option<u64>,
    /// What it ran on, as far as answers name it: sorted object ids.
    pub contents: Vec<String>,
}

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demand {
    /// Number of its decision.
    pub decision: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// The agent.
    pub agent: String,
    /// `met`, `not_met`, `open` or `unknown`.
    pub end: String,
    /// The first check that the agent then ran failed.
    pub caught: bool,
    /// What it asked for; only at level `full`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
}

/// Something that kept checkpoints from being sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// The event's number.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// `muted`, `cleared`, `marker`, `project_off`, `uninstalled`, `daemon_stopped`, or `daemon_away`: the agent stopped
    /// while no daemon ran.
    pub what: String,
    /// `agent` if a tool call of the session did it, else `person`.
    pub by: String,
}

/// The journal up to an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Identity.
    pub id: String,
    /// The last event that was read.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The hash over all events up to it.
    pub chain: String,
}

/// The program that made a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// Version.
    pub version: String,
    /// Version of the deciding code.
    pub judgment: u32,
}

/// What the journal says about the contents of a range, all of it; a level leaves parts out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// As [`Predicate::units`].
    pub units: Vec<Unit>,
    /// As [`Predicate::runs`].
    pub runs: Vec<Run>,
    /// As [`Predicate::demands`].
    pub demands: Vec<Demand>,
    /// As [`Predicate::switches`].
    pub switches: Vec<Switch>,
    /// The journal.
    pub journal: Head,
}

impl Found {
    /// Returns the answer for each file: what makes a record out of date when it changes.
    pub fn answers(&self) -> Vec<(Option<&str>, Verified)> {
        let units = self.units.iter();
        units
            .map(|unit| (unit.file.as_deref(), unit.answer))
            .collect()
    }

    /// Returns how many of each there are.
    pub fn totals(&self) -> Totals {
        totals(&self.units, &self.runs, &self.demands, &self.switches)
    }
}

impl Switch {
    /// Returns whether the agent switched its own guard off, which counts as open.
    pub fn is_by_agent(&self) -> bool {
        self.by == "agent"
    }
}

impl Statement {
    /// Returns the bytes that are signed: JSON without spaces, in the order of the fields.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a statement is plain data")
    }
}

impl Unit {
    /// Returns its path, or an id at level `summary`.
    pub fn name(&self) -> &str {
        let was = || self.was.as_ref().and_then(Digest::id);
        let id = || self.content.id().or_else(was);
        self.file.as_deref().or_else(id).unwrap_or_default()
    }

    /// Returns what it is if it is not a file: ` (removed)`, or the commits of a submodule.
    pub fn what(&self) -> String {
        let commit = |digest: Option<&Digest>| {
            let id = digest.and_then(|digest| digest.git_commit.as_deref());
            id.unwrap_or_default().chars().take(12).collect::<String>()
        };
        let (was, now) = (commit(self.was.as_ref()), commit(Some(&self.content)));
        match self.content.id() {
            None => " (removed)".to_owned(),
            Some(_) if !now.is_empty() => format!(" (submodule {was}..{now})"),
            Some(_) => String::new(),
        }
    }
}

impl Digest {
    /// Returns the id of a file's content, or of a submodule's commit.
    pub(super) fn id(&self) -> Option<&str> {
        self.git_blob.as_deref().or(self.git_commit.as_deref())
    }

    /// Returns that of a commit.
    pub fn commit(id: &str) -> Self {
        Self {
            git_commit: Some(id.to_owned()),
            ..Self::default()
        }
    }

    pub(super) fn tree(id: &str) -> Self {
        Self {
            git_tree: Some(id.to_owned()),
            ..Self::default()
        }
    }

    /// Returns that of a file's content.
    pub fn blob(id: &str) -> Self {
        Self {
            git_blob: Some(id.to_owned()),
            ..Self::default()
        }
    }
}

pub(super) fn totals(
    units: &[Unit],
    runs: &[Run],
    demands: &[Demand],
    switches: &[Switch],
) -> Totals {
    let answered = |answer| units.iter().filter(|unit| unit.answer == answer).count();
    Totals {
        units: units.len(),
        done: answered(Verified::Done),
        unknown: answered(Verified::Unknown),
        open: answered(Verified::Open),
        runs: runs.len(),
        failed: runs.iter().filter(|run| run.ended == "failed").count(),
        demands: demands.len(),
        met: demands.iter().filter(|demand| demand.end == "met").count(),
        caught: demands.iter().filter(|demand| demand.caught).count(),
        switches: switches.len(),
    }
}
