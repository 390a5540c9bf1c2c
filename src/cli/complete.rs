//! Shell completions that need the journal.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use journal::Timestamp;

use crate::cli::{connection, mine};
use crate::{config, render};

/// Returns the sessions whose id starts with `begin`, newest first, each with its title, and `last`. Asks a running
/// daemon only: opening the journal would delay the shell.
pub(crate) fn sessions(begin: &OsStr) -> Vec<CompletionCandidate> {
    let begin = begin.to_string_lossy();
    let mut found = vec![(
        "last".to_owned(),
        "the one with the newest event".to_owned(),
    )];
    if let Ok(home) = config::home()
        && connection::health(&home).is_some()
    {
        // Without an answer there is nothing to complete, and no place for an error.
        for row in mine::rows(&home).unwrap_or_default() {
            let parts = [
                row.title.words(&row.project),
                row.title.place(),
                row.status.words().to_owned(),
                render::ago(Timestamp::now().millis_since(row.last_at)),
            ];
            let parts: Vec<_> = parts.into_iter().filter(|part| part != "-").collect();
            let about = format!("{}: {}", row.agent, parts.join(", "));
            found.push((row.session.to_string(), about));
        }
    }
    let candidates = found.into_iter().filter(|(id, _)| id.starts_with(&*begin));
    candidates
        .map(|(id, about)| CompletionCandidate::new(id).help(Some(about.into())))
        .collect()
}
