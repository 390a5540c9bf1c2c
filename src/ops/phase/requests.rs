//! One function for each request. Append, then act: an event first, then the file, then `seed.json`.

use std::path::Path;

use checkpoint::config::parse_duration;
use checkpoint::phase::{Phase, Phases, Scope, file, input};
use journal::{Event, Journal, PhaseRecord, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::answer::{Cleaned, Detected, Done, Listed, Rebuilt, Shown};
use super::error::{PhaseError, Result, journal_error};
use super::folder::{self, Problem, Reconciled};
use super::places::Places;
use super::{lookup, seed};
use crate::edit::files;
use crate::ops::query;
use crate::ops::views::PhaseView;

/// Finds a checkpoint by its id, the beginning of it, or its file's name.
fn find<'a>(phases: &'a Phases, wanted: &str) -> Result<&'a Phase> {
    let unknown = |why: String| (PhaseError::Unknown, why);
    let all = phases.newest_first();
    let exact = |phase: &&&Phase| phase.checkpoint.id == wanted || phase.file == wanted;
    if let Some(phase) = all.iter().find(exact) {
        return Ok(phase);
    }
    let mut near = all
        .iter()
        .filter(|phase| phase.checkpoint.id.starts_with(wanted));
    match (near.next(), near.next()) {
        (Some(one), None) if !wanted.is_empty() => Ok(one),
        (Some(_), Some(_)) => Err(unknown(format!(
            "several phase records begin with `{wanted}`: give more of the id"
        ))),
        _ => Err(unknown(format!(
            "there is no phase record `{wanted}`: `checkpointd progress phase list` lists them"
        ))),
    }
}

/// Answers one request after another.
pub(super) struct PhaseRequests<'a> {
    pub(super) journal: &'a Journal,
    pub(super) places: &'a Places,
}

impl PhaseRequests<'_> {
    fn folder(&self) -> &Path {
        &self.places.folder
    }

    fn reconcile(&self, replace: bool) -> Result<Reconciled> {
        let project_of = |session: &str| lookup::project_of(self.journal, session);
        folder::reconcile(self.journal, self.places, replace, project_of).map_err(journal_error)
    }

    /// Journals what happened and returns the new state of the records.
    fn append(&self, events: Vec<Event>) -> Result<Phases> {
        let drafts: Vec<_> = events.into_iter().map(folder::draft).collect();
        if !drafts.is_empty() {
            self.journal
                .append_wait(drafts)
                .and_then(|_| self.journal.settle())
                .map_err(journal_error)?;
        }
        actors::phase::load(self.journal).map_err(journal_error)
    }

    pub(super) fn create(
        &self,
        project: Option<&str>,
        folder: Option<&str>,
        given: &Value,
    ) -> Result<Done> {
        let mut new = input::request(given).map_err(|problem| (PhaseError::Request, problem))?;
        // Before its file is named by it.
        new.phase = self.places.redactor.text(&new.phase).into_owned();
        let named = new
            .session
            .as_deref()
            .map(|name| self.session(name))
            .transpose()?;
        let of_session = || {
            named
                .as_deref()
                .and_then(|session| lookup::project_of(self.journal, session))
        };
        let project = project
            .map(lookup::project)
            .or_else(of_session)
            .or_else(|| folder.map(lookup::project));
        let newest = || {
            project
                .as_deref()
                .and_then(|project| lookup::newest_session(self.journal, project))
        };
        let session = named
            .clone()
            .or_else(newest)
            .unwrap_or_else(|| input::NO_SESSION.to_owned());
        let phases = actors::phase::load(self.journal).map_err(journal_error)?;
        let created_at = Timestamp::now();
        let is_taken = |name: &str| {
            phases.ever().any(|known| known.file == name) || self.folder().join(name).exists()
        };
        let file = file::name(created_at, &new.phase, is_taken);
        let id = Uuid::now_v7().to_string();
        let checkpoint = PhaseRecord {
            id: id.clone(),
            session,
            phase: new.phase,
            number: new.number,
            created_at,
            completed: false,
            summary: new.summary,
            criteria: new.criteria,
            metadata: new.metadata,
        };
        let checkpoint = input::fit(input::redacted(checkpoint, &self.places.redactor))
            .map_err(|problem| (PhaseError::Request, problem))?;
        let checkpoint = Box::new(checkpoint);
        let phases = self.append(vec![Event::PhaseCreated {
            checkpoint,
            project,
            file,
            imported: false,
        }])?;
        let phase = find(&phases, &id)?;
        self.write(phase)?;
        let problem = self
            .places
            .seed
            .as_deref()
            .and_then(|seed| seed::set(seed, &id).err());
        Ok(self.result(phase, problem))
    }

    pub(super) fn show(&self, id: &str) -> Result<Shown> {
        let found = self.reconcile(false)?;
        let phase = find(&found.phases, id)?;
        Ok(Shown {
            done: self.result(phase, None),
            checkpoint: self.view(phase),
        })
    }

    pub(super) fn list(&self, completed: Option<bool>, scope: &Scope) -> Result<Listed> {
        let found = self.reconcile(false)?;
        let scope = self.scope(scope)?;
        let wanted = |phase: &&Phase| {
            completed.is_none_or(|completed| phase.checkpoint.completed == completed)
                && scope.holds(phase)
        };
        let phases: Vec<_> = found
            .phases
            .newest_first()
            .into_iter()
            .filter(wanted)
            .map(|phase| self.view(phase))
            .collect();
        Ok(Listed {
            ok: true,
            checkpoints: phases,
            problems: found.problems,
            imported: found.imported,
            rebuilt: found.rebuilt,
        })
    }

    pub(super) fn detect(&self, scope: &Scope) -> Result<Detected> {
        let found = self.reconcile(false)?;
        let scope = self.scope(scope)?;
        let phase = found.phases.latest_incomplete(&scope);
        let elsewhere = || found.phases.latest_incomplete(&Scope::default()).is_some();
        Ok(Detected {
            ok: true,
            checkpoint_id: phase.map(|phase| phase.checkpoint.id.clone()),
            file: phase.map(|phase| self.folder().join(&phase.file)),
            checkpoint: phase.map(|phase| self.view(phase)),
            elsewhere: phase.is_none().then(elsewhere),
            problems: found.problems,
        })
    }

    pub(super) fn complete(&self, id: &str) -> Result<Done> {
        let found = self.reconcile(false)?;
        let id = find(&found.phases, id)?.checkpoint.id.clone();
        let phases = self.append(vec![Event::PhaseCompleted {
            checkpoint: id.clone(),
        }])?;
        let phase = find(&phases, &id)?;
        self.write(phase)?;
        Ok(self.result(phase, self.clear_seed(&[&id])))
    }

    pub(super) fn cleanup(&self, older_than: Option<&str>, incomplete: bool) -> Result<Cleaned> {
        let age = match older_than {
            Some(text) => parse_duration(text)
                .map_err(|problem| (PhaseError::Request, format!("older_than: {problem}")))?,
            None => self.places.keep,
        };
        let found = self.reconcile(false)?;
        let before = Timestamp::now().minus(age);
        let old: Vec<&Phase> = found
            .phases
            .newest_first()
            .into_iter()
            .filter(|phase| phase.checkpoint.created_at < before)
            .collect();
        let (gone, kept): (Vec<&Phase>, Vec<&Phase>) = old
            .into_iter()
            .partition(|phase| incomplete || phase.checkpoint.completed);
        let ids: Vec<&str> = gone
            .iter()
            .map(|phase| phase.checkpoint.id.as_str())
            .collect();
        self.append(
            ids.iter()
                .map(|id| Event::PhaseDeleted {
                    checkpoint: (*id).to_owned(),
                })
                .collect(),
        )?;
        let ours = gone
            .iter()
            .filter(|phase| !self.journal.is_imported(phase.seq));
        let names = ours.map(|phase| &phase.file).chain(&found.leftover);
        let unremoved = names.filter_map(|name| {
            let path = self.folder().join(name);
            let error = files::remove(&path).err()?;
            let file = path.display().to_string();
            Some(Problem { file, error })
        });
        let problems = found.problems.iter().cloned().chain(unremoved).collect();
        Ok(Cleaned {
            ok: true,
            deleted: gone.len(),
            kept_incomplete: kept.len(),
            problems,
            seed_problem: self.clear_seed(&ids),
        })
    }

    pub(super) fn rebuild(&self) -> Result<Rebuilt> {
        let found = self.reconcile(true)?;
        Ok(Rebuilt {
            ok: true,
            rebuilt: found.rebuilt,
            imported: found.imported,
            problems: found.problems,
        })
    }

    /// Resolves the names in a scope.
    fn scope(&self, scope: &Scope) -> Result<Scope> {
        Ok(Scope {
            project: scope.project.as_deref().map(lookup::project),
            session: scope
                .session
                .as_deref()
                .map(|name| self.session(name))
                .transpose()?,
        })
    }

    fn session(&self, name: &str) -> Result<String> {
        if name.is_empty() {
            return Err((PhaseError::Request, "sessionId: must not be empty".into()));
        }
        lookup::session(self.journal, name).map_err(|error| match error {
            query::Error::Journal(error) => journal_error(error),
            other => (PhaseError::Request, format!("sessionId: {other}")),
        })
    }

    /// Writes a record's file, unless the record was imported (spec ENV-5).
    fn write(&self, phase: &Phase) -> Result<()> {
        if self.journal.is_imported(phase.seq) {
            return Ok(());
        }
        folder::write(self.folder(), phase)
            .map(drop)
            .map_err(|error| {
                let id = &phase.checkpoint.id;
                (
                    PhaseError::Files,
                    format!(
                        "the record {id} is in the journal, but its file was not written: {error}"
                    ),
                )
            })
    }

    fn clear_seed(&self, ids: &[&str]) -> Option<String> {
        self.places
            .seed
            .as_deref()
            .and_then(|seed| seed::clear(seed, ids).err())
    }

    fn view(&self, phase: &Phase) -> PhaseView {
        let file = self.folder().join(&phase.file).display().to_string();
        PhaseView {
            file,
            ..PhaseView::new(phase)
        }
    }

    fn result(&self, phase: &Phase, seed_problem: Option<String>) -> Done {
        Done {
            ok: true,
            checkpoint_id: phase.checkpoint.id.clone(),
            file: self.folder().join(&phase.file),
            seed_problem,
        }
    }
}
