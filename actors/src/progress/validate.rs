//! Checking a document before work continues (spec PROG-10).

use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::config::{Config, UserCheck, VariableName};
use checkpoint::progress::{self, CheckResult, Document, Elsewhere, Now, Report};
use journal::{Draft, Event, Home, Journal, Timestamp};
use uuid::Uuid;

use super::documents::{Error, read, sessions_of};
use super::own_files;
use super::project::{ProjectState, READ_WITHIN, read_project};
use crate::git;
use crate::process::{self, Failure};

/// The most other sessions whose work is compared, the newest first.
const ELSEWHERE_MAX: usize = 20;

/// The result of checking a document.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Sequence number of the document's event.
    pub document: u64,
    /// The result of each check.
    pub report: Report,
}

/// Runs all checks on the document of an event, including the user's own checks, and journals the report.
///
/// # Errors
///
/// When the event is not a progress document, or the journal cannot be used.
pub fn validate(
    journal: &Journal,
    home: &Home,
    config: &Config,
    seq: u64,
) -> Result<Checked, Error> {
    let envelope = journal.event(seq)?;
    let Some((envelope, (_, document))) = envelope
        .as_ref()
        .and_then(|envelope| Some((envelope, read(envelope)?)))
    else {
        return Err(Error::Refused(format!(
            "event {seq} is not a progress document"
        )));
    };
    let mut report = compare(journal, home, config, (seq, &document), READ_WITHIN)?;
    for check in &config.settings.progress.checks {
        report.lines.push(external(
            check,
            &document.project,
            &config.settings.listeners.env,
        ));
    }
    let report = Report::of(report.lines);
    let text = serde_json::to_string(&report).expect("plain data");
    let event = Event::ProgressValidated {
        document: seq,
        holds: report.holds,
        report: text,
    };
    journal.append_wait(vec![Draft {
        stream: envelope.stream.clone(),
        at: Timestamp::now(),
        id: Uuid::now_v7(),
        event,
        payload: None,
    }])?;
    Ok(Checked {
        document: seq,
        report,
    })
}

/// Compares a document with the present state of git, files, other sessions and lock files.
pub(super) fn compare(
    journal: &Journal,
    home: &Home,
    config: &Config,
    (seq, document): (u64, &Document),
    within: Duration,
) -> Result<Report, Error> {
    let top = Path::new(&document.project);
    let deadline = Instant::now() + within;
    let ProjectState { git, lock_files } = read_project(config, &document.project, deadline);
    let paths = document.facts.files.iter().map(|file| file.path.as_str());
    let mut files = git::held(top, paths, deadline);
    for other in &document.others {
        let held = git::held(top, [other.path.as_str()].into_iter(), deadline);
        if Instant::now() < deadline {
            files.extend(held);
        }
    }
    let to_read = document
        .stated
        .now
        .must_read
        .iter()
        .flatten()
        .map(|pointer| pointer.file.clone());
    // A pointer may also name a folder, a line of a file, or a URL.
    let is_missing = |file: &String| {
        let bare = file.split([':', '#']).next().unwrap_or(file);
        !bare.is_empty() && !file.contains("://") && !bare.contains(' ') && !top.join(bare).exists()
    };
    let missing = to_read.filter(is_missing).collect();
    let elsewhere = elsewhere(journal, document)?;
    let mut lines = own_files::check(journal, &home.progress, seq, document)?;
    let present = progress::compare(
        document,
        &Now {
            git,
            files,
            missing,
            lock_files,
            elsewhere,
        },
    );
    lines.extend(present.lines);
    Ok(Report::of(lines))
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

/// Runs one of the user's own checks in the project.
fn external(check: &UserCheck, project: &str, named: &[VariableName]) -> CheckResult {
    let mut command = process::of_user(&check.run, named);
    command.current_dir(project);
    let name = &check.name;
    let bad = |found: String| {
        CheckResult::bad(
            "external",
            format!("{name}: exit 0"),
            found,
            "restore it, or continue with work that does not need it",
        )
    };
    match process::feed(command, b"", Instant::now() + check.timeout.0) {
        Ok(output) if output.exit.success() => {
            CheckResult::good("external", format!("{name}: good"))
        }
        Ok(output) => bad(format!("{name}: {}", output.complaint())),
        Err(Failure::Timeout) => bad(format!("{name}: no answer within {}", check.timeout)),
        Err(Failure::Missing) => bad(format!("{name}: the program does not exist")),
        Err(Failure::System(error)) => bad(format!("{name}: {error}")),
    }
}
