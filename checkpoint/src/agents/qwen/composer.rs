//! Qwen Code's composer: `> text` between two rules; `* text` if it asks for no permission (`--approval-mode yolo`).
//! Behind `! ` it takes shell commands, so that is not a composer.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, is_rule, marker};

/// What Qwen Code writes into an empty composer without dimming it.
const HINTS: [&str; 1] = ["Type your message"];

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (column, row) = view.cursor;
    let below = (row + 1..rows.len()).find(|at| is_rule(&rows[*at]))?;
    let above = (0..row).rev().find(|at| is_rule(&rows[*at]))?;
    let lines = &rows[above + 1..below];
    let start = marker(&lines.first()?.text, &['>', '*'])?;
    let at_start = view.cursor == (start, above + 1);
    (column >= start).then(|| TextBox::new(lines, start, at_start, &HINTS))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    shown == format!("[Pasted Content {} chars]", pasted.chars().count())
}
