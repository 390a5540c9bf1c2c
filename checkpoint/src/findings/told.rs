//! Failures that the agent told the person of, in any of its messages after them (spec HYG-13).

use std::collections::HashSet;
use std::sync::LazyLock;

use journal::{CallOutcome, SummaryKind, SummaryVerdict, ToolCall};
use regex::Regex;

use super::messages::{self, ignoring_case};
use super::{settled, went_on};
use crate::outcome::overall;
use crate::shell::{self, CommandLine, Simple};
use crate::transcript::Said;

/// The most calls of one turn that are looked for in messages, the latest first.
const CALLS_MAX: usize = 48;
/// The most sentences of one turn that are searched, the latest first.
const SENTENCES_MAX: usize = 160;
/// The most commands of one turn that are taken for those that the person is to run.
const COMMANDS_MAX: usize = 64;
/// How much of the end of an output may be quoted.
const OUTPUT_BYTES: usize = 8 * 1024;
/// So many words in a row are a quote.
const QUOTE_WORDS: usize = 4;
/// The most codes and names of one output.
const MARKS_MAX: usize = 48;

/// How a message announces another attempt: it tells nobody that something stays undone.
static TRIES_ON: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"\b(?:let me|let['’]s|(?:i['’]ll|i will|i need to|i should|i have to|going to|we need to) (?:now |also |first |just )?",
        r"(?:try|retry|re-?run|run|fix|check|look|see|use|install|update|adjust|correct|change|switch|investigate|debug|add|",
        r"remove|read|inspect|find|create|write|verify|resolve|address|handle|make|do|start|restart|kill|set)",
        r"|trying|retrying|fixing|checking|looking|switching|another (?:way|approach)|try again)\b",
    ))
});

/// How a sentence leaves something to the person, or says what is not yet there.
static LEAVES: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"\b(?:left|leav\w+|remain\w*|pending|later|until|instead|want me|let me know|should i|shall i|up to you|(?:on|from) your|",
        r"your (?:side|end|machine|terminal|shell|keys?|account|credentials)|to ?do|ready to|if you|you can|could you|would you|",
        r"only local\w*|complain\w*|abort\w*|broke\w*|wrong|problem|issue|conflict\w*|crash\w*|exit(?:s|ed)? (?:with|code)|",
        r"held back|hold(?:ing)? off|stuck|give up|gave up|wait\w*|asks? for|asking for|expects?)\b",
    ))
});

/// How a sentence says that something went wrong, or was not done.
static FAILS: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"\b(?:fail\w*|errors?|broke\w*|crash\w*|cannot|unable|block\w*|den(?:y|ied)|refus\w*|reject\w*|missing|skipp?ed|",
        r"time[sd]?[ -]?out|un(?:available|reachable|verified|tested|resolved)|abort\w*|conflict\w*|complain\w*|",
        r"not (?:\w+ )?(?:run|ran|built|build|tested|verified|pass\w*|work\w*|complete\w*|start\w*|compil\w*|install\w*|available|found|possible|able)|",
        r"never (?:ran|started|finished|passed)|no (?:network|internet|access|connection|permission)|falh\w*|fehl\w*|scheiter\w*|échou\w*|fall(?:a|ó|an|ido)\w*)\b",
        r"|n['’]t\b|impossib|échec|[❌✗✘]|失败|失敗|无法|不能|未能|できな|ません|실패|못|ошибк",
    ))
});

/// How a sentence says that something went wrong no more.
static MENDED: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(
        r"\b(?:no longer|not any ?more|fixed|resolved|solved|repaired|corrected|now (?:works?|pass\w*|builds?|runs?|succeed\w*)|instead of (?:fail|crash)\w*|without (?:any )?(?:errors?|problems?|issues?)|(?:0|no|zero) (?:errors?|failures?|failed)|works now)\b",
    )
});

/// Words by which an output is known: kinds of errors, codes, and names in capitals.
static MARKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:[A-Z]\w*(?:Error|Exception|Refused|Denied)|[A-Z]{1,6}-?\d{3,6}|E[A-Z]{4,}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b")
        .expect("a constant that a test compiles")
});

/// One sentence, and how many calls had begun before it.
struct Sentence {
    calls: usize,
    text: String,
    /// Its words in rows, as far as they may be a quote.
    rows: Vec<String>,
    /// It says that something was not done, went wrong, or is left to do.
    is_lacking: bool,
    /// It says that something went wrong, or was not done.
    is_failing: bool,
    /// It says that something went wrong no more.
    is_mended: bool,
}

/// Returns the positions of the calls with a failure that a later message tells of.
pub(super) fn told_failures(
    calls: &[ToolCall],
    outcomes: &[CallOutcome],
    said: &[Said],
) -> Vec<usize> {
    let tests_failed = |at: usize| {
        let outcome = outcomes.iter().find(|outcome| outcome.call == at);
        let tests = outcome.and_then(|said| overall(&said.summaries, SummaryKind::Tests));
        tests == Some(SummaryVerdict::Failed)
    };
    let failed: Vec<(usize, &ToolCall)> = calls
        .iter()
        .enumerate()
        .filter(|(at, call)| !call.refused && (call.is_error || tests_failed(*at)))
        .rev()
        .take(CALLS_MAX)
        .collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let is_telling = |said: &&Said| said.calls >= calls.len() || !TRIES_ON.is_match(&said.text);
    let telling: Vec<&Said> = said.iter().filter(is_telling).collect();
    let sentences = sentences(&telling);
    let left: Vec<(usize, CommandLine)> = telling
        .iter()
        .rev()
        .flat_map(|said| {
            let lines = messages::commands(&said.text).into_iter();
            lines.map(|line| (said.calls, line))
        })
        .take(COMMANDS_MAX)
        .collect();
    let is_told = |at: usize, call: &ToolCall| {
        let line = shell::read(call.command.as_deref().unwrap_or_default());
        let is_left = left.iter().any(|(calls, command)| {
            *calls > at && settled::is_same(&line.commands, &command.commands)
        });
        let later: Vec<&Sentence> = sentences.iter().filter(|one| one.calls > at).collect();
        is_left || (!later.is_empty() && is_named(call, &line, tests_failed(at), &later))
    };
    let mut told: Vec<usize> = failed
        .into_iter()
        .filter(|(at, call)| is_told(*at, call))
        .map(|(at, _)| at)
        .collect();
    told.reverse();
    told
}

fn sentences(said: &[&Said]) -> Vec<Sentence> {
    let ends = |c: char| matches!(c, '\n' | '。' | '！' | '；');
    let all = said.iter().rev().flat_map(|said| {
        let parts = said.text.split(ends).flat_map(|line| line.split(". "));
        parts.map(|part| (said.calls, part))
    });
    all.filter(|(_, text)| !text.trim().is_empty())
        .take(SENTENCES_MAX)
        .map(|(calls, text)| {
            let is_mended = MENDED.is_match(text);
            Sentence {
                calls,
                is_lacking: messages::is_lacking(text) || LEAVES.is_match(text),
                is_failing: FAILS.is_match(text),
                is_mended,
                rows: rows(text),
                text: text.to_lowercase(),
            }
        })
        .collect()
}

/// Returns the words of a text in rows of [`QUOTE_WORDS`].
fn rows(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words
        .windows(QUOTE_WORDS)
        .map(|row| row.join(" "))
        .collect()
}

/// Returns whether a sentence that speaks of something lacking has a word of the call, or a sentence quotes what it said.
fn is_named(
    call: &ToolCall,
    line: &CommandLine,
    tests_failed: bool,
    sentences: &[&Sentence],
) -> bool {
    let command = call.command.as_deref().unwrap_or_default();
    let is_work =
        |simple: &Simple| went_on::is_of_project(simple) && settled::installs(simple).is_empty();
    let is_of_project = tests_failed || line.commands.iter().any(is_work);
    // The files that a compiler finds fault with are those that a message is about in any case.
    let output = if is_of_project { "" } else { &call.output };
    let mut named = messages::words_of(call, line, output);
    if tests_failed {
        named.push("test".to_owned());
    }
    let output = crate::text::tail(&call.output, OUTPUT_BYTES);
    let mut printed: HashSet<String> = rows(output).into_iter().collect();
    rows(command).iter().for_each(|row| {
        printed.remove(row);
    });
    let marks: HashSet<String> = MARKS
        .find_iter(output)
        .map(|mark| mark.as_str())
        .filter(|mark| !command.contains(mark))
        .map(str::to_lowercase)
        .take(MARKS_MAX)
        .collect();
    sentences.iter().filter(|one| !one.is_mended).any(|one| {
        let speaks = if is_of_project {
            one.is_failing
        } else {
            one.is_lacking
        };
        (speaks && named.iter().any(|word| messages::holds(&one.text, word)))
            || marks.iter().any(|mark| messages::holds(&one.text, mark))
            || one.rows.iter().any(|row| printed.contains(row))
    })
}
