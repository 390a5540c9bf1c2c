//! The files of the commits that a turn made.

use super::command::Output;
use super::parse;

/// Returns the files of the turn's commits.
pub(super) fn files<'a>(
    log: Option<&'a Output>,
    is_unborn: bool,
    notes: &mut Vec<String>,
) -> Vec<&'a [u8]> {
    match log {
        Some(log) if log.is_good() => parse::names(&log.stdout).collect(),
        // `git log` fails in a repository without commits.
        Some(log) if !is_unborn => {
            notes.push(format!(
                "git log: {}; commits of this turn are not counted",
                log.complaint()
            ));
            Vec::new()
        }
        _ => Vec::new(),
    }
}
