//! What a project's own files say about verifying a change: its packages, its tasks, and the tests that cover a file.
//!
//! Readers of task files, one for each form, and the rules that say which file is a test of which. What is read is not
//! trusted: every text and every list has a bound, and a file that is not understood has no tasks.

mod ci;
mod commands;
pub(crate) mod covering;
mod file;
mod justfile;
mod makefile;
mod manifests;
mod monorepo;
mod objects;
mod package_json;
mod remote;
#[cfg(test)]
mod tests;
pub(crate) mod usual;
mod values;

use journal::{ChangedFile, Task, Workspace};

use commands::Commands;

pub use covering::{Sources, covered, holds_rust_tests, is_loosened, is_test};
pub(crate) use file::file_name;
use file::usual_runner;
pub use file::{ProjectFile, folder, join, read_files, seen};
pub use remote::remote;

/// Folders whose files are read.
const FOLDERS_MAX: usize = 24;
/// Tasks that are kept.
pub(crate) const TASKS_MAX: usize = 96;
/// Maximum number of characters of a task's name.
const NAME_CHARS_MAX: usize = 64;

/// Returns whether a file is a workflow of a CI service, which is read whole.
pub fn is_workflow(path: &str) -> bool {
    path.starts_with(".github/workflows/") && (path.ends_with(".yml") || path.ends_with(".yaml"))
}

/// Patterns of `git ls-files` that list every test of a repository, and its tasks that are files of their own.
pub const LISTED: &[&str] = &[
    "*[Tt]est*",
    "*[Ss]pec*",
    "*e2e*",
    "*cypress*",
    "*IT.java",
    "mise-tasks/*",
    ".mise/tasks/*",
    ".github/workflows/*",
];

/// Returns the folders whose files say something about the changed ones: the top, and those above each changed file.
pub fn folders(changed: &[ChangedFile]) -> Vec<String> {
    let mut found = vec![String::new()];
    for file in changed {
        for (end, _) in file.path.match_indices('/') {
            let folder = &file.path[..end];
            if found.len() >= FOLDERS_MAX {
                return found;
            }
            if !found.iter().any(|known| known == folder) {
                found.push(folder.to_owned());
            }
        }
    }
    found
}

/// Returns how the changed files can be verified.
pub fn workspace(
    files: &[ProjectFile],
    changed: &[ChangedFile],
    sources: &Sources<'_>,
) -> Workspace {
    let packages = manifests::packages(files);
    let mut tasks: Vec<Task> = Vec::new();
    let mut keep = |folder: &str, runner: &str, name: &str, commands: Commands| {
        let name: String = name.trim().chars().take(NAME_CHARS_MAX).collect();
        let known =
            |task: &Task| task.folder == folder && task.name == name && task.runner == runner;
        if tasks.len() < TASKS_MAX && !name.is_empty() && !tasks.iter().any(known) {
            tasks.push(Task {
                folder: folder.to_owned(),
                runner: runner.to_owned(),
                name,
                text: commands.into_text(),
            });
        }
    };
    for file in files {
        let (folder, runner) = (folder_of(file), runner(file, files));
        if runner != CI {
            read(file, &mut |name, commands| {
                keep(folder, runner, name, commands)
            });
        }
    }
    if !tasks.iter().any(|task| says_tests(&task.name)) {
        tasks.extend(ci_commands(files));
    }
    tasks.extend(usual::tasks(files, &packages));
    let (covered, tests_unknown) = covering::covered(changed, &packages, sources);
    Workspace {
        packages,
        tasks,
        covered,
        tests_unknown,
    }
}

/// The runner of commands that are only known from a workflow.
pub(crate) const CI: &str = "ci";
/// Commands of workflows that are kept.
const CI_COMMANDS_MAX: usize = 24;

fn says_tests(name: &str) -> bool {
    name.split([':', '.', '-', '_', '/'])
        .any(|part| ["test", "tests", "check", "verify", "ci", "spec"].contains(&part))
}

/// Returns the plain commands of workflows as tasks: a hint where no task file names the tests.
fn ci_commands(files: &[ProjectFile]) -> Vec<Task> {
    let mut found: Vec<Task> = Vec::new();
    for file in files.iter().filter(|file| runner(file, &[]) == CI) {
        ci::commands(&file.path, &file.text, &mut |folder, line| {
            let is_known = found
                .iter()
                .any(|task| task.folder == folder && task.text == line);
            if found.len() < CI_COMMANDS_MAX && !is_known {
                found.push(Task {
                    folder: folder.to_owned(),
                    runner: CI.to_owned(),
                    name: line.clone(),
                    text: line,
                });
            }
        });
    }
    found
}

/// Returns the folder that a file's tasks belong to.
fn folder_of(file: &ProjectFile) -> &str {
    let inner = ["mise-tasks/", ".mise/tasks/"];
    if let Some(at) = inner.iter().find_map(|inner| file.path.find(inner)) {
        return file.path[..at].trim_end_matches('/');
    }
    let folder = folder(&file.path);
    let folder = folder
        .strip_suffix(".config")
        .or_else(|| folder.strip_suffix(".cargo"))
        .unwrap_or(folder);
    folder.trim_end_matches('/')
}

/// Returns the program that runs the tasks of a file.
fn runner<'a>(file: &'a ProjectFile, files: &[ProjectFile]) -> &'a str {
    if file.path.contains("mise-tasks/") || file.path.contains(".mise/tasks/") {
        return "mise";
    }
    if is_workflow(&file.path) {
        return CI;
    }
    match usual_runner(file_name(&file.path)) {
        "npm" => package_json::runner(file, files),
        usual => usual,
    }
}

fn read(file: &ProjectFile, add: &mut dyn FnMut(&str, Commands)) {
    let text = file.text.as_str();
    match runner(file, &[]) {
        "make" => makefile::tasks(text, add),
        "just" => justfile::tasks(text, add),
        "task" => objects::taskfile(text, add),
        "mise" if file.path.ends_with(".toml") => objects::mise(text, add),
        "mise" => objects::mise_file(&file.path, text, add),
        "turbo" => objects::turbo(text, add),
        "nx" => objects::nx(text, add),
        "cargo" => objects::cargo(text, add),
        "composer" => objects::composer(text, add),
        "deno" => objects::deno(text, add),
        "" => {}
        _ => objects::package_json(text, add),
    }
}
