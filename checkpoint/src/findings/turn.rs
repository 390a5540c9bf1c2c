//! The evidence of a stop in the form that every heuristic reads.

use std::cell::OnceCell;
use std::collections::HashSet;

use journal::{ChangedFile, Evidence, TimelineSource, ToolCall, ToolKind};

use super::aside;
use super::outcomes::Outcomes;
use crate::policy::{self, EvidenceRule, Gaps, HandedOver, Policy};
use crate::rules::RuleSet;
use crate::shell;

/// The evidence of a stop, prepared for the heuristics.
pub(super) struct Turn<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) files: &'a [ChangedFile],
    pub(super) project: &'a str,
    pub(super) policy: &'a Policy,
    pub(super) elapsed_ms: Option<u64>,
    pub(super) rules: RuleSet<'a>,
    /// The command line of each shell call, by position; empty for other calls.
    pub(super) lines: Vec<shell::CommandLine>,
    /// How its commands ended by their output; none if only the status of calls counts.
    pub(super) outcomes: Option<Outcomes>,
    /// The calls that ran without the work of the turn, by position.
    aside: Vec<bool>,
    /// What each command is about, by call and place, once that is asked for.
    pub(super) subjects: OnceCell<Vec<Vec<HashSet<String>>>>,
}

impl<'a> Turn<'a> {
    /// Prepares the evidence; `None` when the changed files are not known.
    pub(super) fn new(
        evidence: &'a Evidence,
        elapsed_ms: Option<u64>,
        project: &'a str,
        policy: &'a Policy,
    ) -> Option<Self> {
        let lines = lines(&evidence.timeline.calls);
        let by_output = policy.verify.outcomes == policy::Outcomes::Output
            && policy.evidence == EvidenceRule::Command;
        let outcomes = by_output.then(|| Outcomes::new(evidence, &lines, project));
        let by_record = policy.verify.gaps != Gaps::Assumed && by_output;
        let aside = by_record.then(|| aside::set_aside(&evidence.timeline.calls, &lines));
        Some(Self {
            evidence,
            files: evidence.changes.files()?,
            project,
            policy,
            elapsed_ms,
            rules: RuleSet::new(&policy.rules),
            lines,
            outcomes,
            aside: aside.unwrap_or_default(),
            subjects: OnceCell::new(),
        })
    }

    /// Returns whether only what the record shows to be open is a gap (spec EVID-1).
    pub(super) fn wants_shown(&self) -> bool {
        self.policy.verify.gaps != Gaps::Assumed && self.outcomes.is_some()
    }

    /// Returns whether whatever of the project ran after an edit is believed to have used it (spec EVID-29).
    pub(super) fn believes_runs(&self) -> bool {
        let believes = matches!(
            self.policy.verify.gaps,
            Gaps::Ran | Gaps::Open | Gaps::Evaluated
        );
        believes && self.outcomes.is_some()
    }

    /// Returns whether test runners are believed that find no tests, and services that a deployment brought about (spec
    /// EVID-30).
    pub(super) fn believes_runners(&self) -> bool {
        matches!(self.policy.verify.gaps, Gaps::Open | Gaps::Evaluated) && self.outcomes.is_some()
    }

    /// Returns whether code is believed that was given to a console of the application (spec EVID-29).
    pub(super) fn believes_consoles(&self) -> bool {
        self.policy.verify.gaps == Gaps::Evaluated && self.outcomes.is_some()
    }

    /// Returns whether a message of the agent reports the failure of a call, and that is believed (spec HYG-13).
    pub(super) fn is_reported(&self, call: usize) -> bool {
        matches!(
            self.policy.hygiene.handed_over,
            HandedOver::Told | HandedOver::Reported
        ) && self.evidence.facts.told_failures.contains(&call)
    }

    /// Returns whether a call ran without the work of the turn, which had been set aside (spec EVID-28).
    pub(super) fn is_aside(&self, call: usize) -> bool {
        self.aside.get(call).copied().unwrap_or_default()
    }

    /// Returns whether the turn's calls are known.
    pub(super) fn has_timeline(&self) -> bool {
        self.evidence.timeline.source != TimelineSource::None
    }
}

/// Reads the command line of each shell call; empty for other calls.
pub(super) fn lines(calls: &[ToolCall]) -> Vec<shell::CommandLine> {
    let line = |call: &ToolCall| {
        let line = call
            .command
            .as_deref()
            .filter(|_| call.kind == ToolKind::Shell);
        line.map(shell::read).unwrap_or_default()
    };
    calls.iter().map(line).collect()
}
