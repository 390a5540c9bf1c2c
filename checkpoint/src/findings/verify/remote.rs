//! Commands that a line runs on another machine (spec EVID-30).

use crate::findings::outcomes;
use crate::findings::turn::Turn;
use crate::shell::{self, Simple};

/// Returns the commands that a command runs on another machine; none if they are not believed.
pub(super) fn all(turn: &Turn<'_>, simple: &Simple) -> Vec<Simple> {
    let is_remote = simple.words.first().is_some_and(|program| program == "ssh");
    if !is_remote || !turn.believes_runners() {
        return Vec::new();
    }
    let line = outcomes::remote(&simple.words[1..]);
    line.map_or(Vec::new(), |line| shell::read(&line).commands)
}

/// Returns those of them whose end is that of the call.
pub(super) fn ending(turn: &Turn<'_>, simple: &Simple) -> Vec<Simple> {
    let mut commands = all(turn, simple);
    commands.retain(|inner| inner.certain && inner.decides && simple.certain);
    // Its folders are not those of the project here.
    commands.iter_mut().for_each(|inner| inner.dir = None);
    commands
}
