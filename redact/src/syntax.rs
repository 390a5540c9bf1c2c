//! The syntax around values: signs of assignment, quotes, brackets, blocks of lines.

use std::ops::Range;

use super::chars::{boundary, line_end};
use super::judge::{BLANKS_MAX, NAME_BYTES_MAX};
use super::scan::Scan;
use super::value::plain;
use super::words::WORDS;

/// The most quotes and brackets after a name.
const CLOSERS_MAX: usize = 8;
/// How far an element of XML is read, in bytes.
const ELEMENT_BYTES_MAX: usize = 200;
/// The longest block of lines that is a value, in bytes.
const BLOCK_BYTES_MAX: usize = 4096;
/// What joins a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`, without blanks before it.
    Tight,
    /// Any other sign.
    Loose,
    Blank,
}

pub(super) struct Value {
    pub(super) inner: Range<usize>,
    pub(super) is_quoted: bool,
}

impl Value {
    /// `None` if the place is outside of the text or cuts a character, so that no value can have such a place.
    fn new(text: &str, inner: Range<usize>, is_quoted: bool) -> Option<Self> {
        let is_inside = text.get(inner.clone()).is_some();
        is_inside.then_some(Self { inner, is_quoted })
    }

    /// The value; a bare one without the punctuation of the sentence or list that it ends.
    pub(super) fn trimmed(self, text: &str) -> Range<usize> {
        let length = match self.is_quoted {
            true => self.inner.len(),
            false => plain(&text[self.inner.clone()]).len().max(1),
        };
        self.inner.start..self.inner.start + length
    }
}

/// Finds the sign after a name, and where its value begins.
pub(super) fn sign(scan: &Scan<'_>, name: &Range<usize>) -> Option<(Sign, usize)> {
    let has_particle = particle(scan, name) > name.end && !scan.bytes[name.clone()].is_ascii();
    if let Some(value) = element(scan, name) {
        return Some((Sign::Tight, value));
    }
    let name = &(name.start..particle(scan, name));
    // `password.old: ...`
    let rest = scan
        .text
        .get(name.end..)
        .unwrap_or_default()
        .strip_prefix('.')
        .unwrap_or_default();
    let suffix = WORDS.names.suffixes.iter().find(|suffix| {
        let after = rest.strip_prefix(suffix.as_str());
        suffix.len() > 1 && after.is_some_and(|after| after.starts_with([' ', '=', ':', '"']))
    });
    let name = &(name.start..name.end + suffix.map_or(0, |suffix| suffix.len() + 1));
    let closers = scan.bytes[name.end..].iter().take(CLOSERS_MAX);
    let closers = closers
        .take_while(|byte| b"\"'`\\[]*)".contains(byte))
        .count();
    let at = name.end + closers;
    let is_quoted = b"\"'`\\".contains(&scan.at(name.end));
    let sign = scan.after_blanks(at, BLANKS_MAX);
    // A number of several: `Key 1: ...`.
    let number = scan.bytes[sign..]
        .iter()
        .take(3)
        .take_while(|byte| byte.is_ascii_digit());
    let numbered = sign + number.count();
    let sign = if numbered > sign { numbered } else { sign };
    let rest = &scan.bytes[sign.min(scan.bytes.len())..];
    let is_tag = scan.before(name.start) == b'<';
    let is_tight = sign == at && closers == 0;
    let (kind, length) = match rest {
        [b'=', b'=', ..] | [b':', b':', ..] => return None,
        // A colon on both sides separates the parts of an address.
        [b':', ..] if scan.before(name.start) == b':' => return None,
        // The name ends a string, as the label of an input does.
        [b':', b'"' | b'\'', after, ..] if is_tight && b" ,)|;\n".contains(after) => return None,
        // YAML's long form of a key.
        [b'\n', b':', b' ', ..] if scan.text[..name.start].ends_with("? ") => (Sign::Loose, 2),
        [b':' | b'?' | b'+', b'=', ..] | [b'=', b'>', ..] => (Sign::Loose, 2),
        [b'=', ..] if sign == at => (Sign::Tight, 1),
        [b'=' | b':', ..] => (Sign::Loose, 1),
        [b'<', b'<', b'<', ..] => (Sign::Loose, 0),
        [b',', ..] if is_quoted && is_argument(scan, name) => (Sign::Loose, 1),
        [b'>', ..] if is_tag && has_close(rest) => (Sign::Tight, 1),
        _ if has_particle => (Sign::Loose, 0),
        _ if sign > at => {
            return Some((Sign::Blank, sign));
        }
        _ => return None,
    };
    Some((kind, begin(scan, kind, sign + length)))
}

/// Finds where a value begins behind its sign.
fn begin(scan: &Scan<'_>, kind: Sign, after: usize) -> usize {
    let mut value = scan.after_blanks(after, BLANKS_MAX);
    // YAML's anchors and tags.
    while kind == Sign::Loose && b"&!".contains(&scan.at(value)) {
        let word = scan.bytes[value..].iter().take(NAME_BYTES_MAX);
        let word = word.take_while(|byte| !byte.is_ascii_whitespace()).count();
        let next = scan.after_blanks(value + word, BLANKS_MAX);
        value = next;
    }
    // Markdown's bold type.
    value += scan.bytes[value.min(scan.bytes.len())..]
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'*')
        .count();
    value = scan.after_blanks(value, 1);
    value
}

/// Returns whether a name in quotes is the first argument of a call, or an option in a list: `define('NAME', 'value')`.
fn is_argument(scan: &Scan<'_>, name: &Range<usize>) -> bool {
    let mut before = scan.bytes[..name.start].iter().rev().take(NAME_BYTES_MAX);
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.#[]=*^$".contains(byte);
    let word = before.find(|byte| !is_part(byte));
    word.is_some_and(|byte| b"\"'".contains(byte))
        && (scan.at(name.start) == b'-'
            || before.find(|byte| !b"\\ \n\t".contains(byte)) == Some(&b'('))
}

/// Returns whether the element of XML ends that a sign begins.
fn has_close(rest: &[u8]) -> bool {
    rest.iter()
        .take(ELEMENT_BYTES_MAX)
        .zip(&rest[1..])
        .any(|two| two == (&b'<', &b'/'))
}

/// Returns where the text of an element of XML begins whose name, or an attribute of it, is the name.
fn element(scan: &Scan<'_>, name: &Range<usize>) -> Option<usize> {
    let line = &scan.bytes[name.end..line_end(scan.bytes, name.end, ELEMENT_BYTES_MAX)];
    let close = line.iter().position(|byte| b"<>".contains(byte))?;
    let is_open = line[close] == b'>';
    let rest = &line[close + 1..];
    let has_end = rest
        .iter()
        .position(|byte| *byte == b'<')
        .is_some_and(|at| at > 0 && rest[at..].starts_with(b"</"));
    (is_open && has_end).then_some(name.end + close + 1)
}

/// Returns the end of a name with the particle that other scripts join to it: `密码是 ...`.
fn particle(scan: &Scan<'_>, name: &Range<usize>) -> usize {
    let rest = scan.text.get(name.end..).unwrap_or_default();
    let particles = &WORDS.sentences.particles;
    let particle = particles
        .iter()
        .find(|particle| rest.starts_with(particle.as_str()));
    match particle {
        Some(particle) if !scan.bytes[name.clone()].is_ascii() => name.end + particle.len(),
        // `IDENTIFIED WITH plugin BY '...'`
        _ if scan.bytes[name.clone()].eq_ignore_ascii_case(b"identified") => {
            let words = rest
                .get(..rest.len().min(NAME_BYTES_MAX))
                .unwrap_or_default();
            words
                .to_ascii_lowercase()
                .find(" by ")
                .map_or(name.end, |at| name.end + at + 3)
        }
        _ => name.end,
    }
}

/// Finds the inside of a value that has brackets or lines of its own: a block of YAML, a here-document, a long string.
fn block(scan: &Scan<'_>, at: usize) -> Option<Range<usize>> {
    let window = &scan.bytes[at.min(scan.bytes.len())..scan.bytes.len().min(at + BLOCK_BYTES_MAX)];
    let until = |open: usize, close: &[u8]| {
        let inner = window.get(open..)?;
        let end = inner.windows(close.len()).position(|here| here == close)?;
        Some(at + open..at + open + end)
    };
    match window {
        [b'[', b'[', ..] => until(2, b"]]"),
        // Of a connection string: `PWD={...};`
        [b'{', first, ..] if scan.before(at) == b'=' => until(1, b"};")
            .or_else(|| until(1, b"}\""))
            .or_else(|| until(1, b"}\n")),
        _ if window.starts_with(b"<![CDATA[") => until(9, b"]]>"),
        [b'q', b'{', ..] => until(2, b"})").or_else(|| until(2, b"}")),
        [b'<', b'<', b'<', ..] => {
            let skipped = window
                .iter()
                .take_while(|byte| b"< '\"".contains(byte))
                .count();
            let ends = |byte: &u8| byte.is_ascii_whitespace();
            let length = window[skipped..].iter().position(ends);
            Some(at + skipped..at + skipped + length.unwrap_or(window.len() - skipped))
        }
        [b'<', b'<', ..] => {
            let line = window.iter().position(|byte| *byte == b'\n')?;
            let tag = window[2..line].trim_ascii();
            let tag: Vec<u8> = tag
                .iter()
                .copied()
                .filter(u8::is_ascii_alphanumeric)
                .collect();
            if tag.is_empty() {
                return None;
            }
            let body = until(line + 1, &tag)?;
            Some(scan.after_blanks(body.start, BLANKS_MAX)..body.end)
        }
        // What a command prints: `$(echo -n '...' | base64)`.
        [b'$' | b'<', b'(', b'e', b'c', b'h', b'o', b' ', ..] => {
            let words = &window[7..];
            let skipped = words
                .iter()
                .take_while(|byte| b"-neE '\"".contains(byte))
                .count();
            let ends = |byte: &u8| byte.is_ascii_whitespace();
            let length = words[skipped..].iter().position(ends)?;
            Some(at + 7 + skipped..at + 7 + skipped + length)
        }
        [b'|' | b'>', ..] => indented(scan, at, window),
        _ => None,
    }
    .and_then(|inner| {
        let length = scan.text.get(inner.clone())?.trim_end().len();
        Some(inner.start..inner.start + length)
    })
}

/// Finds the lines of a block of YAML, whose sign a window begins with.
fn indented(scan: &Scan<'_>, at: usize, window: &[u8]) -> Option<Range<usize>> {
    let line = window.iter().take(4).position(|byte| *byte == b'\n')?;
    let signs = |byte: &u8| byte.is_ascii_digit() || b"+-".contains(byte);
    let start = scan.after_blanks(at + line + 1, BLANKS_MAX);
    let indent = start - (at + line + 1);
    if !window[1..line].iter().all(signs) || indent == 0 {
        return None;
    }
    let mut end = start;
    while end < at + window.len() {
        let is_inside = scan.after_blanks(end, indent) - end == indent;
        if end > start && !is_inside {
            break;
        }
        end = line_end(scan.bytes, end, BLOCK_BYTES_MAX) + 1;
    }
    Some(start..boundary(scan.text, end.min(scan.bytes.len()).min(at + window.len())))
}

/// Reads the value at an offset: in quotes, escaped or not, or up to the next delimiter.
pub(super) fn value_at(scan: &mut Scan<'_>, at: usize) -> Option<Value> {
    let bytes = scan.bytes;
    let is_printed = bytes[at.min(bytes.len())..].starts_with(b"\"$(echo ");
    let string = || quoted(bytes, at + constructor(&bytes[at.min(bytes.len())..]));
    if let Some(inner) = block(scan, at + usize::from(is_printed)).or_else(string) {
        return Value::new(scan.text, inner, true);
    }
    let first = scan.at(at);
    if at >= bytes.len() || b"(`[{,;&|$*)>\\".contains(&first) {
        return None;
    }
    if !scan.bare.contains(&at) {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>;&|\\".contains(byte);
        let length = bytes[at..]
            .iter()
            .position(ends)
            .unwrap_or(bytes.len() - at);
        scan.bare = at..at + length;
    }
    // The text of an element of XML.
    let window = &bytes[at..bytes.len().min(at + ELEMENT_BYTES_MAX)];
    let end = window.iter().position(|byte| b"<\n".contains(byte));
    if let Some(end) =
        end.filter(|end| scan.before(at) == b'>' && window[*end..].starts_with(b"</"))
    {
        return Value::new(scan.text, at..at + end, true);
    }
    let inner = at..scan.bare.end;
    Value::new(scan.text, inner, false).filter(|value| !value.inner.is_empty())
}

/// Returns the length of what makes a value of a string: `Some("...")`, `String::from("...")`, `[]byte("...")`.
fn constructor(rest: &[u8]) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:.[]".contains(byte);
    let length = rest.iter().take(NAME_BYTES_MAX).take_while(is_part).count();
    let name = rest[..length].rsplit(|byte| b":.]".contains(byte)).next();
    let is_made = name.is_some_and(|name| {
        name.first().is_some_and(u8::is_ascii_uppercase) && name.iter().any(u8::is_ascii_lowercase)
            || [&b"new"[..], b"from", b"of", b"byte", b"bytes"].contains(&name)
    });
    match rest.get(length..) {
        Some([b'(', b'"' | b'\'', ..]) if is_made => length + 1,
        _ => 0,
    }
}

/// Finds the inside of a string, whose quote may be escaped.
fn quoted(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    // Prefixes of literals: `b"..."`, `r#"..."#`, `$'...'`.
    let prefix = match &bytes[at.min(bytes.len())..] {
        [
            b'b' | b'B' | b'r' | b'R' | b'u' | b'U' | b'f' | b'F' | b'L' | b'N' | b'@' | b'$',
            b'"' | b'\'',
            ..,
        ] => 1,
        [b'r', b'#', b'"', ..] => 2,
        _ => 0,
    };
    let escapes = bytes[(at + prefix).min(bytes.len())..]
        .iter()
        .take(CLOSERS_MAX)
        .take_while(|byte| **byte == b'\\')
        .count();
    let open = at + prefix + escapes;
    let quote = *bytes.get(open).filter(|byte| b"\"'`".contains(byte))?;
    let triple = if bytes[open..].starts_with(&[quote; 3]) {
        3
    } else {
        1
    };
    let start = open + triple;
    let window = &bytes[start..bytes.len().min(start + BLOCK_BYTES_MAX)];
    let is_hashed = prefix == 2;
    let end = match triple {
        _ if is_hashed => window.windows(2).position(|two| two == b"\"#"),
        3 => window.windows(3).position(|three| three == [quote; 3]),
        _ => None,
    };
    let end = end.map_or_else(|| closing(bytes, start, quote, escapes), |at| start + at);
    // Between three quotes, the value has lines of its own.
    let blanks = window
        .iter()
        .take_while(|byte| triple == 3 && byte.is_ascii_whitespace());
    let start = (start + blanks.count()).min(end);
    Some(start..end)
}

/// Returns the end of a value in quotes: before the next quote that is not escaped more often, or at the end of the line.
fn closing(bytes: &[u8], start: usize, quote: u8, escapes: usize) -> usize {
    let (mut backslashes, mut skipped) = (0, 0);
    for (offset, byte) in bytes[start..].iter().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'\n' => return start + offset,
            byte if *byte == quote => {
                let is_escaped = if escapes == 0 {
                    backslashes % 2 == 1
                } else {
                    backslashes > escapes
                };
                // Written twice, it is a part of the value.
                let is_twice =
                    quote == b'\'' && offset > 0 && bytes[start + offset..].starts_with(b"''");
                if is_twice {
                    skipped = offset + 1;
                } else if offset > 0 && skipped == offset {
                    skipped = 0;
                } else if !is_escaped {
                    return start + offset - if escapes == 0 { 0 } else { backslashes };
                }
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
    }
    bytes.len()
}
