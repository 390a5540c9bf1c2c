//! What is asked for: the project's own command where it has one (spec RULE-19).

use journal::{Package, Task};

use super::kind::Kind;
use super::kinds::kind_of;
use super::names::kind_of_name;
use super::program;
use crate::project;
use crate::project::covering::{Family, family, package_of, within};
use crate::project::resolve::{Map, resolve};
use crate::shell;

/// The words of a due action.
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
    /// Returns the instruction that replaces a rule's own.
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

/// Returns the command that does this for the files: that of the project's task nearest to them, else of its CI, else the
/// usual one of its tool.
fn command(kind: Kind, files: &[&str], map: &Map<'_>) -> Option<String> {
    let first = files.first()?;
    let package = package_of(&map.workspace.packages, first);
    let fits = |task: &&Task| {
        task.runner != "turbo"
            && files
                .iter()
                .all(|file| within(file, &task.folder) && does(task, kind, file, map))
    };
    let rank = |task: &&Task| {
        let origin = [project::CI, project::usual::RUNNER]
            .iter()
            .position(|runner| task.runner == *runner)
            .map_or(0, |position| position + 1);
        (
            origin,
            usize::from(task.folder != package),
            name_rank(&task.name, kind),
            runner_rank(&task.runner),
            task.name.len(),
        )
    };
    let task = map.workspace.tasks.iter().filter(fits).min_by_key(rank);
    match task {
        Some(task) => call(task, map),
        None => {
            let is_alike = |file: &&str| family(file) == family(first);
            usual(kind, first, package).filter(|_| files.iter().all(is_alike))
        }
    }
}

/// Returns whether a command is known that would check a file.
pub(super) fn is_checkable(path: &str, map: &Map<'_>) -> bool {
    [Kind::Tests, Kind::Build]
        .into_iter()
        .any(|kind| command(kind, &[path], map).is_some())
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
                // A tool without a known language is usual only for files without one.
                let is_guess = task.runner == project::usual::RUNNER && of == Family::Other;
                if found == kind && checks(of, file, map) && !(is_guess && family(file) != of) {
                    return true;
                }
            }
        }
    }
    let is_named = || kind_of_name(&task.name).is_some_and(|(found, _)| found == kind);
    !known && checks(of_runner(&task.runner), file, map) && is_named()
}

/// Returns whether a tool of a language would check a file. A file without a language is checked by tools in the
/// language of its tests and, if it is a page or a style sheet, by those of the front end.
fn checks(tool: Family, file: &str, map: &Map<'_>) -> bool {
    let language = family(file);
    if language != Family::Other {
        return tool == Family::Other || tool == language;
    }
    let covered = map.workspace.covered.iter().find(|(path, _)| path == file);
    let mut tests = covered.into_iter().flat_map(|(_, tests)| tests);
    (tool == Family::Script && program::is_front_end(file))
        || tests.any(|test| tool == Family::Other || family(test) == tool)
}

/// Returns the language of the projects that have tasks of a runner.
fn of_runner(runner: &str) -> Family {
    match runner {
        "npm" | "pnpm" | "yarn" | "bun" | "deno" | "turbo" | "nx" => Family::Script,
        "python" | "poe" | "pdm" | "hatch" | "taskipy" | "nox" | "tox" => Family::Python,
        "gradle" | "gradlew" => Family::Jvm,
        "rake" => Family::Ruby,
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
            "testenv",
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
    let (name, folder) = (task.name.as_str(), task.folder.as_str());
    let package = map
        .workspace
        .packages
        .iter()
        .find(|package| package.folder == folder);
    let package = package.cloned().unwrap_or_default();
    let is_plain = if task.runner == project::CI {
        // Its reader takes plain commands only.
        plain(folder)
    } else {
        plain(name) && plain(folder)
    };
    if !is_plain {
        return None;
    }
    let own = match task.runner.as_str() {
        project::usual::RUNNER => {
            let names_it = !package.name.is_empty() && task.text.contains(&package.name);
            return (!names_it || plain(&package.name)).then(|| task.text.clone());
        }
        project::CI => task.text.clone(),
        "npm" | "pnpm" | "yarn" | "bun" => {
            if let Some(call) = of_member(task, &package, map) {
                return Some(call);
            }
            let verb = if name == "test" && task.runner != "bun" {
                ""
            } else {
                "run "
            };
            format!("{} {verb}{name}", task.runner)
        }
        "nx" if plain(&package.name) && !package.name.is_empty() => {
            return Some(format!("npx nx run {}:{name}", package.name));
        }
        "gradle" | "gradlew" => return Some(of_gradle(task, &package)),
        "make" if !folder.is_empty() => return Some(format!("make -C {folder} {name}")),
        "nox" | "tox" if name == task.runner || name == "testenv" => task.runner.clone(),
        "nox" => format!("nox -s {name}"),
        "tox" => format!("tox -e {name}"),
        "taskipy" => format!("task {name}"),
        "make" | "just" | "task" | "cargo" | "poe" | "rake" => format!("{} {name}", task.runner),
        "mise" | "composer" | "pdm" | "hatch" => format!("{} run {name}", task.runner),
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

fn plain(text: &str) -> bool {
    text.len() <= 64
        && !text.starts_with('-')
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "@:._/-".contains(char))
}

/// Returns how a script of a workspace's member is called from the top, by the tool of the workspace.
fn of_member(task: &Task, package: &Package, map: &Map<'_>) -> Option<String> {
    let (name, of) = (task.name.as_str(), package.name.as_str());
    let is_member = package.member_of == task.runner && !package.folder.is_empty();
    if !is_member || of.is_empty() || !plain(of) {
        return None;
    }
    let by_turbo = |task: &Task| task.runner == "turbo" && task.name == name;
    let verb = if name == "test" { "" } else { "run " };
    Some(if map.workspace.tasks.iter().any(by_turbo) {
        let begin = match task.runner.as_str() {
            "npm" => "npx",
            "bun" => "bunx",
            other => other,
        };
        format!("{begin} turbo run {name} --filter={of}")
    } else {
        match task.runner.as_str() {
            "pnpm" => format!("pnpm --filter {of} {verb}{name}"),
            "yarn" => format!("yarn workspace {of} {verb}{name}"),
            "bun" => format!("bun run --filter {of} {name}"),
            _ => format!("npm -w {of} {verb}{name}"),
        }
    })
}

fn of_gradle(task: &Task, package: &Package) -> String {
    let (name, folder) = (&task.name, &task.folder);
    let program = if task.runner == "gradlew" {
        "./gradlew"
    } else {
        "gradle"
    };
    if folder.is_empty() {
        format!("{program} {name}")
    } else if package.member_of == "gradle" {
        format!("{program} :{}:{name}", folder.replace('/', ":"))
    } else {
        format!("{program} -p {folder} {name}")
    }
}

/// Returns the usual command of a language whose projects have no manifest of a fixed name, or whose manifest was not
/// read.
fn usual(kind: Kind, file: &str, package: &str) -> Option<String> {
    let [tests, build] = match family(file) {
        Family::Rust => ["", "cargo build"],
        Family::Go => ["", "go build ./..."],
        Family::Swift => ["swift test", "swift build"],
        Family::DotNet => ["dotnet test", "dotnet build"],
        Family::Haskell => ["cabal test", "cabal build"],
        Family::Terraform => ["terraform test", "terraform validate"],
        _ => return None,
    };
    let command = if kind == Kind::Tests { tests } else { build };
    if command.is_empty() || !plain(package) {
        return None;
    }
    Some(if package.is_empty() {
        command.to_owned()
    } else {
        format!("cd {package} && {command}")
    })
}
