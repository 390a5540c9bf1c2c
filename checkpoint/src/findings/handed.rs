//! Failures that the agent hands over to the person: its last message names them (spec HYG-13).

use std::sync::LazyLock;

use journal::{Evidence, SummaryVerdict, ToolCall, ToolKind};
use regex::{Regex, RegexBuilder};

use super::line_words::{FILES, FILTERS, SETTING_UP};
use super::turn::Turn;
use super::{missing, older, outcomes, settled};
use crate::policy::HandedOver;
use crate::shell::{self, CommandLine, Simple};

/// Maximum number of failed calls of one turn that are searched for in a message.
const CALLS_MAX: usize = 64;
/// The most words by which a message may name one failure.
const WORDS_MAX: usize = 48;
/// The shortest word of an output that names what it is about.
const WORD_CHARS_MIN: usize = 6;

/// A cause outside the project.
struct Cause {
    /// How programs report it.
    says: Regex,
    /// How people name it.
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

fn ignoring_case(pattern: &str) -> Regex {
    let built = RegexBuilder::new(pattern).case_insensitive(true).build();
    built.expect("a constant that a test compiles")
}

/// Notes in the facts what the agent's last message says of failures.
pub fn note_last_words(evidence: &mut Evidence, message: &str) {
    evidence.facts.older_failures = older::names_older(message);
    evidence.facts.named_failures = named_failures(&evidence.timeline.calls, message);
}

/// Returns the positions of the failed calls that the agent's last message names as such.
fn named_failures(calls: &[ToolCall], message: &str) -> Vec<usize> {
    if message.trim().is_empty() {
        return Vec::new();
    }
    let said = sentences(message);
    let told = commands(message);
    let failed = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.is_error && !call.refused)
        .rev()
        .take(CALLS_MAX);
    let is_named = |call: &ToolCall| {
        let line = shell::read(call.command.as_deref().unwrap_or_default());
        told.iter()
            .any(|told| settled::is_same(&line.commands, &told.commands))
            || {
                let words = words_of(call, &line);
                said.iter()
                    .any(|sentence| words.iter().any(|word| holds(sentence, word)))
            }
    };
    let mut named: Vec<usize> = failed
        .filter(|(_, call)| is_named(call))
        .map(|(at, _)| at)
        .collect();
    named.reverse();
    named
}

/// Returns the sentences of a message that say that something was not done, or is left to do.
fn sentences(message: &str) -> Vec<String> {
    let ends = |c: char| matches!(c, '\n' | '。' | '！' | '；');
    message
        .split(ends)
        .flat_map(|line| line.split(". "))
        .filter(|sentence| LEFT.is_match(sentence))
        .map(str::to_lowercase)
        .collect()
}

/// Returns the commands that a message tells the person to run: lines of their own, within a block of code or marked as code.
fn commands(message: &str) -> Vec<CommandLine> {
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

/// Returns whether a text holds a word or one that begins with it; short ones have to be whole
/// words.
fn holds(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && (word.len() > 3 || !after.is_some_and(is_part))
    })
}

/// Returns the words by which people refer to a call: its programs and their arguments, or its tool and files, and what
/// it says about its cause.
fn words_of(call: &ToolCall, line: &CommandLine) -> Vec<String> {
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
        .find_iter(&call.output)
        .map(|found| last_part(found.as_str()))
    {
        if file.len() > 4 && file.contains('.') {
            note(file);
        }
    }
    for cause in CAUSES.iter() {
        let lines = call.output.lines().filter(|line| cause.says.is_match(line));
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

/// Returns whether the agent handed a failure over: its last message names it, and either its cause is outside the
/// project, or the turn changed nothing, so that the failure is its result.
pub(super) fn is_over(turn: &Turn<'_>, index: usize) -> bool {
    if turn.policy.hygiene.handed_over != HandedOver::Believed
        || !turn.evidence.facts.named_failures.contains(&index)
    {
        return false;
    }
    let call = &turn.evidence.timeline.calls[index];
    is_outside(turn, index, call) || changed_nothing(turn)
}

fn is_outside(turn: &Turn<'_>, index: usize, call: &ToolCall) -> bool {
    // What tests say of themselves is about the project.
    let outcomes = turn.outcomes.as_ref();
    let tests = outcomes.and_then(|outcomes| outcomes.any_tests(index));
    tests != Some(SummaryVerdict::Failed)
        && (missing::is_tool(call, &turn.lines[index])
            || CAUSES.iter().any(|cause| cause.says.is_match(&call.output)))
}

fn changed_nothing(turn: &Turn<'_>) -> bool {
    let calls = turn.evidence.timeline.calls.iter().enumerate();
    let writes = |(at, call): (usize, &ToolCall)| match call.kind {
        ToolKind::Edit | ToolKind::Write => !call.is_error && !call.refused,
        ToolKind::Shell => {
            let line = &turn.lines[at];
            outcomes::executes(line) && !line.writes.is_empty() && !call.refused
        }
        ToolKind::Read | ToolKind::Other => false,
    };
    (turn.files.is_empty() || turn.evidence.facts.untouched) && !calls.into_iter().any(writes)
}
