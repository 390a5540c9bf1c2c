//! Phase checkpoints (spec PHASE-1): what is asked of them, and what is answered. The daemon answers over its socket, and without
//! a daemon the command does; both call [`answer`].
//!
//! Append, then act: an event first, then the file, then `seed.json`. Whatever a crash leaves undone, the next look into
//! the folder does ([`folder`]).

mod folder;
pub(crate) mod lookup;
mod requests;
mod seed;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use actors::Shared;
use checkpoint::config::{self, UserPath};
use checkpoint::phase::Scope;
use journal::Journal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use requests::PhaseRequests;

/// What can be asked. The words of the variants are those of the command line and of the paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Make one (spec PHASE-3).
    Create {
        /// The project's folder; none for the session's.
        #[serde(default)]
        project: Option<String>,
        /// Where the caller is, for when neither project nor session is named.
        #[serde(default)]
        folder: Option<String>,
        /// Its fields, named as in its file (spec PHASE-1).
        checkpoint: Value,
    },
    /// Show one (spec PHASE-4).
    Show {
        /// Its id, the beginning of it, or its file's name.
        id: String,
    },
    /// List them, newest first (spec PHASE-4).
    List {
        /// Only those that are completed, or are not.
        #[serde(default)]
        completed: Option<bool>,
        /// Only those.
        #[serde(default)]
        scope: Scope,
    },
    /// Find the latest whose work is not over (spec PHASE-5).
    Detect {
        /// Only among those.
        #[serde(default)]
        scope: Scope,
    },
    /// Say that the work of one is over (spec PHASE-6).
    Complete {
        /// As for `show`.
        id: String,
    },
    /// Delete old ones (spec PHASE-7).
    Cleanup {
        /// From this age on; none for `phase.keep`.
        #[serde(default)]
        older_than: Option<String>,
        /// Those whose work is not over, too.
        #[serde(default)]
        incomplete: bool,
    },
    /// Write all files anew that are not as the journal has them.
    Rebuild {},
}

/// What kind of trouble there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The request is not right.
    Request,
    /// There is no such checkpoint.
    Unknown,
    /// The files cannot be used.
    Files,
    /// The journal cannot be used.
    Journal,
}

/// Why a request was not met: kind and sentence.
pub(crate) type Refusal = (Trouble, String);
type Result<T> = std::result::Result<T, Refusal>;

impl Request {
    /// Reads a request from its word and its fields.
    ///
    /// # Errors
    ///
    /// When there is no such word, or the fields are not right.
    pub(crate) fn read(word: &str, fields: Value) -> Result<Self> {
        serde_json::from_value(json!({ word: fields }))
            .map_err(|error| (Trouble::Request, error.to_string()))
    }

    /// Returns the request's word and its fields.
    pub(crate) fn parts(&self) -> (String, Value) {
        let tagged = serde_json::to_value(self).expect("plain data");
        let Value::Object(parts) = tagged else {
            unreachable!("a variant with fields is an object")
        };
        parts.into_iter().next().expect("it has one key")
    }
}

/// Where things are.
pub(crate) struct Places {
    folder: PathBuf,
    seed: Option<PathBuf>,
    keep: std::time::Duration,
}

impl Places {
    /// Takes them from the settings; `~` is the home folder in the environment.
    ///
    /// # Errors
    ///
    /// When a path needs a home folder, and none is known.
    pub(crate) fn of(settings: &config::Phase) -> Result<Self> {
        let home = std::env::var("HOME").ok().filter(|home| !home.is_empty());
        let resolve = |path: &UserPath| {
            let resolved = path.resolve(home.as_deref()).map(PathBuf::from);
            resolved.ok_or((
                Trouble::Files,
                format!("HOME is not set, so nobody can tell where {} is", path.0),
            ))
        };
        Ok(Self {
            folder: resolve(&settings.folder)?,
            seed: settings.seed.0.as_ref().map(resolve).transpose()?,
            keep: settings.keep.0,
        })
    }
}

/// One request after another: names of files are chosen by what is there.
static TURN: Mutex<()> = Mutex::new(());

/// Answers a request: an object with `ok` true. Blocks on the disk.
///
/// # Errors
///
/// As [`Trouble`] says.
pub(crate) fn answer(request: &Request, journal: &Journal, places: &Places) -> Result<Value> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    journal.settle().map_err(journal_trouble)?;
    let desk = PhaseRequests { journal, places };
    match request {
        Request::Create {
            project,
            folder,
            checkpoint,
        } => desk.create(project.as_deref(), folder.as_deref(), checkpoint),
        Request::Show { id } => desk.show(id),
        Request::List { completed, scope } => desk.list(*completed, scope),
        Request::Detect { scope } => desk.detect(scope),
        Request::Complete { id } => desk.complete(id),
        Request::Cleanup {
            older_than,
            incomplete,
        } => desk.cleanup(older_than.as_deref(), *incomplete),
        Request::Rebuild {} => desk.rebuild(),
    }
}

/// Looks into the folder as the daemon comes up, so that what other programs left there can be resumed. Blocks.
pub(crate) fn look(shared: &Shared) {
    let list = Request::List {
        completed: None,
        scope: Scope::default(),
    };
    let config = shared.config();
    let looked = Places::of(&config.settings.phase)
        .and_then(|places| answer(&list, &shared.journal, &places));
    match looked {
        Ok(found) => {
            for problem in found["problems"].as_array().into_iter().flatten() {
                tracing::warn!(%problem, "A phase checkpoint's file does not fit.");
            }
        }
        Err((_, error)) => tracing::info!(error, "Phase checkpoints were not looked at."),
    }
}

fn journal_trouble(error: journal::Error) -> Refusal {
    (
        Trouble::Journal,
        format!("the journal cannot be used: {error}"),
    )
}
