//! Tools that are not there: such a failure says nothing about the code (spec HYG-12).

use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::Regex;

use super::outcomes;
use super::turn::Turn;
use super::verify;
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

/// Returns whether a call failed because its program is not there.
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
}

/// Returns whether the turn went on without the tool: something else was edited or run with success, or code changed in a
/// language that the tool was to check, so that a check is asked for anyway.
pub(super) fn is_behind(turn: &Turn<'_>, index: usize) -> bool {
    let calls = &turn.evidence.timeline.calls;
    let works = |(at, call): (usize, &ToolCall)| {
        !call.refused
            && !call.is_error
            && match call.kind {
                ToolKind::Edit | ToolKind::Write => true,
                ToolKind::Shell => outcomes::executes(&turn.lines[at]),
                ToolKind::Read | ToolKind::Other => false,
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
