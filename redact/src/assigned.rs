//! Values that are assigned to telling names, in the syntaxes of languages, shells, documents and configurations.

use std::ops::Range;

use super::base64::is_login_base64;
use super::chars::{Look, boundary, line_end, line_start};
use super::names::{Class, Name, is_key};
use super::scan::Scan;
use super::value::{Style, is_password, is_said, is_secret};
use super::words::WORDS;
use super::{headers, prose};

/// How far a name extends on each side of its stem, in bytes.
const NAME_BYTES_MAX: usize = 48;
/// The most quotes and brackets after a name.
const CLOSERS_MAX: usize = 8;
/// The most blanks around a sign of assignment.
const BLANKS_MAX: usize = 16;
/// The most characters between a name and `value`, its neighbor in lists of names and values.
const NEIGHBOR_BYTES_MAX: usize = 24;
/// How far back from a password its login is searched for, in bytes.
const LOGIN_BYTES_MAX: usize = 160;
/// How many bytes of a value are examined.
const JUDGED_BYTES_MAX: usize = 128;

/// What joins a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// `=`, without blanks before it.
    Tight,
    /// Any other sign.
    Loose,
    Blank,
}

struct Value {
    inner: Range<usize>,
    is_quoted: bool,
}

/// Reads the name around a stem, and the value that is assigned to it.
pub(super) fn read(scan: &mut Scan<'_>, stem: Range<usize>) {
    if stem.start < scan.name_until || scan.is_taken(stem.start) {
        return;
    }
    let whole = whole_name(scan.bytes, &stem);
    scan.name_until = whole.end;
    let before = &scan.text[boundary(scan.text, whole.start.saturating_sub(12))..whole.start];
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
        _ => assigned(scan, name, &whole).or_else(|| neighbor(scan, name, whole.end)),
    };
    let is_said = matches!(name.class, Class::Password | Class::Secret | Class::Login);
    match found {
        Some(value) => scan.take(value, "secret"),
        None if is_said && scan.at(whole.end).is_ascii_whitespace() => {
            prose::read(scan, &whole, name.class == Class::Password);
        }
        None if is_said => prose::read_before(scan, &whole),
        None => (),
    }
}

fn whole_name(bytes: &[u8], stem: &Range<usize>) -> Range<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
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

/// Finds the sign after a name, and where its value begins.
fn sign(scan: &Scan<'_>, name: &Range<usize>) -> Option<(Sign, usize)> {
    let closers = scan.bytes[name.end..].iter().take(CLOSERS_MAX);
    let closers = closers
        .take_while(|byte| b"\"'`\\]*)".contains(byte))
        .count();
    let at = name.end + closers;
    let is_quoted = b"\"'`\\".contains(&scan.at(name.end));
    let sign = scan.after_blanks(at, BLANKS_MAX);
    let rest = &scan.bytes[sign.min(scan.bytes.len())..];
    let is_tag = scan.before(name.start) == b'<' || scan.before(name.start) == b':';
    let is_tight = sign == at && closers == 0;
    let (kind, length) = match rest {
        [b'=', b'=', ..] | [b':', b':', ..] => return None,
        [b':' | b'?' | b'+', b'=', ..] | [b'=', b'>', ..] => (Sign::Loose, 2),
        [b'=', ..] if is_tight => (Sign::Tight, 1),
        [b'=' | b':', ..] => (Sign::Loose, 1),
        [b',', ..] if is_quoted && is_argument(scan, name.start) => (Sign::Loose, 1),
        [b'|', ..] if sign > at => (Sign::Loose, 1),
        [b'>', ..] if is_tag => (Sign::Tight, 1),
        [b'(', b'"' | b'\'', ..] => (Sign::Loose, 1),
        _ if sign > at && !rest.is_empty() => return Some((Sign::Blank, sign)),
        _ => return None,
    };
    let mut value = scan.after_blanks(sign + length, BLANKS_MAX);
    // Markdown's bold type, and YAML's blocks of text.
    value += scan.bytes[value.min(scan.bytes.len())..]
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'*')
        .count();
    value = scan.after_blanks(value, 1);
    let is_block = matches!(scan.at(value), b'|' | b'>') && b"-+\n".contains(&scan.at(value + 1));
    let line = value
        + if is_block {
            1 + usize::from(scan.at(value + 1) != b'\n')
        } else {
            0
        };
    if scan.at(line) == b'\n' && kind == Sign::Loose && is_indented(scan, line + 1) {
        value = scan.after_blanks(line + 1, BLANKS_MAX);
    }
    Some((kind, value))
}

/// Returns whether a name in quotes is the first argument of a call: `define('NAME', 'value')`.
fn is_argument(scan: &Scan<'_>, name: usize) -> bool {
    let mut before = scan.bytes[..name].iter().rev().take(NAME_BYTES_MAX);
    let word = before.find(|byte| !(byte.is_ascii_alphanumeric() || b"_-.".contains(byte)));
    word.is_some_and(|byte| b"\"'".contains(byte))
        && before.find(|byte| **byte != b'\\') == Some(&b'(')
}

fn is_indented(scan: &Scan<'_>, line: usize) -> bool {
    b" \t".contains(&scan.at(line))
}

/// Reads the value at an offset: in quotes, escaped or not, or up to the next delimiter.
fn value_at(scan: &mut Scan<'_>, at: usize) -> Option<Value> {
    let bytes = scan.bytes;
    // Prefixes of literals: `b"..."`, `r'...'`.
    let prefix =
        usize::from(b"bBrRuUfFL@".contains(&scan.at(at)) && b"\"'".contains(&scan.at(at + 1)));
    let escapes = bytes[(at + prefix).min(bytes.len())..]
        .iter()
        .take(CLOSERS_MAX)
        .take_while(|byte| **byte == b'\\')
        .count();
    let open = at + prefix + escapes;
    let quote = scan.at(open);
    if b"\"'`".contains(&quote) {
        let triple = if bytes[open..].starts_with(&[quote; 3]) {
            3
        } else {
            1
        };
        let start = open + triple;
        let end = closing(bytes, start, quote, escapes);
        return Some(Value {
            inner: start..end,
            is_quoted: true,
        });
    }
    if at >= bytes.len() || b"(`[{,;&|$*)>\\".contains(&quote) && !is_dollar_secret(scan, at) {
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
    let inner = at..scan.bare.end;
    (!inner.is_empty()).then_some(Value {
        inner,
        is_quoted: false,
    })
}

/// Returns whether a dollar sign begins a value and not a variable: the value has more such signs.
fn is_dollar_secret(scan: &Scan<'_>, at: usize) -> bool {
    let word = scan.bytes[at..]
        .iter()
        .take(64)
        .take_while(|byte| !byte.is_ascii_whitespace());
    scan.at(at) == b'$'
        && !b"({".contains(&scan.at(at + 1))
        && word.filter(|byte| b"!@#%^$".contains(byte)).count() > 1
}

/// Returns the end of a value in quotes: before the next quote that is not escaped more often, or at the end of the line.
fn closing(bytes: &[u8], start: usize, quote: u8, escapes: usize) -> usize {
    let mut backslashes = 0;
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
                if !is_escaped {
                    return start + offset - if escapes == 0 { 0 } else { backslashes };
                }
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
    }
    bytes.len()
}

fn assigned(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) -> Option<Range<usize>> {
    let (sign, at) = sign(scan, whole)?;
    let is_verb = name.class == Class::Pass && !name.is_flag;
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
        (Sign::Blank, is_quoted) => return after_blank(scan, name, whole, value.inner, is_quoted),
        (_, true) => Style::Quoted,
        (Sign::Tight, false) if name.is_env => Style::Env,
        (Sign::Tight, false) if name.is_flag => Style::Flag,
        (Sign::Tight, false) => Style::Tight,
        (Sign::Loose, false) => Style::Loose,
    };
    if judge_once(scan, name, style, &value.inner) {
        return Some(trimmed(scan, value));
    }
    match name.class {
        Class::Login => login(scan, value.inner),
        _ if style == Style::Loose => after_type(scan, name, value.inner.start),
        _ => None,
    }
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

/// Returns whether a value is a secret, by the class of its name.
pub(super) fn judge(name: Name, style: Style, text: &str) -> bool {
    let text = &text[..boundary(text, JUDGED_BYTES_MAX)];
    match name.class {
        Class::Password => is_password(text, style) && !is_count(text, style),
        Class::Pass => is_password(text, style) && !is_result(text, style),
        Class::Secret => is_secret(text, style),
        Class::Auth => {
            is_secret(text, Style::Quoted) && !Look::at(text).is_words() || is_login_base64(text)
        }
        Class::Key => is_key(text, name.is_env),
        Class::Provider => is_key(text, true) && !text.contains('.'),
        Class::Login | Class::Authorization | Class::Cookie | Class::SetCookie => false,
    }
}

/// Returns whether a text is what a test's result names: `PASS: TestName2`, `pass: 12`.
fn is_result(text: &str, style: Style) -> bool {
    let look = Look::at(text);
    let is_word = text.contains(['`', '_']);
    style == Style::Loose
        && (is_word || look.is_words() || look.digits + 1 >= look.bytes || look.digits == 0)
}

/// Returns whether a number counts passwords, or is a field of a list, rather than being one.
fn is_count(text: &str, style: Style) -> bool {
    let digits = text.trim_end_matches([',', ')', '}']);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_fields = text
        .split(':')
        .nth(1)
        .is_some_and(|field| field.bytes().all(|byte| byte.is_ascii_digit()));
    style == Style::Loose && (is_number && digits.len() < 4 || is_fields && text.starts_with("x:"))
}

/// A bare value without the punctuation of the sentence or list that it ends.
fn trimmed(scan: &Scan<'_>, value: Value) -> Range<usize> {
    let text = &scan.text[value.inner.clone()];
    let length = match value.is_quoted {
        true => text.len(),
        false => super::value::plain(text).len().max(1),
    };
    value.inner.start..value.inner.start + length
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
    let text = &scan.text[inner.clone()];
    let from = line_start(scan.bytes, whole.start, LOGIN_BYTES_MAX);
    let line = &scan.bytes[from..whole.start];
    let is_set = || {
        WORDS
            .setters
            .iter()
            .any(|set| contains(line, set.as_bytes()))
    };
    let is_login = || is_login_before(scan, whole.start);
    let is_conf = || matches!(&scan.bytes[whole.clone()], b"requirepass" | b"masterauth");
    let is_secret = match name.class {
        Class::Password
            if is_password(text, Style::Flag) && (is_login() || is_conf() || is_set()) =>
        {
            true
        }
        Class::Password if is_quoted => !text.contains(' ') && is_said(text, true),
        Class::Secret if is_secret(text, Style::Flag) && Look::at(text).is_mixed() => true,
        Class::Secret => is_secret(text, Style::Env) && is_set(),
        Class::Key | Class::Auth => is_key(text, true) && is_set(),
        _ => false,
    };
    is_secret.then(|| trimmed(scan, Value { inner, is_quoted }))
}

/// A login and its password: `admin / hunter2`, `admin:hunter2`.
fn login(scan: &Scan<'_>, inner: Range<usize>) -> Option<Range<usize>> {
    let end = line_end(scan.bytes, inner.start, LOGIN_BYTES_MAX);
    let line = scan.text.get(inner.start..end)?;
    let user = line.find([' ', '/', ':', ','])?;
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
    if line[..sign].iter().any(|byte| b"\"';,(){".contains(byte)) {
        return None;
    }
    let value = value_at(scan, scan.after_blanks(at + sign + 1, BLANKS_MAX))?;
    let is_secret = value.is_quoted && judge(name, Style::Quoted, &scan.text[value.inner.clone()]);
    is_secret.then_some(value.inner)
}

/// A value whose name is a value itself: `name: TOKEN`, `value: ...`.
fn neighbor(scan: &mut Scan<'_>, name: Name, after: usize) -> Option<Range<usize>> {
    let window = &scan.bytes[after..scan.bytes.len().min(after + NEIGHBOR_BYTES_MAX)];
    let gap = window
        .iter()
        .take_while(|byte| b"\"'\\, \t\r\n".contains(byte))
        .count();
    let at = after + gap;
    let word = scan.bytes.get(at..at + 5)?;
    if gap == 0 || !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let (_, start) = sign(scan, &(at..at + 5))?;
    let value = value_at(scan, start)?;
    let is_secret = judge(name, Style::Quoted, &scan.text[value.inner.clone()]);
    is_secret.then(|| trimmed(scan, value))
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
