//! Phase records (spec PHASE-1): the state of a task at the end of a phase of work, so that a later
//! session can resume it.
//!
//! They are events; [`Phases`] folds them, and files are projections of the fold ([`mod@file`]).
//! Input from outside is read by [`input`], which names a wrong field.

pub mod file;
pub mod input;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use journal::{Envelope, Event, PhaseRecord};
use serde::{Deserialize, Serialize};

/// A phase record with its current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The record.
    pub checkpoint: PhaseRecord,
    /// The project that it belongs to; `None` when that is not known.
    pub project: Option<String>,
    /// The name of its file.
    pub file: String,
    /// Sequence number of the event that made it.
    pub seq: u64,
    /// Its file was deleted by `cleanup`.
    pub deleted: bool,
}

/// A filter for records; `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Of this project.
    pub project: Option<String>,
    /// Of this session, as its host names it.
    pub session: Option<String>,
}

impl Scope {
    /// Returns whether a record matches. One without a known project matches no project.
    pub fn holds(&self, phase: &Phase) -> bool {
        self.project
            .as_ref()
            .is_none_or(|project| phase.project.as_ref() == Some(project))
            && self
                .session
                .as_ref()
                .is_none_or(|session| phase.checkpoint.session == *session)
    }
}

/// All phase records of a journal.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    all: Vec<Phase>,
    by_id: HashMap<String, usize>,
}

impl Phases {
    /// Folds one event. Never fails; events of other kinds change nothing, nor does a record whose file name this program
    /// does not give: an imported journal could name any file by it.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::PhaseCreated {
                checkpoint,
                project,
                file,
                ..
            } if file::is_name(file) && !self.by_id.contains_key(&checkpoint.id) => {
                self.by_id.insert(checkpoint.id.clone(), self.all.len());
                self.all.push(Phase {
                    checkpoint: (**checkpoint).clone(),
                    project: project.clone(),
                    file: file.clone(),
                    seq: envelope.seq,
                    deleted: false,
                });
            }
            Event::PhaseCompleted { checkpoint } => {
                if let Some(phase) = self.known(checkpoint) {
                    phase.checkpoint.completed = true;
                }
            }
            Event::PhaseDeleted { checkpoint } => {
                if let Some(phase) = self.known(checkpoint) {
                    phase.deleted = true;
                }
            }
            _ => {}
        }
    }

    /// Folds a history.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Envelope>) -> Self {
        let mut phases = Self::default();
        events
            .into_iter()
            .for_each(|envelope| phases.apply(envelope));
        phases
    }

    fn known(&mut self, id: &str) -> Option<&mut Phase> {
        self.by_id.get(id).map(|index| &mut self.all[*index])
    }

    /// Returns a record, even if it was cleaned up.
    pub fn get(&self, id: &str) -> Option<&Phase> {
        self.by_id.get(id).map(|index| &self.all[*index])
    }

    /// Returns all records, cleaned up or not, in order of their events.
    pub fn ever(&self) -> impl Iterator<Item = &Phase> {
        self.all.iter()
    }

    /// Returns the records that were not cleaned up, newest first (spec PHASE-4); of two with one
    /// time, the one that was journaled later.
    pub fn newest_first(&self) -> Vec<&Phase> {
        let mut there: Vec<_> = self.all.iter().filter(|phase| !phase.deleted).collect();
        there.sort_by_key(|phase| std::cmp::Reverse((phase.checkpoint.created_at, phase.seq)));
        there
    }

    /// Returns the latest incomplete record (spec PHASE-5).
    pub fn latest_incomplete(&self, scope: &Scope) -> Option<&Phase> {
        self.newest_first()
            .into_iter()
            .find(|phase| !phase.checkpoint.completed && scope.holds(phase))
    }
}
