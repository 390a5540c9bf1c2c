//! Codex CLI's composer: `› text` at the left edge. It shows the terminal's cursor, except while it asks something.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, open_composer};

/// The column at which the text begins.
const START: usize = 2;

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (first, last, start) =
        open_composer(rows, view, &['›'], START).filter(|_| view.cursor_shown)?;
    let at_start = view.cursor == (start, first);
    Some(TextBox::new(&rows[first..last], start, at_start, &[]))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    shown == format!("[Pasted Content {} chars]", pasted.chars().count())
}
