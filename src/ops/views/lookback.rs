//! Counts from the agents' own transcripts.

use std::path::PathBuf;

use journal::{Agent, Reason, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

/// What became of the turns in the agents' own transcripts, by the rules in force now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LookBack {
    pub(crate) since: Timestamp,
    /// Whether all transcripts were read.
    pub(crate) complete: bool,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) total: TurnTotals,
    pub(crate) groups: Vec<LookBackGroup>,
    /// What would have been asked, by the rule that asks; the most frequent first.
    pub(crate) rules: Vec<RuleCount>,
    /// Counts by day and project, in order.
    pub(crate) days: Vec<DayCount>,
    /// The turns most worth reading.
    pub(crate) worth: Vec<PastTurnRow>,
    pub(crate) problems: Vec<FileProblem>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TurnTotals {
    pub(crate) sessions: u64,
    pub(crate) turns: u64,
    /// Those that a person stopped.
    pub(crate) interrupted: u64,
    /// From the messages to the ends of the turns.
    pub(crate) worked_ms: u64,
    pub(crate) code_changed: u64,
    /// Those that ended with code changed and nothing run after it.
    pub(crate) nothing_run: u64,
    pub(crate) tests_failed: u64,
    pub(crate) error_left: u64,
    /// Those in which the agent claimed passing tests, and none passed after the last edit.
    pub(crate) claimed: u64,
    /// Those at whose end something would have been asked.
    pub(crate) asked: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LookBackGroup {
    pub(crate) project: String,
    pub(crate) agent: Agent,
    #[serde(flatten)]
    pub(crate) totals: TurnTotals,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuleCount {
    pub(crate) rule: String,
    pub(crate) turns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DayCount {
    /// In the time zone of this machine.
    pub(crate) day: String,
    pub(crate) project: String,
    #[serde(flatten)]
    pub(crate) totals: TurnTotals,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PastTurnRow {
    pub(crate) at: Timestamp,
    pub(crate) agent: Agent,
    pub(crate) project: String,
    pub(crate) session: String,
    /// The beginning of the message that began it.
    pub(crate) prompt: String,
    pub(crate) length_ms: u64,
    pub(crate) interrupted: bool,
    pub(crate) changed_files: usize,
    pub(crate) code_changed: bool,
    pub(crate) nothing_run: bool,
    pub(crate) tests_failed: bool,
    pub(crate) error_left: bool,
    pub(crate) claimed: bool,
    /// The verdict at its end; null if a person stopped the agent.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) reason: Option<Reason>,
    /// What checkpoints would have demanded.
    pub(crate) asked: Vec<String>,
    /// The rules behind the demands.
    pub(crate) rules: Vec<String>,
    pub(crate) transcript: PathBuf,
    /// The command that resumes the session.
    pub(crate) open: Option<String>,
}

/// A transcript that could not be read, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FileProblem {
    pub(crate) file: PathBuf,
    pub(crate) problem: String,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Imported {
    pub(crate) sessions: u64,
    pub(crate) turns: u64,
    pub(crate) events: u64,
    /// Number of turns that were imported before.
    pub(crate) known: u64,
    /// Turns from before what was imported of their sessions: events are only appended.
    pub(crate) earlier: u64,
    /// Sessions that hooks reported, or that went on after an import.
    pub(crate) live: u64,
    pub(crate) problems: Vec<FileProblem>,
}

impl TurnTotals {
    /// Counts a turn.
    pub(crate) fn add(&mut self, row: &PastTurnRow) {
        self.turns += 1;
        self.interrupted += u64::from(row.interrupted);
        self.worked_ms += row.length_ms;
        self.code_changed += u64::from(row.code_changed);
        self.nothing_run += u64::from(row.nothing_run);
        self.tests_failed += u64::from(row.tests_failed);
        self.error_left += u64::from(row.error_left);
        self.claimed += u64::from(row.claimed);
        self.asked += u64::from(!row.asked.is_empty());
    }
}
