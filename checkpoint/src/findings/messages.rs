//! What messages of the agent say, and the words by which people speak of calls (spec HYG-13).

use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::{Regex, RegexBuilder};

use super::line_words::{FILES, FILTERS, SETTING_UP};
use crate::shell::{self, CommandLine, Simple};

/// The most words by which a message may name one failure.
const WORDS_MAX: usize = 48;
/// The shortest word of an output that names what it is about.
const WORD_CHARS_MIN: usize = 6;

/// A cause that lies outside the project.
struct Cause {
    /// What programs say of it.
    says: Regex,
    /// The words of people for it.
    named: Vec<&'static str>,
}

/// Causes that no change of the project removes.
static CAUSES: LazyLock<Vec<Cause>> = LazyLock::new(|| {
    let text = include_str!("outside.txt");
    let causes = text.split("\n=").skip(1).map(|cause| {
        let (named, says) = cause.split_once('\n').unwrap_or((cause, ""));
        let says: Vec<&str> = says.lines().filter(|line| !line.is_empty()).collect();
        Cause {
            says: ignoring_case(&says.join("|")),
            named: named.split_whitespace().collect(),
        }
    });
    causes.collect()
});

/// How a sentence says that something was not done, or leaves it to the person.
static LEFT: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"\b(?:cannot|unable|not|no|never|none|without|fail\w*|block\w*|den(?:y|ied)|refus\w*|reject\w*|missing|lack\w*|un\w+able|",
        r"offline|time[sd]?[ -]?out|skipp?ed|requires?|needs?|errors?|limit|expired|invalid|unauthori[sz]ed|forbidden|stopped|",
        r"please|yourself|manually|still (?:to|needs?|has)|you(?:'ll|’ll| will| would)? (?:need|have|must)|(?:once|when|after) you|",
        r"sin|sem|sans|ohne|não|pas|nicht|kein\w*|bitte)\b|n['’]t\b|\b(?:fall|falh|fehl|scheiter|échou|échec|impossib)|",
        r"^\W*run\b|[❌✗✘⚠]|失败|失敗|无法|不能|未能|没有|沒有|请|請|ません|できな|ください|실패|없|못|않|세요|\bне\b|\bнет\b|ошибк",
    ))
});

pub(super) fn ignoring_case(pattern: &str) -> Regex {
    let built = RegexBuilder::new(pattern).case_insensitive(true).build();
    built.expect("a constant that a test compiles")
}

/// Returns whether a sentence says that something was not done, or leaves it to the person.
pub(super) fn is_lacking(sentence: &str) -> bool {
    LEFT.is_match(sentence)
}

/// Returns the sentences of a message that say that something was not done, or is left to do.
pub(super) fn sentences(message: &str) -> Vec<String> {
    let ends = |c: char| matches!(c, '\n' | '。' | '！' | '；');
    message
        .split(ends)
        .flat_map(|line| line.split(". "))
        .filter(|sentence| LEFT.is_match(sentence))
        .map(str::to_lowercase)
        .collect()
}

/// Returns the commands that a message tells the person to run: lines of their own, within a block of code or marked as code.
pub(super) fn commands(message: &str) -> Vec<CommandLine> {
    let mut in_block = false;
    let lines = message.lines().filter_map(|line| {
        let line = line.trim();
        if line.starts_with("```") {
            in_block = !in_block;
            return None;
        }
        let line = line.trim_start_matches(|c: char| !in_block && "-*0123456789.) ".contains(c));
        let marked = line
            .strip_prefix('`')
            .and_then(|line| line.strip_suffix('`'));
        let line = if in_block { Some(line) } else { marked };
        line.map(|line| line.trim_start_matches(['$', '>', ' ']))
    });
    lines.take(WORDS_MAX).map(shell::read).collect()
}

/// Returns whether a text holds a word or one that begins with it; short ones have to stand alone.
pub(super) fn holds(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && (word.len() > 3 || !after.is_some_and(is_part))
    })
}

/// Returns the words by which people speak of a call: its programs and what they were told, or its tool and files, and what
/// an output says of its cause.
pub(super) fn words_of(call: &ToolCall, line: &CommandLine, output: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut note = |word: &str| {
        let word = word.to_lowercase();
        if word.len() > 1 && words.len() < WORDS_MAX && !words.contains(&word) {
            words.push(word);
        }
    };
    if call.kind != ToolKind::Shell {
        let name = call.tool.rsplit("__").next().unwrap_or(&call.tool);
        let parts = name.split(['_', '-', ' ']);
        parts.filter(|part| part.len() > 3).for_each(&mut note);
    }
    call.paths.iter().for_each(|path| note(last_part(path)));
    let acts = |simple: &&Simple| {
        let program = simple.words.first().map_or("", String::as_str);
        !SETTING_UP.contains(&program) && !FILTERS.contains(&program)
    };
    for simple in line.commands.iter().filter(acts) {
        simple
            .words
            .iter()
            .take(1)
            .for_each(|program| note(shell::canonical_name(program)));
        for operand in shell::operands(simple).into_iter().take(4) {
            note(last_part(operand));
            let parts = operand.split([':', '/', '.', '-', '_', '@']);
            parts.filter(|part| part.len() > 3).for_each(&mut note);
        }
    }
    for file in FILES
        .find_iter(output)
        .map(|found| last_part(found.as_str()))
    {
        if file.len() > 4 && file.contains('.') {
            note(file);
        }
    }
    for cause in CAUSES.iter() {
        let lines = output.lines().filter(|line| cause.says.is_match(line));
        for (at, line) in lines.take(2).enumerate() {
            if at == 0 {
                cause.named.iter().for_each(|word| note(word));
            }
            let parts = line.split(|c: char| !c.is_alphanumeric());
            let long = parts.filter(|part| part.chars().count() >= WORD_CHARS_MIN);
            long.filter(|part| !LEFT.is_match(part)).for_each(&mut note);
        }
    }
    words
}

fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns whether what a call says has its cause outside the project.
pub(super) fn is_outside(output: &str) -> bool {
    CAUSES.iter().any(|cause| cause.says.is_match(output))
}
