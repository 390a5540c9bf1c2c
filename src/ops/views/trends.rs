//! The figures behind the page's plots.

use serde::Serialize;

use super::benefit::Benefit;
use super::totals::RuleTotals;

/// Counts of the last days, in the time zone of this machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trends {
    pub(crate) days: Vec<String>,
    pub(crate) decisions: Vec<DecisionCount>,
    /// By the day of the demand, counted as `stats` does.
    pub(crate) demands: Vec<DemandCount>,
    /// The demands by rule.
    pub(crate) rules: Vec<RuleTotals>,
    /// The demands by project, most demands first.
    pub(crate) projects: Vec<DemandsBy>,
    /// The demands by machine; only in a collector's journal.
    pub(crate) machines: Vec<DemandsBy>,
    /// All machines of a collector's journal.
    pub(crate) known_machines: Vec<String>,
    /// From a demand to its last action, the middle of those that were met.
    pub(crate) done_ms: Option<u64>,
    /// What `stats` says of these days.
    pub(crate) benefit: Benefit,
    pub(crate) turns: TurnClasses,
    pub(crate) hooks: HookClasses,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct DecisionCount {
    /// An index into `days`.
    pub(crate) day: usize,
    /// Its folder. At a collector the repository that it is a clone of, else its machine and folder.
    pub(crate) project: String,
    pub(crate) verdict: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) count: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DemandCount {
    /// An index into `days`.
    pub(crate) day: usize,
    pub(crate) demands: u64,
    pub(crate) met: u64,
}

/// The demands of a project or a machine.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DemandsBy {
    pub(crate) name: String,
    /// Those whose end is known.
    pub(crate) demands: u64,
    pub(crate) met: u64,
    /// Demands that are marked wrong.
    pub(crate) wrong: u64,
    /// From the demand to its last action, the middle of those that were met.
    pub(crate) done_ms: Option<u64>,
}

/// Turns by their length; one more count than bounds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TurnClasses {
    pub(crate) bounds_ms: &'static [u64],
    pub(crate) counts: Vec<u64>,
    pub(crate) median_ms: Option<u64>,
}

/// Hook calls by the time until they were journaled; one more count than bounds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HookClasses {
    pub(crate) bounds_us: &'static [u64],
    pub(crate) counts: Vec<u64>,
    pub(crate) p50_us: Option<u64>,
    pub(crate) p99_us: Option<u64>,
    /// Calls that came by the spool.
    pub(crate) later: u64,
}
