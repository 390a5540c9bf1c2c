//! Drift: the changes and the active work item have nothing in common (spec HYG-6).

use super::turn::Turn;

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
