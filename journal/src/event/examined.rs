//! What was read when a tool call ended: its output, and which contents it ran on.

use serde::{Deserialize, Serialize};

use super::ToolCall;
use super::summary::{Summary, SummaryVerdict};

/// What was read when a tool call that could verify something ended.
///
/// It is stored as JSON, so a part that a program does not know is skipped and a missing one has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Examined {
    /// What its output reports on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<Summary>,
    /// How it ended, if its output has a field for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<SummaryVerdict>,
    /// The top of the work tree that the files are in; empty if none was looked at.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub top: String,
    /// The changed files that the call ran on, with the digests of their contents; sorted. That of a file that is gone
    /// is 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<(String, u64)>,
    /// Of a person's own run: the hashes of these contents, as stops have those of changed files; in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hashes: Vec<u64>,
    /// Changed files that were written after the call began, or could not be read: what it ran on is not known; sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Not all changed files are listed, so a file that is missing may have had any content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl Examined {
    /// Returns whether a call certainly ended well. A pipe may hide that it failed or ran nothing; what it printed does not.
    pub fn ended_well(&self, call: &ToolCall) -> bool {
        let printed = self.summaries.iter().map(|said| said.verdict);
        let mut said = printed.chain(self.ended).peekable();
        let is_known = call.finished || said.peek().is_some();
        !call.is_error && is_known && said.all(|verdict| verdict == SummaryVerdict::Passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_have_ended_ended_well() {
        use SummaryVerdict::{Failed, Passed, RanNothing};
        let rows: [(bool, bool, &[SummaryVerdict], bool); 7] = [
            (true, false, &[], true),
            (true, true, &[], false),
            (true, false, &[Passed, Failed], false),
            (true, false, &[RanNothing], false),
            // No hook says how it ended; it may go on, or its program may be missing.
            (false, false, &[], false),
            (false, false, &[Passed], true),
            (false, false, &[Failed], false),
        ];
        for (finished, is_error, said, expected) in rows {
            let call = ToolCall {
                finished,
                is_error,
                ..ToolCall::default()
            };
            let summaries = said.iter().map(|verdict| Summary {
                verdict: *verdict,
                ..Summary::default()
            });
            let examined = Examined {
                summaries: summaries.collect(),
                ..Examined::default()
            };
            assert_eq!(examined.ended_well(&call), expected, "{call:?} {said:?}");
        }
    }
}
