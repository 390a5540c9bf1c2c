//! Commands that take a secret as an argument whose name does not tell it.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::scan::Scan;
use super::value::{Style, is_password, is_said, says_nothing};
use super::words::Program;

const ARGUMENTS_BYTES_MAX: usize = 1024;
/// How many of its words are read.
const WORDS_MAX: usize = 48;
/// The most lines of its input that are read.
const LINES_MAX: usize = 12;
/// How far before a program its input is searched for, in bytes.
const INPUT_BYTES_MAX: usize = 512;

/// Reads the arguments of a program, whose name is the literal `index` of the rules.
pub(super) fn read(scan: &mut Scan<'_>, program: &Program, index: usize, name: Range<usize>) {
    if !is_word(scan, &name) {
        return;
    }
    let mut known = scan.arguments_until.iter_mut();
    let known = known.find(|(known, _)| *known == index);
    if known.as_ref().is_some_and(|(_, until)| name.end < *until) {
        return;
    }
    let words = words(scan, name.end);
    let end = words.last().map_or(name.end, |word| word.end);
    match scan
        .arguments_until
        .iter_mut()
        .find(|(known, _)| *known == index)
    {
        Some((_, until)) => *until = end,
        None => scan.arguments_until.push((index, end)),
    }
    let mut texts = words.iter().map(|word| &scan.text[word.clone()]);
    if program.needs.is_empty() || texts.any(|word| has(word, &program.needs)) {
        secrets(scan, program, &words, &name);
    }
}

/// Returns whether a program's name is a word where a command can begin.
fn is_word(scan: &Scan<'_>, name: &Range<usize>) -> bool {
    let before = scan.before(name.start);
    let after = scan.at(name.end);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !is_part(before) && !is_part(after)
}

/// Returns whether a word is a needed one; letters of options may be joined.
fn has(word: &str, needs: &str) -> bool {
    let letter = needs.strip_prefix('-').filter(|letter| letter.len() == 1);
    let joined = word
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    word == needs
        || matches!((letter, joined), (Some(letter), Some(joined)) if joined.contains(letter))
}

/// Returns the words of a command, without their quotes.
fn words(scan: &Scan<'_>, from: usize) -> Vec<Range<usize>> {
    let to = boundary(scan.text, from + ARGUMENTS_BYTES_MAX);
    let mut words = Vec::new();
    let mut at = from;
    // A list of arguments in JSON or in code: `["program", "-p", "..."]`.
    let is_list = b"\"'".contains(&scan.at(from)) && scan.at(from + 1) == b',';
    if is_list {
        at += 1;
    }
    while at < to && words.len() < WORDS_MAX {
        match scan.bytes[at] {
            b' ' | b'\t' | b'\\' => at += 1,
            b',' if is_list => at += 1,
            b']' if is_list => break,
            b'\n' if scan.before(at) == b'\\' => at += 1,
            b'\n' | b';' | b'|' | b'&' | b')' => break,
            quote @ (b'"' | b'\'') => {
                let ends = |byte: &u8| *byte == quote || *byte == b'\n';
                let length = scan.bytes[at + 1..to]
                    .iter()
                    .position(ends)
                    .unwrap_or(to - at - 1);
                words.push(at + 1..at + 1 + length);
                at += length + 2;
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"';|&)`".contains(byte);
                let length = scan.bytes[at..to]
                    .iter()
                    .position(ends)
                    .unwrap_or(to - at)
                    .max(1);
                words.push(at..at + length);
                at += length;
            }
        }
    }
    words
}

fn secrets(scan: &mut Scan<'_>, program: &Program, words: &[Range<usize>], name: &Range<usize>) {
    let options = program.options.iter().map(|option| (option, true));
    for (option, is_apart) in options.chain(program.attached.iter().map(|it| (it, false))) {
        for index in 0..words.len() {
            if let Some(value) = value_of(
                scan.text,
                option,
                (is_apart, program.sign.is_some()),
                words,
                index,
            ) {
                behind(scan, value, program.sign);
            }
        }
    }
    if let Some(number) = program.word {
        let mut plain = words
            .iter()
            .filter(|word| !scan.text[(*word).clone()].starts_with('-'));
        let word = plain.nth(number).cloned();
        // Without an option that tells it, only what is no word: sentences name programs too.
        let is_told =
            program.sign.is_some() || program.needs.starts_with('-') || program.needs.contains('_');
        let is_random = |c: char| c.is_ascii_digit() || "!@#%^*+".contains(c);
        if let Some(word) = word.filter(|word| {
            let text = &scan.text[word.clone()];
            is_told || text.contains(is_random) || Look::at(text).is_scrambled()
        }) {
            behind(scan, word, program.sign);
        }
    }
    if program.input {
        input(scan, program.sign, words, name);
    }
}

/// Returns the value of an option, if that is the word at `index`: what is attached to it, or else the word after it.
fn value_of(
    text: &str,
    option: &str,
    (is_apart, has_sign): (bool, bool),
    words: &[Range<usize>],
    index: usize,
) -> Option<Range<usize>> {
    let word = &words[index];
    // Several letters in one option: `-sSu me:...`.
    let letters = text[word.clone()]
        .strip_prefix('-')
        .filter(|letters| letters.len() > 1);
    let is_last = |letters: &str| {
        letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && option
                .strip_prefix('-')
                .is_some_and(|letter| letter.len() == 1 && letters.ends_with(letter))
    };
    if is_apart && has_sign && letters.is_some_and(is_last) {
        return words.get(index + 1).cloned();
    }
    let attached = text[word.clone()].strip_prefix(option)?;
    let value = match attached {
        "" if is_apart => words.get(index + 1).cloned(),
        attached if attached.starts_with('=') => Some(word.end - attached.len() + 1..word.end),
        _ if option.starts_with("--") || option.is_empty() => None,
        // Letters behind a short option are more options, unless they are no word.
        attached
            if is_apart
                && Look::at(attached).digits == 0
                && !attached.contains([':', '!', '%', ',']) =>
        {
            None
        }
        attached => Some(word.end - attached.len()..word.end),
    };
    // A quoted value that is attached is a word of its own.
    value
        .filter(|value| !value.is_empty())
        .or_else(|| touching(text, words, index))
}

/// Returns the word in quotes that is written right after another one.
fn touching(text: &str, words: &[Range<usize>], index: usize) -> Option<Range<usize>> {
    let next = words.get(index + 1)?;
    let between = text.get(words[index].end..next.start);
    matches!(between, Some("'" | "\"")).then(|| next.clone())
}

/// Notes what a word has behind a sign; all of it without a sign.
fn behind(scan: &mut Scan<'_>, word: Range<usize>, sign: Option<char>) {
    let text = &scan.text[word.clone()];
    let skipped = sign.map_or(Some(0), |sign| Some(text.find(sign)? + 1));
    let Some(skipped) = skipped else { return };
    let secret = &text[skipped..];
    let secret = secret.trim_end_matches("\\n");
    let is_option = secret.starts_with('-') && sign.is_none();
    let is_port = secret.len() <= 5 && secret.bytes().all(|byte| byte.is_ascii_digit());
    let is_variable = says_nothing(secret)
        || secret.contains("$(")
        || secret.contains("${")
        || secret.starts_with('@');
    let start = word.start + skipped;
    let end = start + secret.len();
    if secret.len() >= 3
        && !is_option
        && !is_port
        && !is_variable
        && is_password(secret, Style::Env)
    {
        scan.take(start..end, "password");
    }
}

/// Notes what is piped into a program, or given to it as a here-string.
fn input(scan: &mut Scan<'_>, sign: Option<char>, words: &[Range<usize>], name: &Range<usize>) {
    let here = words
        .iter()
        .position(|word| scan.text[word.clone()].starts_with("<<<"));
    if let Some(index) = here {
        let attached = words[index].start + 3..words[index].end;
        let word = if attached.is_empty() {
            words.get(index + 1).cloned()
        } else {
            Some(attached)
        };
        return word.map_or((), |word| behind(scan, word, sign));
    }
    let from = boundary(
        scan.text,
        line_start(scan.bytes, name.start, INPUT_BYTES_MAX),
    );
    let Some(pipe) = scan.bytes[from..name.start]
        .iter()
        .rposition(|byte| *byte == b'|')
    else {
        return lines_below(scan, sign, name.end);
    };
    let before = &scan.bytes[from..from + pipe];
    let ends = |byte: &u8| b"|;&(".contains(byte);
    let start = from + before.iter().rposition(ends).map_or(0, |at| at + 1);
    let mut said = words_before(scan, start, from + pipe);
    let is_printer = |word: &Range<usize>| {
        let text = &scan.text[word.clone()];
        ["echo", "printf", "print", "Write-Output"]
            .iter()
            .any(|printer| text.ends_with(printer))
    };
    let Some(printer) = said.iter().position(is_printer) else {
        return;
    };
    said.drain(..=printer);
    let plain = |word: &&Range<usize>| {
        let text = &scan.text[(*word).clone()];
        !text.starts_with('-') && !text.starts_with('%')
    };
    for word in said.iter().filter(plain) {
        behind(scan, word.clone(), sign);
    }
}

/// Notes the lines of a here-document, or of a list of a configuration, that have the sign: `user:password`.
fn lines_below(scan: &mut Scan<'_>, sign: Option<char>, from: usize) {
    let Some(sign) = sign else { return };
    let mut at = line_end(scan.bytes, from, ARGUMENTS_BYTES_MAX) + 1;
    for _ in 0..LINES_MAX {
        let line = at..line_end(scan.bytes, at.min(scan.bytes.len()), INPUT_BYTES_MAX);
        let Some(text) = scan.text.get(line.clone()).filter(|text| !text.is_empty()) else {
            return;
        };
        at = line.end + 1;
        let bare = text.trim();
        let secret = bare.split_once(sign).map(|(_, secret)| secret);
        if !bare.contains(' ') && secret.is_some_and(|secret| is_said(secret, false)) {
            let start = line.start + text.len() - text.trim_start().len();
            behind(scan, start..start + bare.len(), Some(sign));
        }
    }
}

fn words_before(scan: &Scan<'_>, from: usize, to: usize) -> Vec<Range<usize>> {
    let mut words = words(scan, from);
    words.retain(|word| word.start < to);
    if let Some(last) = words.last_mut() {
        last.end = last.end.min(to);
    }
    words
}
