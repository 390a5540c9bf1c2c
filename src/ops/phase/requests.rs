//! One function for each request. Append, then act: an event first, then the file, then `seed.json`.

use std::path::Path;

use checkpoint::config::parse_duration;
use checkpoint::phase::{Phase, Phases, Scope, file, input};
use journal::{Event, Journal, PhaseRecord, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::folder::{self, Reconciled};
use super::{Places, Result, Trouble, journal_trouble, lookup, seed};
use crate::ops::{query, views};

/// Finds a checkpoint by its id, the beginning of it, or its file's name.
fn find<'a>(phases: &'a Phases, wanted: &str) -> Result<&'a Phase> {
    let unknown = |why: String| (Trouble::Unknown, why);
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
            "several phase checkpoints begin with `{wanted}`: give more of the id"
        ))),
        _ => Err(unknown(format!(
            "there is no phase checkpoint `{wanted}`: `checkpointd phase list` lists them"
        ))),
    }
}

/// Answers one request after another.
pub(super) struct PhaseRequests<'a> {
    /// The journal.
    pub(super) journal: &'a Journal,
    /// Where files are.
    pub(super) places: &'a Places,
}

impl PhaseRequests<'_> {
    fn folder(&self) -> &Path {
        &self.places.folder
    }

    fn reconcile(&self, replace: bool) -> Result<Reconciled> {
        let project_of = |session: &str| lookup::project_of(self.journal, session);
        folder::reconcile(self.journal, self.folder(), replace, project_of).map_err(journal_trouble)
    }

    /// Journals what happened and returns the checkpoints as they are then.
    fn append(&self, events: Vec<Event>) -> Result<Phases> {
        let drafts: Vec<_> = events.into_iter().map(folder::draft).collect();
        if !drafts.is_empty() {
            self.journal
                .append_wait(drafts)
                .and_then(|_| self.journal.settle())
                .map_err(journal_trouble)?;
        }
        actors::phase::load(self.journal).map_err(journal_trouble)
    }

    pub(super) fn create(
        &self,
        project: Option<&str>,
        folder: Option<&str>,
        given: &Value,
    ) -> Result<Value> {
        let new = input::request(given).map_err(|problem| (Trouble::Request, problem))?;
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
        let phases = actors::phase::load(self.journal).map_err(journal_trouble)?;
        let created_at = Timestamp::now();
        let is_taken = |name: &str| {
            phases.ever().any(|known| known.file == name) || self.folder().join(name).exists()
        };
        let file = file::name(created_at, &new.phase, is_taken);
        let id = Uuid::now_v7().to_string();
        let checkpoint = input::fit(PhaseRecord {
            id: id.clone(),
            session,
            phase: new.phase,
            number: new.number,
            created_at,
            completed: false,
            summary: new.summary,
            criteria: new.criteria,
            metadata: new.metadata,
        });
        let checkpoint = Box::new(checkpoint.map_err(|problem| (Trouble::Request, problem))?);
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
        let (found, scope) = (self.reconcile(false)?, self.scope(scope)?);
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
        let (found, scope) = (self.reconcile(false)?, self.scope(scope)?);
        let elsewhere = found.phases.latest_incomplete(&Scope::default()).is_some();
        let mut answer = match found.phases.latest_incomplete(&scope) {
            Some(phase) => {
                let mut answer = self.result(phase, None);
                answer["checkpoint"] = self.view(phase);
                answer
            }
            None => {
                json!({ "ok": true, "checkpointId": null, "file": null, "checkpoint": null, "elsewhere": elsewhere })
            }
        };
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
                .map_err(|problem| (Trouble::Request, format!("older_than: {problem}")))?,
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
        let files = gone.iter().map(|phase| &phase.file).chain(&found.leftover);
        let mut problems = json!(found.problems);
        for name in files {
            let path = self.folder().join(name);
            if let (Err(error), Some(problems)) =
                (crate::edit::files::remove(&path), problems.as_array_mut())
            {
                problems.push(json!({ "file": path, "error": error }));
            }
        }
        let mut answer = json!({ "ok": true, "deleted": gone.len(), "keptIncomplete": kept.len(), "problems": problems });
        if let Some(problem) = self.clear_seed(&ids) {
            answer["seedProblem"] = problem.into();
        }
        Ok(answer)
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
            return Err((Trouble::Request, "sessionId: must not be empty".into()));
        }
        lookup::session(self.journal, name).map_err(|error| match error {
            query::Error::Journal(error) => journal_trouble(error),
            other => (Trouble::Request, format!("sessionId: {other}")),
        })
    }

    fn write(&self, phase: &Phase) -> Result<()> {
        folder::write(self.folder(), phase).map(drop).map_err(|error| {
            let id = &phase.checkpoint.id;
            (Trouble::Files, format!("the checkpoint {id} is in the journal, but its file is not written: {error}"))
        })
    }

    fn clear_seed(&self, ids: &[&str]) -> Option<String> {
        self.places
            .seed
            .as_deref()
            .and_then(|seed| seed::clear(seed, ids).err())
    }

    fn view(&self, phase: &Phase) -> Value {
        let mut view = json!(views::PhaseView::new(phase));
        view["file"] = json!(self.folder().join(&phase.file));
        view
    }

    /// Returns the answer to a request (spec PHASE-11). Trouble with `seed.json` does not undo a checkpoint.
    fn result(&self, phase: &Phase, seed_problem: Option<String>) -> Value {
        let file = self.folder().join(&phase.file);
        let mut result = json!({ "ok": true, "checkpointId": phase.checkpoint.id, "file": file });
        if let Some(problem) = seed_problem {
            result["seedProblem"] = problem.into();
        }
        result
    }
}
