//! What the requirements of TeleClaude say, word for word: the follow-up of failed calls, edits without a read, wide
//! changes, and drift (spec LETTER-1 to LETTER-6, HYG-6).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::Regex;

use super::paths::PathRef;
use super::required::{Outcome, Proof};
use super::turn::Turn;
use crate::catalogue::Purpose;
use crate::rules::{Rule, RuleAction};
use crate::shell;

/// What the text of an unresolved error says, in the order of spec HYG-3.
const CONTENT: [(&[&str], &str); 3] = [
    (
        &["Traceback (most recent call last)"],
        "Python errors remain unresolved — verify they are fixed",
    ),
    (
        &["SyntaxError"],
        "Syntax errors remain — verify the code is valid",
    ),
    (
        &["ImportError", "ModuleNotFoundError"],
        "Import errors remain — check dependencies or module paths",
    ),
];
const TESTS_FAILED: &str = "Test failures remain — re-run tests after fixes";
const OTHER: &str = "A command returned errors — verify the issue is resolved";

const NOT_READ: &str =
    "Files were edited without being read first this turn — verify changes are correct";
/// Asks for verification and not for a commit (spec MSG-5).
const WIDE: &str = "Changes span multiple subsystems — verify each of them on its own";

/// The most files that one error may name.
const FILES_MAX: usize = 32;
/// Changes in more top-level folders than this are wide.
const FOLDERS_MAX: usize = 3;

/// Names of files within a line or an output.
static FILES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\w.+@~-]*(?:/[\w.+@-]+)+|[\w+@-][\w.+@-]*\.[A-Za-z]\w{0,7}")
        .expect("a constant that a test compiles")
});

/// Returns one sentence for each kind of unresolved error, then those about edits and wide changes.
pub(super) fn find(turn: &Turn<'_>) -> (Vec<String>, Vec<String>) {
    let calls = turn.calls().iter().enumerate();
    let failed = calls.filter(|(_, call)| call.is_error && !call.refused);
    let open = failed.filter(|(index, _)| !is_resolved(turn, *index));
    let said: Vec<&str> = open.flat_map(|(index, _)| describe(turn, index)).collect();
    let order = CONTENT
        .iter()
        .map(|(_, sentence)| *sentence)
        .chain([TESTS_FAILED, OTHER]);
    let errors = order
        .filter(|sentence| said.contains(sentence))
        .map(String::from);
    let unread = is_unread(turn).then(|| NOT_READ.to_owned());
    (errors.collect(), unread.into_iter().collect())
}

/// Returns the observation about an action that is due (spec LETTER-2).
pub(super) fn gap(rule: &Rule, action: &RuleAction, proof: &Proof) -> String {
    let how = match proof.best() {
        Some(Outcome::Failed | Outcome::Unclear | Outcome::Counts) => {
            "was not observed to succeed this turn"
        }
        Some(Outcome::BeforeEdit) => "was not observed this turn after the last edit",
        _ => "was not observed this turn",
    };
    format!("{} but {} {how}", rule.subject(), action.label())
}

/// Returns the observation that the changes span many folders at the top.
pub(super) fn wide(turn: &Turn<'_>) -> Option<String> {
    let folders = turn
        .files
        .iter()
        .filter_map(|file| file.path.split_once('/'));
    let folders: BTreeSet<_> = folders.map(|(folder, _)| folder).collect();
    (folders.len() > FOLDERS_MAX).then(|| WIDE.to_owned())
}

/// Layer 2: the kind of an unresolved error, by its text.
fn describe(turn: &Turn<'_>, index: usize) -> Vec<&'static str> {
    let call = &turn.calls()[index];
    let says = |patterns: &[&str]| patterns.iter().any(|pattern| call.output.contains(pattern));
    let content = CONTENT.iter().filter(|(patterns, _)| says(patterns));
    let mut sentences: Vec<_> = content.map(|(_, sentence)| *sentence).collect();
    let line = call.command.as_deref().unwrap_or_default();
    if line.contains("pytest") || line.contains("make test") || runs_tests(turn, index) {
        sentences.push(TESTS_FAILED);
    }
    if sentences.is_empty() {
        sentences.push(OTHER);
    }
    sentences
}

/// Returns whether a line runs the tests of any rule.
fn runs_tests(turn: &Turn<'_>, index: usize) -> bool {
    let actions = turn.policy.rules.iter().flat_map(|rule| &rule.actions);
    let mut evidence = actions
        .filter(|action| action.purpose == "tests")
        .flat_map(|action| &action.evidence);
    let commands = &turn.lines[index].commands;
    let fits = |wanted: &String| {
        let mut commands = commands.iter();
        commands.any(|simple| turn.rules.fits(wanted, simple, &turn.catalogue))
    };
    evidence.any(fits)
}

/// Layer 1: whether a later call addressed the error.
fn is_resolved(turn: &Turn<'_>, index: usize) -> bool {
    let calls = turn.calls();
    let error = About::new(turn, index);
    let later = calls
        .iter()
        .enumerate()
        .skip(index + 1)
        .filter(|(_, call)| !call.refused);
    later
        .into_iter()
        .any(|(later_index, call)| match call.kind {
            ToolKind::Shell => {
                let line = call.command.as_deref().unwrap_or_default();
                error.is_referenced_in(line)
                    || is_same_command(
                        turn,
                        &turn.lines[index].commands,
                        &turn.lines[later_index].commands,
                    )
            }
            ToolKind::Edit | ToolKind::Write => {
                !call.is_error && error.is_about_any(&call.paths, turn.project)
            }
            ToolKind::Read | ToolKind::Other => {
                !call.is_error && error.is_retried_by(call, turn.project)
            }
        })
}

struct About<'a> {
    call: &'a ToolCall,
    files: Vec<PathRef>,
}

impl<'a> About<'a> {
    fn new(turn: &Turn<'a>, index: usize) -> Self {
        let call = &turn.calls()[index];
        let line = call.command.as_deref().unwrap_or_default();
        let named = FILES
            .find_iter(line)
            .chain(FILES.find_iter(&call.output))
            .map(|found| found.as_str());
        let mut files: Vec<PathRef> = Vec::new();
        for path in call.paths.iter().map(String::as_str).chain(named) {
            // What follows `::` in a test's name is not part of its file's.
            let path_ref = PathRef::written(path.split("::").next().unwrap_or(path), turn.project);
            if !path_ref.path.is_empty() && files.len() < FILES_MAX && !files.contains(&path_ref) {
                files.push(path_ref);
            }
        }
        Self { call, files }
    }

    /// Returns whether a later shell line names one of the files, or its module.
    fn is_referenced_in(&self, line: &str) -> bool {
        self.files.iter().any(|file| file.is_named_in(line))
    }

    /// Returns whether a later call edits one of the files.
    fn is_about_any(&self, paths: &[String], project: &str) -> bool {
        paths
            .iter()
            .map(|path| PathRef::written(path, project))
            .any(|path_ref| self.files.iter().any(|file| file.same(&path_ref)))
    }

    /// Returns whether a later call repeats the attempt: the same tool, or the file by a corrected
    /// path.
    fn is_retried_by(&self, later: &ToolCall, project: &str) -> bool {
        let same_name = |path: &String| {
            let path_ref = PathRef::written(path, project);
            self.files
                .iter()
                .any(|file| file.file_name() == path_ref.file_name())
        };
        if self.call.kind == ToolKind::Shell || !self.call.paths.is_empty() {
            return self.call.kind != ToolKind::Shell && later.paths.iter().any(same_name);
        }
        self.call.tool == later.tool
    }
}

/// Returns whether two lines have a command in common: the same program with the same target.
fn is_same_command(turn: &Turn<'_>, left: &[shell::Simple], right: &[shell::Simple]) -> bool {
    let right = keys(turn, right);
    keys(turn, left).iter().any(|key| right.contains(key))
}

/// Returns the identities of a line's commands: the program and its target. A program that runs tests or checks is the same
/// whatever its arguments are.
fn keys<'a>(turn: &Turn<'_>, commands: &'a [shell::Simple]) -> Vec<(&'a str, Option<&'a str>)> {
    let mut keys = Vec::new();
    for simple in commands {
        let Some(program) = simple.words.first().map(String::as_str) else {
            continue;
        };
        let does = turn.catalogue.program(program).and_then(|row| row.does);
        if does == Some(Purpose::SetUp) || (!keys.is_empty() && does == Some(Purpose::Show)) {
            continue;
        }
        let mut words = simple.words.iter().skip(1).map(String::as_str);
        let argument = words.find(|word| !word.starts_with('-'));
        let verifies = does.is_some_and(|does| {
            does == Purpose::Tests || does == Purpose::Types || does == Purpose::Lint
        });
        keys.push((program, argument.filter(|_| !verifies)));
    }
    keys
}

/// Returns whether a file was edited that this turn had neither read nor written before.
fn is_unread(turn: &Turn<'_>) -> bool {
    let path_ref = |path: &String| PathRef::written(path, turn.project);
    let mut known: Vec<PathRef> = Vec::new();
    for (call, line) in turn.calls().iter().zip(&turn.lines) {
        // A call that failed or was refused neither showed nor changed anything.
        if call.refused || (call.is_error && call.kind != ToolKind::Shell) {
            continue;
        }
        match call.kind {
            ToolKind::Edit => {
                if call
                    .paths
                    .iter()
                    .map(path_ref)
                    .any(|edited| !known.iter().any(|read| read.same(&edited)))
                {
                    return true;
                }
            }
            // A file that this turn wrote counts as read, and a new one cannot be read first.
            ToolKind::Read | ToolKind::Write => known.extend(call.paths.iter().map(path_ref)),
            ToolKind::Shell => {
                known.extend(
                    line.reads
                        .iter()
                        .chain(&line.writes)
                        .chain(&call.paths)
                        .map(path_ref),
                );
            }
            ToolKind::Other => {}
        }
    }
    false
}

/// How the observation begins.
const DRIFT: &str = "Active work item ";

/// Returns the observation that the changes and the work item's plan have no file in common.
///
/// `None` unless a work item is set, its plan names files, and something changed.
pub(super) fn drift(turn: &Turn<'_>) -> Option<String> {
    let slug = turn
        .evidence
        .working_slug
        .as_ref()
        .or(turn.policy.working_slug.as_ref())?;
    let planned = turn
        .evidence
        .plan_files
        .as_ref()
        .filter(|files| !files.is_empty())?;
    if turn.files.is_empty() {
        return None;
    }
    // A plan that is edited says nothing about the work.
    let own = format!("todos/{slug}/");
    let expected = |changed: &str| {
        changed.starts_with(&own) || planned.iter().any(|planned| covers(planned, changed))
    };
    if turn.files.iter().any(|file| expected(&file.path)) {
        return None;
    }
    Some(format!(
        "{DRIFT}`{slug}` expects changes in different files — verify you are working on the right task"
    ))
}

/// Returns whether an entry of a plan (a file, a folder or a glob) covers a changed file.
fn covers(planned: &str, changed: &str) -> bool {
    let planned = planned.trim_start_matches("./").trim_end_matches('/');
    let below = changed
        .strip_prefix(planned)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below
        || planned.ends_with(changed) && planned.starts_with('/')
        || crate::rules::glob(planned).is_ok_and(|glob| glob.compile_matcher().is_match(changed))
}

/// Reads the file paths of a plan's "Files to Change" table; `None` without such a table or a path
/// in it.
pub fn plan_files(markdown: &str) -> Option<Vec<String>> {
    let mut files: Vec<String> = Vec::new();
    for row in table_rows(markdown) {
        for path in cell_paths(&row) {
            if !files.contains(&path) {
                files.push(path);
            }
        }
    }
    (!files.is_empty()).then_some(files)
}

/// Returns the path cells of the tables under the heading "Files to Change", up to the next heading of its level.
fn table_rows(markdown: &str) -> Vec<String> {
    let mut cells_found = Vec::new();
    let mut level = None;
    let mut column = None;
    let mut in_fence = false;
    for line in markdown.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_fence = !in_fence;
            continue;
        }
        if in_fence {
            continue;
        }
        let hashes = line.len() - line.trim_start_matches('#').len();
        if hashes > 0 || (line.starts_with("**") && line.to_lowercase().contains("files to change"))
        {
            let is_ours = line.to_lowercase().contains("files to change");
            level = if is_ours {
                Some(hashes)
            } else {
                level.filter(|level| hashes > *level)
            };
            column = None;
            continue;
        }
        if level.is_none() || !line.contains('|') {
            column = None;
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(column) = column else {
            // The first row of a table names its columns.
            let titled = |title: &&str| {
                ["file", "path"]
                    .iter()
                    .any(|word| title.to_lowercase().contains(word))
            };
            column = Some(cells.iter().position(titled).unwrap_or_default());
            continue;
        };
        let is_ruler = cells
            .iter()
            .all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ')));
        if !is_ruler {
            cells_found.extend(cells.get(column).map(|cell| (*cell).to_owned()));
        }
    }
    cells_found
}

/// Returns the paths of a cell: the parts in backticks, or else every word that looks like a path.
fn cell_paths(cell: &str) -> Vec<String> {
    let quoted: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    let separated = cell.replace("<br>", " ").replace("<br/>", " ");
    let words: Vec<&str> = if quoted.is_empty() {
        separated
            .split([',', ' ', ';', '[', ']', '(', ')', '*'])
            .filter(|word| word.contains(['/', '.']))
            .collect()
    } else {
        quoted
    };
    words.into_iter().filter_map(clean_path).collect()
}

/// Returns a path without line numbers and decoration; `None` for a word that cannot be a path.
fn clean_path(word: &str) -> Option<String> {
    let word = word.trim().trim_start_matches("./");
    let (path, tail) = word.split_once(':').unwrap_or((word, ""));
    let is_place = tail
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | 'L'));
    let path = path.trim_end_matches(['.', ',']);
    let is_path = is_place
        && !path.is_empty()
        && !path.contains(char::is_whitespace)
        && path.chars().any(char::is_alphanumeric);
    is_path.then(|| path.to_owned())
}
