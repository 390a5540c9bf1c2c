//! Failures that the turn got past, without a command that says so (spec HYG-15).

use journal::{ToolCall, ToolKind};

use super::turn::Turn;
use super::{questions, server, settled, verify};
use crate::shell::Simple;

/// First operands by which a program brings about what only the same command can: nothing else shows that it was done.
pub(super) const LASTING: [&str; 14] = [
    "push",
    "publish",
    "deploy",
    "release",
    "commit",
    "merge",
    "rebase",
    "cherry-pick",
    "apply",
    "create",
    "upload",
    "upgrade",
    "add",
    "pull",
];

/// Returns whether nothing shows that a failure is open: its program was started in another way, what was installed for
/// passed without it, a subagent reports that all is well, or it was no work on the project and the work went on.
pub(super) fn is_passed(turn: &Turn<'_>, index: usize) -> bool {
    if !turn.wants_shown() {
        return false;
    }
    let calls = &turn.evidence.timeline.calls;
    let commands = &turn.lines[index].commands;
    let later = || {
        let later = calls.iter().enumerate().skip(index + 1);
        later.filter(|(at, call)| !call.refused && !call.is_error && !turn.is_aside(*at))
    };
    let any = |is_it: &dyn Fn(usize, &ToolCall) -> bool| later().any(|(at, call)| is_it(at, call));
    let acts = |at: usize, call: &ToolCall| match call.kind {
        ToolKind::Edit | ToolKind::Write => true,
        ToolKind::Shell => {
            let mut commands = turn.lines[at].commands.iter();
            questions::powershell(call.command.as_deref().unwrap_or_default()) != Some(true)
                && commands.any(works)
        }
        ToolKind::Read | ToolKind::Other => false,
    };
    let checks = |at: usize, _: &ToolCall| {
        let mut commands = turn.lines[at].commands.iter();
        commands.any(|simple| simple.decides && !installs(simple) && is_of_project(simple))
    };
    let acting = || {
        commands
            .iter()
            .filter(|simple| !questions::is_harmless(simple))
    };
    match calls[index].kind {
        ToolKind::Edit | ToolKind::Write | ToolKind::Read => false,
        ToolKind::Other => any(&acts),
        ToolKind::Shell => {
            any(&|at, _| !verify::reported(turn, at).is_empty())
                || (server::starts_any(commands)
                    && any(&|at, call| server::starts_behind(call, &turn.lines[at])))
                || (acting().all(installs) && any(&checks))
                || (!server::starts_any(commands)
                    && !acting().any(|simple| is_of_project(simple) || is_lasting(simple))
                    && any(&acts))
        }
    }
}

/// Returns whether a command does more than look, set up or record.
fn works(simple: &Simple) -> bool {
    let is_git = simple.words.first().is_some_and(|program| program == "git");
    !is_git && !questions::is_harmless(simple) && !questions::is_question(simple, "")
}

/// Returns whether a command installs what others need.
fn installs(simple: &Simple) -> bool {
    !settled::installs(simple).is_empty()
        || simple
            .words
            .iter()
            .skip(1)
            .any(|word| word == "install" || word == "ci")
}

/// Returns whether a command tests, builds, checks or runs what the project has.
pub(super) fn is_of_project(simple: &Simple) -> bool {
    let program = simple.words.first().map_or("", String::as_str);
    settled::is_check(simple)
        || settled::SCRIPT_RUNNERS.contains(&program)
        || program.contains('.')
        || verify::language(simple).is_some()
        || verify::given_inline(simple).is_some()
}

pub(super) fn is_lasting(simple: &Simple) -> bool {
    let mut operands = simple.words.iter().skip(1).take(3);
    operands.any(|word| LASTING.contains(&word.as_str()))
}
