//! Requests about progress documents: `POST /v1/progress/{write,show,validate,rebuild}` on the daemon's socket, and the same
//! without a daemon on the journal itself.

use actors::progress::{self, Error, Order, Rebuild};
use checkpoint::config::{Config, ProgressPlace};
use checkpoint::progress::{read, render_whole};
use journal::{Home, Journal, ProgressKind, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::ops::phase::lookup;
use crate::ops::query;
use crate::ops::refusal::{Refusal, Refused, Result};

#[cfg(test)]
mod tests;

/// What is asked. A session is named, or hinted at by the environment that the command ran in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Request {
    /// The session, if one is named.
    pub(crate) session: Option<String>,
    /// The session that the environment names; the journal may not know it.
    pub(crate) inside: Option<String>,
    /// The project's folder; of `rebuild`, empty for all projects.
    pub(crate) project: String,
    /// The type; only for `write`.
    #[serde(rename = "type")]
    pub(crate) kind: Option<ProgressKind>,
    /// Of `write`: what the agent states.
    pub(crate) input: Option<String>,
    /// Of `rebuild`: also files that were changed by hand.
    pub(crate) force: bool,
}

/// Answers a request. Blocks on the disk and on git.
///
/// # Errors
///
/// As [`Refused`] says.
pub(crate) fn answer(
    word: &str,
    request: &Request,
    journal: &Journal,
    home: &Home,
    config: &Config,
) -> Result<Value> {
    journal.settle().map_err(|error| refusal(error.into()))?;
    match word {
        "write" => write(request, journal, home, config),
        "show" => show(journal, document(request, journal)?),
        "validate" => {
            let seq = document(request, journal)?;
            let report = progress::validate(journal, home, config, seq)
                .map_err(refusal)?
                .report;
            Ok(json!({ "seq": seq, "holds": report.holds, "lines": report.lines }))
        }
        "rebuild" => rebuild(request, journal, home),
        _ => Err((
            Refused::NotFound,
            format!("unknown action `{word}`: expected write, show, validate or rebuild"),
        )),
    }
}

fn refusal(error: Error) -> Refusal {
    let kind = match &error {
        Error::Refused(_) => Refused::Request,
        Error::Journal(_) => Refused::Journal,
    };
    (kind, error.to_string())
}

fn write(request: &Request, journal: &Journal, home: &Home, config: &Config) -> Result<Value> {
    let stated = request.input.as_deref().map(read).transpose();
    let stated = stated
        .map_err(|problem| (Refused::Request, problem))?
        .unwrap_or_default();
    let project = lookup::project(&request.project);
    let Some(stream) = session(request, journal, &project)? else {
        return Err((
            Refused::NotFound,
            format!("no session of an agent is known in {project}: `--session` names one"),
        ));
    };
    let order = Order {
        stream,
        kind: request.kind.unwrap_or(ProgressKind::Full),
        cause: "command".into(),
        stated,
        place: ProgressPlace::Project,
        id: Uuid::now_v7(),
    };
    let written = progress::write(journal, home, config, order).map_err(refusal)?;
    let document = written.document;
    Ok(json!({
        "seq": written.seq,
        "session": document.session,
        "native_session": document.native_session,
        "agent": document.agent,
        "project": document.project,
        "type": document.kind,
        "at": document.at,
        "file": written.file,
        "notes": written.notes,
    }))
}

/// Finds the session: the one that is named, the one that the command ran in, else the project's newest.
fn session(request: &Request, journal: &Journal, project: &str) -> Result<Option<Stream>> {
    let find = |name: &str| query::find_session(journal, name).map(|entry| entry.stream);
    if let Some(name) = &request.session {
        return find(name)
            .map(Some)
            .map_err(|error| (Refused::NotFound, error.to_string()));
    }
    let inside = request.inside.as_deref().and_then(|id| find(id).ok());
    Ok(inside
        .or_else(|| lookup::newest_session(journal, project).and_then(|native| find(&native).ok())))
}

/// Finds the latest document: of the session that is named, else of the project.
fn document(request: &Request, journal: &Journal) -> Result<u64> {
    let project = lookup::project(&request.project);
    let named = if request.session.is_some() {
        session(request, journal, &project)?
    } else {
        None
    };
    let found = progress::latest(journal, &project, named.as_ref()).map_err(refusal)?;
    found.ok_or_else(|| {
        let whose = named.map_or(project, |stream| format!("session {}", stream.native()));
        (
            Refused::NotFound,
            format!(
                "there is no progress document of {whose}: `checkpointd progress write` makes one"
            ),
        )
    })
}

fn show(journal: &Journal, seq: u64) -> Result<Value> {
    let envelope = journal.event(seq).map_err(|error| refusal(error.into()))?;
    let Some((file, document)) = envelope.as_ref().and_then(progress::read) else {
        return Err((
            Refused::NotFound,
            format!("the document of event {seq} cannot be read"),
        ));
    };
    Ok(json!({
        "seq": seq,
        "file": file,
        "markdown": render_whole(&document),
        "document": document,
    }))
}

/// Writes files again: of the session that is named, of the project, or all.
fn rebuild(request: &Request, journal: &Journal, home: &Home) -> Result<Value> {
    let project = (!request.project.is_empty()).then(|| lookup::project(&request.project));
    let session = if request.session.is_some() {
        session(request, journal, "")?
    } else {
        None
    };
    let order = Rebuild {
        session: session.as_ref(),
        project: project.as_deref(),
        force: request.force,
    };
    let rebuilt = progress::rebuild(journal, home, order).map_err(refusal)?;
    Ok(json!(rebuilt))
}
