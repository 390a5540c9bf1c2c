//! Which code a command verifies: that of the package in which it runs or which it names (spec EVID-23).

use journal::{ChangedFile, Workspace};

use super::classes;
use super::covers::{covers_by_file, covers_folder, is_near, mirrors};
use super::kind::Kind;
use crate::project::covering::{
    Family, family, is_only_test, is_suite, is_test_folder, is_test_project, package_of, within,
};
use crate::project::resolve::{Map, Placed};
use crate::project::{file_name, folder, is_test};

/// Which code a command verifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All tests, or it is unknown which.
    All,
    /// The code below these folders.
    Folders(Vec<String>),
    /// What these tests are about; parts of their names if a runner was given such.
    Files(Vec<String>),
    /// The same, but they verify no changed test other than themselves.
    Tests(Vec<String>),
    /// The same code, but of the changed tests only those whose classes these patterns choose.
    Classes(Box<Reach>, Vec<String>),
}

/// Options whose value chooses packages, folders or modules.
const CHOICES: [&str; 14] = [
    "-p",
    "--package",
    "--filter",
    "-F",
    "-w",
    "--workspace",
    "-pl",
    "--projects",
    "--project",
    "--manifest-path",
    "--scope",
    "--package-path",
    "--rootDir",
    "--root",
];
/// First operands that are no paths.
const VERBS: [&str; 16] = [
    "test", "tests", "run", "watch", "build", "check", "clippy", "vet", "install", "nextest",
    "verify", "package", "compile", "spec", "related", "generate",
];

/// Returns which code a command verifies.
pub(super) fn reach(placed: &Placed, kind: Kind, family: Family, map: &Map<'_>) -> Reach {
    let words = &placed.simple.words;
    let program = words.first().map_or("", String::as_str);
    let place = placed.place.as_deref();
    let base = place.map_or(Reach::All, |place| {
        let place = without_build_folder(place);
        let package = package_of(&map.workspace.packages, place);
        // A folder below the top that holds no changed file may be a package of its own.
        let is_elsewhere =
            package.is_empty() && !map.knows(place) && !is_test_folder(file_name(place));
        let place = if family == Family::Go || is_elsewhere {
            place
        } else {
            package
        };
        Reach::Folders(vec![place.to_owned()])
    });
    if words.iter().any(|word| {
        matches!(
            word.as_str(),
            "--workspace" | "--all" | "-r" | "--recursive" | "--workspaces" | "run-many"
        )
    }) {
        return base;
    }
    let chosen = chosen(words, map);
    if !chosen.is_empty() {
        return Reach::Folders(chosen);
    }
    let operands = operands(words);
    match family {
        Family::Go => go(&operands, place, &base, map),
        // Filters choose tests by name: of a crate, of a package.
        Family::Rust | Family::Swift | Family::Jvm | Family::Beam
            if kind != Kind::Tests || !has_path(&operands) =>
        {
            if matches!(program, "gradle" | "gradlew") {
                modules(&operands, place).unwrap_or(base)
            } else {
                base
            }
        }
        _ if kind == Kind::Tests => tests(program, &operands, place, base, map),
        _ => base,
    }
}

/// What is built in a folder of its own (`cd build && ctest`) is the code around it.
fn without_build_folder(place: &str) -> &str {
    let name = file_name(place);
    let is_build = ["build", "builddir", "_build", "out"].contains(&name)
        || ["build-", "build_", "cmake-build"]
            .iter()
            .any(|begin| name.starts_with(begin));
    if is_build { folder(place) } else { place }
}

/// Returns the packages that options choose. A name that belongs to none of the changed packages chooses another one.
fn chosen(words: &[String], map: &Map<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let program = words.first().map_or("", String::as_str);
    if let Some(project) = project_of_nx(words) {
        let folder = map.package(project).map(str::to_owned);
        return vec![folder.unwrap_or_else(|| format!("\u{0}{project}"))];
    }
    let mut words = words.iter().skip(1).map(String::as_str).peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        let takes = CHOICES.contains(&option)
            // Elsewhere these letters mean other things (`pytest -p plugin`, `mkdir -p`).
            && (option.starts_with("--")
                || matches!((program, option), ("cargo" | "tsc" | "vue-tsc", "-p") | ("pnpm", "-F") | ("npm", "-w") | ("mvn" | "mvnw", "-pl")))
            // Elsewhere it chooses tests, or is no choice at all.
            && (option != "--filter" || ["pnpm", "turbo", "bun", "yarn", "npm", "lerna"].contains(&program))
            && (option != "--project" || ["dotnet", "nx", "tsc", "vue-tsc"].contains(&program))
            && !(program == "pytest" || (program == "vitest" && option == "--project") || (program == "playwright"));
        if !takes {
            continue;
        }
        let Some(value) = value.or_else(|| words.next()) else {
            continue;
        };
        if value.contains(['*', '{', '[', '!']) {
            return vec![String::new()];
        }
        // A project of tests is about the others.
        if program == "dotnet" && is_test_project(value) {
            continue;
        }
        let path = value
            .strip_suffix("/Cargo.toml")
            .or_else(|| value.strip_suffix("/tsconfig.json"))
            .unwrap_or(value);
        if path.ends_with(".json") || path == "." || path == "Cargo.toml" {
            continue;
        }
        for one in path.split(',') {
            let folder = map.package(one).map(str::to_owned);
            let folder = folder.or_else(|| one.contains('/').then(|| map.locate(one))?);
            found.push(folder.unwrap_or_else(|| format!("\u{0}{one}")));
        }
    }
    found
}

/// `nx test web`, `nx run web:test`.
fn project_of_nx(words: &[String]) -> Option<&str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let project = match words.as_slice() {
        ["nx", "run", both, ..] => both.split(':').next()?,
        ["nx", "run-many" | "affected", ..] => return None,
        ["nx", _, project, ..] => project,
        _ => return None,
    };
    (!project.starts_with('-')).then_some(project)
}

fn operands(words: &[String]) -> Vec<&str> {
    let program = words.first().map_or("", String::as_str);
    let all = words.iter().skip(1).map(String::as_str);
    let mut found: Vec<&str> = Vec::new();
    let mut skip = false;
    for word in all {
        if std::mem::take(&mut skip) {
            continue;
        }
        if word.starts_with('-') {
            let long = word.starts_with("--") && !word.contains('=');
            let flags = [
                "--run",
                "--coverage",
                "--watch",
                "--ci",
                "--verbose",
                "--silent",
                "--quiet",
                "--no-cov",
                "--last-failed",
                "--",
            ];
            let values = [
                "-k",
                "-m",
                "-n",
                "-t",
                "-run",
                "-tags",
                "-timeout",
                "-count",
                "-o",
                "-c",
                "-p",
                "-r",
                "--maxfail",
                "--tb",
            ];
            skip = values.contains(&word) && !(program == "go" && word == "-c")
                || (long
                    && !flags.contains(&word)
                    && !word.starts_with("--no-")
                    && ["jest", "vitest", "playwright", "mocha"].contains(&program)
                    && [
                        "--config",
                        "--project",
                        "--reporter",
                        "--grep",
                        "--testNamePattern",
                        "--require",
                        "--timeout",
                    ]
                    .contains(&word));
            continue;
        }
        found.push(word);
    }
    if found.first().is_some_and(|first| VERBS.contains(first)) {
        found.remove(0);
    }
    found
}

fn has_path(operands: &[&str]) -> bool {
    operands
        .iter()
        .any(|operand| operand.contains('/') || operand.contains('.'))
}

/// `./...`, `./cmd/x`, `example.com/module/pkg/...`, `main.go`.
fn go(operands: &[&str], place: Option<&str>, base: &Reach, map: &Map<'_>) -> Reach {
    let mut folders = Vec::new();
    for operand in operands {
        let path = operand.trim_end_matches("...").trim_end_matches('/');
        let module = map.workspace.packages.iter().find(|package| {
            package.name.contains('/')
                && path
                    .strip_prefix(&package.name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if let Some(module) = module {
            folders.push(join(
                &module.folder,
                path[module.name.len()..].trim_start_matches('/'),
            ));
        } else if operand.starts_with('.') || operand.ends_with(".go") {
            let path = if path.ends_with(".go") {
                folder(path)
            } else {
                path
            };
            let path = path.trim_start_matches("./");
            let path = if path == "." { "" } else { path };
            match place {
                Some(place) => folders.push(join(place, path)),
                None if path.is_empty() => return Reach::All,
                None => folders.push(map.locate(path).unwrap_or_else(|| path.to_owned())),
            }
        }
    }
    if folders.is_empty() {
        base.clone()
    } else {
        Reach::Folders(folders)
    }
}

/// `:web:test` of gradle.
fn modules(operands: &[&str], place: Option<&str>) -> Option<Reach> {
    let module = operands
        .iter()
        .find_map(|operand| operand.rsplit_once(':').map(|(module, _)| module))?;
    let path = module.trim_start_matches(':').replace(':', "/");
    // The place may be that of the module already.
    let place = place.unwrap_or_default();
    let place = place.strip_suffix(path.as_str()).unwrap_or(place);
    let place = place.trim_end_matches('/');
    (!path.is_empty()).then(|| Reach::Folders(vec![join(place, &path)]))
}

/// Runners of tests that take files, folders or parts of names.
const RUNNERS: [&str; 23] = [
    "pytest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "node",
    "playwright",
    "deno",
    "bun",
    "rspec",
    "rails",
    "phpunit",
    "pest",
    "paratest",
    "mix",
    "bats",
    "dart",
    "flutter",
    "unittest",
    "shellspec",
    "busted",
    "prove",
];

/// Files, folders or parts of names that a test runner was given.
fn tests(
    program: &str,
    operands: &[&str],
    place: Option<&str>,
    base: Reach,
    map: &Map<'_>,
) -> Reach {
    // `ruby test/user_test.rb`.
    let runs_test = operands.first().is_some_and(|first| is_test(first));
    if !(RUNNERS.contains(&program) || runs_test) || operands.is_empty() {
        return base;
    }
    let operands = if RUNNERS.contains(&program) {
        operands
    } else {
        &operands[..1]
    };
    let mut folders = Vec::new();
    let mut files = Vec::new();
    for operand in operands {
        let path = operand.split("::").next().unwrap_or_default();
        let path = path
            .rsplit_once(':')
            .filter(|(_, line)| line.chars().all(|char| char.is_ascii_digit()))
            .map_or(path, |(path, _)| path);
        if path.contains('*') || path == "." || path == "discover" {
            return base;
        }
        if is_suite(path) {
            let around = folder(path.trim_start_matches("./"));
            folders.push(place.map_or_else(|| around.to_owned(), |place| join(place, around)));
        } else if program == "unittest" {
            files.push(
                path.rsplit('.')
                    .find(|part| part.starts_with("test"))
                    .unwrap_or(path)
                    .to_owned(),
            );
        } else if file_name(path).contains('.')
            || !(path.contains('/') || is_test_folder(path) || path == "src")
        {
            files.push(path.trim_start_matches("./").to_owned());
        } else {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            folders.push(
                place
                    .map(|place| join(place, path))
                    .or_else(|| map.locate(path))
                    .unwrap_or_else(|| path.to_owned()),
            );
        }
    }
    if files.is_empty() {
        Reach::Folders(folders)
    } else {
        Reach::Files(files.into_iter().chain(folders).collect())
    }
}

fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", path) => path.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}

impl Reach {
    /// Returns whether the command verifies a file.
    pub(super) fn covers(&self, path: &str, kind: Kind, of: Family, workspace: &Workspace) -> bool {
        match self {
            Self::All => true,
            Self::Folders(folders) => folders
                .iter()
                .any(|folder| covers_folder(folder, path, kind, of, workspace)),
            Self::Files(files) => files
                .iter()
                .any(|file| covers_by_file(file, path, workspace) || is_near(file, path)),
            Self::Classes(all, patterns) => {
                let is_chosen = || patterns.iter().any(|one| classes::chooses(one, path));
                all.covers(path, kind, of, workspace)
                    && (!is_only_test(path) || workspace.tests_unknown || is_chosen())
            }
            Self::Tests(files) => {
                // One file may stand for all of its folder then.
                let is_other = is_only_test(path) && !workspace.tests_unknown;
                files.iter().any(|file| {
                    covers_by_file(file, path, workspace) || (!is_other && is_near(file, path))
                })
            }
        }
    }

    /// Takes tests for no proof of other tests.
    pub(super) fn exact(self) -> Self {
        match self {
            Self::Files(files) => Self::Tests(files),
            other => other,
        }
    }

    /// Takes the tests of some classes for no proof of other tests. Without patterns all were run.
    pub(super) fn of_classes(self, patterns: Vec<String>) -> Self {
        match patterns.as_slice() {
            [] => self,
            _ => Self::Classes(Box::new(self), patterns),
        }
    }

    /// Returns whether a test was run of the folder that mirrors a file's: `tests/unit/server/` of `app/server/`.
    pub(super) fn holds_mirror(&self, path: &str) -> bool {
        let (Self::Files(named) | Self::Tests(named)) = self else {
            return false;
        };
        let is_mirror = |test: &String| {
            is_test(test) && family(test) == family(path) && mirrors(folder(test), folder(path))
        };
        named.iter().any(is_mirror)
    }

    /// Returns whether a test was run that changed together with a file that no test is known to cover: it was written for
    /// it.
    pub(super) fn holds_companion(
        &self,
        changed: &[ChangedFile],
        path: &str,
        workspace: &Workspace,
    ) -> bool {
        let named = match self {
            Self::Files(named) => named,
            Self::Tests(named) if !is_only_test(path) => named,
            _ => return false,
        };
        let is_run = |test: &str| named.iter().any(|name| test.ends_with(name.as_str()));
        changed.iter().any(|test| {
            test.hash.is_some()
                && is_test(&test.path)
                && family(&test.path) == family(path)
                && within(path, package_of(&workspace.packages, &test.path))
                && is_run(&test.path)
        })
    }
}
