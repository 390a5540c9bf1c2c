//! Copilot's composer: `❯ text` between two rules.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, is_rule, marker};

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (column, row) = view.cursor;
    let below = (row + 1..rows.len()).find(|at| is_rule(&rows[*at]))?;
    let above = (0..row).rev().find(|at| is_rule(&rows[*at]))?;
    let lines = &rows[above + 1..below];
    let start = marker(&lines.first()?.text, &['❯'])?;
    let at_start = view.cursor == (start, above + 1);
    (column >= start).then(|| TextBox::new(lines, start, at_start, &[]))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    let lines = pasted.lines().count();
    shown.strip_prefix("[Paste #").is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit()) == format!(" - {lines} lines]")
    })
}
