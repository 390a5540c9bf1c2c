//! What is asked for: the project's own command where it has one (spec RULE-19).

use journal::Task;

use super::kinds::{Kind, kind_of, kind_of_name};
use crate::project::covering::{Family, family, package_of, within};
use crate::project::resolve::{Map, resolve};
use crate::shell;

/// The words for an action that is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::findings) struct Wording {
    /// Whether a build or a run is enough.
    pub(in crate::findings) uncovered: bool,
    /// The project's own command.
    pub(in crate::findings) command: Option<String>,
}

/// Returns the words for files, each with whether a test covers it.
pub(super) fn wording(files: &[(&str, bool)], map: &Map<'_>, names_project: bool) -> Wording {
    let uncovered = files.iter().all(|(_, covered)| !covered);
    let asked: Vec<&str> = files
        .iter()
        .filter(|(_, covered)| *covered != uncovered)
        .map(|(path, _)| *path)
        .collect();
    let kind = if uncovered { Kind::Build } else { Kind::Tests };
    let command = names_project.then(|| command(kind, &asked, map)).flatten();
    Wording { uncovered, command }
}

impl Wording {
    /// Returns the instruction in place of a rule's.
    pub(in crate::findings) fn text(&self, rule: &str) -> String {
        match (&self.command, self.uncovered) {
            (Some(command), true) => {
                format!("Build or run the changed code: no test covers it (`{command}`)")
            }
            (None, true) => "Build or run the changed code: no test covers it".to_owned(),
            (Some(command), false) => {
                // The rule names a command that fits its language in general.
                let plain = rule
                    .rsplit_once(" (`")
                    .filter(|_| rule.ends_with(')'))
                    .map_or(rule, |(plain, _)| plain);
                format!("{plain} (`{command}`)")
            }
            (None, false) => rule.to_owned(),
        }
    }

    /// Returns the missing evidence in place of a rule's.
    pub(in crate::findings) fn label(&self, rule: String) -> String {
        match (&self.command, self.uncovered) {
            (_, true) => "a build or a run of it".to_owned(),
            (Some(command), false) => format!("a test run (`{command}`)"),
            (None, false) => rule,
        }
    }
}

/// Returns the call of the task that does this for the files: the one nearest to them, by name.
fn command(kind: Kind, files: &[&str], map: &Map<'_>) -> Option<String> {
    let first = files.first()?;
    let package = package_of(&map.workspace.packages, first);
    let fits = |task: &&Task| {
        files.iter().all(|file| within(file, &task.folder)) && does(task, kind, first, map)
    };
    let rank = |task: &&Task| {
        let near = usize::from(task.folder != package);
        (
            near,
            name_rank(&task.name, kind),
            runner_rank(&task.runner),
            task.name.len(),
        )
    };
    let task = map.workspace.tasks.iter().filter(fits).min_by_key(rank);
    match task {
        Some(task) => call(task, map),
        None if kind == Kind::Build => usual(family(first), package),
        None => None,
    }
}

/// Returns whether a task does this to code in the language of a file.
fn does(task: &Task, kind: Kind, file: &str, map: &Map<'_>) -> bool {
    if matches!(
        kind_of_name(&task.name),
        Some((Kind::Lint | Kind::Serve, _))
    ) {
        return false;
    }
    let commands = shell::read(&task.text).commands;
    let mut known = false;
    for simple in &commands {
        for placed in resolve(simple, Some(task.folder.clone()), map).0 {
            if let Some((found, of)) = kind_of(&placed.simple) {
                known = true;
                let of = if of == Family::Other {
                    of_runner(&task.runner)
                } else {
                    of
                };
                if found == kind && speaks(of, family(file)) {
                    return true;
                }
            }
        }
    }
    let is_named = || kind_of_name(&task.name).is_some_and(|(found, _)| found == kind);
    !known && speaks(of_runner(&task.runner), family(file)) && is_named()
}

fn speaks(tool: Family, file: Family) -> bool {
    tool == Family::Other || file == Family::Other || tool == file
}

/// Returns the language of the projects that have tasks of a runner.
fn of_runner(runner: &str) -> Family {
    match runner {
        "npm" | "pnpm" | "yarn" | "bun" | "deno" => Family::Script,
        "python" => Family::Python,
        "cargo" => Family::Rust,
        "composer" => Family::Php,
        _ => Family::Other,
    }
}

fn name_rank(name: &str, kind: Kind) -> usize {
    let names: &[&str] = match kind {
        Kind::Tests => &[
            "test",
            "tests",
            "test:unit",
            "unit",
            "test:ci",
            "check",
            "verify",
            "ci",
        ],
        _ => &[
            "build",
            "typecheck",
            "type-check",
            "check-types",
            "types",
            "compile",
            "check",
            "verify",
            "ci",
        ],
    };
    names
        .iter()
        .position(|known| *known == name)
        .unwrap_or(names.len())
}

fn runner_rank(runner: &str) -> usize {
    ["mise", "just", "task", "make"]
        .iter()
        .position(|known| *known == runner)
        .unwrap_or(4)
}

/// Returns how a task is called from the top; `None` if a name is not plain, since it comes from the repository.
fn call(task: &Task, map: &Map<'_>) -> Option<String> {
    let plain = |text: &str| {
        text.len() <= 64
            && !text.starts_with('-')
            && text
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || ":._/-".contains(char))
    };
    let (name, folder) = (task.name.as_str(), task.folder.as_str());
    if !plain(name) || !plain(folder) {
        return None;
    }
    let package = map
        .workspace
        .packages
        .iter()
        .find(|package| package.folder == folder)
        .map_or("", |package| package.name.as_str());
    let own = match task.runner.as_str() {
        "pnpm" if !folder.is_empty() && !package.is_empty() && plain(package) => {
            return Some(format!("pnpm --filter {package} run {name}"));
        }
        "npm" | "pnpm" | "yarn" if name == "test" => format!("{} test", task.runner),
        "npm" | "pnpm" | "yarn" | "bun" => format!("{} run {name}", task.runner),
        "make" if !folder.is_empty() => return Some(format!("make -C {folder} {name}")),
        "make" | "just" | "task" | "cargo" => format!("{} {name}", task.runner),
        "mise" | "composer" => format!("{} run {name}", task.runner),
        "deno" => format!("deno task {name}"),
        // Which of several programs calls it is not known.
        _ => return None,
    };
    Some(if folder.is_empty() {
        own
    } else {
        format!("cd {folder} && {own}")
    })
}

/// Returns the usual build of a language.
fn usual(family: Family, package: &str) -> Option<String> {
    let plain = package
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "._/-".contains(char));
    let build = match family {
        Family::Rust => "cargo build",
        Family::Go => "go build ./...",
        Family::Swift => "swift build",
        Family::DotNet => "dotnet build",
        _ => return None,
    };
    plain.then(|| {
        if package.is_empty() {
            build.to_owned()
        } else {
            format!("cd {package} && {build}")
        }
    })
}
