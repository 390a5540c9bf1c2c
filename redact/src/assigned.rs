//! Values that are assigned to telling names, in the syntaxes of languages, shells, documents and configurations.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::judge::{BLANKS_MAX, JUDGED_BYTES_MAX, NAME_BYTES_MAX, is_code_of, judge};
use super::names::{Class, Name, is_key};
use super::scan::Scan;
use super::syntax::{Sign, Value, sign, value_at};
use super::value::{Style, is_password, is_said, is_secret, is_strong};
use super::words::WORDS;
use super::{headers, near, table};

/// How far back from a password its login is searched for, in bytes.
const LOGIN_BYTES_MAX: usize = 160;
/// The longest argument of a command, in bytes.
const ARGUMENT_BYTES_MAX: usize = 256;
/// The most blanks in a type.
const TYPE_BLANKS_MAX: usize = 3;

/// Reads the name around a stem, and the value that is assigned to it.
pub(super) fn read(scan: &mut Scan<'_>, stem: Range<usize>) {
    if stem.start < scan.name_until || scan.is_taken(stem.start) {
        return;
    }
    let whole = whole_name(scan.bytes, &stem);
    scan.name_until = whole.end;
    let before = &scan.text[boundary(scan.text, whole.start.saturating_sub(24))..whole.start];
    let Some(name) = Name::read(&scan.text[whole.clone()], before) else {
        return;
    };
    let found = match name.class {
        Class::Authorization | Class::Cookie | Class::SetCookie => {
            let at = near::owned(scan, &whole).or_else(|| sign(scan, &whole).map(|(_, at)| at));
            if let Some(at) = at {
                headers::read(scan, name.class, at);
            }
            return;
        }
        _ => assigned(scan, name, &whole),
    };
    match found {
        Some(value) => {
            let end = value.end;
            scan.take(value, "secret");
            table::fallback(scan, name, end);
        }
        None => {
            let count = scan.found.len();
            let owned = near::owned(scan, &whole).and_then(|at| value_at(scan, at));
            if let Some(value) =
                owned.filter(|value| judge(name, Style::Quoted, &scan.text[value.inner.clone()]))
            {
                return scan.take(value.trimmed(scan.text), "secret");
            }
            table::read(scan, name, &whole);
            if scan.found.len() == count {
                near::read(scan, name, &whole);
            }
        }
    }
}

fn whole_name(bytes: &[u8], stem: &Range<usize>) -> Range<usize> {
    // Words of other scripts are not joined to those of this one.
    let is_foreign = !bytes[stem.clone()].iter().any(u8::is_ascii_alphabetic);
    let is_part = |byte: &&u8| match is_foreign {
        true => bytes[stem.start] & 0xfe == 0xd0 && !byte.is_ascii(),
        false => byte.is_ascii_alphanumeric() || b"_-".contains(byte),
    };
    let before = bytes[..stem.start]
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(is_part)
        .count();
    let after = bytes[stem.end..]
        .iter()
        .take(NAME_BYTES_MAX)
        .take_while(is_part)
        .count();
    stem.start - before..stem.end + after
}

fn assigned(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) -> Option<Range<usize>> {
    let (sign, at) = sign(scan, whole)?;
    let is_verb = name.class == Class::Pass
        && !name.is_flag
        && scan.bytes[whole.clone()].eq_ignore_ascii_case(b"pass");
    if is_verb && (sign == Sign::Blank || !b"=:".contains(&sign_byte(scan, at))) {
        return None;
    }
    let Some(value) = value_at(scan, at) else {
        return if sign == Sign::Loose {
            after_type(scan, name, at)
        } else {
            None
        };
    };
    let style = match (sign, value.is_quoted) {
        (Sign::Blank, _) if name.is_flag => Style::Flag,
        (Sign::Blank, is_quoted) => {
            let declared = value.inner.start;
            let login = match scan.text[value.inner.clone()].split_once(':') {
                Some((_, after)) if name.class == Class::Auth && !after.is_empty() => {
                    login(scan, value.inner.clone())
                }
                _ => None,
            };
            if login.is_some() {
                return login;
            }
            let value = after_blank(scan, name, whole, value.inner, is_quoted);
            return value.or_else(|| {
                if is_quoted {
                    None
                } else {
                    after_type(scan, name, declared)
                }
            });
        }
        (_, true) => Style::Quoted,
        (Sign::Tight, false) if name.is_env => Style::Env,
        (Sign::Tight, false) if name.is_flag => Style::Flag,
        (Sign::Tight, false) => Style::Tight,
        // A line of YAML: nothing but the name and the value.
        (Sign::Loose, false) if name.is_env && is_line(scan, whole, &value.inner) => Style::Env,
        (Sign::Loose, false) => Style::Loose,
    };
    let value = bounded(scan, style, whole, value);
    if judge_once(scan, name, style, &value.inner) {
        return Some(value.trimmed(scan.text));
    }
    match name.class {
        Class::Login | Class::Auth => login(scan, value.inner),
        _ if value.is_quoted && value.inner.len() < JUDGED_BYTES_MAX => None,
        _ if style == Style::Loose => after_type(scan, name, value.inner.start),
        _ => None,
    }
}

/// Returns whether a line has only a name and its value.
fn is_line(scan: &Scan<'_>, name: &Range<usize>, value: &Range<usize>) -> bool {
    let start = line_start(scan.bytes, name.start, NAME_BYTES_MAX);
    let before = scan.bytes[start..name.start].trim_ascii();
    let is_first = before.iter().all(|byte| *byte == b'-') || before.ends_with(b":");
    is_first && b"\n\r\0".contains(&scan.at(value.end)) && !b",;".contains(&scan.before(value.end))
}

/// Returns a value that ends with what it stands in: an argument in quotes, a list in brackets, a line of a configuration,
/// a word of a shell.
fn bounded(scan: &Scan<'_>, style: Style, name: &Range<usize>, value: Value) -> Value {
    let Range { start, end } = value.inner;
    if value.is_quoted || end - start > ARGUMENT_BYTES_MAX {
        return value;
    }
    let line = line_end(scan.bytes, start, ARGUMENT_BYTES_MAX);
    let outer = scan.before(name.start);
    let is_assigned = style != Style::Loose;
    let until = |ends: &[u8]| {
        scan.bytes[start..line]
            .iter()
            .position(|byte| ends.contains(byte))
            .map(|at| start + at)
    };
    // The text may be a string itself.
    let string = until(b"\"")
        .filter(|at| {
            scan.bytes[*at + 1..line]
                .iter()
                .all(|byte| b"}],".contains(byte))
        })
        .unwrap_or(line);
    let end = match outer {
        // `"NAME=..."`, with blanks.
        b'"' | b'\'' if is_assigned => until(&[outer]).unwrap_or(end),
        b'{' | b',' | b'(' if !is_assigned => until(b",})").unwrap_or(end).min(end),
        _ if is_line(scan, name, &(start..line)) && is_plain_line(scan, name, start..string) => {
            string
        }
        _ if is_assigned => word_end(scan, end, line),
        _ => end,
    };
    let inner = start..boundary(scan.text, end.max(start));
    Value {
        inner,
        is_quoted: false,
    }
}

/// Returns whether the rest of a line of a configuration is a value, with blanks or other signs in it.
fn is_plain_line(scan: &Scan<'_>, name: &Range<usize>, rest: Range<usize>) -> bool {
    let has_equals = scan.bytes[name.end..rest.start].contains(&b'=');
    let is_env = !scan.bytes[name.clone()].iter().any(u8::is_ascii_lowercase);
    let value = scan.text.get(rest).unwrap_or_default().trim_end();
    let is_part = |c: char| {
        c.is_alphanumeric() || "-_.!?#%+*@".contains(c) || c == ' ' && has_equals && !is_env
    };
    value.chars().all(is_part) || !value.contains([' ', '\t', '"', '\'', '=', '(', '`', '<', '|'])
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
        let is_other = after[blank..blank + length]
            .iter()
            .all(u8::is_ascii_lowercase)
            && blank == 0;
        if length == 0
            || is_other
            || after.get(blank + length) == Some(&b'=')
            || *sign == b'\\' && blank == 0
        {
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

fn sign_byte(scan: &Scan<'_>, value: usize) -> u8 {
    let before = scan.bytes[..value].iter().rev().take(BLANKS_MAX);
    before
        .copied()
        .find(|byte| !byte.is_ascii_whitespace())
        .unwrap_or(0)
}

/// A value that only blanks separate from its name: of a login in a netrc file, of a command, or in quotes.
fn after_blank(
    scan: &Scan<'_>,
    name: Name,
    whole: &Range<usize>,
    inner: Range<usize>,
    is_quoted: bool,
) -> Option<Range<usize>> {
    let inner = behind_kind(scan, inner);
    let text = &scan.text[inner.clone()];
    // The name is a part of a path, or of another one.
    if scan.before(whole.start) == b'/' || name.is_part {
        return None;
    }
    let from = line_start(scan.bytes, whole.start, LOGIN_BYTES_MAX);
    let line = &scan.bytes[from..whole.start];
    let is_set = || {
        WORDS
            .setters
            .iter()
            .any(|set| contains(line, set.as_bytes()))
    };
    let is_login = || is_login_before(scan, whole.start);
    // A line of a configuration: only the name and the value.
    let is_last = || b"\n;\r\0".contains(&scan.at(scan.after_blanks(inner.end, BLANKS_MAX)));
    let is_first = || {
        // Or the last part of one.
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"#-/._".contains(byte);
        let begin = line.trim_ascii_start();
        begin.iter().all(is_part)
            || line
                .iter()
                .all(|byte| byte.is_ascii_whitespace() || b"#-/".contains(byte))
    };
    let look = Look::at(text);
    let is_sql = || scan.bytes[whole.clone()].eq_ignore_ascii_case(b"identified");
    let is_known = || matches!(&scan.bytes[whole.clone()], b"requirepass" | b"masterauth");
    let is_conf = || is_known() || is_sql() || is_first() && is_last() && look.digits > 0;
    let is_secret = match name.class {
        Class::Password
            if is_password(text, Style::Flag) && (is_login() || is_conf() || is_set()) =>
        {
            true
        }
        Class::Password | Class::Pass if is_quoted => !text.contains(' ') && is_said(text, true),
        Class::Password if is_last() && (is_strong(text) || is_key(text, true)) => true,
        Class::Pass => is_conf() && is_strong(text),
        Class::Key => {
            let is_odd = is_strong(text) && look.kinds() == 4 && (is_last() || look.is_disguised());
            let is_random = text.len() >= 20 && look.is_scrambled() && is_key(text, false);
            is_odd || is_random && !text.starts_with("AAAA") || is_key(text, true) && is_set()
        }
        Class::Secret if is_quoted && look.digits == text.len() && text.len() >= 8 => true,
        Class::Secret if is_asked(line) => false,
        Class::Code => text.len() >= 6 && is_code_of(text),
        Class::Secret if is_secret(text, Style::Flag) && look.is_mixed() => true,
        Class::Secret => is_secret(text, Style::Env) && is_set(),
        Class::Auth => is_key(text, true) && is_set(),
        _ => false,
    };
    is_secret.then(|| Value { inner, is_quoted }.trimmed(scan.text))
}

/// Returns a value behind the number of its kind, as routers have it: `password 7 ...`.
fn behind_kind(scan: &Scan<'_>, inner: Range<usize>) -> Range<usize> {
    if inner.len() != 1 || !scan.at(inner.start).is_ascii_digit() {
        return inner;
    }
    let next = scan.after_blanks(inner.end, 1);
    let length = scan.bytes[next..].iter().take(JUDGED_BYTES_MAX);
    let length = length
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    let word = scan
        .text
        .get(next..next + length)
        .filter(|word| is_key(word, true));
    word.map_or(inner, |_| next..next + length)
}

/// Returns whether a command asks for a secret by its name: `kubectl get secret NAME`.
fn is_asked(before: &[u8]) -> bool {
    let word = before
        .trim_ascii_end()
        .rsplit(|byte| !byte.is_ascii_alphanumeric())
        .next();
    let word = word.filter(|word| word.iter().all(u8::is_ascii_lowercase));
    word.and_then(|word| std::str::from_utf8(word).ok())
        .is_some_and(near::is_getter)
}

/// A login and its password: `admin / hunter2`, `admin:hunter2`.
fn login(scan: &Scan<'_>, inner: Range<usize>) -> Option<Range<usize>> {
    let end = line_end(scan.bytes, inner.start, LOGIN_BYTES_MAX);
    let line = scan.text.get(inner.start..end)?;
    let user = line.find([' ', '/', ':', ',']).filter(|user| *user > 0)?;
    let gap = line[user..].find(|c: char| !" /:,&|".contains(c))?;
    let start = user + gap;
    let length = line[start..]
        .find([' ', ',', ')', '"', '\''])
        .unwrap_or(line.len() - start);
    let word = &line[start..start + length];
    let is_joined = line[user..start].contains(['/', ':']);
    (is_joined && is_said(word, false)).then_some(inner.start + start..inner.start + start + length)
}

/// A value that follows the type of its name: `password: string = "..."`.
fn after_type(scan: &mut Scan<'_>, name: Name, at: usize) -> Option<Range<usize>> {
    let end = line_end(scan.bytes, at, NAME_BYTES_MAX);
    let line = &scan.bytes[at..end];
    let sign = line.windows(2).position(|two| two == b"= ")?;
    // A type has few words; a sentence or a query has more.
    if line[..sign].iter().filter(|byte| **byte == b' ').count() > TYPE_BLANKS_MAX {
        return None;
    }
    if line[..sign].iter().any(|byte| b"\"';,(){".contains(byte)) {
        return None;
    }
    let value = value_at(scan, scan.after_blanks(at + sign + 1, BLANKS_MAX))?;
    let is_secret = value.is_quoted && judge(name, Style::Quoted, &scan.text[value.inner.clone()]);
    is_secret.then_some(value.inner)
}

/// Returns whether `login NAME`, of a netrc file, comes before an offset.
fn is_login_before(scan: &Scan<'_>, at: usize) -> bool {
    let from = boundary(scan.text, at.saturating_sub(LOGIN_BYTES_MAX));
    let mut words = scan.text[from..at].split_whitespace().rev();
    let user = words.next();
    user.is_some() && words.next() == Some("login")
}

/// Returns whether a line has a part that begins as a word.
fn contains(line: &[u8], part: &[u8]) -> bool {
    let begins = |at: usize| at == 0 || !line[at - 1].is_ascii_alphanumeric();
    line.windows(part.len())
        .enumerate()
        .any(|(at, window)| window == part && begins(at))
}
