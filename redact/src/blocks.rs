//! Secrets of several lines: private keys, Kubernetes secrets, password files.

use std::ops::Range;

use super::chars::{line_end, line_start};
use super::scan::Scan;
use super::value::says_nothing;
use super::words::{BlockPart as Part, WORDS};

/// The longest private key, in bytes.
const KEY_BYTES_MAX: usize = 32 * 1024;
/// The longest first or last line of a key's frame.
const FRAME_BYTES_MAX: usize = 80;
/// The longest document with a Kubernetes secret that is read, in bytes.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024;
/// How far the numbers of a key are read on each side of its sign, in bytes.
const KEY_DOCUMENT_BYTES_MAX: usize = 4 * 1024;
/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: usize = 1024;
/// The shortest line of a key whose frame is cut off, in bytes.
const KEY_LINE_BYTES_MIN: usize = 16;

/// The longest line of a password file, in bytes.
const PGPASS_BYTES_MAX: usize = 256;

/// Examines a text where a literal was found.
pub(super) fn read(scan: &mut Scan<'_>, part: Part, literal: Range<usize>) {
    match part {
        Part::Begin => {
            finish(scan);
            scan.key_begin = is_private(scan, &literal).then_some(literal);
        }
        Part::End => end(scan, literal),
        Part::Putty => {
            let first = line_end(scan.bytes, literal.end, FRAME_BYTES_MAX);
            let last = lines_of_key(scan, first);
            take_key(scan, first..last);
        }
        Part::Numbers => numbers(scan, &literal),
        Part::Kubernetes => kubernetes(scan, literal),
        Part::PgPass => pgpass(scan, literal),
    }
}

fn take_key(scan: &mut Scan<'_>, span: Range<usize>) {
    if span.len() >= KEY_LINE_BYTES_MIN {
        scan.take(span, "private_key");
    }
}

/// Returns whether a frame's line is that of a private key.
fn is_private(scan: &Scan<'_>, frame: &Range<usize>) -> bool {
    let line = &scan.bytes[frame.end..scan.bytes.len().min(frame.end + FRAME_BYTES_MAX)];
    let until = line
        .iter()
        .position(|byte| b"\n\\".contains(byte))
        .unwrap_or(line.len());
    let name = String::from_utf8_lossy(&line[..until]).to_ascii_uppercase();
    name.contains(" KEY") && !name.contains("PUBLIC")
}

/// Takes a key whose end is cut off: the lines after the beginning that was found last.
pub(super) fn finish(scan: &mut Scan<'_>) {
    let Some(frame) = scan.key_begin.take() else {
        return;
    };
    let first = line_end(scan.bytes, frame.end, FRAME_BYTES_MAX);
    let until = lines_of_key(scan, first);
    // Only the frame's first line, as patterns and documentation have it, is no key.
    if until > first {
        take_key(scan, frame.start..until);
    }
}

/// Returns the end of the lines of base64 and of headers that follow.
fn lines_of_key(scan: &Scan<'_>, from: usize) -> usize {
    let mut at = from;
    let mut end = from;
    while at < scan.bytes.len() && at - from < KEY_BYTES_MAX {
        let line = at..line_end(scan.bytes, at, LINE_BYTES_MAX);
        let text = scan.text.get(line.clone()).unwrap_or_default();
        let bare = text.trim_matches(|c: char| c.is_whitespace() || "\"'+,>|#\\".contains(c));
        let is_header = bare
            .split_once(": ")
            .is_some_and(|(name, _)| !name.contains(' ') && name.len() < 24);
        let is_body = !bare.is_empty()
            && bare
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=\\".contains(&byte));
        let is_words = bare.len() < KEY_LINE_BYTES_MIN && end == from;
        if !bare.is_empty() && !is_header && (!is_body || is_words) {
            // The key's last line, and other text after it.
            let indent = text.len() - text.trim_start().len();
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
            let part = text[indent..].bytes().take_while(is_part).count();
            if part >= KEY_LINE_BYTES_MIN {
                end = line.start + indent + part;
            }
            break;
        }
        if is_body {
            end = line.start + (bare.as_ptr() as usize - text.as_ptr() as usize) + bare.len();
        }
        at = line.end + 1;
    }
    end
}

/// The end of a key, whose beginning may be cut off.
fn end(scan: &mut Scan<'_>, frame: Range<usize>) {
    if !is_private(scan, &frame) {
        return;
    }
    let line = line_end(scan.bytes, frame.end, FRAME_BYTES_MAX);
    let name = &scan.bytes[frame.end..line];
    let until = name
        .windows(5)
        .position(|five| five == b"-----")
        .map_or(line, |at| frame.end + at + 5);
    if let Some(begin) = scan
        .key_begin
        .take()
        .filter(|begin| frame.start - begin.start < KEY_BYTES_MAX)
    {
        let body = scan.bytes[begin.end..frame.start].iter();
        // Only a frame, as documentation has it, is no key.
        if body.filter(|byte| byte.is_ascii_digit()).count() > 1 {
            take_key(scan, begin.start..until);
        }
        return;
    }
    let mut start = frame.start;
    while start > 0 && frame.start - start < KEY_BYTES_MAX {
        let line_at = line_start(scan.bytes, start - 1, LINE_BYTES_MAX);
        let line = scan.text.get(line_at..start).unwrap_or_default().trim();
        let is_body = line
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        if !is_body || line.len() < KEY_LINE_BYTES_MIN && start != frame.start {
            break;
        }
        start = line_at;
    }
    if start < frame.start {
        take_key(scan, start..until);
    }
}

/// Takes the private numbers of a key, by their names.
fn numbers(scan: &mut Scan<'_>, literal: &Range<usize>) {
    if literal.start < scan.document_until {
        return;
    }
    let from = literal
        .start
        .saturating_sub(KEY_DOCUMENT_BYTES_MAX)
        .max(scan.document_until);
    let open = scan.bytes[from..literal.start]
        .iter()
        .rposition(|byte| *byte == b'{');
    let to = scan.bytes.len().min(literal.end + KEY_DOCUMENT_BYTES_MAX);
    let is_json = scan.at(literal.start) != b'<' && open.is_some();
    let end = scan.bytes[literal.end..to]
        .iter()
        .position(|byte| is_json && *byte == b'}');
    let to = end.map_or(to, |at| literal.end + at);
    scan.document_until = to;
    let mut at = open.map_or(literal.start, |open| from + open);
    while at < to {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric();
        let length = scan.bytes[at..to].iter().take_while(is_part).count();
        let name = scan.text.get(at..at + length).unwrap_or_default();
        at += length.max(1);
        let is_private = WORDS
            .names
            .numbers
            .iter()
            .any(|number| number.eq_ignore_ascii_case(name));
        if !is_private || !b"\"':>\\".contains(&scan.at(at)) {
            continue;
        }
        let gap = scan.bytes[at..to]
            .iter()
            .take_while(|byte| b"\"': >\n\\".contains(byte))
            .count();
        let is_digit = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-: \n".contains(byte);
        let value = scan.bytes[at + gap..to].iter().take_while(is_digit).count();
        let text = scan.text[at + gap..at + gap + value].trim_end();
        // Lines of hexadecimal digits end before the next name.
        let lines = text
            .rfind('\n')
            .filter(|_| text.ends_with(':'))
            .unwrap_or(text.len());
        take_key(scan, at + gap..at + gap + lines);
        at += gap + lines;
    }
}

/// Takes the values below `data:` and `stringData:` of a secret.
fn kubernetes(scan: &mut Scan<'_>, literal: Range<usize>) {
    if literal.start < scan.document_until {
        return;
    }
    let from = literal
        .start
        .saturating_sub(DOCUMENT_BYTES_MAX)
        .max(scan.document_until);
    let to = scan.bytes.len().min(literal.end + DOCUMENT_BYTES_MAX);
    scan.document_until = to;
    let after = scan.bytes[literal.end..to]
        .windows(5)
        .position(|five| five == b"\n---\n");
    let to = after.map_or(to, |at| literal.end + at);
    let before = scan.bytes[from..literal.start]
        .windows(5)
        .rposition(|five| five == b"\n---\n");
    let from = before.map_or(from, |at| from + at + 5);
    let mut at = from;
    let mut inside = None;
    while at < to {
        let line = at..line_end(scan.bytes, at, LINE_BYTES_MAX).min(to);
        at = line.end + 1;
        let text = scan.text.get(line.clone()).unwrap_or_default();
        let indent = text.len() - text.trim_start().len();
        let key: String = text.chars().filter(|c| !" \"'{".contains(*c)).collect();
        if key == "data:" || key == "stringData:" {
            inside = Some(indent);
            continue;
        }
        inside = inside.filter(|outer| indent > *outer);
        let Some(colon) = text.find(':').filter(|_| inside.is_some()) else {
            continue;
        };
        let value = text[colon + 1..].trim_matches([' ', '"', ',', '\'']);
        if value.len() >= 3 && !says_nothing(value) {
            let offset = value.as_ptr() as usize - text.as_ptr() as usize;
            scan.take(
                line.start + offset..line.start + offset + value.len(),
                "secret",
            );
        }
    }
}

/// A line `host:port:database:user:password`.
fn pgpass(scan: &mut Scan<'_>, port: Range<usize>) {
    let start = line_start(scan.bytes, port.start, LINE_BYTES_MAX);
    let end = line_end(scan.bytes, port.end, LINE_BYTES_MAX);
    let is_whole = end - start < PGPASS_BYTES_MAX && matches!(scan.before(start), b'\n' | 0);
    let Some(line) = scan.text.get(start..end).filter(|_| is_whole) else {
        return;
    };
    let mut fields = line.trim_end().splitn(5, ':');
    let head: Vec<_> = fields.by_ref().take(4).collect();
    let Some(password) = fields.next() else {
        return;
    };
    if !line.trim().contains([' ', '/', '"']) {
        let at = start + head.iter().map(|field| field.len() + 1).sum::<usize>();
        scan.take(at..at + password.len(), "password");
    }
}
