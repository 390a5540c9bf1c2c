//! What leaves the machine.

use journal::Journal;

use super::question::{Emit, Error, Outgoing, Result};
use crate::ops::fleet::{self, Level};

/// Emits the lines of runs, or with a time the lines of the events since then, each as a text: their bytes are hashed.
pub(super) fn outgoing(journal: &Journal, wanted: &Outgoing, emit: &mut Emit<'_>) -> Result<()> {
    let level = Level::of_word(&wanted.level)
        .ok_or_else(|| Error::NotFound(format!("there is no level `{}`", wanted.level)))?;
    if journal.is_collector() {
        return Err(Error::NotFound(
            "this journal has the events of other machines: ask each machine itself".into(),
        ));
    }
    let mut is_gone = false;
    let mut each = |line: String| {
        is_gone = !emit(line.into());
        !is_gone
    };
    match wanted.since {
        None => fleet::export(journal, level, &wanted.machine, &mut each)?,
        Some(since) => fleet::preview(journal, level, since, &mut each)?,
    }
    if is_gone { Err(Error::Gone) } else { Ok(()) }
}
