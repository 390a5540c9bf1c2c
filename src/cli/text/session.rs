//! The status of a session, in words.

use checkpoint::judging::OpenItem;
use checkpoint::state::{AGENT_FINISHED, SessionStatus};

use super::spaced;
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
        Some(why) if why != AGENT_FINISHED => format!("{words}: {}", spaced(why)),
        _ => words.to_owned(),
    };
    if row.muted { words + ", muted" } else { words }
}

/// The most columns of what is open, so that the table keeps its others.
const OPEN_CHARS_MAX: usize = 28;

/// Returns what is open in a few words: the first item, and how many more.
pub(crate) fn open(open: &[OpenItem]) -> String {
    let Some(first) = open.first() else {
        return "-".to_owned();
    };
    let first = render::printable(&first.line());
    let more = match open.len() {
        1 => String::new(),
        all => format!("; {} more", all - 1),
    };
    render::cut(&first, OPEN_CHARS_MAX - more.len()) + &more
}
