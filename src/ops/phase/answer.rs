//! What is answered to requests about phase records.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::folder::Problem;
use crate::ops::views::PhaseView;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Done(Done),
    Shown(Shown),
    Listed(Listed),
    Detected(Detected),
    Cleaned(Cleaned),
    Rebuilt(Rebuilt),
}

/// The answer to a refused request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RefusedAnswer {
    pub(crate) ok: bool,
    pub(crate) error: String,
}

/// The answer to `create` and `complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Done {
    pub(crate) ok: bool,
    pub(crate) checkpoint_id: String,
    pub(crate) file: PathBuf,
    /// What is wrong with `seed.json`, which does not undo the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed_problem: Option<String>,
}

/// The answer to `show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shown {
    #[serde(flatten)]
    pub(crate) done: Done,
    pub(crate) checkpoint: PhaseView,
}

/// The answer to `list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) ok: bool,
    /// Newest first.
    pub(crate) checkpoints: Vec<PhaseView>,
    pub(crate) problems: Vec<Problem>,
    /// Names of files that other programs had made.
    pub(crate) imported: Vec<String>,
    /// Names of files that were missing.
    pub(crate) rebuilt: Vec<String>,
}

/// The answer to `detect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Detected {
    pub(crate) ok: bool,
    pub(crate) checkpoint_id: Option<String>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) checkpoint: Option<PhaseView>,
    /// If none was found: whether one exists outside the scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) elsewhere: Option<bool>,
    pub(crate) problems: Vec<Problem>,
}

/// The answer to `cleanup`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cleaned {
    pub(crate) ok: bool,
    pub(crate) deleted: usize,
    pub(crate) kept_incomplete: usize,
    pub(crate) problems: Vec<Problem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed_problem: Option<String>,
}

/// The answer to `rebuild`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rebuilt {
    pub(crate) ok: bool,
    pub(crate) rebuilt: Vec<String>,
    pub(crate) imported: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}
