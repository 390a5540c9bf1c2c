//! Secrets in sentences: "the password is ...", "log in with ... as the password".

use std::ops::Range;

use super::chars::{Look, line_end, line_start};
use super::judge::judge;
use super::names::{Class, Name};
use super::scan::Scan;
use super::value::{Style, is_said, is_strong, plain};
use super::words::WORDS;

/// How far from a name its sentence is read, in bytes.
const SENTENCE_BYTES_MAX: usize = 100;
/// The most words between a name and the verb.
const WORDS_MAX: usize = 7;

/// Reads the sentence around a name, which ends at `after`.
pub(super) fn read(scan: &mut Scan<'_>, name: &Range<usize>, class: Class) {
    let end = line_end(scan.bytes, name.end, SENTENCE_BYTES_MAX);
    match said_after(scan.text, name.end, end, class) {
        Some(said) => scan.take(said, "secret"),
        None => read_before(scan, name),
    }
}

/// Reads the sentence before a name.
pub(super) fn read_before(scan: &mut Scan<'_>, name: &Range<usize>) {
    let start = line_start(scan.bytes, name.start, SENTENCE_BYTES_MAX);
    if let Some(said) = said_before(scan.text, start, name.start) {
        scan.take(said, "secret");
    }
}

/// Finds a secret that follows a verb, or the name itself.
fn said_after(text: &str, from: usize, to: usize, class: Class) -> Option<Range<usize>> {
    let is_password = class == Class::Password;
    let mut words = words(text, from, to).take(WORDS_MAX).peekable();
    let mut is_first = true;
    let mut has_verb = false;
    for word in &mut words {
        let spelled = text.get(word.clone())?;
        let lower = spelled.to_ascii_lowercase();
        if spelled.contains(['\\', '\u{1b}', '{'])
            || spelled.find('(').is_some_and(|at| at > 0)
            || !is_password && matches!(&*lower, "to" | "as")
        {
            return None;
        }
        let (verbs, fillers) = (&WORDS.sentences.verbs, &WORDS.sentences.fillers);
        if verbs.contains(&lower) || has_verb && fillers.contains(&lower) {
            has_verb = true;
            continue;
        }
        if has_verb || is_first {
            if has_verb && let Some(inner) = quoted_words(text, &word, to) {
                return Some(inner);
            }
            let (inner, is_quoted) = unquoted(text, &word);
            let said = &text[inner.clone()];
            let is_number = said.len() >= 5 && said.bytes().all(|byte| byte.is_ascii_digit());
            if is_number && is_password && has_verb {
                return Some(inner);
            }
            if class == Class::Pass {
                return (has_verb && (Look::at(said).is_scrambled() || is_strong(said)))
                    .then_some(inner);
            }
            if class == Class::Code {
                let name = Name {
                    class,
                    is_env: false,
                    is_flag: false,
                    is_part: false,
                };
                return (has_verb && judge(name, Style::Loose, said)).then_some(inner);
            }
            // Without a verb, only what has a digit or a sign inside: a name follows its type in code.
            let is_plain = !(has_verb && is_password)
                && Look::at(said).digits < if is_password { 1 } else { 2 };
            if is_said(said, is_quoted && has_verb) && !is_plain && (has_verb || is_password) {
                return Some(inner);
            }
        }
        is_first = false;
        let is_aside = spelled.starts_with('(') || spelled.ends_with("):");
        let ends = spelled.ends_with(['.', '!', '?', ';', ',']) && !is_aside || has_verb;
        has_verb = spelled.ends_with(':');
        if ends {
            return None;
        }
    }
    None
}

/// Finds several words in quotes that have a digit or a sign: `the secret is "open sesame 44"`.
fn quoted_words(text: &str, word: &Range<usize>, to: usize) -> Option<Range<usize>> {
    let quote = text[word.clone()]
        .chars()
        .next()
        .filter(|c| "\"'`".contains(*c))?;
    let inner = text.get(word.start + 1..to)?;
    let inner = &inner[..inner.find(quote)?];
    let is_phrase = inner.contains(' ') && inner.contains(|c: char| c.is_ascii_digit());
    (is_phrase && !inner.contains(['(', '=', '/', ',']))
        .then(|| word.start + 1..word.start + 1 + inner.len())
}

/// Finds a secret before `as the password`.
fn said_before(text: &str, from: usize, to: usize) -> Option<Range<usize>> {
    let before = text.get(from..to)?;
    let ends = |link: &&String| {
        let tail = before.len().checked_sub(link.len());
        let tail = tail.map(|at| &before.as_bytes()[at..]);
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(link.as_bytes()))
    };
    let link = WORDS.sentences.links.iter().find(ends)?;
    let end = to - link.len();
    let start = text[from..end]
        .rfind(char::is_whitespace)
        .map_or(from, |blank| from + blank + 1);
    let (inner, is_quoted) = unquoted(text, &(start..end));
    is_said(&text[inner.clone()], is_quoted).then_some(inner)
}

/// Returns the words of a part of a text.
fn words(text: &str, from: usize, to: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = from;
    std::iter::from_fn(move || {
        at += bytes[at..to]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let length = bytes[at..to]
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        let word = at..at + length;
        at += length;
        (length > 0).then_some(word)
    })
}

/// Returns a word without its quotes and the punctuation after it, and whether it was quoted.
fn unquoted(text: &str, word: &Range<usize>) -> (Range<usize>, bool) {
    let Some(spelled) = text.get(word.clone()) else {
        return (word.start..word.start, false);
    };
    let quotes = [
        '"', '\'', '`', '*', '\u{201c}', '\u{201d}', '\u{ab}', '\u{bb}', '(',
    ];
    let opened = spelled.trim_start_matches(quotes);
    let start = word.end - opened.len();
    let closed = plain(plain(opened).trim_end_matches(quotes));
    (start..start + closed.len(), opened.len() < spelled.len())
}
