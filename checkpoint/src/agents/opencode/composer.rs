//! opencode's composer: rows behind `┃`, above an edge of `▀`. The last of them names the agent and the model, and the text
//! has an empty row above it and below it.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::TextBox;

/// The bar that all rows begin with, and the column of the text behind it.
const BAR: char = '┃';
const START: usize = 5;
/// The corner of the edge below.
const CORNER: char = '╹';
/// What opencode writes into an empty composer.
const HINTS: [&str; 1] = ["Ask anything"];

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (column, row) = view.cursor;
    let begins = |at: usize, sign: char| {
        rows.get(at)
            .is_some_and(|row| row.text.trim_start().starts_with(sign))
    };
    let edge = (row..rows.len()).find(|at| !begins(*at, BAR))?;
    let above = (0..row).rev().find(|at| !begins(*at, BAR));
    let (first, end) = (above.map_or(0, |at| at + 1) + 1, edge.checked_sub(2)?);
    let is_inside = begins(row, BAR) && begins(edge, CORNER) && (first..end).contains(&row);
    if !is_inside || column < START || !is_bare(&rows[first - 1]) || !is_bare(&rows[end]) {
        return None;
    }
    let at_start = view.cursor == (START, first);
    Some(TextBox::new(&rows[first..end], START, at_start, &HINTS))
}

fn is_bare(row: &Row) -> bool {
    row.text.trim() == BAR.to_string()
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    shown == format!("[Pasted ~{} lines]", pasted.lines().count())
}
