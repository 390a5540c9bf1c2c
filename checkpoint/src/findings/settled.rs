//! What settles a failure: the same again, a change of what it names, or its goal reached another way (spec HYG-11).

use journal::{ToolCall, ToolKind};

use super::known::reference;
use super::line_words::{FILES, FILTERS, SETTING_UP};
use super::paths::PathRef;
use super::turn::Turn;
use super::verify::kinds;
use super::{missing, narrower, own_script, questions, server, verify};
use crate::project::covering::{Family, family};
use crate::shell::{self, Simple};

/// The most files that one failure may name.
const FILES_MAX: usize = 32;

/// Programs that change nothing but what is recorded.
const RECORDING: [&str; 12] = [
    "add", "commit", "push", "stash", "tag", "fetch", "merge", "rebase", "branch", "switch",
    "remote", "pull",
];
/// Programs whose first operand only groups; the second says what is done.
pub(super) const GROUPS: [&str; 14] = [
    "docker", "podman", "gh", "glab", "kubectl", "aws", "gcloud", "az", "dotnet", "flutter", "nx",
    "turbo", "uv", "poetry",
];
/// Programs that run the scripts or tasks of a project by name.
pub(super) const SCRIPT_RUNNERS: [&str; 11] = [
    "npm", "pnpm", "yarn", "bun", "deno", "mise", "just", "task", "make", "composer", "rake",
];
/// Programs that run a script given on their line.
pub(super) const INTERPRETERS: [&str; 8] = [
    "python", "node", "ruby", "perl", "php", "deno", "bun", "Rscript",
];
/// Programs that do the same work.
const SAME: [&[&str]; 5] = [
    &["rm", "rmdir", "unlink", "trash"],
    &["pip", "uv"],
    &["python", "python3", "py", "pypy"],
    &["docker-compose", "docker"],
    &["npm", "pnpm", "yarn", "bun"],
];

/// Programs that install what they are told.
pub(super) const INSTALLERS: [&str; 24] = [
    "brew",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "zypper",
    "snap",
    "flatpak",
    "choco",
    "winget",
    "scoop",
    "conda",
    "mamba",
    "micromamba",
    "pip",
    "pipx",
    "uv",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "gem",
];

/// What a command is for, as its program or its script is named.
const PURPOSES: [(&str, &[&str]); 5] = [
    (
        "test",
        &[
            "test",
            "tests",
            "pytest",
            "py.test",
            "tox",
            "nox",
            "unittest",
            "jest",
            "vitest",
            "mocha",
            "ava",
            "rspec",
            "phpunit",
            "pest",
            "ctest",
            "nextest",
            "playwright",
            "cypress",
            "minitest",
        ],
    ),
    (
        "lint",
        &[
            "lint",
            "eslint",
            "biome",
            "ruff",
            "clippy",
            "golangci-lint",
            "flake8",
            "pylint",
            "stylelint",
            "shellcheck",
            "vet",
            "rubocop",
        ],
    ),
    (
        "types",
        &[
            "typecheck",
            "type-check",
            "check-types",
            "tsc",
            "mypy",
            "pyright",
            "vue-tsc",
        ],
    ),
    (
        "build",
        &[
            "build", "compile", "webpack", "vite", "rollup", "esbuild", "assemble", "package",
        ],
    ),
    (
        "format",
        &[
            "fmt",
            "format",
            "prettier",
            "black",
            "rustfmt",
            "gofmt",
            "goimports",
        ],
    ),
];

/// Returns whether anything later in the turn settles the failure of a call.
pub(super) fn is_settled(turn: &Turn<'_>, index: usize) -> bool {
    let calls = &turn.evidence.timeline.calls;
    let files = files_of(turn, index);
    if missing::is_tool(&calls[index], &turn.lines[index]) && missing::is_behind(turn, index) {
        return true;
    }
    if server::was_stopped(turn, index)
        || server::was_started_since(turn, index)
        || is_about_others(turn, index)
    {
        return true;
    }
    let later = calls.iter().enumerate().skip(index + 1);
    let mut later = later.filter(|(at, call)| !call.refused && !turn.is_aside(*at));
    let only_looked = own_script::failed_looking(&calls[index], &turn.lines[index]);
    later.any(|(at, call)| match call.kind {
        ToolKind::Shell | ToolKind::Read if only_looked && !call.is_error => true,
        ToolKind::Shell => settles_by_line(turn, index, at, &files),
        ToolKind::Edit | ToolKind::Write => {
            let touches = |path: &String| {
                let path_ref = reference(path, turn.project);
                files.iter().any(|file| file.same(&path_ref))
            };
            !call.is_error
                && (call.paths.iter().any(touches)
                    || is_retried(&calls[index], call)
                    || works_on(turn, index, call))
        }
        ToolKind::Read | ToolKind::Other => !call.is_error && is_retried(&calls[index], call),
    })
}

/// Returns whether an edit changes code of the language that a failed test, build or run was about. Whether that repaired
/// it is asked by the action that the edit makes due.
fn works_on(turn: &Turn<'_>, index: usize, edit: &ToolCall) -> bool {
    // What a container lacks is seldom in the code.
    let in_container = |simple: &&Simple| {
        let program = simple.words.first().map_or("", String::as_str);
        ["docker", "docker-compose", "podman", "buildah"].contains(&program)
    };
    let commands = turn.lines[index].commands.iter();
    let languages: Vec<Family> = commands
        .filter(|simple| !in_container(simple))
        .filter_map(verify::language)
        .collect();
    edit.paths.iter().map(|path| family(path)).any(|changed| {
        let is_of = |language: &Family| *language == changed || *language == Family::Other;
        changed != Family::Other && languages.iter().any(is_of)
    })
}

/// Returns whether a check of the form found fault only with files that the turn did not change.
fn is_about_others(turn: &Turn<'_>, index: usize) -> bool {
    let call = &turn.evidence.timeline.calls[index];
    let mut checks = turn.lines[index]
        .commands
        .iter()
        .filter(|simple| !questions::is_harmless(simple) && !questions::is_question(simple, ""))
        .peekable();
    if call.kind != ToolKind::Shell || checks.peek().is_none() || !checks.all(kinds::is_lint) {
        return false;
    }
    let mut named = FILES
        .find_iter(&call.output)
        .map(|found| reference(found.as_str(), turn.project))
        .filter(|file| file.file_name().contains('.'))
        .peekable();
    let changed: Vec<PathRef> = turn
        .files
        .iter()
        .map(|file| PathRef::changed(&file.path))
        .collect();
    named.peek().is_some() && !named.any(|file| changed.iter().any(|other| other.same(&file)))
}

/// Returns the files that a call and its output name.
fn files_of(turn: &Turn<'_>, index: usize) -> Vec<PathRef> {
    let call = &turn.evidence.timeline.calls[index];
    let line = call
        .command
        .as_deref()
        .unwrap_or_default()
        .replace('\\', "/");
    let output = call.output.replace('\\', "/");
    let named = FILES
        .find_iter(&line)
        .chain(FILES.find_iter(&output))
        .map(|found| found.as_str());
    let mut files: Vec<PathRef> = Vec::new();
    for path in call.paths.iter().map(String::as_str).chain(named) {
        // What follows `::` in a test's name is not part of its file's.
        let path_ref = reference(path.split("::").next().unwrap_or(path), turn.project);
        if !path_ref.path.is_empty() && files.len() < FILES_MAX && !files.contains(&path_ref) {
            files.push(path_ref);
        }
    }
    files
}

/// Returns whether a later line does the same, or changes one of the files. One that only looks settles nothing but a
/// question.
fn settles_by_line(turn: &Turn<'_>, index: usize, at: usize, files: &[PathRef]) -> bool {
    let calls = &turn.evidence.timeline.calls;
    let (before, after) = (&turn.lines[index].commands, &turn.lines[at].commands);
    let text = calls[at].command.as_deref().unwrap_or_default();
    if calls[index].kind == ToolKind::Shell
        && (is_same(before, after) || is_same_script(&calls[index], &calls[at], before, after))
        && (narrower::settles(turn, index, at) || !turn.lines[at].writes.is_empty())
    {
        return true;
    }
    // What runs tests repairs nothing by naming them.
    if narrower::is_weighed(turn)
        && before.iter().any(kinds::is_tests)
        && after.iter().any(kinds::is_tests)
        && turn.lines[at].writes.is_empty()
    {
        return false;
    }
    let only_looks = match questions::powershell(text) {
        Some(looks) => looks,
        None => after
            .iter()
            .all(|simple| questions::is_harmless(simple) || looks_or_records(simple)),
    };
    // A search whose path was wrong is still a question.
    let searched = calls[index].kind == ToolKind::Shell
        && !before.is_empty()
        && before
            .iter()
            .all(|simple| questions::is_harmless(simple) || questions::is_question(simple, ""));
    // What a line writes is no looking, even if it is written by `cat`.
    if only_looks && turn.lines[at].writes.is_empty() {
        return searched && !calls[at].is_error;
    }
    !calls[at].is_error && names_any(text, files)
}

pub(super) fn looks_or_records(simple: &Simple) -> bool {
    let is_git = simple.words.first().is_some_and(|program| program == "git");
    let verb = simple
        .words
        .iter()
        .skip(1)
        .find(|word| !word.starts_with('-'));
    questions::is_question(simple, "")
        || (is_git && verb.is_some_and(|verb| RECORDING.contains(&verb.as_str())))
}

fn names_any(line: &str, files: &[PathRef]) -> bool {
    files.iter().any(|file| file.is_named_in(line))
}

/// Returns whether a later call repeats the attempt: the same tool, or the file by a corrected path.
fn is_retried(call: &ToolCall, later: &ToolCall) -> bool {
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    if call.kind == ToolKind::Shell {
        return false;
    }
    if call.paths.is_empty() {
        // There are many ways through a page.
        let both_browse = verify::is_browser(call) && verify::is_browser(later);
        return call.tool == later.tool || both_browse;
    }
    call.kind != ToolKind::Edit
        && later
            .paths
            .iter()
            .any(|path| call.paths.iter().any(|of| name(of) == name(path)))
}

/// Returns whether two lines have a command in common, whatever runs it, from wherever, and with which options.
pub(super) fn is_same(before: &[Simple], after: &[Simple]) -> bool {
    let installed: Vec<&str> = after.iter().flat_map(installs).collect();
    if before
        .iter()
        .flat_map(installs)
        .any(|one| installed.contains(&one))
    {
        return true;
    }
    let after: Vec<Goal<'_>> = after.iter().filter_map(Goal::of).collect();
    let mut goals = 0;
    let same = before.iter().filter_map(Goal::of).any(|goal| {
        goals += 1;
        after.iter().any(|later| goal.is_same(later))
    });
    same && goals > 0
}

/// Returns what a command installs, with any installer, without its version.
pub(super) fn installs(simple: &Simple) -> Vec<&str> {
    let Some((program, words)) = simple.words.split_first() else {
        return Vec::new();
    };
    let program = program.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_verb = |word: &&str| matches!(*word, "install" | "add" | "i" | "-S" | "-Sy" | "-Syu");
    let mut words = words.iter().map(String::as_str);
    if !INSTALLERS.contains(&program) || !words.any(|word| is_verb(&word)) {
        return Vec::new();
    }
    words
        .filter(|word| !word.starts_with('-') && !word.contains(['/', '\\']))
        .map(|word| {
            word.split(['=', '@', '<', '>', '~', '['])
                .next()
                .unwrap_or(word)
        })
        .filter(|word| word.len() > 1)
        .collect()
}

/// The effect of a command and its target.
struct Goal<'a> {
    program: &'a str,
    what: Vec<&'a str>,
    purpose: Option<&'static str>,
    is_script: bool,
}

impl<'a> Goal<'a> {
    fn of(simple: &'a Simple) -> Option<Self> {
        let program = simple.words.first()?.as_str();
        if SETTING_UP.contains(&program) || FILTERS.contains(&program) || is_inline(simple) {
            return None;
        }
        let mut operands = shell::operands(simple);
        let is_script = SCRIPT_RUNNERS.contains(&program);
        if is_script
            && operands.len() > 1
            && matches!(operands[0], "run" | "run-script" | "task" | "x" | "exec")
        {
            operands.remove(0);
        }
        let purpose = purpose(program, operands.first().copied());
        operands.truncate(if GROUPS.contains(&program) { 2 } else { 1 });
        Some(Self {
            program,
            what: operands,
            purpose,
            is_script,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_program = self.program == other.program
            || SAME
                .iter()
                .any(|same| same.contains(&self.program) && same.contains(&other.program));
        let by_script = self.is_script || other.is_script;
        if self.purpose.is_some() && self.purpose == other.purpose && (by_script || same_program) {
            return true;
        }
        // `./tools/x` and `npx x` run what `npm run x` does.
        let (this, that) = (self.what.first(), other.what.first());
        let named = (self.is_script && this == Some(&other.program))
            || (other.is_script && that == Some(&self.program));
        named
            || (same_program
                && self.what.len() == other.what.len()
                && self
                    .what
                    .iter()
                    .zip(&other.what)
                    .all(|(one, two)| is_same_operand(one, two)))
    }
}

/// Returns whether two operands are the same, or paths of the same name.
fn is_same_operand(one: &str, two: &str) -> bool {
    let name = |path: &str| {
        path.trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(path)
            .to_owned()
    };
    one == two || (name(one) == name(two) && name(one).len() > 2)
}

pub(super) fn purpose(program: &str, first: Option<&str>) -> Option<&'static str> {
    let of = |word: &str| {
        let parts = || word.split([':', '_', '.']);
        let found = PURPOSES
            .iter()
            .find(|(_, words)| words.contains(&word) || parts().any(|part| words.contains(&part)));
        found.map(|(purpose, _)| *purpose)
    };
    of(program).or_else(|| first.and_then(of))
}

/// Returns whether a command tests, builds, checks or installs, so that it has to reach its end.
pub(super) fn is_check(simple: &Simple) -> bool {
    let verb = || {
        simple
            .words
            .iter()
            .skip(1)
            .find(|word| !word.starts_with('-'))
    };
    let installs = || {
        verb().is_some_and(|verb| {
            matches!(
                verb.as_str(),
                "install" | "ci" | "add" | "sync" | "migrate" | "deploy" | "check"
            )
        })
    };
    Goal::of(simple).is_some_and(|goal| goal.purpose.is_some()) || installs()
}

/// Returns whether a command runs a script that its line holds.
pub(super) fn is_inline(simple: &Simple) -> bool {
    let Some((program, words)) = simple.words.split_first() else {
        return false;
    };
    let name = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    let name = if name == "py" { "python" } else { name };
    INTERPRETERS.contains(&name)
        && words.first().is_none_or(|word| {
            matches!(
                word.as_str(),
                "-c" | "-e" | "-" | "-p" | "--eval" | "-r" | "--input-type=module" | "eval"
            )
        })
}

/// Returns whether both lines run a script of their own for the same file or target, and the later one passed.
fn is_same_script(call: &ToolCall, later: &ToolCall, before: &[Simple], after: &[Simple]) -> bool {
    if later.is_error || !before.iter().any(is_inline) || !after.iter().any(is_inline) {
        return false;
    }
    let targets = |call: &ToolCall| -> Vec<String> {
        let text = call
            .command
            .as_deref()
            .unwrap_or_default()
            .replace('\\', "/");
        let names = FILES.find_iter(&text).map(|found| {
            found
                .as_str()
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned()
        });
        names.filter(|name| name.len() > 3).collect()
    };
    let (one, two) = (targets(call), targets(later));
    one.iter().any(|name| two.contains(name)) || (one.is_empty() && two.is_empty())
}
