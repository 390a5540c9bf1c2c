//! Gemini CLI's composer: ` > text` below a rule, or in a frame; ` * text` if it asks for no permission (`--yolo`).
//! Behind ` ! ` it takes shell commands, so that is not a composer.

use crate::terminal::screen::{Row, View};
use crate::terminal::text_box::{TextBox, is_choice, is_rule, open_composer};

/// How many rows there are at most between the upper rule and the first line.
const RULE_ROWS: usize = 4;
/// The column at which the text begins at most: in a frame.
const START_MAX: usize = 4;

/// What Gemini CLI writes into an empty composer without dimming it.
const HINTS: [&str; 2] = ["Type your message", "Type your shell command"];

pub(super) fn find<'a>(rows: &'a [Row], view: &View) -> Option<TextBox<'a>> {
    let (first, last, start) = open_composer(rows, view, &['>', '*'], START_MAX)?;
    let has_rule = (first.saturating_sub(RULE_ROWS)..first).any(|at| is_rule(&rows[at]));
    let asks = rows[last..].iter().any(is_choice);
    let at_start = view.cursor == (start, first);
    (has_rule && !asks).then(|| TextBox::new(&rows[first..last], start, at_start, &HINTS))
}

pub(super) fn stands_for(shown: &str, pasted: &str) -> bool {
    let lines = pasted.matches('\n').count() + 1;
    let chars = pasted.chars().count();
    shown == format!("[Pasted Text: {lines} lines]")
        || shown == format!("[Pasted Text: {chars} chars]")
}
