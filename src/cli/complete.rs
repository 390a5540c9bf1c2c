//! What a shell may complete that only the journal knows.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;

use crate::cli::connection;
use crate::ops::query::Query;
use crate::ops::views::SessionName;
use crate::{config, render};

/// Returns the sessions whose id begins so, newest first, and `last`. Asks a running daemon only: a shell that waits
/// for a key must not open a journal.
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
            let about = format!("{}, last heard of at {at}", name.agent);
            found.push((name.session.to_string(), about));
        };
        // Without an answer there is nothing to complete, and no place to say so.
        let _ = connection::ask(&home, &Query::SessionNames, &mut each);
    }
    let candidates = found.into_iter().filter(|(id, _)| id.starts_with(&*begin));
    candidates
        .map(|(id, about)| CompletionCandidate::new(id).help(Some(about.into())))
        .collect()
}
