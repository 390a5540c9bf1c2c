//! Shell completions that need the journal.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;

use crate::cli::connection;
use crate::ops::query::Query;
use crate::ops::views::SessionName;
use crate::{config, render};

/// Returns the sessions whose id starts with `begin`, newest first, and `last`. Asks a running
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
        let mut each = |name: SessionName| {
            let at = render::local_time(&name.last_at.to_string());
            let about = format!("{}, last event at {at}", name.agent);
            found.push((name.session.to_string(), about));
        };
        // Without an answer there is nothing to complete, and no place for an error.
        let _ = connection::ask(&home, &Query::SessionNames, &mut each);
    }
    let candidates = found.into_iter().filter(|(id, _)| id.starts_with(&*begin));
    candidates
        .map(|(id, about)| CompletionCandidate::new(id).help(Some(about.into())))
        .collect()
}
