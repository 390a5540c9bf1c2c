//! Decodes a text before it is searched: escapes, terminal colors and line numbers hide secrets.
//!
//! The decoded text is only searched. [`Decoded::original`] maps what is found back to the text itself.

use std::ops::Range;

use super::chars::table;
use super::words::WORDS;

/// The longest escape sequence of a terminal that is recognized, in bytes.
const SEQUENCE_BYTES_MAX: usize = 256;
/// The most digits of a line number.
const NUMBER_DIGITS_MAX: usize = 7;
/// The most blanks before a line number.
const INDENT_MAX: usize = 8;

/// Characters without width, which split a word invisibly.
const INVISIBLE: [char; 5] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}', '\u{ad}'];

/// A decoded text.
pub(super) struct Decoded {
    pub(super) text: String,
    /// Where stretches begin that were copied unchanged: the offset here, and the offset in the original.
    stretches: Vec<(usize, usize)>,
}

impl Decoded {
    /// Returns the range of the original text that a range of the decoded text comes from.
    pub(super) fn original(&self, span: &Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let next = self.stretches.partition_point(|(here, _)| *here <= at);
            let (here, original) = self.stretches[next.max(1) - 1];
            original + (at - here)
        };
        place(span.start)..place(span.end)
    }
}

/// How a position of the original text is decoded.
enum Step {
    /// As it is.
    Keep,
    /// Skipped: this many bytes.
    Skip(usize),
    /// A character, and the number of bytes that it takes.
    Char(usize, char),
}

/// Returns a text without what hides secrets in it; `None` if nothing does.
pub(super) fn decode(text: &str) -> Option<Decoded> {
    let bytes = text.as_bytes();
    let mut out = Builder {
        text,
        decoded: String::new(),
        stretches: vec![(0, 0)],
        copied: 0,
    };
    let mut at = 0;
    let mut begins_line = true;
    while at < bytes.len() {
        if begins_line {
            begins_line = false;
            let length = line_start(&text[at..]);
            out.skip(at, length);
            at += length;
            continue;
        }
        let is_special = |byte: &u8| SPECIAL[usize::from(*byte)];
        match bytes[at..].iter().position(is_special) {
            Some(plain) => at += plain,
            None => break,
        }
        match step(text, at) {
            Step::Keep => {
                begins_line = bytes[at] == b'\n';
                at += 1;
            }
            Step::Skip(length) => {
                out.skip(at, length);
                at += length;
            }
            Step::Char(length, char) => {
                out.put(at, length, char);
                begins_line = char == '\n';
                at += length;
            }
        }
    }
    out.finish()
}

struct Builder<'t> {
    text: &'t str,
    decoded: String,
    stretches: Vec<(usize, usize)>,
    copied: usize,
}

impl Builder<'_> {
    fn skip(&mut self, at: usize, length: usize) {
        if length > 0 {
            self.decoded.push_str(&self.text[self.copied..at]);
            self.copied = at + length;
            self.stretches.push((self.decoded.len(), self.copied));
        }
    }

    fn put(&mut self, at: usize, length: usize, char: char) {
        self.skip(at, length);
        if let Some(last) = self.stretches.last_mut() {
            last.1 = at;
        }
        self.decoded.push(char);
        self.stretches.push((self.decoded.len(), self.copied));
    }

    fn finish(mut self) -> Option<Decoded> {
        if self.copied == 0 {
            return None;
        }
        self.decoded.push_str(&self.text[self.copied..]);
        Some(Decoded {
            text: self.decoded,
            stretches: self.stretches,
        })
    }
}

/// The bytes that a step looks at.
const SPECIAL: [bool; 256] = table(b"\\\n\x1b%&\xc2\xe2\xef");

fn step(text: &str, at: usize) -> Step {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    match rest[0] {
        b'\\' => backslashes(rest),
        0x1b => Step::Skip(1 + sequence(&rest[1..])),
        b'%' => match hex(rest.get(1..3)) {
            Some(code @ 0x20..0x7f) => Step::Char(3, char::from(code)),
            _ => Step::Keep,
        },
        b'&' => WORDS
            .lines
            .entities
            .iter()
            .find(|(name, _)| rest.starts_with(name.as_bytes()))
            .map_or(Step::Keep, |(name, char)| Step::Char(name.len(), *char)),
        0xc2 | 0xe2 | 0xef => text[at..]
            .chars()
            .next()
            .map_or(Step::Keep, |char| match char {
                _ if INVISIBLE.contains(&char) => Step::Skip(char.len_utf8()),
                '“' | '”' | '„' | '«' | '»' => Step::Char(char.len_utf8(), '"'),
                _ => Step::Keep,
            }),
        _ => Step::Keep,
    }
}

/// Decodes an escape of JSON, a shell or a language, however often it was escaped.
fn backslashes(rest: &[u8]) -> Step {
    let count = rest.iter().take_while(|byte| **byte == b'\\').count();
    let after = &rest[count..];
    let (length, char) = match after.first() {
        Some(b'n' | b'r') => (1, '\n'),
        Some(b't') => (1, '\t'),
        Some(byte @ (b'"' | b'\'' | b'`' | b'/' | b'$' | b' ')) => (1, char::from(*byte)),
        // A line that continues in the next one.
        Some(b'\n') => {
            let blanks = after[1..]
                .iter()
                .take(INDENT_MAX)
                .take_while(|byte| **byte == b' ');
            return Step::Skip(count + 1 + blanks.count());
        }
        Some(b'x') => match hex(after.get(1..3)) {
            Some(code) if code.is_ascii() => (3, char::from(code)),
            _ => return one_of(count),
        },
        Some(b'u') => match (hex(after.get(1..3)), hex(after.get(3..5))) {
            (Some(0), Some(code)) if code.is_ascii() => (5, char::from(code)),
            _ => return one_of(count),
        },
        Some(b'0') if after.starts_with(b"033") => (3, '\u{1b}'),
        Some(b'e') if after.starts_with(b"e[") => (1, '\u{1b}'),
        _ => return one_of(count),
    };
    match char {
        '\u{1b}' => Step::Skip(count + length + sequence(&after[length..])),
        char => Step::Char(count + length, char),
    }
}

/// Leaves one of several backslashes, as in a path or a pattern.
fn one_of(backslashes: usize) -> Step {
    match backslashes {
        1 => Step::Keep,
        more => Step::Skip(more - 1),
    }
}

/// Returns the length of a terminal's escape sequence after its ESC.
fn sequence(rest: &[u8]) -> usize {
    let window = &rest[..rest.len().min(SEQUENCE_BYTES_MAX)];
    match window.first() {
        Some(b'[') => {
            let end = window[1..]
                .iter()
                .position(|byte| !matches!(byte, 0x20..=0x3f));
            match end.map(|end| (end, window[1 + end])) {
                Some((end, 0x40..=0x7e)) => end + 2,
                _ => 1,
            }
        }
        Some(b']') => match window.iter().position(|byte| matches!(byte, 0x07 | 0x1b)) {
            Some(end) => end + 1,
            None => 1,
        },
        _ => 0,
    }
}

fn hex(digits: Option<&[u8]>) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match digits {
        Some([high, low]) => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    }
}

/// Returns the length of what a program put before a line's text.
fn line_start(line: &str) -> usize {
    let bytes = line.as_bytes();
    if !matches!(
        bytes.first(),
        Some(b'>' | b'|' | b'+' | b' ' | b'0'..=b'9' | 0xe2)
    ) {
        return 0;
    }
    if let Some(quote) = WORDS
        .lines
        .quotes
        .iter()
        .find(|quote| line.starts_with(*quote))
    {
        return quote.len();
    }
    let indent = bytes
        .iter()
        .take(INDENT_MAX)
        .take_while(|byte| **byte == b' ')
        .count();
    let digits = bytes[indent..]
        .iter()
        .take(NUMBER_DIGITS_MAX)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let after = indent + digits;
    let mut signs = WORDS.lines.after_number.iter();
    let sign = signs.find(|sign| line[after..].starts_with(*sign));
    match (digits, sign) {
        (1.., Some(sign)) => after + sign.len(),
        _ => 0,
    }
}
