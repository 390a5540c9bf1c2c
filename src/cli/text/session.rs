//! The status of a session, in words.

use crate::ops::views::{SessionRow, SessionStatus};
use crate::render::{self, Colour};

pub(crate) fn colour_of_status(cell: &str) -> Option<Colour> {
    match cell {
        "running" => Some(Colour::Green),
        "ended" => Some(Colour::Dim),
        waiting if waiting.starts_with("waiting: ") => Some(Colour::Yellow),
        _ => None,
    }
}

pub(crate) fn flags(row: &SessionRow) -> String {
    let flags = row.flags();
    if flags.is_empty() {
        "-".into()
    } else {
        flags.join(",")
    }
}

/// Returns the status of a session; of one that waits for a person, with the reason.
pub(crate) fn status(row: &SessionRow) -> String {
    let words = match (row.status(), row.why()) {
        (_, Some(why)) => format!("waiting: {}", render::printable(why)),
        (SessionStatus::Running, _) => "running".to_owned(),
        (SessionStatus::Ended, _) => "ended".to_owned(),
        (_, None) => "idle".to_owned(),
    };
    if row.muted { words + ", muted" } else { words }
}
