//! Secrets that stand near a telling name: in the same call, statement, command or sentence, and in the lines below.
//!
//! The odd words of a line are found once, whatever its syntax is (`odd.rs`). One is taken if what lies between it and a
//! telling name joins the two: the closer the bond is, the less the word itself must show.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::judge::is_code_of;
use super::line::{LINE_BYTES_MAX, Line, Value, values, word};
use super::names::{Class, Name, is, is_name, last_word};
use super::odd::{Odd, odd};
use super::scan::Scan;
use super::shapes::Set;
use super::value::plain;
use super::words::WORDS;

/// How far from a name a value may stand, in bytes.
const GAP_BYTES_MAX: usize = 120;
/// The most words of a sentence between a name and its value.
const GAP_WORDS_MAX: usize = 8;
/// The shortest part of an address that is a secret, in bytes.
const PART_BYTES_MIN: usize = 20;
/// The shortest number that is a password, in digits.
const NUMBER_DIGITS_MIN: usize = 5;
/// The shortest one that is a token.
const SECRET_DIGITS_MIN: usize = 8;
/// The most lines below a name that are read.
const BELOW_LINES_MAX: usize = 12;

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

/// Takes the values near a name.
pub(super) fn read(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    let count = scan.found.len();
    // A part of an address: `/key/...`.
    if scan.at(whole.end) == b'/' {
        let part = whole.end + 1..scan.set_end(Set::Word, whole.end + 1);
        if part.len() >= PART_BYTES_MIN && odd(&scan.text[part.clone()]) == Odd::Random {
            return scan.take(part, "secret");
        }
    }
    // The name is a part of a path, or the file's.
    let is_path = scan.before(whole.start) == b'/';
    let line = line(scan, whole);
    let near = line
        .values
        .partition_point(|value| value.whole.end + GAP_BYTES_MAX < whole.start);
    let near = line.values[near..].iter();
    for value in near.take_while(|value| value.whole.start <= whole.end + GAP_BYTES_MAX) {
        let bond = match value.span.start >= whole.end {
            true => after(scan.text, whole, name.class, value),
            false if value.whole.end <= whole.start => before(
                scan.text,
                whole,
                matches!(name.class, Class::Password | Class::Call),
                value,
            ),
            false => None,
        };
        let bond = bond.filter(|_| !is_path);
        if bond.is_some_and(|bond| is_taken(scan.text, name, whole, bond, value)) {
            let start = joined_start(scan.text, value);
            scan.take(start..value.span.end, "secret");
        }
    }
    scan.line = line;
    if scan.found.len() == count {
        below(scan, name, whole);
    }
}

/// Returns where a string begins that is joined to those before it: `"..." "..."`.
fn joined_start(text: &str, value: &Value) -> usize {
    let quote = text[value.whole.start..]
        .chars()
        .next()
        .filter(|c| "\"'".contains(*c));
    let before = text[..value.whole.start].trim_end_matches([' ', '\n', '\t', '+', '.', '\\']);
    let first = quote.and_then(|quote| before.strip_suffix(quote)?.rfind(quote));
    let is_apart = before.len() < value.whole.start;
    first
        .filter(|_| is_apart)
        .map_or(value.span.start, |first| first + 1)
}

/// Returns whether a value is a secret, by what its name says and how close it is.
fn is_taken(text: &str, name: Name, whole: &Range<usize>, bond: Bond, value: &Value) -> bool {
    let spelled = &text[value.span.clone()];
    let look = Look::at(spelled);
    let is_close = bond > Bond::Weak;
    if name.class == Class::Call {
        return is_argument(text, whole, bond, value);
    }
    if name.class == Class::Code {
        let is_call = text[whole.end..].starts_with('(');
        return is_close && !is_call && value.odd >= Odd::Number;
    }
    let is_said = is_announced(text, whole, value);
    let is_told = is_close && (bond >= Bond::Direct && value.is_quoted || is_said);
    match value.odd {
        Odd::Number => {
            is_told
                && (value.is_quoted
                    || !text
                        .get(whole.end..value.whole.start)
                        .unwrap_or_default()
                        .contains('='))
                && look.digits == spelled.len()
                && look.digits >= digits_least(name.class, value.is_quoted)
        }
        Odd::Hash if name.class == Class::Key => is_told && matches!(spelled.len(), 32 | 40 | 64),
        Odd::Hash => is_told || bond >= Bond::Direct,
        odd => odd >= least(text, name, bond, value, is_told, is_said),
    }
}

/// Returns whether a value is a password that a call or a program is given: the last argument, the second of two, or
/// what is piped into it.
fn is_argument(text: &str, whole: &Range<usize>, bond: Bond, value: &Value) -> bool {
    let gap = text.get(whole.end..value.whole.start).unwrap_or_default();
    let is_added = text[whole.clone()].ends_with("user") && value.odd >= Odd::Made;
    let is_piped = value.whole.end <= whole.start && bond == Bond::Direct;
    value.odd == Odd::Random && gap == "("
        || value.odd >= Odd::Hash && (is_piped || value.is_second || value.has_user)
        || is_added
}

/// Returns whether several words can be what a name says.
fn is_phrase_of(class: Class, value: &Value, phrase: &str, is_said: bool) -> bool {
    let has_digit = phrase.contains(|c: char| c.is_ascii_digit());
    let has_blank = phrase.contains(' ');
    match class {
        Class::Password => is_said,
        Class::Login => value.has_user,
        _ if has_blank => is_said && has_digit,
        _ => value.is_quoted && value.is_second,
    }
}

/// Returns how many digits a number must at least have to be a secret.
fn digits_least(class: Class, is_quoted: bool) -> usize {
    match class {
        Class::Password | Class::Login | Class::Auth => NUMBER_DIGITS_MIN,
        Class::Secret if is_quoted => SECRET_DIGITS_MIN,
        _ => usize::MAX,
    }
}

/// Returns how odd a value must at least be: the more its name says and the closer it is, the less.
fn least(text: &str, name: Name, bond: Bond, value: &Value, is_told: bool, is_said: bool) -> Odd {
    let spelled = &text[value.span.clone()];
    let is_password = matches!(name.class, Class::Password | Class::Login | Class::Auth);
    let is_secret = name.class == Class::Secret;
    match bond {
        _ if name.is_part => {
            if is_told {
                Odd::Made
            } else {
                Odd::Never
            }
        }
        Bond::Owned => Odd::Numbered,
        Bond::Weak if !value.is_quoted => Odd::Never,
        Bond::Weak if is_password => Odd::Made,
        Bond::Weak => Odd::Random,
        _ if value.odd == Odd::Phrase && !is_phrase_of(name.class, value, spelled, is_said) => {
            Odd::Never
        }
        _ if is_password && is_told => Odd::Phrase,
        _ if is_secret && is_told => match Look::at(spelled) {
            _ if value.odd == Odd::Phrase => Odd::Phrase,
            look if look.digits >= 2 => Odd::Numbered,
            _ => Odd::Made,
        },
        Bond::Direct if is_password => Odd::Numbered,
        Bond::Direct => Odd::Made,
        Bond::Said if is_password => Odd::Made,
        _ => Odd::Random,
    }
}

/// Returns whether a sign or a verb says that a value follows, or that it was the value: `... as the password`.
fn is_announced(text: &str, name: &Range<usize>, value: &Value) -> bool {
    match text.get(value.whole.end..name.start) {
        Some(gap) => {
            let next = gap.split_whitespace().next();
            next.is_some_and(|word| word == "|" || is(&WORDS.sentences.verbs, word))
        }
        None => is_told(&text[..value.whole.start]),
    }
}

/// Returns whether a text ends with what announces a value: a sign, or a verb.
fn is_told(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "\"'`*(«“>".contains(c));
    text.ends_with([':', '=', '–', '—', '→', '-']) || is(&WORDS.sentences.verbs, last_word(text))
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
        let goes_on = b"([{,:>\"'\\".contains(&last) || is(&WORDS.payload.names, own());
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

/// Finds what joins a name and a value after it.
fn after(text: &str, name: &Range<usize>, name_class: Class, value: &Value) -> Option<Bond> {
    let gap = text.get(name.end..value.whole.start)?;
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
    let is_owned = is(
        &WORDS.payload.values,
        last_word(gap).trim_start_matches('-'),
    );
    if is_owned || ends_statement(gap) {
        return is_owned.then_some(Bond::Owned);
    }
    let gap = gap.trim_start_matches(['"', '\'', '`', ']', ')', '*', '\\', '}']);
    // Two strings in a list.
    if value.is_quoted && gap.trim() == "," {
        return Some(Bond::Weak);
    }
    let Some((before, sign)) = last_sign(gap) else {
        return Some(joined(gap, name_class));
    };
    match () {
        // The sign follows the name, or a type comes between.
        () if words(before) == 0 || before.starts_with(':') && !before.contains(',') => {
            Some(joined(&gap[sign..], name_class))
        }
        // `--from-literal=NAME=...`
        () if before
            .strip_prefix('=')
            .is_some_and(|own| own.chars().all(is_name)) =>
        {
            Some(Bond::Direct)
        }
        // A label: `password of the store: ...`.
        () if before.starts_with(' ') && is_sentence(&before.replace(['/', '~'], "")) => {
            Some(Bond::Said)
        }
        // `TOKENS = {"name": "..."}`
        () if last_word(&text[..name.end]).ends_with(['s', 'S']) => Some(Bond::Weak),
        () => None,
    }
}

/// Returns how close two things are that only a gap without a sign of assignment separates.
fn joined(gap: &str, class: Class) -> Bond {
    match words(gap) {
        _ if gap.contains(['/', '^']) && class != Class::Login => Bond::Weak,
        0 => Bond::Direct,
        1 if gap.contains(" -") => Bond::Direct,
        _ if gap.ends_with(['(', '[', '{']) || gap.contains('(') => Bond::Direct,
        ..=GAP_WORDS_MAX if is_sentence(gap) => Bond::Said,
        _ => Bond::Weak,
    }
}

/// Counts the words of a text.
fn words(text: &str) -> usize {
    let words = text.split(|c: char| !is_name(c));
    words
        .filter(|word| word.contains(char::is_alphabetic))
        .count()
}

fn is_sentence(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || " -—–,()'\"`*_@.→>/".contains(c))
}

/// Finds what joins a value and a name after it.
fn before(text: &str, name: &Range<usize>, is_password: bool, value: &Value) -> Option<Bond> {
    let gap = text.get(value.whole.end..name.start)?;
    // What a comment says of the line before it.
    let is_comment = ["// ", " # ", "-- ", "/* "]
        .iter()
        .any(|sign| gap.contains(sign));
    if is_comment {
        return value.is_quoted.then_some(Bond::Direct);
    }
    if gap.contains(['|', '>']) {
        let start = line_start(text.as_bytes(), value.whole.start, GAP_BYTES_MAX);
        let command = text.get(start..value.whole.start).unwrap_or_default();
        let is_printed = command
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| matches!(word, "echo" | "printf" | "print"));
        return is_printed.then_some(Bond::Direct);
    }
    match last_sign(gap) {
        Some((before, _)) => is(&WORDS.payload.names, last_word(before)).then_some(Bond::Owned),
        None if (1..=GAP_WORDS_MAX).contains(&words(gap)) && is_sentence(gap) => Some(Bond::Said),
        None => is_password.then_some(Bond::Weak),
    }
}

/// Returns whether a statement or a sentence ends in a text.
fn ends_statement(gap: &str) -> bool {
    [";", "&&", "}, ", "\n\n"]
        .iter()
        .any(|end| gap.contains(end))
}

/// Returns what comes before the last sign of assignment, and where the sign ends.
fn last_sign(gap: &str) -> Option<(&str, usize)> {
    let bytes = gap.as_bytes();
    let at = (0..bytes.len()).rev().find(|at| {
        let other = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(0);
        match bytes[*at] {
            b'=' => true,
            b':' => other(at.checked_sub(1)) != b':',
            _ => false,
        }
    })?;
    let before = gap[..at].trim_end_matches([':', '=', '+', '?', '!']);
    Some((before, at + 1))
}

/// Secrets on lines of their own, below a name that ends its line or a sentence that announces them.
fn below(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    let is_telling = matches!(
        name.class,
        Class::Password | Class::Code | Class::Secret | Class::Login
    );
    if !is_telling || whole.end < scan.below_until {
        return;
    }
    let end = line_end(scan.bytes, whole.end, LINE_BYTES_MAX);
    scan.below_until = end;
    let rest = scan.text.get(whole.end..end).unwrap_or_default().trim_end();
    let is_announced = rest.ends_with([':', '>', '[', '{', '(', '|', '"']) || rest.contains("<<");
    let mut at = end + 1;
    for _ in 0..BELOW_LINES_MAX {
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
            Class::Password if is_announced => {
                value.odd
                    >= if value.has_user {
                        Odd::Numbered
                    } else {
                        Odd::Number
                    }
            }
            Class::Password => value.odd >= Odd::Made,
            _ => value.odd == Odd::Random,
        };
        let is_code = name.class == Class::Code && is_code_of(bare);
        match value.filter(is_secret) {
            _ if is_code => scan.take(start..start + bare.len(), "secret"),
            Some(value) => scan.take(value.span, "secret"),
            // Something else of a structure.
            None if is_announced && bare.contains(": ") => (),
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
