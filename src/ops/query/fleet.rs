//! What leaves the machine.

use journal::{Journal, Timestamp};

use super::question::{Emit, Error, Result};
use crate::ops::fleet::{self, Level};

/// Emits the lines of runs, or with a time the lines of the events since then, each as a text: their bytes are hashed.
pub(super) fn outgoing(
    journal: &Journal,
    level: &str,
    machine: &str,
    since: Option<Timestamp>,
    emit: &mut Emit<'_>,
) -> Result<()> {
    let level = Level::of_word(level)
        .ok_or_else(|| Error::NotFound(format!("there is no level `{level}`")))?;
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
    match since {
        None => fleet::export(journal, level, machine, &mut each)?,
        Some(since) => fleet::preview(journal, level, since, &mut each)?,
    }
    if is_gone { Err(Error::Gone) } else { Ok(()) }
}
