//! What a command does that calls a task of the project: the commands of that task (spec EVID-14).

use journal::{Task, Workspace};

use super::TASKS_MAX;
use super::covering::{package_of, within};
use super::task_calls::{chosen_sessions, tasks_of_gradle};
use crate::shell::{self, Simple};

/// Tasks that call tasks.
const DEPTH_MAX: usize = 6;
/// Commands of one call.
const COMMANDS_MAX: usize = 64;

/// A command and the folder it runs in.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) simple: Simple,
    /// Its folder from the top of the work tree; `None` if not known.
    pub(crate) place: Option<String>,
}

/// The folders of a work tree by which paths are understood that an agent wrote.
pub(crate) struct Map<'a> {
    /// The project's files, tasks and packages.
    pub(crate) workspace: &'a Workspace,
    /// The absolute path of its top.
    pub(crate) top: &'a str,
    /// Folders above changed files.
    pub(crate) folders: Vec<&'a str>,
}

impl Map<'_> {
    /// Returns the folder for a written path, relative to the top of the work tree, if it is known.
    ///
    /// A relative path may start from a folder in which an earlier call left the shell, and an absolute one may lead to
    /// the project through a link or a work tree: then the end of the path decides.
    pub(crate) fn locate(&self, path: &str) -> Option<String> {
        let path = path.replace('\\', "/");
        if path.starts_with('~') || path.contains('$') || path.contains("..") {
            return self.by_end(&path);
        }
        let mut parts: Vec<&str> = path
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        let is_absolute =
            path.starts_with('/') || parts.first().is_some_and(|part| part.ends_with(':'));
        if !is_absolute {
            let path = parts.join("/");
            return if path.is_empty() || self.knows(&path) {
                Some(path)
            } else {
                self.by_end(&path).or(Some(path))
            };
        }
        let top: Vec<&str> = self
            .top
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        if !top.is_empty() && parts.starts_with(&top) {
            parts.drain(..top.len());
            return Some(parts.join("/"));
        }
        self.by_end(&path)
    }

    /// Returns whether a folder is one above a changed file or a package, or the top.
    pub(crate) fn knows(&self, path: &str) -> bool {
        let packages = self
            .workspace
            .packages
            .iter()
            .map(|package| package.folder.as_str());
        packages
            .chain(self.folders.iter().copied())
            .any(|folder| within(folder, path))
    }

    fn by_end(&self, path: &str) -> Option<String> {
        let packages = self
            .workspace
            .packages
            .iter()
            .map(|package| package.folder.as_str());
        let known = packages.chain(self.folders.iter().copied());
        let path = path.trim_end_matches('/');
        let ends = |folder: &&str| {
            !folder.is_empty()
                && (*folder == path
                    || path
                        .strip_suffix(*folder)
                        .is_some_and(|rest| rest.ends_with('/'))
                    || {
                        !path.starts_with('/')
                            && folder
                                .strip_suffix(path)
                                .is_some_and(|rest| rest.ends_with('/'))
                    })
        };
        known
            .filter(ends)
            .max_by_key(|folder| folder.len())
            .map(str::to_owned)
    }

    /// Returns the folder of a package by its name, its path, or the last part of either.
    pub(crate) fn package(&self, name: &str) -> Option<&str> {
        let name = name
            .trim_start_matches("./")
            .trim_end_matches("...")
            .trim_end_matches('/');
        // `web:api` of gradle is the folder `web/api`.
        let name = &*name.replace(':', "/");
        let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        let packages = &self.workspace.packages;
        let exact = packages
            .iter()
            .find(|package| package.name == name || package.folder == name);
        let loose = || {
            packages.iter().find(|package| {
                !name.is_empty() && (last(&package.name) == name || last(&package.folder) == name)
            })
        };
        exact.or_else(loose).map(|package| package.folder.as_str())
    }
}

#[derive(Debug, Default)]
struct Call<'a> {
    /// The programs whose files may define it.
    runners: &'static [&'static str],
    names: Vec<&'a str>,
    selected: Option<&'a str>,
    /// Whether it refers to the packages' own tasks of that name, and not to those of the top.
    everywhere: bool,
}

/// Returns the commands that a command runs, and whether it is a task of the project; any other command runs itself.
pub(crate) fn resolve(
    simple: &Simple,
    place: Option<String>,
    map: &Map<'_>,
) -> (Vec<Placed>, Option<String>) {
    let mut found = Vec::new();
    let task = expand(simple, place, map, 0, &mut found);
    (found, task)
}

fn expand(
    simple: &Simple,
    place: Option<String>,
    map: &Map<'_>,
    depth: usize,
    found: &mut Vec<Placed>,
) -> Option<String> {
    let place = simple.dir.as_deref().map_or(place, |dir| map.locate(dir));
    if found.len() >= COMMANDS_MAX {
        return None;
    }
    let call = call_of(&simple.words);
    let tasks: Vec<&Task> = call
        .names
        .iter()
        .flat_map(|name| {
            let own = find(&call, name, place.as_deref(), map);
            let base = base_of(name, call.runners).filter(|_| own.is_empty());
            base.map_or(own, |base| find(&call, base, place.as_deref(), map))
        })
        .collect();
    if tasks.is_empty() || depth >= DEPTH_MAX {
        let selected = call
            .selected
            .and_then(|name| map.package(name))
            .map(str::to_owned);
        found.push(Placed {
            simple: simple.clone(),
            place: selected.or(place),
        });
        return None;
    }
    for task in &tasks {
        for inner in shell::read(&task.text).commands {
            let mut inner = inner;
            inner.certain &= simple.certain;
            inner.decides &= simple.decides;
            let start = task.folder.clone();
            if let Some(dir) = &inner.dir
                && !dir.starts_with(['/', '~', '$'])
                && !start.is_empty()
            {
                inner.dir = Some(format!("{start}/{dir}"));
            }
            expand(&inner, Some(start), map, depth + 1, found);
        }
    }
    Some(tasks[0].name.clone())
}

/// Returns the session or environment that another one is a variant of: `tests` of `tests-3.12`.
fn base_of<'a>(name: &'a str, runners: &[&str]) -> Option<&'a str> {
    match runners {
        ["nox"] => name.split_once('-').map(|(base, _)| base),
        ["tox"] => Some("testenv"),
        _ => None,
    }
}

/// Returns the tasks of a name: that of the selected package, of the folder, or of the nearest one above it; or those of
/// all packages.
fn find<'a>(call: &Call<'_>, name: &str, place: Option<&str>, map: &'a Map<'_>) -> Vec<&'a Task> {
    let fits = |task: &&Task| task.name == name && call.runners.contains(&task.runner.as_str());
    let mut tasks = map.workspace.tasks.iter().filter(fits);
    if let Some(selected) = call.selected {
        let folder = map.package(selected);
        return tasks
            .find(|task| Some(task.folder.as_str()) == folder)
            .into_iter()
            .collect();
    }
    if call.everywhere {
        // Of a list that was cut, some may be missing.
        let is_whole = map.workspace.tasks.len() < TASKS_MAX;
        return tasks
            .filter(|task| is_whole && !task.folder.is_empty())
            .collect();
    }
    let nearest = match place {
        None => tasks.min_by_key(|task| task.folder.len()),
        Some(place) => {
            let package = package_of(&map.workspace.packages, place);
            let above = tasks.filter(|task| within(place, &task.folder) || task.folder == package);
            above.max_by_key(|task| task.folder.len())
        }
    };
    nearest.into_iter().collect()
}

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];
/// Targets of nx may be scripts too.
const NX: &[&str] = &["nx", "npm", "pnpm", "yarn", "bun"];
/// Programs that run the tasks of a pyproject.toml; `python` if it is not known which.
const PYTHON: &[&str] = &["python", "poe", "pdm", "hatch", "taskipy"];

fn call_of(words: &[String]) -> Call<'_> {
    let Some((program, rest)) = words.split_first() else {
        return Call::default();
    };
    let rest: Vec<&str> = rest
        .iter()
        .map(String::as_str)
        .take_while(|word| *word != "--")
        .collect();
    let operands = || {
        rest.iter()
            .copied()
            .filter(|word| !word.starts_with('-') && !word.contains('='))
    };
    let after = |verbs: &[&str], needed: bool| {
        let mut operands = operands();
        let first = operands.next();
        match first {
            Some(verb) if verbs.contains(&verb) => operands.next().into_iter().collect(),
            Some(name) if !needed => vec![name],
            _ => Vec::new(),
        }
    };
    let (runners, names): (&'static [&'static str], Vec<&str>) = match program.as_str() {
        "npm" | "pnpm" | "yarn" | "bun" => return node_call(program, &rest),
        "turbo" | "nx" | "lerna" => return monorepo_call(program, &rest),
        "gradle" | "gradlew" => return gradle_call(&rest),
        "nox" => (&["nox"], sessions(&rest, "nox")),
        "tox" => (&["tox"], sessions(&rest, "tox")),
        "rake" => {
            let names: Vec<&str> = operands()
                .map(|name| name.split('[').next().unwrap_or(name))
                .collect();
            (
                &["rake"],
                if names.is_empty() {
                    vec!["default"]
                } else {
                    names
                },
            )
        }
        "make" | "gmake" => (&["make"], operands().collect()),
        "just" => (&["just"], operands().collect()),
        "task" | "go-task" => (&["task", "taskipy", "python"], operands().collect()),
        "mise" | "rtx" => (&["mise"], after(&["run", "r"], false)),
        "deno" => (&["deno"], after(&["task"], true)),
        "composer" => (&["composer"], after(&["run", "run-script", "exec"], false)),
        "cargo" => (&["cargo"], operands().take(1).collect()),
        "poe" => (PYTHON, operands().take(1).collect()),
        "pdm" | "hatch" | "uv" | "poetry" => (PYTHON, after(&["run"], true)),
        "make.exe" => (&["make"], Vec::new()),
        // What `pdm run` and `hatch run` are taken off of, and the programs that a package installs.
        name => (PYTHON, vec![name]),
    };
    Call {
        runners,
        names,
        ..Call::default()
    }
}

/// `nox -s tests-3.12`, `tox -e py312,lint`, `tox run -e lint`; without a choice, all that run by default.
fn sessions<'a>(words: &[&'a str], program: &'a str) -> Vec<&'a str> {
    let chosen = chosen_sessions(program, words);
    if chosen.is_empty() {
        return vec![program];
    }
    chosen
        .into_iter()
        .map(|name| name.split(['(', '[']).next().unwrap_or(name))
        .collect()
}

/// `gradlew :web:check`, `gradle check lint -x test`.
fn gradle_call<'a>(words: &[&'a str]) -> Call<'a> {
    let names = tasks_of_gradle(words);
    let module = words
        .iter()
        .filter(|word| !word.starts_with('-'))
        .find_map(|word| word.rsplit_once(':'));
    Call {
        runners: &["gradle", "gradlew"],
        names,
        selected: module
            .map(|(module, _)| module.trim_start_matches(':'))
            .filter(|module| !module.is_empty()),
        everywhere: false,
    }
}

/// `turbo run test --filter=web`, `nx test web`, `nx run web:test`, `nx run-many -t test lint`.
fn monorepo_call<'a>(program: &str, words: &[&'a str]) -> Call<'a> {
    let mut call = Call {
        runners: if program == "nx" { NX } else { NODE },
        ..Call::default()
    };
    let (mut operands, mut targets): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut takes_targets = false;
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let (option, value) = word
            .split_once('=')
            .map_or((word, None), |(option, value)| (option, Some(value)));
        match option {
            "--filter" | "-F" | "--scope" | "--projects" | "--project" | "-p" => {
                call.selected = value.or_else(|| words.next());
            }
            "-t" | "--target" | "--targets" => {
                takes_targets = value.is_none();
                targets.extend(
                    value
                        .unwrap_or_default()
                        .split(',')
                        .filter(|name| !name.is_empty()),
                );
            }
            _ if word.starts_with('-') => takes_targets = false,
            _ if takes_targets => targets.extend(word.split(',')),
            _ => operands.push(word),
        }
    }
    match (program, operands.as_slice()) {
        ("nx", ["run", both, ..]) => {
            let mut parts = both.split(':');
            call.selected = parts.next();
            call.names.extend(parts.next());
        }
        ("nx", ["run-many" | "affected", ..]) => call.names = targets,
        ("nx", [target, project, ..]) => {
            call.names.push(target);
            call.selected = Some(project);
        }
        ("turbo" | "lerna", ["run", names @ ..]) | ("turbo", names) => call.names = names.to_vec(),
        _ => {}
    }
    // A pattern, or what changed since a commit.
    call.selected = call
        .selected
        .filter(|name| !name.contains(['*', '[', '!', '{', ',']));
    call.everywhere = call.selected.is_none();
    call
}

/// Calls of a package's scripts: `npm -w web test`, `pnpm --filter web run test`, `yarn workspace web test`.
fn node_call<'a>(program: &str, rest: &[&'a str]) -> Call<'a> {
    let mut call = Call {
        runners: NODE,
        ..Call::default()
    };
    let mut operands: Vec<&str> = Vec::new();
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-w" | "--workspace" | "--filter" | "-F" => call.selected = words.next(),
            "--prefix" | "-C" | "--dir" | "--cwd" => {
                words.next();
            }
            "workspace" if program == "yarn" && operands.is_empty() => call.selected = words.next(),
            _ => match word.split_once('=') {
                Some(("--workspace" | "--filter", name)) => call.selected = Some(name),
                _ if word.starts_with('-') => {}
                _ => operands.push(word),
            },
        }
    }
    call.names = match operands.as_slice() {
        ["run" | "run-script", name, ..] => vec![name],
        ["t" | "tst", ..] => vec!["test"],
        // `bun test` is a test runner, `bun run test` a script.
        ["test", ..] if program == "bun" => Vec::new(),
        [name, ..] => vec![name],
        [] => Vec::new(),
    };
    call
}
