//! What the output of a tool call says about how the things ended that it ran.

use serde::{Deserialize, Serialize};

/// What was run, as far as its output says.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SummaryKind {
    /// Tests.
    Tests,
    /// A compilation or a bundle.
    Build,
    /// A type check.
    Types,
    /// A linter.
    Lint,
    /// A formatter, or a check of the format.
    Format,
    /// Nothing: the program, module, script or folder (`cd`) that `tool` names was not found.
    Missing,
    /// Anything else: an installer, or a task runner that names the task that failed.
    #[default]
    #[serde(other)]
    Other,
}

/// How it ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SummaryVerdict {
    /// Something ran, and all of it passed.
    Passed,
    /// Something failed.
    Failed,
    /// It ended well because there was nothing to run.
    #[default]
    #[serde(other)]
    RanNothing,
}

/// One thing that the output of a tool call reports on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// What was run.
    pub kind: SummaryKind,
    /// The program whose words these are; empty for words that many programs and scripts use.
    pub tool: String,
    /// How it ended.
    pub verdict: SummaryVerdict,
    /// How many passed, if the output says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// How many failed, if the output says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// How many were skipped, if the output says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
}
