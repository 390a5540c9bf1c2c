//! A phase record, with the names that its file has.

use checkpoint::phase::Phase;
use journal::{Criterion, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhaseView {
    pub(crate) id: String,
    pub(crate) session_id: String,
    pub(crate) phase: String,
    pub(crate) phase_number: u8,
    pub(crate) created_at: Timestamp,
    pub(crate) completed: bool,
    pub(crate) task_summary: String,
    pub(crate) isc_criteria: Vec<Criterion>,
    /// Free fields of the caller's.
    pub(crate) metadata: Value,
    pub(crate) project: Option<String>,
    /// The file's name or path.
    pub(crate) file: String,
}

impl PhaseView {
    pub(crate) fn new(phase: &Phase) -> Self {
        let record = &phase.checkpoint;
        Self {
            id: record.id.clone(),
            session_id: record.session.clone(),
            phase: record.phase.clone(),
            phase_number: record.number,
            created_at: record.created_at,
            completed: record.completed,
            task_summary: record.summary.clone(),
            isc_criteria: record.criteria.clone(),
            metadata: journal::payload::shown(&record.metadata),
            project: phase.project.clone(),
            file: phase.file.clone(),
        }
    }
}
