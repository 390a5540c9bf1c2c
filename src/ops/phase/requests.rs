//! One function for each request. Append, then act: an event first, then the file, then `seed.json`.

use std::path::Path;

use checkpoint::config::parse_duration;
use checkpoint::phase::{Phase, Phases, Scope, file, input};
use journal::{Event, Journal, PhaseRecord, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::folder::{self, Problem, Reconciled};
use super::places::Places;
use super::{lookup, seed};
use crate::edit::files;
use crate::ops::query;
use crate::ops::refusal::{Refused, Result, journal_error};

/// Finds a checkpoint by its id, the beginning of it, or its file's name.
fn find<'a>(phases: &'a Phases, wanted: &str) -> Result<&'a Phase> {
    let unknown = |why: String| (Refused::NotFound, why);
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

    pub(super) fn reconcile(&self, replace: bool) -> Result<Reconciled> {
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
    ) -> Result<Value> {
        let mut new = input::request(given).map_err(|problem| (Refused::Request, problem))?;
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
            .map_err(|problem| (Refused::Request, problem))?;
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

    pub(super) fn show(&self, id: &str) -> Result<Value> {
        let found = self.reconcile(false)?;
        let phase = find(&found.phases, id)?;
        let mut answer = self.result(phase, None);
        answer["checkpoint"] = self.view(phase);
        Ok(answer)
    }

    pub(super) fn list(&self, completed: Option<bool>, scope: &Scope) -> Result<Value> {
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
        Ok(json!({
            "ok": true,
            "checkpoints": phases,
            "problems": found.problems,
            "imported": found.imported,
            "rebuilt": found.rebuilt,
        }))
    }

    pub(super) fn detect(&self, scope: &Scope) -> Result<Value> {
        let found = self.reconcile(false)?;
        let scope = self.scope(scope)?;
        let phase = found.phases.latest_incomplete(&scope);
        let mut answer = json!({
            "ok": true,
            "checkpointId": phase.map(|phase| &phase.checkpoint.id),
            "file": phase.map(|phase| self.path(phase)),
            "checkpoint": phase.map(|phase| self.view(phase)),
        });
        if phase.is_none() {
            let elsewhere = found.phases.latest_incomplete(&Scope::default());
            answer["elsewhere"] = elsewhere.is_some().into();
        }
        answer["problems"] = json!(found.problems);
        Ok(answer)
    }

    pub(super) fn complete(&self, id: &str) -> Result<Value> {
        let found = self.reconcile(false)?;
        let id = find(&found.phases, id)?.checkpoint.id.clone();
        let phases = self.append(vec![Event::PhaseCompleted {
            checkpoint: id.clone(),
        }])?;
        let phase = find(&phases, &id)?;
        self.write(phase)?;
        Ok(self.result(phase, self.clear_seed(&[&id])))
    }

    pub(super) fn cleanup(&self, older_than: Option<&str>, incomplete: bool) -> Result<Value> {
        let age = match older_than {
            Some(text) => parse_duration(text)
                .map_err(|problem| (Refused::Request, format!("older_than: {problem}")))?,
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
        let problems: Vec<_> = found.problems.iter().cloned().chain(unremoved).collect();
        let answer = json!({
            "ok": true,
            "deleted": gone.len(),
            "keptIncomplete": kept.len(),
            "problems": problems,
        });
        Ok(with_seed_problem(answer, self.clear_seed(&ids)))
    }

    pub(super) fn rebuild(&self) -> Result<Value> {
        let found = self.reconcile(true)?;
        Ok(json!({
            "ok": true,
            "rebuilt": found.rebuilt,
            "imported": found.imported,
            "problems": found.problems,
        }))
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
            return Err((Refused::Request, "sessionId: must not be empty".into()));
        }
        lookup::session(self.journal, name).map_err(|error| match error {
            query::Error::Journal(error) => journal_error(error),
            other => (Refused::Request, format!("sessionId: {other}")),
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
                    Refused::Files,
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

    fn path(&self, phase: &Phase) -> String {
        self.folder().join(&phase.file).display().to_string()
    }

    /// Returns a record with the names that its file has, its project and its file.
    fn view(&self, phase: &Phase) -> Value {
        let mut view = file::json(&phase.checkpoint);
        view["metadata"] = journal::payload::shown(&phase.checkpoint.metadata);
        view["project"] = json!(phase.project);
        view["file"] = self.path(phase).into();
        view
    }

    fn result(&self, phase: &Phase, seed_problem: Option<String>) -> Value {
        let answer = json!({
            "ok": true,
            "checkpointId": phase.checkpoint.id,
            "file": self.path(phase),
        });
        with_seed_problem(answer, seed_problem)
    }
}

/// Adds to an answer what is wrong with `seed.json`, which does not undo the request.
fn with_seed_problem(mut answer: Value, problem: Option<String>) -> Value {
    if let Some(problem) = problem {
        answer["seedProblem"] = problem.into();
    }
    answer
}
