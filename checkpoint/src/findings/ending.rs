//! How a turn ended, whatever its policy asks for (spec LOOK-5).

use std::collections::HashSet;

use journal::{Evidence, SummaryVerdict, ToolKind};

use super::actions::Claims;
use super::edits::Edits;
use super::errors;
use super::outcomes::{self, Outcomes};
use super::paths::PathRef;
use super::proof::Edit;
use super::turn::Turn;
use super::verify;
use crate::policy::Policy;
use crate::rules::Kind;
use crate::shell::Simple;

/// Programs that handle files, versions and processes: they run nothing that a project has.
const HANDLERS: [&str; 14] = [
    "git", "gh", "jj", "hg", "rm", "rmdir", "mv", "cp", "ln", "chmod", "chown", "kill", "pkill",
    "killall",
];

/// How a turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Code changed in it.
    pub code_changed: bool,
    /// Code changed, and no program of the project's was run after the last edit of it.
    pub nothing_run: bool,
    /// The last tests that were run failed.
    pub tests_failed: bool,
    /// A failed call was left unresolved.
    pub error_left: bool,
}

/// Returns how a turn ended, according to its evidence.
pub fn ending(evidence: &Evidence, project: &str, policy: &Policy) -> Ending {
    let Some(turn) = Turn::new(evidence, None, project, policy) else {
        return Ending::default();
    };
    let claims = Claims::new(&turn);
    let code: Vec<_> = claims.files_of(Kind::Code).collect();
    let edits = Edits::new(&turn);
    let last = code
        .iter()
        .filter_map(|file| edits.last(&PathRef::changed(&turn.files[*file].path)))
        .max();
    let own;
    let outcomes = match &turn.outcomes {
        Some(outcomes) => outcomes,
        None => {
            own = Outcomes::new(evidence, &turn.lines, project);
            &own
        }
    };
    let calls = 0..evidence.timeline.calls.len();
    let tests = calls.rev().find_map(|call| outcomes.any_tests(call));
    Ending {
        code_changed: !code.is_empty(),
        nothing_run: !code.is_empty() && !runs_after(&turn, last),
        tests_failed: tests == Some(SummaryVerdict::Failed),
        error_left: turn.has_timeline() && !errors::find(&turn, &HashSet::new()).is_empty(),
    }
}

/// Returns whether a program ran after an edit that is not known to be a viewer or a handler of files.
fn runs_after(turn: &Turn<'_>, edit: Option<Edit>) -> bool {
    let calls = turn.evidence.timeline.calls.iter().enumerate();
    calls.filter(|(_, call)| !call.refused).any(|(at, call)| {
        if call.kind != ToolKind::Shell {
            return edit.is_none_or(|edit| edit.call < at) && verify::looks_at_page(call);
        }
        let line = call.command.as_deref().unwrap_or_default();
        let runs = |simple: &Simple| {
            let program = simple.words.first().map_or("", String::as_str);
            !outcomes::only_shows(&simple.words)
                && !HANDLERS.contains(&program)
                && edit.is_none_or(|edit| !edit.follows(at, line, program))
        };
        turn.lines[at].commands.iter().any(runs)
    })
}
