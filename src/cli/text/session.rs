//! The status of a session, in words.

use checkpoint::state::{AGENT_FINISHED, SessionStatus};

use crate::ops::views::SessionRow;
use crate::render::{self, Color};

pub(crate) fn color_of_status(cell: &str) -> Option<Color> {
    let is = |status: SessionStatus| cell.starts_with(status.words());
    if is(SessionStatus::NeedsYou) {
        Some(Color::Red)
    } else if is(SessionStatus::Waiting) {
        Some(Color::Yellow)
    } else if is(SessionStatus::Running) {
        Some(Color::Green)
    } else if is(SessionStatus::Ended) {
        Some(Color::Dim)
    } else {
        None
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

/// Returns the status of a session; of one that waits for a person, with the reason if the status does not say it.
pub(crate) fn status(row: &SessionRow) -> String {
    let words = row.status.words();
    let words = match row.why() {
        Some(why) if why != AGENT_FINISHED => format!("{words}: {}", render::printable(why)),
        _ => words.to_owned(),
    };
    if row.muted { words + ", muted" } else { words }
}
