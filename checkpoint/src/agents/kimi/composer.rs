//! Kimi Code's composer: `> text` in a frame. Behind `! ` it takes shell commands, so that is not a composer.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, marker, numbered_paste};

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (column, row) = view.cursor;
    let begins = |at: usize, sign: char| {
        rows.get(at)
            .is_some_and(|row| row.text.trim_start().starts_with(sign))
    };
    let below = (row..rows.len()).find(|at| !begins(*at, '│'))?;
    let above = (0..row).rev().find(|at| !begins(*at, '│'))?;
    if !begins(row, '│') || !begins(above, '╭') || !begins(below, '╰') {
        return None;
    }
    let lines = &rows[above + 1..below];
    let start = marker(&lines.first()?.text, &['>'])?;
    let at_start = view.cursor == (start, above + 1);
    (column >= start).then(|| TextBox::new(lines, start, at_start, &[]))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    numbered_paste(shown, pasted)
}
