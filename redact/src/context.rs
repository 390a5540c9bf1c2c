//! Secrets whose name stands somewhere around them: in the same object, call, row, column or list.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::judge::judge;
use super::names::{Class, Name};
use super::odd::{Odd, odd};
use super::scan::Scan;
use super::syntax::{sign, value_at};
use super::value::{Style, is_said, is_strong, says_nothing};
use super::words::WORDS;

/// The longest name of what is called with a secret, in bytes.
const CALLEE_BYTES_MAX: usize = 32;
/// How far behind its name a sign of assignment may stand, in bytes.
const SIGN_BYTES_MAX: usize = 16;
/// The most strings that are joined to one.
const JOINED_MAX: usize = 8;
/// How far a call or a statement is read, in bytes.
const STATEMENT_BYTES_MAX: usize = 200;
/// How far behind its name a value that has a name of its own may stand, in bytes.
const NEIGHBOR_BYTES_MAX: usize = 160;
/// The longest table that is read, in bytes.
const TABLE_BYTES_MAX: usize = 8 * 1024;
/// The longest line of a table, in bytes.
const LINE_BYTES_MAX: usize = 512;
/// The most lines below a name that are read, and the longest secret on a line of its own.
const BELOW_LINES_MAX: usize = 12;
const BELOW_BYTES_MAX: usize = 100;

/// Searches the surroundings of a name that nothing is assigned to; returns whether there is a secret.
pub(super) fn read(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) -> bool {
    let count = scan.found.len();
    if let Some(value) = neighbor(scan, name, whole.end) {
        scan.take(value, "secret");
    }
    if scan.found.len() == count {
        strings(scan, name, whole);
    }
    if scan.found.len() == count {
        table(scan, name, whole);
    }
    if scan.found.len() == count {
        below(scan, name, whole);
    }
    if scan.found.len() == count {
        commented(scan, name, whole);
    }
    scan.found.len() > count
}

/// A value with a name of its own, beside or below the telling one: `name: TOKEN`, `value: ...`.
fn neighbor(scan: &mut Scan<'_>, name: Name, after: usize) -> Option<Range<usize>> {
    let to = boundary(scan.text, after + NEIGHBOR_BYTES_MAX);
    // Of a command, another option has the value: `--name /a/password --value ...`.
    let is_option = scan.bytes[after..].starts_with(b" --");
    if !is_option && !b"\"'<,:\n;\\?".contains(&scan.at(after)) {
        return None;
    }
    let mut at = after;
    while at < to {
        let byte = scan.bytes[at];
        if !byte.is_ascii_alphabetic() {
            if byte == b'}' {
                return None;
            }
            at += 1;
            continue;
        }
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let length = scan.bytes[at..to].iter().take_while(is_part).count();
        let word = &scan.text[at..at + length];
        let is = |list: &[String]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
        // The closing tag of the name is not the name of another.
        if is(&WORDS.payload.names) && scan.before(at) != b'/' {
            return None;
        }
        let is_value =
            word.eq_ignore_ascii_case("value") || word == "string" && scan.before(at) == b'<';
        if (is_value || is(&WORDS.payload.values)) && scan.before(at) != b'/' {
            let start = sign(scan, &(at..at + length)).map(|(_, start)| start);
            if let Some(value) = start.and_then(|start| value_at(scan, start)) {
                let text = &scan.text[value.inner.clone()];
                return (judge(name, Style::Quoted, text) && (is_value || is_said(text, true)))
                    .then(|| value.trimmed(scan.text));
            }
        }
        at += length;
    }
    None
}

/// The text from a name to the strings of its call or statement.
struct Head {
    /// Where the strings begin: at a bracket, if there is one.
    from: usize,
    /// Whether a bracket begins that holds what the name is given.
    is_open: bool,
    /// Whether that is a list, and not one of things that have names of their own.
    is_given: bool,
}

/// Reads what follows a name; `None` if that is a word of a sentence, or a call that asks for a secret by its name.
fn head(scan: &Scan<'_>, whole: &Range<usize>) -> Option<Head> {
    let to = line_end(scan.bytes, whole.end, STATEMENT_BYTES_MAX);
    let closers = scan.bytes[whole.end..to].iter().take(4);
    let closers = closers.take_while(|byte| b"]'\")".contains(byte)).count();
    let from = whole.end + closers;
    let rest = &scan.bytes[from..to];
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_:.=<>&!?* ".contains(byte);
    let length = rest
        .iter()
        .take(NEIGHBOR_BYTES_MAX)
        .take_while(is_name)
        .count();
    let first = rest.first().copied().unwrap_or_default();
    let is_joined = closers > 0
        || b"(:.=,".contains(&first)
        || b"\"'".contains(&first) && scan.before(whole.start) == first
        || rest[..length.min(SIGN_BYTES_MAX)].contains(&b'=');
    if !is_joined || is_getter(&scan.text[whole.clone()]) {
        return None;
    }
    let callee = scan.text.get(from..from + length).unwrap_or_default();
    let mut words = callee.split(|c: char| !c.is_ascii_alphanumeric());
    let is_asked = length > CALLEE_BYTES_MAX || words.any(is_getter);
    let bracket = rest.get(length).copied().unwrap_or_default();
    let is_open = b"([{".contains(&bracket);
    Some(Head {
        from: from + if is_open { length } else { 0 },
        is_open,
        is_given: is_open && bracket != b'{' && !is_asked,
    })
}

/// Strings in a call of a telling name, or in the rest of its statement: `setPassword("...")`,
/// `auth = ("me", "...")`, `env("TOKEN", "...")`.
fn strings(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    let Some(Head {
        from,
        mut is_open,
        is_given,
    }) = head(scan, whole)
    else {
        return;
    };
    let is_login = is_given && matches!(name.class, Class::Auth | Class::Login);
    let (mut at, mut depth, mut last) = (from, 0usize, None::<Range<usize>>);
    // Strings in a row are one value, also in the lines below: `PASSWORD = ("..." "...")`.
    let to = match is_open {
        true => scan.bytes.len().min(whole.end + STATEMENT_BYTES_MAX),
        false => line_end(scan.bytes, whole.end, STATEMENT_BYTES_MAX),
    };
    while at < to {
        match scan.bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            // An empty call: the statement goes on.
            b')' if depth <= 1 && is_open && last.is_none() => (is_open, depth) = (false, 0),
            b')' | b']' | b'}' if depth <= 1 && is_open => return,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b';' | b'\n' if !is_open => return,
            quote @ (b'"' | b'\'' | b'`') => {
                let ends = |byte: &u8| *byte == quote || *byte == b'\n';
                let Some(length) = scan.bytes[at + 1..to].iter().position(ends) else {
                    return;
                };
                let inner = at + 1..at + 1 + length;
                let text = &scan.text[inner.clone()];
                let is_one =
                    is_login || is_given && depth == 1 || is_fallback(&scan.text[whole.end..at]);
                let is_named = [&b"\":"[..], b"':"]
                    .iter()
                    .any(|end| scan.bytes[inner.end..].starts_with(end));
                let is_user = is_login && last.is_none();
                let is_secret = (is_login || judge(name, Style::Quoted, text))
                    && if is_one {
                        is_said(text, true)
                    } else {
                        is_strong(text)
                    };
                let is_plain = !text.contains([' ', '/', ':']) && !says_nothing(text);
                if is_plain && is_secret && !is_named && !is_user {
                    // A string that is joined to this one is a part of it.
                    let joins = |last: &&Range<usize>| {
                        scan.bytes[last.end + 1..at]
                            .iter()
                            .all(|byte| b" \n\t+.\\".contains(byte))
                    };
                    let start = last
                        .as_ref()
                        .filter(joins)
                        .map_or(inner.start, |last| last.start);
                    scan.take(start..inner.end, "secret");
                }
                at = inner.end;
                last = Some(inner);
            }
            _ => (),
        }
        at += 1;
    }
}

/// Returns whether what follows a part of a statement is another value for the same name: `?? "..."`.
fn is_fallback(before: &str) -> bool {
    let before = before.trim_end();
    WORDS
        .sentences
        .fallbacks
        .iter()
        .any(|sign| before.ends_with(sign.as_str()))
}

/// Another value for the same name, behind the first one: `"..." if production else "..."`.
pub(super) fn fallback(scan: &mut Scan<'_>, name: Name, from: usize) {
    // Strings that are joined to the first one are parts of it.
    let mut at = from;
    for _ in 0..JOINED_MAX {
        let window = &scan.bytes[at..scan.bytes.len().min(at + STATEMENT_BYTES_MAX)];
        let inner = window.get(1..).unwrap_or_default();
        let gap = inner
            .iter()
            .take_while(|byte| b" +.&\\\n\t".contains(byte))
            .count();
        let quote = window
            .first()
            .filter(|quote| b"\"'".contains(quote) && gap > 0);
        let is_string = quote.is_some() && inner.get(gap) == quote;
        let ends = |byte: &u8| b"\"'\n".contains(byte);
        let length = inner.iter().skip(gap + 1).position(ends);
        let Some(length) = length.filter(|_| is_string) else {
            break;
        };
        let start = at + gap + 2;
        scan.take(start..start + length, "secret");
        at = start + length;
    }
    let to = line_end(scan.bytes, from, STATEMENT_BYTES_MAX);
    let Some(rest) = scan.text.get(from..to) else {
        return;
    };
    let signs = WORDS
        .sentences
        .fallbacks
        .iter()
        .filter_map(|sign| Some(rest.find(sign.as_str())? + sign.len()));
    let Some(value) = signs
        .min()
        .and_then(|at| value_at(scan, scan.after_blanks(from + at, 2)))
    else {
        return;
    };
    if judge(name, Style::Quoted, &scan.text[value.inner.clone()])
        && scan.before(value.inner.start) == scan.at(value.inner.end)
    {
        scan.take(value.inner, "secret");
    }
}

/// A string before the comment that says what it is: `load("..."); // password of the store`.
fn commented(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    let start = line_start(scan.bytes, whole.start, STATEMENT_BYTES_MAX);
    let line = scan.text.get(start..whole.start).unwrap_or_default();
    let signs = ["// ", " # ", " -- ", "/* "];
    let Some(sign) = signs.iter().find_map(|sign| line.rfind(sign)) else {
        return;
    };
    let mut parts = line[..sign].rsplit(['"', '\'']);
    let text = parts.nth(1).unwrap_or_default();
    let is_closed = parts.next().is_some() && !text.contains([' ', '/', ':']);
    if is_closed
        && !Look::at(text).is_hex
        && is_said(text, true)
        && judge(name, Style::Quoted, text)
    {
        let at = start + (text.as_ptr() as usize - line.as_ptr() as usize);
        scan.take(at..at + text.len(), "secret");
    }
}

/// Returns whether a call asks for a secret by its name.
pub(super) fn is_getter(name: &str) -> bool {
    let getters = &WORDS.names.getters;
    let begins = |getter: &String| {
        let head = name.as_bytes().get(..getter.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(getter.as_bytes()))
    };
    getters.iter().any(begins)
}

/// The fields of a line, which a sign or several blanks separate.
fn fields(line: &str, sign: char) -> Vec<Range<usize>> {
    let mut fields = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut blanks = 0;
    for (at, char) in line.char_indices() {
        blanks = if char == ' ' { blanks + 1 } else { 0 };
        let is_end = match sign {
            ' ' => {
                char != ' '
                    && line[start..at].ends_with("  ")
                    && line[..at].trim_end().len() > start
            }
            sign => char == sign && quote.is_none(),
        };
        match char {
            _ if is_end => {
                fields.push(start..at);
                start = at + if sign == ' ' { 0 } else { char.len_utf8() };
            }
            '"' | '\'' if quote == Some(char) => quote = None,
            '"' | '\'' if quote.is_none() && line[start..at].trim().is_empty() => {
                quote = Some(char)
            }
            _ => (),
        }
    }
    fields.push(start..line.len());
    for field in &mut fields {
        let text = &line[field.clone()];
        let bare = text.trim_matches([' ', '\t', '"', '\'', '`', '*', '|', '\r']);
        let start = field.start + (bare.as_ptr() as usize - text.as_ptr() as usize);
        *field = start..start + bare.len();
    }
    fields
}

/// The column below a telling name: of CSV, Markdown, a database's output, or the values of an `INSERT`.
fn table(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    // Names in the rows are no heads, but a head may have several.
    if (scan.table_head..scan.table_until).contains(&whole.start) {
        return;
    }
    let start = line_start(scan.bytes, whole.start, LINE_BYTES_MAX);
    let end = line_end(scan.bytes, whole.end, LINE_BYTES_MAX);
    // A line is looked at once, unless it has the heads of several columns. A long one is no head.
    let is_whole = end - start < LINE_BYTES_MAX && scan.at(end) == b'\n';
    let Some(head) = scan.text.get(start..end).filter(|_| is_whole) else {
        (scan.table_head, scan.table_until) = (start, end);
        return;
    };
    let at = whole.start - start;
    if let Some(open) = head[..at].rfind('(').filter(|_| head[at..].contains(')')) {
        return columns(scan, name, open + start + 1, whole);
    }
    let signs = [',', ';', '|', '\t', ' '];
    let is_word = |c: char| c.is_alphabetic() || "_-. ".contains(c);
    let mut shapes = signs.iter().filter_map(|sign| {
        let fields = fields(head, *sign);
        let is_head = fields.len() >= 2
            && fields
                .iter()
                .all(|field| head[field.clone()].chars().all(is_word) && field.len() < 32);
        let column = fields
            .iter()
            .position(|field| *field == (at..at + whole.len()));
        column
            .filter(|_| is_head)
            .map(|column| (*sign, column, fields.len()))
    });
    let Some((sign, column, width)) = shapes.next() else {
        (scan.table_head, scan.table_until) = (start, end);
        return;
    };
    let mut next = end + 1;
    let (mut cells, mut is_column) = (Vec::new(), false);
    while next < scan.bytes.len() && next - end < TABLE_BYTES_MAX {
        let line_at = next;
        let line_to = line_end(scan.bytes, next, LINE_BYTES_MAX);
        next = line_to + 1;
        let Some(line) = scan.text.get(line_at..line_to) else {
            break;
        };
        if line.chars().all(|c| "-+=|: \r".contains(c)) && !line.trim().is_empty() {
            continue;
        }
        let fields = fields(line, sign);
        if fields.len() != width {
            next = line_at;
            break;
        }
        let cell = fields[column].clone();
        let text = &line[cell.clone()];
        if judge(name, Style::Quoted, text) && !text.contains(' ') {
            is_column |= odd(text) >= Odd::Numbered;
            cells.push(line_at + cell.start..line_at + cell.end);
        }
    }
    // One secret tells what the column has.
    for cell in cells.into_iter().filter(|_| is_column) {
        scan.take(cell, "secret");
    }
    (scan.table_head, scan.table_until) = (end, next);
}

/// The values of a column that `INSERT INTO table (...)` names.
fn columns(scan: &mut Scan<'_>, name: Name, open: usize, whole: &Range<usize>) {
    let column = scan.bytes[open..whole.start]
        .iter()
        .filter(|byte| **byte == b',')
        .count();
    let to = boundary(scan.text, whole.end + TABLE_BYTES_MAX);
    let Some(close) = scan.bytes[whole.end..to]
        .iter()
        .position(|byte| *byte == b')')
    else {
        return;
    };
    let rest = scan.text[whole.end + close + 1..to].trim_start();
    if !rest
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("values"))
    {
        return;
    }
    let mut at = to - rest.len() + 6;
    let (mut depth, mut place) = (0, 0);
    while at < to {
        match scan.bytes[at] {
            b'(' => {
                depth += 1;
                place = if depth == 1 { 0 } else { place };
            }
            b')' if depth > 0 => depth -= 1,
            b',' if depth == 1 => place += 1,
            b',' | b' ' | b'\n' | b'\t' | b'\r' | b'N' => (),
            b'\'' | b'"' => {
                let quote = scan.bytes[at];
                let Some(length) = scan.bytes[at + 1..to]
                    .iter()
                    .position(|byte| *byte == quote)
                else {
                    return;
                };
                let inner = at + 1..at + 1 + length;
                if depth == 1
                    && place == column
                    && judge(name, Style::Quoted, &scan.text[inner.clone()])
                {
                    scan.take(inner.clone(), "secret");
                }
                at = inner.end;
            }
            _ if depth == 0 => return,
            _ => (),
        }
        at += 1;
    }
}

/// Secrets on lines of their own, below a sentence that announces them.
fn below(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    if !matches!(name.class, Class::Password | Class::Code | Class::Secret)
        || whole.end < scan.below_until
    {
        return;
    }
    let end = line_end(scan.bytes, whole.end, STATEMENT_BYTES_MAX);
    scan.below_until = end;
    let rest = scan.bytes[whole.end..end].trim_ascii_end();
    let is_announced = rest.ends_with(b":");
    // A part of a form: the name, an empty line, the value.
    let is_part = rest == b"\""
        && [&b"\n\n"[..], b"\r\n\r\n"].iter().any(|gap| {
            scan.bytes[end..].starts_with(gap) || end > 0 && scan.bytes[end - 1..].starts_with(gap)
        });
    let mut at = end + 1;
    for _ in 0..BELOW_LINES_MAX {
        if at >= scan.bytes.len() {
            return;
        }
        let line = at..line_end(scan.bytes, at, BELOW_BYTES_MAX);
        let text = scan.text.get(line.clone()).unwrap_or_default();
        at = line.end + 1;
        let bare = text.trim().trim_start_matches(['-', '*', '•']).trim();
        if bare.is_empty() {
            continue;
        }
        let look = Look::at(bare);
        let is_hash = look.is_hex && matches!(bare.len(), 40 | 64);
        let is_word = bare.len() >= 6
            && !bare.contains(|c: char| c.is_whitespace() || "/(){}:=,;<>".contains(c));
        let is_secret = match is_announced {
            _ if is_part => judge(name, Style::Quoted, bare),
            true if name.class == Class::Code => look.digits >= 4,
            true => look.is_mixed() || is_said(bare, false) && look.digits >= 2,
            false => bare.len() >= 12 && look.is_mixed() && !is_hash && look.upper > 0,
        };
        if !is_word || !is_secret {
            return;
        }
        let start = line.start + (bare.as_ptr() as usize - text.as_ptr() as usize);
        scan.take(start..start + bare.len(), "secret");
        if !is_announced {
            return;
        }
    }
}
