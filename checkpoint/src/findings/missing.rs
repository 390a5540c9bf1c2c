//! Tools that are not there: such a failure says nothing about the code (spec HYG-12).

use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::Regex;

use super::line_words::FILES;
use super::paths::PathRef;
use super::turn::Turn;
use super::{outcomes, own_script, questions, verify};
use crate::policy::MissingTools;
use crate::project::covering::{Family, family};
use crate::shell::{CommandLine, Simple};

/// How much of an output is searched.
const TEXT_BYTES: usize = 2000;
/// What shells and runners say of a program that they did not find.
static NOT_THERE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?im)command not found|^\S*sh: (?:line )?\d*:? ?\S+: (?:not found|no such file or directory)|is not recognized as (?:an internal|the name)|commandnotfoundexception|could not determine executable to run|failed to spawn|executable file not found in|no such command: `",
    )
    .expect("a constant that a test compiles")
});

/// Returns whether a call failed because its program is missing.
pub(super) fn is_tool(call: &ToolCall, line: &CommandLine) -> bool {
    if call.kind != ToolKind::Shell {
        return false;
    }
    let output = crate::text::head(&call.output, TEXT_BYTES);
    // `python -m pytest` without pytest.
    let is_module = |simple: &Simple| {
        let name = simple.words.first().map_or("", String::as_str);
        !name.is_empty() && output.contains(&format!("No module named {name}"))
    };
    outcomes::exit_code(output) == Some(127)
        || NOT_THERE.is_match(output)
        || line.commands.iter().any(is_module)
        || own_script::missing_module(call, line).is_some()
}

/// Returns whether the turn continued without the tool: something else was edited or run with success, or code changed
/// in a language that the tool was to check, so that a check is asked for anyway.
pub(super) fn is_behind(turn: &Turn<'_>, index: usize) -> bool {
    if turn.policy.hygiene.missing_tools != MissingTools::PassedOver {
        return false;
    }
    let calls = &turn.evidence.timeline.calls;
    let line = calls[index].command.as_deref().unwrap_or_default();
    let files: Vec<PathRef> = FILES
        .find_iter(line)
        .map(|found| PathRef::written(found.as_str(), turn.project))
        .collect();
    let works = |(at, call): (usize, &ToolCall)| {
        let shows = |path: &String| {
            let path = PathRef::written(path, turn.project);
            files.iter().any(|file| file.same(&path))
        };
        !call.refused
            && !call.is_error
            && match call.kind {
                ToolKind::Edit | ToolKind::Write => true,
                ToolKind::Shell => acts(&turn.lines[at]) || turn.lines[at].reads.iter().any(shows),
                ToolKind::Read => call.paths.iter().any(shows),
                ToolKind::Other => false,
            }
    };
    let languages: Vec<Family> = turn.lines[index]
        .commands
        .iter()
        .filter_map(verify::language)
        .collect();
    let is_asked = |path: &str| {
        let language = family(path);
        language != Family::Other
            && languages
                .iter()
                .any(|of| *of == language || *of == Family::Other)
    };
    calls.iter().enumerate().skip(index + 1).any(works)
        || turn.files.iter().any(|file| is_asked(&file.path))
}

/// Returns whether a line does more than look or set up.
fn acts(line: &CommandLine) -> bool {
    let mut commands = line.commands.iter();
    commands.any(|simple| !questions::is_harmless(simple) && !questions::is_question(simple, ""))
}
