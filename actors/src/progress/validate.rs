//! Checking a document before work goes on (spec PROG-10).

use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::config::{Config, UserCheck};
use checkpoint::progress::{self, CheckResult, Document, Elsewhere, FileMark, Now, Report};
use journal::{Draft, Event, Journal, Timestamp};
use uuid::Uuid;

use super::{Error, Looked, look, read, sessions_of};
use crate::git;
use crate::process::{self, Failure};

/// Other sessions whose work is compared, the newest.
const ELSEWHERE_MAX: usize = 20;

/// A document that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The document's event.
    pub document: u64,
    /// What was found.
    pub report: Report,
}

/// Checks the document of an event with everything, the user's own checks included, and journals what was found.
///
/// # Errors
///
/// When there is no such document, or the journal cannot be used.
pub fn validate(journal: &Journal, config: &Config, seq: u64) -> Result<Checked, Error> {
    let envelope = journal.event(seq)?;
    let Some((envelope, (_, document))) = envelope
        .as_ref()
        .and_then(|envelope| Some((envelope, read(envelope)?)))
    else {
        return Err(Error::Refused(format!(
            "event {seq} is no progress document"
        )));
    };
    let mut report = compare(journal, config, &document, super::LOOK_WITHIN)?;
    for check in &config.settings.progress.checks {
        report.lines.push(external(check, &document.project));
    }
    let report = Report::of(report.lines);
    let text = serde_json::to_string(&report).expect("plain data");
    let event = Event::ProgressValidated {
        document: seq,
        holds: report.holds,
        report: text,
    };
    let (stream, at) = (envelope.stream.clone(), Timestamp::now());
    journal.append_wait(vec![Draft {
        stream,
        at,
        id: Uuid::now_v7(),
        event,
        payload: None,
    }])?;
    Ok(Checked {
        document: seq,
        report,
    })
}

/// Compares a document with how things are: git, files, other sessions, lock files.
pub(super) fn compare(
    journal: &Journal,
    config: &Config,
    document: &Document,
    within: Duration,
) -> Result<Report, Error> {
    let (top, deadline) = (Path::new(&document.project), Instant::now() + within);
    let Looked { git, lock_files } = look(config, &document.project, deadline);
    let paths: Vec<&str> = document
        .facts
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    let hashes = git::hashes(top, paths.iter().copied(), deadline);
    let files = paths
        .iter()
        .zip(hashes)
        .map(|(path, hash)| FileMark {
            path: (*path).to_owned(),
            hash,
        })
        .collect();
    let to_read = document
        .stated
        .now
        .must_read
        .iter()
        .flatten()
        .map(|pointer| pointer.file.clone());
    // An agent may point at more than a file: a folder, a line, an address.
    let is_missing = |file: &String| {
        let bare = file.split([':', '#']).next().unwrap_or(file);
        !bare.is_empty() && !file.contains("://") && !bare.contains(' ') && !top.join(bare).exists()
    };
    let missing = to_read.filter(is_missing).collect();
    let elsewhere = elsewhere(journal, document)?;
    Ok(progress::compare(
        document,
        &Now {
            git,
            files,
            missing,
            lock_files,
            elsewhere,
        },
    ))
}

fn elsewhere(journal: &Journal, document: &Document) -> Result<Vec<Elsewhere>, Error> {
    let mut found = Vec::new();
    for state in sessions_of(journal, &document.project, document.at)?
        .iter()
        .take(ELSEWHERE_MAX)
    {
        if state.session().to_string() == document.session {
            continue;
        }
        let events = journal.stream(state.session(), 0, usize::MAX)?;
        let mut files = progress::facts(&events, &document.project).files;
        files.retain(|file| file.last_at > document.at);
        let Some(last_at) = files.iter().map(|file| file.last_at).max() else {
            continue;
        };
        let native: String = state.stream.native().chars().take(8).collect();
        let who = format!("{} session {native}", state.stream.agent);
        found.push(Elsewhere {
            who,
            last_at,
            files: files.into_iter().map(|file| file.path).collect(),
        });
    }
    Ok(found)
}

/// Runs a check of the user's own in the project.
fn external(check: &UserCheck, project: &str) -> CheckResult {
    let mut command = process::of_user(&check.run);
    command.current_dir(project);
    let within = Duration::from_millis(check.timeout.as_millis());
    let name = &check.name;
    let bad = |found: String| {
        CheckResult::bad(
            "external",
            found,
            "bring it back, or go on with what does not need it",
        )
    };
    match process::feed(command, b"", Instant::now() + within) {
        Ok(output) if output.exit.success() => {
            CheckResult::good("external", format!("{name}: good"))
        }
        Ok(output) => bad(format!("{name}: {}", output.complaint())),
        Err(Failure::Timeout) => bad(format!("{name}: no answer within {}", check.timeout)),
        Err(Failure::Missing) => bad(format!("{name}: there is no such program")),
        Err(Failure::System(error)) => bad(format!("{name}: {error}")),
    }
}
