//! Pi's composer: text without a marker between two rules. The upper one may say how many lines are above it.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, numbered_paste};

/// How a rule begins, also one with a count.
const RULE: &str = "───";

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (_, row) = view.cursor;
    let is_edge = |at: &usize| rows[*at].text.starts_with(RULE);
    let below = (row + 1..rows.len()).find(is_edge)?;
    let above = (0..row).rev().find(is_edge)?;
    let lines = &rows[above + 1..below];
    // A rule of a text above the composer would leave the cursor on one.
    let is_inside = !is_edge(&row);
    is_inside.then(|| TextBox::new(lines, 0, false, &[]))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    numbered_paste(shown, pasted)
}
