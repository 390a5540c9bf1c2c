//! What the agent states about its work (spec PROG-2). Each statement holds until the agent states something newer.

use std::collections::BTreeMap;

use journal::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::values::{Decision, FileNote, Percent, Pointer, Texts};

/// The accepted values of `phase`.
pub const PHASES: [&str; 5] = [
    "research",
    "planning",
    "testing",
    "implementation",
    "finalization",
];
/// The accepted values of a task's status, and the one for a completed task.
pub const STATUSES: [&str; 4] = ["in_progress", "blocked", "near_complete", "complete"];

/// Declares the fields once: their types, how they are read from JSON, and how newer values replace older ones.
macro_rules! judgments {
    ($($(#[$meta:meta])* $field:ident: $type:ty,)*) => {
        /// The statements of an agent. `None` means not stated; an empty list means that there is
        /// nothing.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Judgments {
            $($(#[$meta])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }

        impl Judgments {
            /// The names of all fields.
            pub const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];

            pub(super) fn read_field(&mut self, name: &str, value: Value) -> Result<(), String> {
                match name {
                    $(stringify!($field) => {
                        let read = serde_json::from_value(value);
                        self.$field = Some(read.map_err(|problem| format!("`{name}`: {problem}"))?);
                        Ok(())
                    })*
                    _ => Err(format!("unknown field `{name}`; the fields are {}", Self::FIELDS.join(", "))),
                }
            }

            /// Returns whether nothing is stated.
            pub fn is_empty(&self) -> bool {
                $(self.$field.is_none() &&)* true
            }
        }

        impl Stated {
            /// Replaces earlier statements by those made at `at`.
            pub fn lay(&mut self, newer: Judgments, at: Timestamp) {
                $(if newer.$field.is_some() {
                    self.now.$field = newer.$field;
                    self.at.insert(stringify!($field).into(), at);
                })*
            }
        }
    };
}

judgments! {
    /// One of [`PHASES`].
    phase: String,
    /// A summary: work accomplished, in progress and blocked.
    summary: String,
    /// The task's name elsewhere.
    task_id: String,
    /// The goal.
    objective: String,
    /// One of [`STATUSES`].
    status: String,
    /// How much is done.
    completion: Percent,
    /// Finished work.
    completed: Texts,
    /// Open steps, in order.
    remaining: Texts,
    /// Blockers of the work.
    blockers: Texts,
    /// Changed files, each with the change and its reason.
    files: Vec<FileNote>,
    /// Choices that need not be made again.
    decisions: Vec<Decision>,
    /// Files that the next session has to read.
    must_read: Vec<Pointer>,
    /// Files that it need not read.
    can_skip: Vec<Pointer>,
    /// A summary of the files that need not be read.
    skippable_summary: String,
    /// Instructions for resuming, in order.
    recovery: Texts,
    /// The first action of the next session.
    next_action: String,
    /// A rough scope.
    remaining_work: String,
    /// Risks.
    risks: Texts,
    /// External dependencies of the work.
    dependencies: Texts,
    /// Any other statements.
    notes: String,
}

/// The current statements, and the time of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stated {
    /// The values.
    pub now: Judgments,
    /// The time of each statement, by field name.
    pub at: BTreeMap<String, Timestamp>,
}

impl Stated {
    /// Returns when a field was stated.
    pub fn since(&self, field: &str) -> Option<Timestamp> {
        self.at.get(field).copied()
    }
}
