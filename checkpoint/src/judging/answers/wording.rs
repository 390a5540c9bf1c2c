//! The words of a demand to verify code: which files, and the project's own command.

use journal::Task;

use super::failures::telling;
use super::{Answer, FAILED, Verified};
use crate::catalogue::{Catalogue, Purpose, file_name};
use crate::judging::turn::Turn;
use crate::project::CI;
use crate::project::covering::within;
use crate::project::usual::RUNNER as USUAL;
use crate::text::steers;

/// The log check looks back at least this far (spec RULE-10).
const WINDOW_MINUTES_MIN: u64 = 2;
/// Files that a demand names.
const FILES_MAX: usize = 5;
/// The most characters of a file's name.
const NAME_CHARS_MAX: usize = 120;
/// Bounds of a name or a path of a project: the parts of a path, and the bytes and words of a part.
const PARTS_MAX: usize = 6;
const PART_BYTES_MAX: usize = 32;
const PART_WORDS_MAX: usize = 3;
/// The most words of a line that are repeated.
const KNOWN_WORDS_MAX: usize = 4;

/// Returns the demand to verify files.
pub(in crate::judging) fn text(turn: &Turn<'_>, open: &[&Answer]) -> String {
    let files = files(open);
    let is_certain = open.iter().any(|answer| answer.verified == Verified::Open);
    let command = command(turn, open)
        .map(|(command, source)| format!(" (`{command}`{source})"))
        .unwrap_or_default();
    if !is_certain {
        return format!(
            "Check that something you ran uses {files}. If nothing does, run its tests{command}"
        );
    }
    let why = open.iter().find(|answer| answer.verified == Verified::Open);
    let failed = why.filter(|answer| answer.row == FAILED);
    let output = failed.and_then(|answer| Some(&turn.calls()[answer.call?].output));
    let line = output.and_then(|output| telling(output));
    let line = line.map(|line| format!(" (`{line}`)")).unwrap_or_default();
    let why = why.map_or("", |answer| answer.reason());
    format!("Run the tests of {files}{command}: {why}{line}")
}

/// Returns the names of files, at most five and the number of the others.
fn files(open: &[&Answer]) -> String {
    let names = open
        .iter()
        .take(FILES_MAX)
        .map(|answer| format!("`{}`", printable(&answer.file)));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if open.len() > FILES_MAX {
        text.push_str(&format!(" and {} more", open.len() - FILES_MAX));
    }
    text
}

fn printable(path: &str) -> String {
    let safe = |c: char| if steers(c) || c == '`' { '?' } else { c };
    path.chars().take(NAME_CHARS_MAX).map(safe).collect()
}

/// Returns whether a word of a project can be repeated to an agent: a name or a path of a few plain words, no option, no
/// address, and no sentence in disguise (spec RULE-22).
fn is_plain(word: &str) -> bool {
    let is_part = |part: &str| {
        part.len() <= PART_BYTES_MAX && part.split(['-', '_', '.', ':']).count() <= PART_WORDS_MAX
    };
    let mut chars = word.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric() || first == '@')
        && chars.all(|c| c.is_ascii_alphanumeric() || "-_.:/@".contains(c))
        && !word.contains("//")
        && word.split('/').count() <= PARTS_MAX
        && word.split('/').all(is_part)
}

/// Returns how a task of the project is called, and what says that its name is the project's. Only what the catalogue
/// knows and plain names are repeated: what a repository says is untrusted.
fn call(catalogue: &Catalogue, task: &Task) -> Option<(String, &'static str)> {
    let call = match task.runner.as_str() {
        CI => return Some((known_words(catalogue, &task.text)?, "")),
        USUAL => {
            let is_fit = |word: &str| word == "&&" || word.starts_with('-') || is_plain(word);
            return Some((task.text.clone(), "")).filter(|_| task.text.split(' ').all(is_fit));
        }
        _ if !is_plain(&task.name) => return None,
        runner @ ("npm" | "bun" | "deno" | "composer") => format!("{runner} run {}", task.name),
        runner => format!("{runner} {}", task.name),
    };
    let is_own = task.name.chars().any(|c| !c.is_ascii_alphabetic());
    let source = if is_own {
        ", a task of the project"
    } else {
        ""
    };
    match task.folder.as_str() {
        "" => Some((call, source)),
        folder => is_plain(folder).then(|| (format!("cd {folder} && {call}"), source)),
    }
}

/// Returns the first words of a line that run tests by the catalogue.
fn known_words(catalogue: &Catalogue, line: &str) -> Option<String> {
    let words = line.split_whitespace().map(str::to_owned);
    let words: Vec<_> = words
        .take_while(|word| is_plain(word) && !word.contains('/'))
        .collect();
    (1..=words.len().min(KNOWN_WORDS_MAX)).find_map(|count| {
        let begin = &words[..count];
        let command = catalogue.command(begin)?;
        (command.does == Some(Purpose::Tests)).then(|| begin.join(" "))
    })
}

/// Returns whether a task may be about a file: it is of the file's language, or of none.
fn speaks(turn: &Turn<'_>, task: &Task, file: &str) -> bool {
    let of = languages(&turn.catalogue, task);
    let language = turn.catalogue.language(file);
    of == ["", ""] || language.is_some_and(|language| of.contains(&language.language.as_str()))
}

/// Returns the languages of a task's runner and of the program that it calls; empty for one of no language.
pub(in crate::judging) fn languages<'a>(catalogue: &'a Catalogue, task: &Task) -> [&'a str; 2] {
    let below = task
        .text
        .strip_prefix("cd ")
        .and_then(|text| text.split_once(" && "));
    let text = below.map_or(task.text.as_str(), |(_, text)| text);
    let program = file_name(text.split_whitespace().next().unwrap_or_default());
    [task.runner.as_str(), program].map(|program| catalogue.language_of_program(program))
}

/// Returns the command that runs the tests of the first file: a task of the project, else the usual one of its language.
fn command(turn: &Turn<'_>, open: &[&Answer]) -> Option<(String, &'static str)> {
    let file = open.first()?.file.as_str();
    let is_tests = |task: &&Task| turn.catalogue.named(&task.name) == Some(Purpose::Tests);
    let best = turn
        .tasks()
        .filter(is_tests)
        .filter(|task| speaks(turn, task, file))
        .filter(|task| within(file, &task.folder))
        .filter_map(|task| Some((task, call(&turn.catalogue, task)?)))
        .max_by_key(|(task, _)| {
            (
                task.folder.len(),
                task.name == "test",
                std::cmp::Reverse(task.name.len()),
            )
        });
    let usual = || {
        let usual = turn.catalogue.language(file)?.usual();
        (!usual.is_empty()).then(|| (usual.to_owned(), ""))
    };
    best.map(|(_, call)| call).or_else(usual)
}

/// Returns the time since the turn began in minutes, rounded up (spec RULE-10).
pub(in crate::judging) fn window(elapsed_ms: Option<u64>) -> String {
    let minutes = elapsed_ms
        .unwrap_or_default()
        .div_ceil(60_000)
        .max(WINDOW_MINUTES_MIN);
    format!("{minutes}m")
}
