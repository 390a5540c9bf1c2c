//! Reads an agent's composer, the place where its user types, on a screen.
//!
//! A composer counts only if it is beyond doubt: in the agent's own form, with the cursor inside. Whatever else the
//! screen shows, a question above all, is left alone: an Enter would answer it.

use journal::Agent;

use super::screen::{View, rows};
use super::text_box::{Composer, bare, is_choice};
use crate::adapter::Adapter;
use crate::rooms;

/// How many characters of a text's beginning identify it.
const BEGINNING_CHARS: usize = 60;

/// Reads the composer on a screen. `ours` is the text that we may have put there.
pub fn read(agent: Agent, view: &View, ours: &str) -> Composer {
    read_as(rooms::adapter(agent), view, ours)
}

/// Reads the composer of an agent, if it is known.
pub(crate) fn read_as(agent: Option<&Adapter>, view: &View, ours: &str) -> Composer {
    let rows = rows(&view.screen);
    let form = agent.and_then(|agent| agent.composer);
    match form.and_then(|form| Some((form, (form.find)(&rows, view)?))) {
        Some((_, typed)) if typed.is_empty() => Composer::Empty,
        Some((form, typed)) if typed.is(ours, |shown| (form.stands_for)(shown, ours)) => {
            Composer::Ours
        }
        Some(_) => Composer::Draft,
        None if rows.iter().any(is_choice) => Composer::Dialog,
        None => Composer::Unknown,
    }
}

/// Returns whether the beginning of our text is anywhere on the screen.
pub fn shows(view: &View, ours: &str) -> bool {
    let rows = rows(&view.screen);
    let shown: String = rows.iter().flat_map(|row| bare(&row.text)).collect();
    let beginning: String = bare(ours).take(BEGINNING_CHARS).collect();
    !beginning.is_empty() && shown.contains(&beginning)
}

#[cfg(test)]
pub(crate) mod tests;
