//! Secrets that stand near a telling name: in the same call, statement, command or sentence, and in the lines below.
//!
//! The odd words of a line are found once, whatever its syntax is (`odd.rs`). One is taken if what lies between it and a
//! telling name joins the two: the closer the bond is, the less the word itself must show.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::judge::is_code_of;
use super::names::{Class, Name};
use super::odd::{Odd, odd};
use super::scan::Scan;
use super::syntax::{Sign, sign};
use super::value::{is_call, plain};
use super::words::WORDS;

/// How far on each side of a name a line is read, in bytes.
const LINE_BYTES_MAX: usize = 1024;
/// How far from a name a value may stand, in bytes.
const GAP_BYTES_MAX: usize = 120;
/// The most words of a sentence between a name and its value.
const GAP_WORDS_MAX: usize = 6;
/// How far behind a name the next one may stand, in bytes.
const OWNER_BYTES_MAX: usize = 48;
/// The shortest number that is a password, in digits.
const NUMBER_DIGITS_MIN: usize = 5;
/// The most lines below a name that are read.
const BELOW_LINES_MAX: usize = 12;

/// An odd word or string of a line.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// What would be taken.
    span: Range<usize>,
    /// The same with its quotes, and with the login before it.
    whole: Range<usize>,
    odd: Odd,
    is_quoted: bool,
    /// Whether a login comes before it: `jane:...`.
    has_user: bool,
    /// Whether it is an argument in quotes, and not the first.
    is_second: bool,
}

/// The values of the part of a line that was read last.
#[derive(Default)]
pub(super) struct Line {
    span: Range<usize>,
    /// Whether the part begins and ends with its line.
    begins: bool,
    ends: bool,
    /// Whether it goes on in the next lines.
    is_open: bool,
    values: Vec<Value>,
}

/// What joins a name and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    /// They are in the same statement.
    Weak,
    /// A few words of a sentence.
    Said,
    /// A sign, a bracket or a call.
    Direct,
    /// A name that says that this is the value: `name: TOKEN`, `value: ...`.
    Owned,
}

/// Takes the values near a name; returns whether there are any.
pub(super) fn read(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) -> bool {
    let count = scan.found.len();
    // The name is a part of a path, or the file's.
    let is_path = scan.before(whole.start) == b'/';
    if scan.at(whole.end) == b'/' || is_path && scan.at(whole.end) == b'.' {
        return false;
    }
    let line = line(scan, whole);
    let near = line
        .values
        .partition_point(|value| value.whole.end + GAP_BYTES_MAX < whole.start);
    let near = line.values[near..].iter();
    for value in near.take_while(|value| value.whole.start <= whole.end + GAP_BYTES_MAX) {
        let bond = match value.span.start >= whole.end {
            true => after(scan.text, whole, name.class, value),
            false if value.whole.end <= whole.start => before(scan.text, whole, value),
            false => None,
        };
        let bond = bond.filter(|bond| !is_path || *bond == Bond::Owned);
        if bond.is_some_and(|bond| is_taken(scan.text, name, whole, bond, value))
            && !scan.is_taken(value.span.start)
        {
            let start = joined_start(scan.text, value);
            scan.take(start..value.span.end, "secret");
        }
    }
    scan.line = line;
    if scan.found.len() == count {
        below(scan, name, whole);
    }
    scan.found.len() > count
}

/// Returns whether a word is the second one behind the command that adds a person: `add_user jane ...`.
fn is_added(text: &str, name: &Range<usize>, value: &Value) -> bool {
    let gap = text.get(name.end..value.whole.start).unwrap_or_default();
    text[..name.end].ends_with("user") && gap.split_whitespace().count() == 1
}

/// Returns where a string begins that is joined to those before it: `"..." "..."`.
fn joined_start(text: &str, value: &Value) -> usize {
    let quote = text[value.whole.start..]
        .chars()
        .next()
        .filter(|c| "\"'".contains(*c));
    let before = text[..value.whole.start].trim_end_matches([' ', '\n', '\t', '+', '.', '\\']);
    let first = quote.and_then(|quote| before.strip_suffix(quote)?.rfind(quote));
    let is_apart = before.len() < value.whole.start && value.is_quoted;
    first
        .filter(|_| is_apart)
        .map_or(value.span.start, |first| first + 1)
}

/// Finds a value that the next name says it is: `"name": "TOKEN", "value": "..."`.
pub(super) fn owned(scan: &Scan<'_>, name: &Range<usize>) -> Option<usize> {
    let rest = scan
        .text
        .get(name.end..boundary(scan.text, name.end + OWNER_BYTES_MAX))?;
    let begin = rest
        .find(|c: char| !"\"'\\,; \n</>?:".contains(c))
        .filter(|at| *at > 0)?;
    let rest = &rest[begin..];
    // The closing tag of the name.
    let rest = rest.split_once('<').map_or(rest, |(_, next)| next);
    let word = rest.split(|c: char| !is_name(c)).next()?;
    let at = word.as_ptr() as usize - scan.text.as_ptr() as usize;
    is(&WORDS.payload.values, word)
        .then(|| sign(scan, &(at..at + word.len())))
        .flatten()
        .filter(|(sign, _)| *sign != Sign::Blank)
        .map(|(_, at)| at)
}

/// Returns whether a value is a secret, by what its name says and how close it is.
fn is_taken(text: &str, name: Name, whole: &Range<usize>, bond: Bond, value: &Value) -> bool {
    let spelled = &text[value.span.clone()];
    let look = Look::at(spelled);
    let is_told = bond >= Bond::Direct && value.is_quoted
        || match value.whole.end <= whole.start {
            // `... as the password`
            true => {
                let next = text[value.whole.end..whole.start].split_whitespace().next();
                next.is_some_and(|word| word == "|" || is(&WORDS.sentences.verbs, word))
            }
            false => is_told(&text[..value.whole.start]),
        };
    let is_person = matches!(
        name.class,
        Class::Password | Class::Pass | Class::Login | Class::Auth
    );
    let is_key = matches!(name.class, Class::Secret | Class::Provider);
    let is_rich = look.digits >= 2 || look.kinds() >= 3;
    let is_before = value.whole.end <= whole.start;
    if is_before && bond == Bond::Direct && !value.is_quoted && name.class == Class::Password {
        // It is piped into what asks for it.
        return value.odd > Odd::Number || look.digits >= NUMBER_DIGITS_MIN;
    }
    let least = match (name.class, bond) {
        (Class::Call, _) if value.odd == Odd::Phrase => {
            return value.is_second
                && text
                    .get(whole.end..value.whole.start)
                    .is_some_and(|gap| gap.matches(',').count() >= 2);
        }
        _ if name.is_part => return is_told && bond >= Bond::Direct && value.odd >= Odd::Made,
        (Class::Call, _) if is_before => return bond == Bond::Direct && value.odd >= Odd::Numbered,
        (Class::Call, _) if value.is_second || value.has_user => Odd::Numbered,
        (Class::Call, _) => return is_added(text, whole, value) && value.odd >= Odd::Made,
        (Class::Code, _) => return bond > Bond::Weak && is_code_of(spelled),
        _ if value.odd == Odd::Phrase => {
            return is_told
                && bond > Bond::Weak
                && match name.class {
                    Class::Password => true,
                Class::Login => value.has_user,
                    Class::Secret => value.is_quoted && !spelled.contains('-'),
                    _ => false,
                };
        }
        _ if value.odd == Odd::Number => {
            let is_long = look.digits >= NUMBER_DIGITS_MIN && look.digits == spelled.len();
            let is_secret = name.class == Class::Secret && value.is_quoted && look.digits >= 8;
            return is_long
                && is_told
                && (is_secret || is_person && name.class != Class::Pass)
                && bond > Bond::Weak;
        }
        (Class::Key, Bond::Direct) if value.odd == Odd::Hash => {
            return is_told && matches!(spelled.len(), 32 | 40 | 64) && whole.len() > 3;
        }
        _ if value.odd == Odd::Hash => {
            return bond >= Bond::Direct && (is_key || name.class == Class::Password)
                || is_told && name.class == Class::Password;
        }
        (Class::Key, Bond::Direct) => {
            let is_last = text[value.whole.end..].chars().next().is_none_or(|c| c == '\n');
            if is_last && look.kinds() == 4 && look.digits >= 2 { Odd::Numbered } else { Odd::Made }
        }
        (_, Bond::Owned) => Odd::Numbered,
        (_, Bond::Direct) if is_person && (value.is_quoted || value.has_user) => Odd::Numbered,
        (Class::Password | Class::Login, Bond::Said | Bond::Direct)
            if value.has_user || is_told =>
        {
            Odd::Numbered
        }
        (Class::Password, Bond::Direct) if is_rich => Odd::Numbered,
        (Class::Password, Bond::Said) if look.kinds() == 4 => Odd::Numbered,
        (Class::Password | Class::Pass, Bond::Said | Bond::Direct) => Odd::Made,
        (Class::Password, Bond::Weak) if value.is_quoted => Odd::Made,
        (Class::Secret, Bond::Direct)
            if (value.is_second || name.is_compound) && value.is_quoted && is_rich =>
        {
            Odd::Numbered
        }
        (Class::Secret, Bond::Direct) if value.is_quoted => Odd::Made,
        (_, Bond::Weak) if !value.is_quoted => return false,
        _ => Odd::Random,
    };
    value.odd >= least
}

/// Returns whether a text ends with what announces a value: a sign, or a verb.
fn is_told(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "\"'`*(«“>".contains(c));
    text.ends_with([':', '=', '–', '—', '→']) || is(&WORDS.sentences.verbs, last_word(text))
}

/// Finds what joins a name and a value after it.
fn after(text: &str, name: &Range<usize>, name_class: Class, value: &Value) -> Option<Bond> {
    let gap = text.get(name.end..value.whole.start)?;
    if gap.len() > GAP_BYTES_MAX {
        return None;
    }
    if name_class == Class::Call {
        return Some(Bond::Direct);
    }
    // What braces hold is a part of its own: `Secret { get; set; } = "..."`.
    let gap = match (gap.find('{'), gap.rfind('}')) {
        (Some(open), Some(close)) if open < close => {
            &format!("{}{}", &gap[..open], &gap[close + 1..])
        }
        _ => gap,
    };
    if ends_statement(gap) {
        return None;
    }
    let gap = gap.trim_start_matches(['"', '\'', '`', ']', ')', '*', '\\', '}']);
    // A call asks for the secret: `getenv("...")`.
    let mut heads = gap.match_indices(['(', '[']);
    if name_class != Class::Call && heads.any(|(at, _)| is_getter(last_word(&gap[..at]))) {
        return None;
    }
    let joined = |gap: &str| match words(gap) {
        _ if gap.contains(['/', '^']) && !(name_class == Class::Login && gap.contains(" / ")) => Bond::Weak,
        0 => Bond::Direct,
        1 if gap.contains(" -") && !gap.contains(" - ") => Bond::Direct,
        _ if gap.ends_with(['(', '[', '{']) || gap.contains('(') => Bond::Direct,
        // In a list.
        _ if gap.trim_start().starts_with('[') && gap.trim_end().ends_with(',') => Bond::Direct,
        ..=GAP_WORDS_MAX if is_sentence(gap) => Bond::Said,
        _ => Bond::Weak,
    };
    if is(
        &WORDS.payload.values,
        last_word(gap).trim_start_matches('-'),
    ) {
        return Some(Bond::Owned);
    }
    let Some((before, sign)) = last_sign(gap) else {
        return Some(joined(gap));
    };
    match () {
        // The sign follows the name, or a type stands between.
        // `Dim name As String = "..."`
        () if value.is_quoted && before.starts_with(" As ") => Some(Bond::Direct),
        () if words(before) == 0 || before.starts_with(':') && !before.contains(',') => {
            Some(joined(&gap[sign..]))
        }
        // `--from-literal=NAME=...`
        () if before
            .strip_prefix('=')
            .is_some_and(|own| own.chars().all(is_name)) =>
        {
            Some(Bond::Direct)
        }
        // A label: `password of the store: ...`.
        () if before.starts_with(' ')
            && is_sentence(&before.replace(['/', '~'], ""))
            && gap[..sign].ends_with(':') =>
        {
            Some(Bond::Said)
        }
        // `TOKENS = {"name": "..."}`
        () if last_word(&text[..name.end]).ends_with(['s', 'S']) && before.contains('{') => {
            Some(Bond::Weak)
        }
        () => None,
    }
}

/// Counts the words of a text.
fn words(text: &str) -> usize {
    let words = text.split(|c: char| !is_name(c));
    words
        .filter(|word| word.contains(char::is_alphabetic))
        .count()
}

/// Returns the name that a text ends with, in quotes or not.
fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches(|c: char| " \"'`\\])=:>".contains(c));
    text.rsplit(|c: char| !is_name(c))
        .next()
        .unwrap_or_default()
}

fn is_sentence(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || " -—–,()'\"`*_@.→/".contains(c))
}

/// Finds what joins a value and a name after it.
fn before(text: &str, name: &Range<usize>, value: &Value) -> Option<Bond> {
    let gap = text.get(value.whole.end..name.start)?;
    if gap.len() > GAP_BYTES_MAX {
        return None;
    }
    // What a comment says of the line before it.
    let is_comment = ["// ", " # ", "-- ", "/* "]
        .iter()
        .any(|sign| gap.contains(sign));
    if is_comment {
        return value.is_quoted.then_some(Bond::Direct);
    }
    if gap.contains('|') {
        let start = line_start(text.as_bytes(), value.whole.start, GAP_BYTES_MAX);
        let command = text.get(start..value.whole.start).unwrap_or_default();
        let is_printed = command
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| matches!(word, "echo" | "printf" | "print"));
        return is_printed.then_some(Bond::Direct);
    }
    if ends_statement(gap) {
        return None;
    }
    match last_sign(gap) {
        Some((before, _)) => {
            let own = last_word(&text[..value.whole.start]);
            (is(&WORDS.payload.names, last_word(before)) && is(&WORDS.payload.values, own))
                .then_some(Bond::Owned)
        }
        None if (1..=GAP_WORDS_MAX).contains(&words(gap)) && is_sentence(gap) => Some(Bond::Said),
        None => Some(Bond::Weak),
    }
}

/// Returns whether a word can be a person's name, and not the kind of a hash.
fn is_user(word: &str) -> bool {
    !word.to_ascii_lowercase().starts_with("sha")
        && word != "h1"
        && word.chars().all(|c| is_name(c) || ".@+\\".contains(c))
}

/// Returns whether a word, or the last one of a name in several, is in a list.
pub(super) fn is(list: &[String], word: &str) -> bool {
    let last = word
        .rfind(|c: char| c.is_ascii_uppercase())
        .map_or(word, |at| &word[at..]);
    list.iter()
        .any(|known| known.eq_ignore_ascii_case(word) || known.eq_ignore_ascii_case(last))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Returns whether a call asks for a secret by its name.
pub(super) fn is_getter(name: &str) -> bool {
    let begins = |getter: &String| {
        let head = name.as_bytes().get(..getter.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(getter.as_bytes()))
    };
    WORDS.names.getters.iter().any(begins)
}

/// Returns whether a statement or a sentence ends in a text.
fn ends_statement(gap: &str) -> bool {
    let ends =
        |(at, _): (usize, &str)| gap[..at].ends_with(|c: char| c.is_alphanumeric() || c == ')');
    [";", "&&", "}, ", "\n\n"]
        .iter()
        .any(|end| gap.contains(end))
        || [". ", "? ", "! "]
            .iter()
            .any(|end| gap.match_indices(end).any(ends))
}

/// Returns what comes before the last sign of assignment, and where the sign ends.
fn last_sign(gap: &str) -> Option<(&str, usize)> {
    let bytes = gap.as_bytes();
    let at = (0..bytes.len()).rev().find(|at| {
        let other = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(0);
        match bytes[*at] {
            b'=' => true,
            b':' => other(at.checked_sub(1)) != b':' && other(Some(at + 1)) != b':',
            _ => false,
        }
    })?;
    let before = gap[..at].trim_end_matches([':', '=', '+', '?', '!']);
    Some((before, at + 1))
}

/// Returns the values of the line around a name, which are found once.
fn line(scan: &mut Scan<'_>, name: &Range<usize>) -> Line {
    let line = std::mem::take(&mut scan.line);
    let is_near = line.span.contains(&name.start)
        && (line.begins || name.start - line.span.start >= GAP_BYTES_MAX)
        && (line.ends && !line.is_open || name.end + GAP_BYTES_MAX <= line.span.end);
    if is_near {
        return line;
    }
    let start = boundary(
        scan.text,
        line_start(scan.bytes, name.start, LINE_BYTES_MAX),
    );
    let mut end = line_end(scan.bytes, name.end, LINE_BYTES_MAX);
    // What is open goes on in the next lines, and a name may have its value there.
    let mut is_open = false;
    while scan.at(end) == b'\n' && end < name.end + GAP_BYTES_MAX {
        let last = scan.bytes[..end]
            .trim_ascii_end()
            .last()
            .copied()
            .unwrap_or(0);
        let own = || last_word(&scan.text[start..name.start]);
        let goes_on = b"([{,:>\"'\\".contains(&last)
            || scan.at(name.end) == b'<'
            || is(&WORDS.payload.names, own());
        if !goes_on {
            break;
        }
        is_open = true;
        end = line_end(scan.bytes, end + 1, LINE_BYTES_MAX);
    }
    let end = boundary(scan.text, end);
    Line {
        values: values(scan.text, start..end),
        begins: matches!(scan.before(start), 0 | b'\n'),
        ends: matches!(scan.at(end), 0 | b'\n'),
        is_open,
        span: start..end,
    }
}

/// Finds the odd words and strings of a part of a text.
fn values(text: &str, part: Range<usize>) -> Vec<Value> {
    let bytes = text.as_bytes();
    let mut values = Vec::new();
    let mut at = part.start;
    while at < part.end {
        let byte = bytes[at];
        let is_part = |at: usize| at > part.start && bytes[at - 1].is_ascii_alphanumeric();
        // `b"..."`
        let is_prefixed = is_part(at) && b"bruLfN".contains(&bytes[at - 1]) && !is_part(at - 1);
        let is_begin = !is_part(at) || is_prefixed;
        if b"\"'`".contains(&byte) && is_begin {
            if let Some(length) = string(&text[at..part.end]) {
                let inner = text[at + 1..=at + length]
                    .trim_end_matches("\\n")
                    .trim_end_matches("\\r");
                let span = at + 1..at + 1 + inner.trim_end_matches("{enter}").len();
                // Of several lines, the first one tells.
                let weight = odd(text[span.clone()].split("\\n").next().unwrap_or_default());
                if weight > Odd::Plain && !is_key(&text[at + length + 2..]) && span.len() < LINE_BYTES_MAX {
                    values.push(Value {
                        whole: at - usize::from(is_prefixed)..at + length + 2,
                        span,
                        odd: weight,
                        is_quoted: true,
                        has_user: false,
                        is_second: text[..at].trim_end().ends_with(','),
                    });
                    at += length + 2;
                    continue;
                }
            } else if let Some(length) = phrase(&text[at..part.end]) {
                let span = at + 1..at + 1 + length;
                values.push(Value {
                    whole: at..span.end + 1,
                    span,
                    odd: Odd::Phrase,
                    is_quoted: true,
                    has_user: false,
                    is_second: false,
                });
            }
            at += 1;
            continue;
        }
        if let Some(length) = groups(&bytes[at..part.end]).filter(|_| is_begin) {
            let span = at..at + length;
            values.push(Value {
                whole: span.clone(),
                span,
                odd: Odd::Random,
                is_quoted: false,
                has_user: false,
                is_second: false,
            });
            at += length;
            continue;
        }
        let is_part = |byte: &&u8| !byte.is_ascii_whitespace() && !b"\"'`<>();{}[]|".contains(byte);
        let length = bytes[at..part.end].iter().take_while(is_part).count();
        // What is called or indexed is a name.
        if length > 4
            && byte != b'-'
            && !bytes
                .get(at + length)
                .is_some_and(|next| b"([{".contains(next))
        {
            values.extend(word(text, at..at + length));
        }
        at += length.max(1);
    }
    values
}

/// Returns whether what stands before a text is a key of JSON.
fn is_key(after: &str) -> bool {
    let after = after.trim_start_matches('\\').trim_start_matches(' ');
    after.starts_with(':') && !after.starts_with("::")
}

/// Returns the length of a key that is written in groups of four: `abcd 3fgh ijkl mn0p`.
fn groups(bytes: &[u8]) -> Option<usize> {
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
    (count >= 4 && odd * 3 >= count && !is_hex).then_some(length)
}

/// Returns the length of the string that a quote begins, if it is one word.
fn string(text: &str) -> Option<usize> {
    let quote = text.as_bytes()[0];
    let length = text.as_bytes()[1..]
        .iter()
        .position(|byte| *byte == quote || byte.is_ascii_whitespace())?;
    let is_closed = text.as_bytes()[1 + length] == quote;
    let inner = &text[1..=length];
    (is_closed && length > 3 && !is_call(inner) && !inner.contains(['=', ';', '<']))
        .then_some(length)
}

/// Returns the length of the string that a quote begins, if it is of words and a number: `"open sesame 44"`.
fn phrase(text: &str) -> Option<usize> {
    let quote = char::from(text.as_bytes()[0]);
    let length = text[1..].find(quote)?;
    let inner = &text[1..=length];
    let has_words =
        (2..8).contains(&inner.split(' ').count()) && inner.chars().any(|c| c.is_ascii_digit());
    let is_phrase = inner.len() < 64
        && (has_words || inner.split('-').filter(|part| part.len() > 2).count() >= 3)
        && inner
            .chars()
            .all(|c| c.is_alphanumeric() || c == ' ' || c == '-')
        && !inner.contains(" -");
    is_phrase.then_some(length)
}

/// Weighs a word, and what stands behind a sign in it: `NAME=...`, `jane:...`, `admin/...`.
fn word(text: &str, span: Range<usize>) -> Option<Value> {
    let spelled = &text[span.clone()];
    if spelled.contains("://") {
        return None;
    }
    let is_named = |at: &usize| {
        spelled[..*at]
            .chars()
            .all(|c| is_name(c) || ".=&?:,".contains(c))
    };
    let sign = spelled
        .trim_end_matches('=')
        .rfind('=')
        .filter(is_named)
        .map_or(0, |at| at + 1);
    let user = spelled[sign..].find([':', '%', '/']).map(|at| sign + at);
    // `user/password@host`
    let spelled = match (user, spelled.rfind('@')) {
        (Some(user), Some(at)) if user < at && at > user + 3 => &spelled[..at],
        _ => spelled,
    };
    let value = |from: usize, has_user: bool| {
        let inner = plain(&spelled[from..]);
        let (weight, look) = (odd(inner), Look::at(inner));
        let start = span.start + from;
        let weight = match spelled.len() < span.len()
            && has_user
            && look.upper * look.lower > 0
            && !look.is_words()
        {
            // `user/...@host`
            true => weight.max(Odd::Numbered),
            false => weight,
        };
        (weight > Odd::Plain).then(|| Value {
            span: start..start + inner.len(),
            whole: if has_user {
                span.start..start + inner.len()
            } else {
                start..start + inner.len()
            },
            odd: weight,
            is_quoted: false,
            has_user,
            is_second: false,
        })
    };
    match user {
        Some(user)
            if user > sign
                && !spelled[user + 1..].contains(['/', ':'])
                && is_user(&spelled[sign..user]) =>
        {
            value(user + 1, true).or_else(|| value(sign, false))
        }
        _ => value(sign, false),
    }
}

/// Secrets on lines of their own, below a name that ends its line or a sentence that announces them.
fn below(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    let is_telling = matches!(
        name.class,
        Class::Password | Class::Pass | Class::Code | Class::Secret | Class::Login
    );
    if !is_telling || whole.end < scan.below_until {
        return;
    }
    let end = line_end(scan.bytes, whole.end, LINE_BYTES_MAX);
    scan.below_until = end;
    let rest = scan.text.get(whole.end..end).unwrap_or_default().trim_end();
    let is_announced =
        rest.ends_with([':', '>', '[', '{', '(', '|']) || rest.is_empty() || rest == "\"";
    let mut at = end + 1;
    for number in 0..BELOW_LINES_MAX {
        if at >= scan.bytes.len() {
            return;
        }
        let line = at..line_end(scan.bytes, at, GAP_BYTES_MAX);
        at = line.end + 1;
        let text = scan.text.get(line.clone()).unwrap_or_default();
        let bare = bare(text);
        if bare.is_empty() {
            continue;
        }
        let start = line.start + (bare.as_ptr() as usize - text.as_ptr() as usize);
        let value =
            word(scan.text, start..start + bare.len()).filter(|_| !bare.contains([' ', '(', ')']));
        let is_secret = |value: &Value| match name.class {
            _ if value.span.end < start + bare.len() => false,
            Class::Password | Class::Pass if is_announced => {
                value.odd
                    >= if value.has_user {
                        Odd::Numbered
                    } else {
                        Odd::Number
                    }
                    && bare.len() > NUMBER_DIGITS_MIN
            }
            Class::Password | Class::Pass => value.odd >= Odd::Made && number == 0,
            _ => value.odd == Odd::Random,
        };
        let is_code = name.class == Class::Code && is_announced && is_code_of(bare);
        match value.filter(is_secret) {
            _ if is_code => scan.take(start..start + bare.len(), "secret"),
            Some(value) => scan.take(value.span, "secret"),
            // Something else of a structure.
            None if is_announced && (bare.contains(": ") || bare.ends_with([':', '|'])) => (),
            None => return,
        }
    }
}

/// Returns the text of a line without what makes it an item, a string or an element.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let line = match line.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((_, rest)) => rest.split('<').next().unwrap_or_default(),
        None => line,
    };
    plain(line.trim_matches(['"', '\'', '`', ',', ';'])).trim_end_matches(['"', '\'', '`'])
}
