//! The goal of a failed call that was reached another way: by another program for the same file, target, host or package
//! (spec HYG-16).

use std::collections::HashSet;
use std::sync::LazyLock;

use journal::{SummaryVerdict, ToolCall, ToolKind};
use regex::Regex;

use super::paths::PathRef;
use super::proof::{Position, printed};
use super::settled;
use super::turn::Turn;
use super::verify::{self, kinds};
use super::{questions, server, went_on};
use crate::shell::{self, CommandLine, Simple};

/// The shortest word that stands for something.
const WORD_CHARS_MIN: usize = 4;
/// The most words of one line.
const WORDS_MAX: usize = 64;
/// How much of a script on a line is searched.
const SCRIPT_BYTES: usize = 4096;

/// Words that say nothing about what a command is about.
const GENERAL: &str = "test tests spec specs build builds start main index master trunk head head~1 origin upstream src lib dist out \
    app apps install dev prod production staging default local localhost true false none null python python3 node json yaml \
    yml toml text html http https file files home user users root temp tmp data config configs docs update create list status \
    check checks lint script scripts code project package packages module modules version latest stable debug release force \
    help quiet verbose dry-run exec bash shell server client compose container api service services tools tool bin cmd make push pull merge \
    commit apply upload upgrade remote branch name output input path print import from self return this that with";
/// Programs that change files and nothing else: naming a file does not run it.
pub(super) const FILE_TOOLS: [&str; 20] = [
    "chmod", "chown", "rm", "rmdir", "mv", "cp", "ln", "touch", "mkdir", "tar", "zip", "unzip",
    "kill", "pkill", "killall", "open", "dos2unix", "install", "sed", "tee",
];
/// Subcommands of git by which work of two places comes together, or goes back.
const JOINING: [&str; 11] = [
    "pull",
    "merge",
    "rebase",
    "cherry-pick",
    "am",
    "revert",
    "apply",
    "checkout",
    "switch",
    "reset",
    "restore",
];
/// Subcommands of git that prepare others, which show by their success that it was done.
const PREPARING: [&str; 12] = [
    "add", "rm", "mv", "remote", "worktree", "tag", "branch", "init", "commit", "push", "checkout",
    "switch",
];

/// What a script on a line imports, and names of files in it.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)(?:^|[;\n])\s*(?:from|import)\s+([\w.]+)|require\(\s*['"]([^'"]+)['"]|from\s+['"]([^'"]+)['"]|['"]([\w./-]+\.[A-Za-z]\w{0,7})['"]"#)
        .expect("a constant that a test compiles")
});

static GENERAL_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| GENERAL.split_whitespace().collect());

/// Returns whether a later call reached what a failed one was for, or looked at what a failed edit was to change.
pub(super) fn is_reached(turn: &Turn<'_>, index: usize) -> bool {
    let calls = &turn.evidence.timeline.calls;
    match calls[index].kind {
        ToolKind::Edit | ToolKind::Write => is_seen(turn, index),
        ToolKind::Read | ToolKind::Other => false,
        ToolKind::Shell => {
            if is_served(turn, index) {
                return true;
            }
            let goals = goals(turn, index);
            let mut later = later(turn, index);
            !goals.is_empty()
                && later.any(|(at, call)| match call.kind {
                    ToolKind::Shell => {
                        let text = call.command.as_deref().unwrap_or_default();
                        let mut places = 0..turn.lines[at].commands.len();
                        questions::powershell(text) != Some(true)
                            && places.any(|place| {
                                goals
                                    .iter()
                                    .any(|goal| goal.is_reached_at(turn, (at, place)))
                                    && went_well(turn, (at, place))
                            })
                    }
                    ToolKind::Other => goals.iter().any(|goal| goal.is_reached_with(&call.tool)),
                    _ => false,
                })
        }
    }
}

fn later<'t>(turn: &'t Turn<'_>, index: usize) -> impl Iterator<Item = (usize, &'t ToolCall)> {
    let calls = turn.evidence.timeline.calls.iter().enumerate();
    calls
        .skip(index + 1)
        .filter(|(at, call)| !call.refused && !call.is_error && !turn.is_aside(*at))
}

/// Returns whether a call was to start a server, and one was started behind a later line, or answered.
fn is_served(turn: &Turn<'_>, index: usize) -> bool {
    let is_start = |simple: &Simple| {
        let program = simple.words.first().map_or("", String::as_str);
        kinds::is_server(simple)
            || program.split('.').next() == Some("run")
            || simple.words.iter().any(|word| word == "runserver")
    };
    turn.lines[index].commands.iter().any(is_start)
        && later(turn, index).any(|(at, call)| {
            call.kind == ToolKind::Shell
                && (server::starts_behind(call, &turn.lines[at])
                    || turn.lines[at].commands.iter().any(verify::asks_server))
        })
}

/// Returns whether the file of a failed edit was looked at afterwards: the agent saw what became of it.
fn is_seen(turn: &Turn<'_>, index: usize) -> bool {
    let path_ref = |path: &String| PathRef::written(path, turn.project);
    let edited: Vec<PathRef> = turn.evidence.timeline.calls[index]
        .paths
        .iter()
        .map(path_ref)
        .collect();
    let is_one = |path: &String| {
        let path = path_ref(path);
        edited.iter().any(|one| one.same(&path))
    };
    later(turn, index).any(|(at, call)| match call.kind {
        ToolKind::Read => call.paths.iter().any(is_one),
        ToolKind::Shell => turn.lines[at].reads.iter().any(is_one),
        _ => false,
    })
}

/// What a failed command was for.
struct Goal<'a> {
    simple: &'a Simple,
    /// The subcommand of git.
    git: Option<&'a str>,
    /// What it was to leave behind.
    lasting: Option<&'a str>,
    words: &'a HashSet<String>,
}

/// Returns what the commands of a line were for, without those whose goal a check of the same purpose alone can reach.
fn goals<'t>(turn: &'t Turn<'_>, index: usize) -> Vec<Goal<'t>> {
    let commands = turn.lines[index].commands.iter();
    let acting = commands.enumerate().filter(|(_, simple)| {
        !questions::is_harmless(simple) && !questions::is_question(simple, "") && !is_check(simple)
    });
    acting
        .map(|(place, simple)| Goal::of(simple, &subjects(turn)[index][place]))
        .collect()
}

fn is_check(simple: &Simple) -> bool {
    let first = shell::operands(simple).first().copied();
    let program = simple.words.first().map_or("", String::as_str);
    kinds::is_tests(simple) || kinds::is_lint(simple) || settled::purpose(program, first).is_some()
}

impl<'a> Goal<'a> {
    fn of(simple: &'a Simple, words: &'a HashSet<String>) -> Self {
        let is_git = simple.words.first().is_some_and(|program| program == "git");
        let operands = shell::operands(simple);
        let lasting = simple.words.iter().skip(1).take(3);
        Self {
            simple,
            git: operands.first().copied().filter(|_| is_git),
            lasting: lasting
                .map(String::as_str)
                .find(|word| went_on::LASTING.contains(word)),
            words,
        }
    }

    fn is_reached_at(&self, turn: &Turn<'_>, (at, place): Position) -> bool {
        let later = &turn.lines[at].commands[place];
        let program = later.words.first().map_or("", String::as_str);
        let verb = shell::operands(later).first().copied();
        if let Some(failed) = self.git {
            let either = |verbs: &[&str]| {
                verbs.contains(&failed) && verb.is_some_and(|verb| verbs.contains(&verb))
            };
            // A commit or a push is done by itself only.
            let lasts = ["commit", "push"].contains(&failed);
            return program == "git"
                && !questions::is_question(later, "")
                && (either(&JOINING) || (!lasts && either(&PREPARING)));
        }
        if questions::is_harmless(later)
            || settled::looks_or_records(later)
            || FILE_TOOLS.contains(&program)
            || is_check(later)
            || verify::asks_server(later)
            || !later.certain
        {
            return false;
        }
        let is_same_end = self
            .lasting
            .is_none_or(|verb| later.words.iter().any(|word| word.contains(verb)));
        is_same_end && !self.words.is_disjoint(&subjects(turn)[at][place])
    }

    /// Returns whether a tool is named for what was to be left behind.
    fn is_reached_with(&self, tool: &str) -> bool {
        let name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
        let verb = self.lasting.filter(|verb| *verb != "add");
        verb.is_some_and(|verb| name.contains(verb))
            && (self.git.is_some()
                || self
                    .simple
                    .words
                    .first()
                    .is_some_and(|program| program == "gh"))
    }
}

/// Returns whether a command of a later line passed, as far as the line does not hide it.
fn went_well(turn: &Turn<'_>, position: Position) -> bool {
    let simple = &turn.lines[position.0].commands[position.1];
    let end = printed(turn, position);
    match end.and_then(|end| end.verdict) {
        Some(verdict) => verdict == SummaryVerdict::Passed,
        None => simple.decides || end.is_some_and(|end| end.unread && !end.crashed),
    }
}

/// Returns the words of all commands of a turn, by call and place; they are found once.
fn subjects<'t>(turn: &'t Turn<'_>) -> &'t [Vec<HashSet<String>>] {
    turn.subjects.get_or_init(|| {
        let of_line = |line: &CommandLine| {
            let commands = line.commands.iter();
            commands.map(|simple| words(simple, turn.project)).collect()
        };
        turn.lines.iter().map(of_line).collect()
    })
}

/// Returns the words by which a command is about something: its files, targets, hosts and packages.
fn words(simple: &Simple, project: &str) -> HashSet<String> {
    let own_name = project.trim_end_matches('/').rsplit('/').next();
    let mut found = HashSet::new();
    let mut note = |text: &str| {
        let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        let parts = parts.flat_map(|part| std::iter::once(part).chain(part.split('-')));
        for part in parts {
            let part = part.to_lowercase();
            let part = part.trim_end_matches('s');
            let is_name = part.len() >= WORD_CHARS_MIN
                && part.chars().any(char::is_alphabetic)
                && Some(part) != own_name
                && !GENERAL_WORDS.contains(part);
            if is_name && found.len() < WORDS_MAX {
                found.insert(part.to_owned());
            }
        }
    };
    if let Some(script) = verify::given_inline(simple) {
        let script = crate::text::head(script, SCRIPT_BYTES);
        for named in NAMED.captures_iter(script) {
            let name = named.iter().skip(1).flatten().next();
            note(name.map_or("", |name| name.as_str()));
        }
        return found;
    }
    let program = simple.words.first().map_or("", String::as_str);
    if !is_tool(program) {
        note(program);
    }
    let mut words = simple.words.iter().skip(1).peekable();
    // The first word of a known tool says what it does, unless it is a path or a name.
    if is_tool(program) {
        words.next_if(|word| !word.contains([':', '/', '.']));
    }
    for word in words {
        match word.strip_prefix('-') {
            None => note(last_parts(word)),
            Some(_) => {
                if let Some((_, value)) = word.split_once('=') {
                    note(last_parts(value));
                }
            }
        }
    }
    found
}

/// Returns whether a program is known, so that its name does not say what its call is about.
fn is_tool(program: &str) -> bool {
    let plain = shell::canonical_name(program);
    settled::INTERPRETERS.contains(&plain)
        || settled::SCRIPT_RUNNERS.contains(&plain)
        || settled::GROUPS.contains(&plain)
        || settled::INSTALLERS.contains(&plain)
        || kinds::is_known_tool(plain)
        || [
            "ssh", "scp", "rsync", "curl", "wget", "sudo", "psql", "mysql",
        ]
        .contains(&plain)
}

/// The end of a path; all of an address, and of a line.
fn last_parts(word: &str) -> &str {
    if word.contains("://") || word.contains(' ') {
        return word;
    }
    let word = word.trim_end_matches('/');
    word.rsplit('/').next().unwrap_or(word)
}
