//! What a command does that calls a task of the project: the commands of that task (spec EVID-20).

use journal::{Task, Workspace};

use super::covering::{package_of, within};
use crate::shell::{self, Simple};

/// Tasks that call tasks.
const DEPTH_MAX: usize = 6;
/// Commands of one call.
const COMMANDS_MAX: usize = 64;

/// A command and the folder it runs in.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The command.
    pub(crate) simple: Simple,
    /// Its folder from the top of the work tree; `None` if not known.
    pub(crate) place: Option<String>,
}

/// The folders of a work tree by which paths are understood that an agent wrote.
pub(crate) struct Map<'a> {
    /// What is known of the project.
    pub(crate) workspace: &'a Workspace,
    /// The absolute path of its top.
    pub(crate) top: &'a str,
    /// Folders above changed files.
    pub(crate) folders: Vec<&'a str>,
}

impl Map<'_> {
    /// Returns the folder from the top of the work tree that a written path means, as far as that is known.
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

/// A call of a task.
#[derive(Debug, Default)]
struct Call<'a> {
    /// The programs that may define it.
    runners: &'static [&'static str],
    names: Vec<&'a str>,
    /// The package that an option selects.
    selected: Option<&'a str>,
}

/// Returns the commands that a command comes to, and whether it is a task of the project; a command that is none comes to
/// itself.
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
    let call = call_of(&simple.words);
    let tasks: Vec<&Task> = call
        .names
        .iter()
        .filter_map(|name| find(&call, name, place.as_deref(), map))
        .collect();
    if tasks.is_empty() || depth >= DEPTH_MAX {
        if found.len() < COMMANDS_MAX {
            let selected = call
                .selected
                .and_then(|name| map.package(name))
                .map(str::to_owned);
            found.push(Placed {
                simple: simple.clone(),
                place: selected.or(place),
            });
        }
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

/// Returns the task of a name: that of the selected package, of the folder, or of the nearest one above it.
fn find<'a>(
    call: &Call<'_>,
    name: &str,
    place: Option<&str>,
    map: &'a Map<'_>,
) -> Option<&'a Task> {
    let fits = |task: &&Task| task.name == name && call.runners.contains(&task.runner.as_str());
    let mut tasks = map.workspace.tasks.iter().filter(fits);
    if let Some(selected) = call.selected {
        let folder = map.package(selected)?;
        return tasks.find(|task| task.folder == folder);
    }
    let Some(place) = place else {
        return tasks.min_by_key(|task| task.folder.len());
    };
    let package = package_of(&map.workspace.packages, place);
    let above = tasks.filter(|task| within(place, &task.folder) || task.folder == package);
    above.max_by_key(|task| task.folder.len())
}

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];

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
        "make" | "gmake" => (&["make"], operands().collect()),
        "just" => (&["just"], operands().collect()),
        "task" | "go-task" => (&["task", "python"], operands().collect()),
        "mise" | "rtx" => (&["mise"], after(&["run", "r"], false)),
        "deno" => (&["deno"], after(&["task"], true)),
        "composer" => (&["composer"], after(&["run", "run-script", "exec"], false)),
        "cargo" => (&["cargo"], operands().take(1).collect()),
        "poe" => (&["python"], operands().take(1).collect()),
        "pdm" | "hatch" | "uv" | "poetry" => (&["python"], after(&["run"], true)),
        "make.exe" => (&["make"], Vec::new()),
        // What `pdm run` and `hatch run` are taken off of, and the programs that a package installs.
        name => (&["python"], vec![name]),
    };
    Call {
        runners,
        names,
        selected: None,
    }
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
