//! Stand-in until the rules land.
use journal::{Action, Evidence};

use crate::Policy;

/// What the rules found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// c
    pub categories: Vec<String>,
    /// a
    pub actions: Vec<Action>,
    /// o
    pub observations: Vec<String>,
    /// all
    pub all_clear: bool,
    /// docs
    pub docs_only: bool,
    /// gen
    pub generic: bool,
    /// demand
    pub demand: Option<u64>,
}

/// Finds.
pub fn find(_: &Evidence, _: Option<u64>, _: &str, _: &Policy) -> Findings {
    Findings { generic: true, ..Findings::default() }
}
/// Plan.
pub fn plan_files(_: &str) -> Option<Vec<String>> {
    None
}
