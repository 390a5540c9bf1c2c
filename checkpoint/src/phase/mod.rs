//! Phase checkpoints (spec PHASE-1): the state of a task at the end of a phase of work, so that a later session can resume it.
//!
//! They are events; [`Phases`] folds them, and files are projections of the fold ([`mod@file`]). What comes from outside is
//! read by [`input`], which names the field that is wrong.

pub mod file;
pub mod input;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use journal::{Envelope, Event, PhaseRecord};
use serde::{Deserialize, Serialize};

/// A phase checkpoint and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The checkpoint as it is now.
    pub checkpoint: PhaseRecord,
    /// The project that it belongs to; none where nobody can tell.
    pub project: Option<String>,
    /// The name of its file.
    pub file: String,
    /// Sequence number of the event that made it.
    pub seq: u64,
    /// It was cleaned up.
    pub deleted: bool,
}

/// Which checkpoints are meant; what is none does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Of this project.
    pub project: Option<String>,
    /// Of this session, as its host names it.
    pub session: Option<String>,
}

impl Scope {
    /// Tells whether a checkpoint is meant. One whose project nobody knows is of no project.
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

/// All phase checkpoints of a journal.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    all: Vec<Phase>,
    by_id: HashMap<String, usize>,
}

impl Phases {
    /// Folds one event. Never fails; events of other kinds change nothing.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::PhaseCreated {
                checkpoint,
                project,
                file,
                ..
            } if !self.by_id.contains_key(&checkpoint.id) => {
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

    /// Returns a checkpoint, also one that was cleaned up.
    pub fn get(&self, id: &str) -> Option<&Phase> {
        self.by_id.get(id).map(|index| &self.all[*index])
    }

    /// Returns all that ever were, in the order in which the journal learnt of them.
    pub fn ever(&self) -> impl Iterator<Item = &Phase> {
        self.all.iter()
    }

    /// Returns those that are there, newest first (spec PHASE-4); of two of one time, the one that was journaled later.
    pub fn newest_first(&self) -> Vec<&Phase> {
        let mut there: Vec<_> = self.all.iter().filter(|phase| !phase.deleted).collect();
        there.sort_by_key(|phase| std::cmp::Reverse((phase.checkpoint.created_at, phase.seq)));
        there
    }

    /// Returns the latest one whose work is not over (spec PHASE-5).
    pub fn latest_incomplete(&self, scope: &Scope) -> Option<&Phase> {
        self.newest_first()
            .into_iter()
            .find(|phase| !phase.checkpoint.completed && scope.holds(phase))
    }
}
