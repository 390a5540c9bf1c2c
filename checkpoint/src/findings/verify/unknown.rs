//! Commands of the project that are not known: what their success shows (spec EVID-25).

use journal::Workspace;

use super::kind::Kind;
use super::reach::{self, Reach};
use super::{kinds, names, program};
use crate::findings::outcomes;
use crate::project::covering::{Family, family};
use crate::project::file_name;
use crate::project::resolve::{Map, Placed};
use crate::shell::Simple;

/// Programs of a system, and services, that run nothing of a project.
const FOREIGN: [&str; 64] = [
    "git",
    "gh",
    "glab",
    "jj",
    "hg",
    "svn",
    "rm",
    "rmdir",
    "mv",
    "cp",
    "ln",
    "chmod",
    "chown",
    "kill",
    "pkill",
    "killall",
    "cd",
    "pushd",
    "popd",
    "export",
    "set",
    "unset",
    "source",
    ".",
    "true",
    "false",
    ":",
    "sleep",
    "mkdir",
    "wait",
    "exit",
    "touch",
    "trap",
    "alias",
    "open",
    "xdg-open",
    "tmux",
    "screen",
    "docker",
    "docker-compose",
    "podman",
    "kubectl",
    "aws",
    "gcloud",
    "az",
    "ssh",
    "scp",
    "rsync",
    "brew",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "pip",
    "pipx",
    "gem",
    "systemctl",
    "launchctl",
    "sudo",
    "tar",
    "unzip",
    "direnv",
];
/// First operands by which a program checks what a project has.
const CHECKS: [&str; 12] = [
    "check",
    "checks",
    "verify",
    "validate",
    "test",
    "tests",
    "selftest",
    "self-test",
    "smoke",
    "e2e",
    "qa",
    "typecheck",
];

#[derive(Debug)]
pub(super) struct Unknown {
    /// Whether its name says that it checks something.
    pub(super) checks: bool,
    /// Whether it runs code of the project.
    runs: bool,
    /// The text of the script within its line.
    script: Option<String>,
    reach: Reach,
}

/// The line and the task that a command is in.
pub(super) struct Of<'a> {
    pub(super) line: &'a str,
    pub(super) task: Option<&'a str>,
    /// The absolute path of the project's top.
    pub(super) top: &'a str,
}

/// Returns what a command shows that neither a table nor a task file knows; `None` if that is nothing of the project.
pub(super) fn does(placed: &Placed, of: &Of<'_>, map: &Map<'_>) -> Option<Unknown> {
    let simple = &placed.simple;
    let name = simple.words.first()?.as_str();
    let script = program::given_inline(simple).map(str::to_owned);
    let shows_only = outcomes::only_shows(&simple.words) && script.is_none();
    if FOREIGN.contains(&name) || shows_only || is_help(simple) {
        return None;
    }
    let of_runner = of.task.or_else(|| names::name_of(simple));
    let checks = of_runner.is_some_and(says_check) || (script.is_none() && is_checker(simple));
    let runs = of.task.is_some() || is_in_project(simple, of);
    if !checks && !runs && script.is_none() {
        return None;
    }
    let kind = if checks { Kind::Tests } else { Kind::Run };
    Some(Unknown {
        checks,
        runs,
        script,
        reach: reach::reach(placed, kind, Family::Other, map),
    })
}

impl Unknown {
    /// Returns whether the command may be about a file: any if it checks, else one that no known command would check.
    pub(super) fn is_about(&self, path: &str, covered: bool, checkable: bool) -> bool {
        let names_it = |script: &String| script.contains(file_name(path));
        let is_enough = self.runs || self.script.as_ref().is_some_and(names_it);
        self.checks || (is_foreign(path) && !covered && !checkable && is_enough)
    }

    /// Returns whether the command is about the code of a file's folder.
    pub(super) fn covers(&self, path: &str, workspace: &Workspace) -> bool {
        let kind = if self.checks { Kind::Tests } else { Kind::Run };
        self.reach.covers(path, kind, Family::Other, workspace)
    }
}

/// Returns whether a file is of a language whose programs no table runs.
fn is_foreign(path: &str) -> bool {
    family(path) == Family::Other || [".clj", ".cljc"].iter().any(|end| path.ends_with(end))
}

fn says_check(name: &str) -> bool {
    name != "all" && names::is_check_name(name)
}

/// Returns whether an unknown tool has an option or a name that asks for a check.
fn is_checker(simple: &Simple) -> bool {
    let name = simple.words[0].as_str();
    let told = simple.words.get(1).map_or("", String::as_str);
    let begin = told.split([':', '-', '_']).next().unwrap_or_default();
    !kinds::is_known_tool(name)
        && (CHECKS.contains(&told) || CHECKS.contains(&begin) || says_check(name))
}

fn is_help(simple: &Simple) -> bool {
    let asks = ["--help", "-h", "--version", "-V", "help", "version"];
    simple
        .words
        .iter()
        .skip(1)
        .any(|word| asks.contains(&word.as_str()))
}

/// Returns whether a command runs a program or a script of the project, by the path in its line.
fn is_in_project(simple: &Simple, of: &Of<'_>) -> bool {
    let is_inside = |path: &str| {
        let is_relative = !path.starts_with(['/', '~', '$']) && path.contains('/');
        let top = of.top.trim_end_matches('/');
        is_relative
            || (!top.is_empty()
                && path
                    .strip_prefix(top)
                    .is_some_and(|rest| rest.starts_with('/')))
    };
    let is_it = |word: &str, name: &str| file_name(word) == name && is_inside(word);
    let name = simple.words[0].as_str();
    let words = || {
        of.line
            .split(|char: char| char.is_whitespace() || ";|&()\"'`".contains(char))
            .map(|word| word.replace('\\', "/"))
    };
    let script = program::script_of(simple).filter(|script| *script != name);
    match script {
        Some(script) => !script.starts_with(['/', '~', '$']) || is_inside(script),
        None => words().any(|word| is_it(&word, name)),
    }
}
