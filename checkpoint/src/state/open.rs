//! What the session changed and left open: the files behind a demand that is not met (spec FILES-5).

use journal::{Changes, Decision, Reason, ToolKind, Verdict};

use super::model::{Open, Turn};
use crate::shell;
use crate::whose;

/// The most files that are kept.
const FILES_MAX: usize = 256;

impl Open {
    /// Notes which files were examined for a decision.
    pub(super) fn see(&mut self, changes: &Changes) {
        let files = changes.files().unwrap_or_default();
        let paths = files.iter().take(FILES_MAX);
        self.seen = paths.map(|file| file.path.clone()).collect();
    }

    /// Keeps the files behind a demand, until a stop is examined without one or a run followed it.
    pub(super) fn decided(&mut self, decision: &Decision, turn: &Turn) {
        let seen = std::mem::take(&mut self.seen);
        match (decision.verdict, decision.reason) {
            (Verdict::Inject, Reason::ActionsDue | Reason::LeavesOpen)
            | (Verdict::Pass, Reason::HeldOut) => self.files = seen,
            (Verdict::Inject, Reason::AllClear | Reason::ObservationsOnly | Reason::DocsOnly)
            | (Verdict::Pass, Reason::SilentAllClear | Reason::SilentDocsOnly) => {
                self.files.clear()
            }
            // Files that are as before again are not open.
            (Verdict::Pass, Reason::SilentUnchanged) => {
                self.files.retain(|path| seen.contains(path))
            }
            // The stop after a demand is not examined.
            (Verdict::Pass, Reason::BlockBudget) if has_run_since(turn) => self.files.clear(),
            _ => {}
        }
    }
}

/// Returns whether a command that does more than show something ran after the turn's last checkpoint, and did not fail as
/// far as is known.
fn has_run_since(turn: &Turn) -> bool {
    let mut calls = turn.calls.iter().filter(|call| {
        let is_good = call.kind == ToolKind::Shell && !call.is_error && !call.refused;
        is_good && turn.last_checkpoint_at.is_some_and(|at| call.at >= at)
    });
    calls.any(|call| {
        let line = shell::read(call.command.as_deref().unwrap_or_default());
        !line.commands.iter().all(whose::only_shows)
    })
}
