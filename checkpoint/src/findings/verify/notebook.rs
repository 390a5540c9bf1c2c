//! Notebooks, run by a tool of the host or of its editor, or by a module of Python (spec EVID-30).

use journal::ToolKind;

use super::run::{Does, Run};
use crate::findings::trace::Outcome;
use crate::findings::turn::Turn;
use crate::shell::Simple;

/// Parts of the names of tools that run cells.
const RUNNING: [&str; 6] = [
    "executecode",
    "executecell",
    "executenotebook",
    "runcell",
    "runnotebook",
    "insertexecutecodecell",
];

/// Returns whether a file is a notebook.
pub(super) fn is_one(path: &str) -> bool {
    path.ends_with(".ipynb")
}

/// Adds a call of a tool that runs cells.
pub(super) fn add(turn: &Turn<'_>, index: usize, found: &mut Vec<Run>) {
    let call = &turn.evidence.timeline.calls[index];
    let name = call.tool.rsplit("__").next().unwrap_or(&call.tool);
    let name = name.replace(['_', '-'], "").to_lowercase();
    let ran = call.kind == ToolKind::Other && call.finished && !call.is_error && !call.refused;
    if ran && turn.believes_runners() && RUNNING.iter().any(|word| name.contains(word)) {
        found.push(Run {
            position: (index, 0),
            program: String::new(),
            does: Does::RunsNotebooks,
            outcome: Outcome::Counts,
        });
    }
}

/// Returns whether a module of Python runs a notebook: `python -m nbconvert --execute a.ipynb`.
pub(super) fn runs(simple: &Simple, path: &str) -> bool {
    let mut words = simple.words.iter().map(String::as_str);
    let program = words.next().unwrap_or_default();
    let runs = program == "nbclient"
        || program == "ploomber"
        || (program == "nbconvert" && words.clone().any(|word| word == "--execute"));
    runs && is_one(path)
        && words.any(|word| {
            let name = word.trim_start_matches("./");
            path == name
                || path.ends_with(&format!("/{name}"))
                || name.ends_with(&format!("/{path}"))
        })
}
