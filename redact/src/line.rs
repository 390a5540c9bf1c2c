//! The odd words and strings of a line, whatever its syntax is.

use std::cell::LazyCell;
use std::ops::Range;

use super::chars::Look;
use super::names::is_name;
use super::odd::{Odd, odd};
use super::value::plain;

/// How far on each side of a name a line is read, in bytes.
pub(super) const LINE_BYTES_MAX: usize = 1024;

/// The values of the part of a line that was read last.
#[derive(Default)]
pub(super) struct Line {
    pub(super) span: Range<usize>,
    /// Whether the part begins and ends with its line.
    pub(super) begins: bool,
    pub(super) ends: bool,
    /// Whether it goes on in the next lines.
    pub(super) is_open: bool,
    pub(super) values: Vec<Value>,
}

/// An odd word or string of a line.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// What would be taken.
    pub(super) span: Range<usize>,
    /// The same with its quotes, and with the login before it.
    pub(super) whole: Range<usize>,
    pub(super) odd: Odd,
    pub(super) is_quoted: bool,
    /// Whether a login comes before it: `jane:...`.
    pub(super) has_user: bool,
    /// Whether it is an argument in quotes, and not the first.
    pub(super) is_second: bool,
}

/// Finds the odd words and strings of a part of a text.
pub(super) fn values(text: &str, part: Range<usize>) -> Vec<Value> {
    let bytes = text.as_bytes();
    let mut values = Vec::new();
    let mut at = part.start;
    while at < part.end {
        let byte = bytes[at];
        // `b"..."`
        let is_prefixed = at > part.start && bytes[at - 1].is_ascii_alphanumeric();
        let rest = &text.as_bytes()[at..part.end];
        // What a colon announces and ends the line is one word.
        let is_tail = LazyCell::new(|| {
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            !line.iter().any(u8::is_ascii_whitespace)
        });
        let is_part = |byte: &&u8| {
            **byte == b';' && *is_tail
                || !byte.is_ascii_whitespace() && !b"\"'`<>();{}[]|".contains(byte)
        };
        let (value, length) = match byte {
            b'"' | b'\'' | b'`' => {
                let value = quoted(text, at - usize::from(is_prefixed)..at, part.end);
                let length = key_length(&text[..at], &text[at..part.end]).unwrap_or(1);
                (value, length)
            }
            _ => match groups(rest) {
                Some((length, odd)) => {
                    let span = at..at + length;
                    (Value::new(text, span.clone(), span, odd), length)
                }
                None => {
                    let length = rest.iter().take_while(is_part).count();
                    // What is called or indexed is a name.
                    let is_word = length > if byte.is_ascii_digit() { 3 } else { 4 }
                        && byte != b'-'
                        && !rest.get(length).is_some_and(|next| b"([{".contains(next));
                    (
                        is_word.then(|| word(text, at..at + length)).flatten(),
                        length.max(1),
                    )
                }
            },
        };
        values.extend(value);
        at += length;
    }
    values
}

impl Value {
    /// `None` if a place is outside of the text or cuts a character, so that no value can have such a place.
    fn new(text: &str, span: Range<usize>, whole: Range<usize>, odd: Odd) -> Option<Self> {
        let is_inside = text.get(span.clone()).is_some() && text.get(whole.clone()).is_some();
        is_inside.then_some(Self {
            span,
            whole,
            odd,
            is_quoted: false,
            has_user: false,
            is_second: false,
        })
    }
}

/// Weighs the string that a quote begins; the quote ends `prefix`.
fn quoted(text: &str, prefix: Range<usize>, end: usize) -> Option<Value> {
    let at = prefix.end;
    let of = |span: Range<usize>, whole: Range<usize>, odd: Odd| {
        Some(Value {
            is_quoted: true,
            is_second: text[..at].trim_end().ends_with(','),
            ..Value::new(text, span, whole, odd)?
        })
    };
    let Some(length) = string(&text[at..end]) else {
        let length = phrase(&text[at..end])?;
        return of(at + 1..at + 1 + length, at..at + length + 2, Odd::Phrase);
    };
    let inner = text[at + 1..=at + length]
        .trim_end_matches("\\n")
        .trim_end_matches("\\r");
    let span = at + 1..at + 1 + inner.trim_end_matches("{enter}").len();
    // Of several lines, the first one tells.
    let weight = odd(text[span.clone()].split("\\n").next().unwrap_or_default());
    let is_value = weight > Odd::Plain && !is_key(&text[..at], &text[at + length + 2..]);
    of(span, prefix.start..at + length + 2, weight).filter(|_| is_value)
}

/// Returns the length of a key of JSON in quotes.
fn key_length(before: &str, text: &str) -> Option<usize> {
    let length = string(text)? + 2;
    is_key(before, &text[length..]).then_some(length)
}

/// Returns whether what stands before a text is a key of JSON.
fn is_key(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(['\\', ' ', '\t', '+', '-']);
    let after = after.trim_start_matches('\\').trim_start_matches(' ');
    before
        .chars()
        .next_back()
        .is_none_or(|last| "{,(\n[n".contains(last))
        && after.starts_with(':')
}

/// Returns the length of a key that is written in groups of four: `abcd 3fgh ijkl mn0p`.
fn groups(bytes: &[u8]) -> Option<(usize, Odd)> {
    if bytes.first().is_some_and(u8::is_ascii_digit)
        && let Some(found) = digits(bytes)
    {
        return Some(found);
    }
    let is_group = |group: &[u8]| group.len() == 4 && group.iter().all(u8::is_ascii_alphanumeric);
    let all = bytes.chunks(5);
    let count = all.clone().take_while(|chunk| {
        is_group(&chunk[..chunk.len().min(4)])
            && chunk.get(4).is_none_or(|byte| b" \n\"'".contains(byte))
    });
    let odd = count
        .clone()
        .filter(|chunk| !Look::at(std::str::from_utf8(&chunk[..4]).unwrap_or_default()).is_words());
    let (count, odd) = (count.count(), odd.count());
    let length = (count * 5).saturating_sub(1).min(bytes.len());
    let is_hex = bytes[..length]
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b' ');
    (count >= 4 && odd * 4 >= count && !is_hex).then_some((length, Odd::Random))
}

/// Returns the length of groups of digits: `839 201`, `241755-574005-514369-890305`.
fn digits(bytes: &[u8]) -> Option<(usize, Odd)> {
    let is_group =
        |group: &&[u8]| (3..=8).contains(&group.len()) && group.iter().all(u8::is_ascii_digit);
    let groups = bytes.split(|byte| b" -".contains(byte)).take(8);
    let lengths = groups.take_while(is_group).map(|group| group.len() + 1);
    match lengths.clone().count() {
        2 => Some((lengths.sum::<usize>() - 1, Odd::Number)),
        4.. => Some((lengths.sum::<usize>() - 1, Odd::Random)),
        _ => None,
    }
}

/// Returns the length of the string that a quote begins, if it is one word.
fn string(text: &str) -> Option<usize> {
    let quote = text.as_bytes()[0];
    let length = text.as_bytes()[1..]
        .iter()
        .position(|byte| *byte == quote || byte.is_ascii_whitespace())?;
    let is_closed = text.as_bytes()[1 + length] == quote;
    let inner = &text[1..=length];
    (is_closed && length > 3 && !inner.trim_end_matches('=').contains(['=', ';', '<']))
        .then_some(length)
}

/// Returns the length of the string that a quote begins, if it is of words and a number: `"open sesame 44"`.
fn phrase(text: &str) -> Option<usize> {
    let quote = char::from(text.as_bytes()[0]);
    let length = text[1..].find(quote)?;
    let inner = &text[1..=length];
    let has_words =
        (2..8).contains(&inner.split(' ').count()) && inner.chars().any(|c| c.is_ascii_digit());
    let is_sentence = inner.split(' ').filter(|word| word.len() > 2).count() >= 4;
    let is_phrase = inner.len() < 64
        && (has_words || is_sentence)
        && inner.chars().all(|c| c.is_alphanumeric() || c == ' ')
        && !inner.contains(" -");
    is_phrase.then_some(length)
}

/// Weighs a word, and what stands behind a sign in it: `NAME=...`, `jane:...`, `admin/...`.
pub(super) fn word(text: &str, span: Range<usize>) -> Option<Value> {
    let spelled = &text[span.clone()];
    let is_named = |at: &usize| spelled[..*at].chars().all(is_name);
    let sign = spelled
        .trim_end_matches('=')
        .rfind('=')
        .filter(is_named)
        .map_or(0, |at| at + 1);
    let user = spelled[sign..].find([':', '%', '/']).map(|at| sign + at);
    // `user/password@host`
    let spelled = match (user, spelled.rfind('@')) {
        (Some(user), Some(at)) if user < at => &spelled[..at],
        _ => spelled,
    };
    let value = |from: usize, has_user: bool| {
        let inner = plain(&spelled[from..]);
        let weight = odd(inner);
        let start = span.start + from;
        // `user/...@host`
        let is_login = spelled.len() < span.len() && has_user;
        let weight = if is_login {
            weight.max(Odd::Numbered)
        } else {
            weight
        };
        let end = start + inner.len();
        let whole = if has_user { span.start } else { start };
        let value = Value::new(text, start..end, whole..end, weight)?;
        (weight > Odd::Plain).then_some(Value { has_user, ..value })
    };
    match user {
        Some(user) if user > sign && !spelled[user + 1..].contains(['/', ':']) => {
            value(user + 1, true)
                .filter(|value| !matches!(value.odd, Odd::Numbered) || spelled.len() < span.len())
                .or_else(|| value(sign, false))
        }
        _ => value(sign, false),
    }
}
