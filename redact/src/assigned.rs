//! Values that are assigned to telling names, in the syntaxes of languages, shells, documents and configurations.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::judge::{BLANKS_MAX, JUDGED_BYTES_MAX, NAME_BYTES_MAX, judge};
use super::names::{Class, Name};
use super::scan::Scan;
use super::secret::{Style, is_password, is_secret};
use super::syntax::{Sign, Value, sign, value_at};
use super::words::WORDS;
use super::{headers, near, table};

/// How far back from a password its login is searched for, in bytes.
const LOGIN_BYTES_MAX: usize = 160;
/// The longest argument of a command, in bytes.
const ARGUMENT_BYTES_MAX: usize = 256;

/// Reads the name around a stem, and the value that is assigned to it.
pub(super) fn read(scan: &mut Scan<'_>, stem: Range<usize>) {
    if stem.start < scan.name_until || scan.is_taken(stem.start) {
        return;
    }
    let whole = whole_name(scan.text, &stem);
    scan.name_until = whole.end;
    let before = &scan.text[boundary(scan.text, whole.start.saturating_sub(24))..whole.start];
    let Some(name) = Name::read(&scan.text[whole.clone()], before) else {
        return;
    };
    let found = match name.class {
        Class::Authorization | Class::Cookie | Class::SetCookie => {
            if let Some((_, at)) = sign(scan, &whole) {
                headers::read(scan, name.class, at);
            }
            return;
        }
        _ => assigned(scan, name, &whole),
    };
    match found {
        Some(value) => {
            scan.take(value, "secret");
            near::read(scan, name, &whole);
        }
        None => {
            let count = scan.found.len();
            table::read(scan, name, &whole);
            if scan.found.len() == count {
                near::read(scan, name, &whole);
            }
        }
    }
}

fn whole_name(text: &str, stem: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    // Words of other scripts are not joined to those of this one.
    let is_foreign = !bytes[stem.clone()].iter().any(u8::is_ascii_alphabetic);
    let is_part = |c: &char| match is_foreign {
        true => bytes[stem.start] & 0xfe == 0xd0 && !c.is_ascii(),
        false => c.is_ascii_alphanumeric() || "_-".contains(*c),
    };
    let before = text[..stem.start].chars().rev().take(NAME_BYTES_MAX);
    let before: usize = before.take_while(is_part).map(char::len_utf8).sum();
    let after = text[stem.end..].chars().take(NAME_BYTES_MAX);
    let after: usize = after.take_while(is_part).map(char::len_utf8).sum();
    stem.start - before..stem.end + after
}

fn assigned(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) -> Option<Range<usize>> {
    let (sign, at) = sign(scan, whole)?;
    let value = value_at(scan, at)?;
    let style = match (sign, value.is_quoted) {
        (Sign::Blank, _) if name.is_flag => Style::Flag,
        (Sign::Blank, _) => return after_blank(scan, name, whole, value),
        (_, true) => Style::Quoted,
        (Sign::Tight, false) if name.is_env => Style::Env,
        (Sign::Tight, false) if name.is_flag => Style::Flag,
        (Sign::Tight, false) => Style::Tight,
        // A line of YAML: nothing but the name and the value.
        (Sign::Loose, false) if is_line(scan, whole, &value.inner) => match name.is_env {
            true => Style::Env,
            false => Style::Line,
        },
        (Sign::Loose, false) if name.is_env => Style::Line,
        (Sign::Loose, false) => Style::Loose,
    };
    let value = bounded(scan, style, whole, value);
    judge_once(scan, name, style, &value.inner).then(|| value.trimmed(scan.text))
}

/// Returns whether a line has only a name and its value.
fn is_line(scan: &Scan<'_>, name: &Range<usize>, value: &Range<usize>) -> bool {
    let start = line_start(scan.bytes, name.start, NAME_BYTES_MAX);
    let before = scan.bytes[start..name.start].trim_ascii();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric();
    let is_first = before.iter().all(is_part) || before == b"-";
    is_first && b"\n\r\0".contains(&scan.at(value.end)) && !b",;".contains(&scan.before(value.end))
}

/// Returns a value that ends with what surrounds it: an argument in quotes, a list in brackets, a line of a
/// configuration, a word of a shell.
fn bounded(scan: &Scan<'_>, style: Style, name: &Range<usize>, value: Value) -> Value {
    let mut value = value;
    let Range { start, end } = value.inner;
    if value.is_quoted || end - start > ARGUMENT_BYTES_MAX {
        return value;
    }
    let line = line_end(scan.bytes, start, ARGUMENT_BYTES_MAX);
    let outer = scan.before(name.start);
    let is_assigned = !matches!(style, Style::Loose | Style::Line);
    let until = |ends: &[u8]| {
        scan.bytes[start..line]
            .iter()
            .position(|byte| ends.contains(byte))
            .map(|at| start + at)
    };
    let end = match outer {
        // `"NAME=..."`, with blanks.
        b'"' | b'\'' if is_assigned => until(&[outer]).unwrap_or(end),
        _ if is_assigned => word_end(scan, end, line),
        _ => end,
    };
    value.inner.end = boundary(scan.text, end).max(start);
    value
}

/// Returns the end of a word of a shell: `a;b`, `a\ b`.
fn word_end(scan: &Scan<'_>, end: usize, line: usize) -> usize {
    let mut end = end;
    while let Some((sign @ (b';' | b'\\'), after)) =
        scan.bytes.get(end..line).and_then(<[u8]>::split_first)
    {
        let blank = usize::from(*sign == b'\\' && after.first() == Some(&b' '));
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>;&|\\=".contains(byte);
        let length = after[blank..]
            .iter()
            .position(ends)
            .unwrap_or(after.len() - blank);
        // The next command, or the next member of a list.
        let is_other = blank == 0 && after[..length].iter().all(u8::is_ascii_lowercase);
        if is_other || after.get(blank + length) == Some(&b'=') || *sign == b'\\' && blank == 0 {
            break;
        }
        end += 1 + blank + length;
    }
    end
}

/// Like [`judge`], unless the value is the same as the last one.
fn judge_once(scan: &mut Scan<'_>, name: Name, style: Style, inner: &Range<usize>) -> bool {
    let text = &scan.text[inner.clone()];
    let text = &text[..boundary(text, JUDGED_BYTES_MAX)];
    let span = inner.start..inner.start + text.len();
    if let Some((last_name, last_style, last, is_secret)) = &scan.judged
        && (*last_name, *last_style) == (name, style)
        && scan.text[last.clone()] == *text
    {
        return *is_secret;
    }
    let is_secret = judge(name, style, text);
    scan.judged = Some((name, style, span, is_secret));
    is_secret
}

/// A value that only blanks separate from its name: of a login in a netrc file, of a command that sets it, of a line of
/// a configuration.
fn after_blank(
    scan: &Scan<'_>,
    name: Name,
    whole: &Range<usize>,
    value: Value,
) -> Option<Range<usize>> {
    let text = &scan.text[value.inner.clone()];
    // The name is a part of a path, or of another one.
    if scan.before(whole.start) == b'/' || name.is_part {
        return None;
    }
    let from = line_start(scan.bytes, whole.start, LOGIN_BYTES_MAX);
    let line = &scan.bytes[from..whole.start];
    let is_set = || {
        let mut setters = WORDS.setters.iter();
        setters.any(|set| contains(line, set.as_bytes()))
    };
    let is_last = || b"\n;\r\0".contains(&scan.at(scan.after_blanks(value.inner.end, BLANKS_MAX)));
    let is_first = || {
        line.trim_ascii()
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"#-/._".contains(byte))
    };
    let is_word = || {
        matches!(
            &*scan.text[whole.clone()].to_ascii_lowercase(),
            "identified" | "requirepass" | "masterauth"
        )
    };
    let is_line =
        || is_word() || is_first() && is_last() && text.bytes().any(|byte| byte.is_ascii_digit());
    let is_secret = match name.class {
        Class::Password if value.is_quoted => text.len() > 5 && judge(name, Style::Quoted, text),
        Class::Password => is_password(text, Style::Flag) && (is_line() || is_set()),
        Class::Secret => is_secret(text, Style::Env) && is_set(),
        Class::Auth | Class::Key => Look::at(text).is_hex_key() && is_set(),
        _ => false,
    };
    is_secret.then(|| value.trimmed(scan.text))
}

/// Returns whether a line has a part that begins as a word.
fn contains(line: &[u8], part: &[u8]) -> bool {
    let begins = |at: usize| at == 0 || !line[at - 1].is_ascii_alphanumeric();
    line.windows(part.len())
        .enumerate()
        .any(|(at, window)| window == part && begins(at))
}
