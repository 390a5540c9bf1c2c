//! Vibe's composer: `> text` between two rules, the upper of which ends with the mode.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, is_rule, marker};

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (column, row) = view.cursor;
    let below = (row + 1..rows.len()).find(|at| is_rule(&rows[*at]))?;
    let above = (0..row).rev().find(|at| is_rule(&rows[*at]))?;
    let lines = &rows[above + 1..below];
    let start = marker(&lines.first()?.text, &['>'])?;
    let at_start = view.cursor == (start, above + 1);
    (column >= start).then(|| TextBox::new(lines, start, at_start, &[]))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    shown == format!("[Pasted {} characters]", pasted.chars().count())
}
