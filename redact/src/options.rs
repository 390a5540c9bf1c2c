//! Secrets behind options, of any program: `-p ...`, `-sSu jane:...`, `--proxy-user jane:...`, `/p:...`, `<<< ...`.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::names::is;
use super::odd::{Odd, odd};
use super::scan::Scan;
use super::value::{plain, says_nothing};
use super::words::WORDS;

/// The longest option, in bytes.
const OPTION_BYTES_MAX: usize = 32;
/// The longest value, in bytes.
const VALUE_BYTES_MAX: usize = 256;
/// How far on each side the command is read, in bytes.
const COMMAND_BYTES_MAX: usize = 256;
/// The shortest number that is no port, process or size, in digits.
const NUMBER_DIGITS_MIN: usize = 8;
/// The shortest hash that is a token, in bytes.
const HASH_BYTES_MIN: usize = 32;

/// An option, and what it may be given.
struct Found {
    /// Where its value begins.
    at: usize,
    /// Whether the value is a part of the same word.
    is_attached: bool,
    /// Whether a person is named.
    has_user: bool,
    /// Whether a secret is given.
    has_secret: bool,
}

/// Examines what follows the beginning of an option.
pub(super) fn read(scan: &mut Scan<'_>, begin: Range<usize>) {
    let Some(option) = option(scan, &begin) else {
        return;
    };
    let quote = Some(scan.at(option.at)).filter(|byte| b"\"'".contains(byte));
    let from = option.at + usize::from(quote.is_some());
    let to = boundary(
        scan.text,
        line_end(scan.bytes, from.min(scan.bytes.len()), VALUE_BYTES_MAX),
    );
    let ends = |c: char| match quote {
        Some(quote) => c == char::from(quote),
        None => c.is_whitespace() || "\"'`|;<>)".contains(c),
    };
    let Some(rest) = scan.text.get(from..to) else {
        return;
    };
    let value = &rest[..rest.find(ends).unwrap_or(rest.len())];
    if says_nothing(value) || value.contains("$(") || value.contains("${") {
        return;
    }
    let last = value
        .rfind(':')
        .filter(|last| odd(&value[last + 1..]) == Odd::Random);
    let login = last
        .or_else(|| value.find([':', '%', ',']))
        .filter(|sign| *sign > 0);
    let skipped = login.filter(|_| option.has_user).map_or(0, |sign| sign + 1);
    let secret = if quote.is_some() {
        &value[skipped..]
    } else {
        plain(&value[skipped..])
    };
    let is_secret = match skipped {
        0 => option.has_secret && is_secret(scan, &begin, option.is_attached, secret),
        _ => is_password(secret),
    };
    if is_secret {
        let start = from + skipped;
        scan.take(start..start + secret.len(), "password");
    }
}

/// Returns the weight of a value: of several words, one tells.
fn weight(secret: &str) -> Odd {
    secret.split(' ').map(odd).max().unwrap_or(Odd::Plain)
}

/// Returns whether what follows a person's name is a password.
fn is_password(secret: &str) -> bool {
    let is_rich = Look::at(secret).kinds() >= 3;
    weight(secret) >= Odd::Hash || is_rich && !secret.contains(['/', ':'])
}

/// Returns whether the value of an option is a secret.
fn is_secret(scan: &Scan<'_>, begin: &Range<usize>, is_attached: bool, secret: &str) -> bool {
    let look = Look::at(secret);
    let is_rich = look.kinds() >= 3;
    let options = &WORDS.options;
    let is_login = || has_sign(scan, begin, &options.logins);
    match weight(secret) {
        Odd::Made | Odd::Random | Odd::Never => true,
        Odd::Numbered if look.digits == 0 || is_rich => true,
        Odd::Numbered if is_attached => is_login(),
        Odd::Numbered => has_sign(scan, begin, &options.asking),
        Odd::Phrase => is_login(),
        Odd::Number => look.digits >= NUMBER_DIGITS_MIN,
        Odd::Hash => secret.len() >= HASH_BYTES_MIN && is_login(),
        Odd::Plain => {
            let is_odd = is_rich || look.upper >= 2;
            is_odd && !look.is_words() && is_login()
        }
    }
}

/// Reads an option.
fn option(scan: &Scan<'_>, begin: &Range<usize>) -> Option<Found> {
    let spelled = &scan.bytes[begin.clone()];
    let rest = &scan.bytes[begin.end..scan.bytes.len().min(begin.end + OPTION_BYTES_MAX)];
    let value = |at: usize, has_user: bool, has_secret: bool| {
        let is_list = b"\"'".contains(&scan.at(at));
        let skipped = if is_list {
            2
        } else {
            usize::from(scan.at(at) == b'=')
        };
        let start = scan.after_blanks(at + skipped, 4);
        Some(Found {
            at: start,
            is_attached: start == at,
            has_user,
            has_secret,
        })
    };
    let letters = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let has = |list: &String, byte: u8| list.as_bytes().contains(&byte);
    let (user, secret) = (&WORDS.options.user_letters, &WORDS.options.secret_letters);
    match (spelled, rest) {
        (b"<<<", _) | (b" /p", [b' ' | b':', ..]) => value(
            begin.end + usize::from(rest.first() == Some(&b':')),
            false,
            true,
        ),
        (b" /p", _) => None,
        (_, [b'-', name @ ..]) => {
            let length = name
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
                .count();
            let last = name[..length].rsplit(|byte| *byte == b'-').next()?;
            let last = std::str::from_utf8(last).ok()?;
            is(&WORDS.options.users, last)
                .then(|| value(begin.end + 1 + length, true, false))
                .flatten()
        }
        (_, [first, ..]) if letters > 0 => {
            let last = rest[letters - 1];
            let is_end = !rest.get(letters).is_some_and(u8::is_ascii_alphanumeric);
            match () {
                // Several letters in one: `-sSu jane:...`.
                () if is_end && letters <= 5 && has(user, last) => {
                    value(begin.end + letters, true, letters == 1 && has(secret, last))
                }
                () if is_end && letters == 1 && has(secret, last) => {
                    value(begin.end + 1, false, true)
                }
                // `-psecret`
                () if b"pP".contains(first) || rest.starts_with(b"hp") => {
                    let skipped = if rest.starts_with(b"hp") { 2 } else { 1 };
                    Some(Found {
                        at: begin.end + skipped,
                        is_attached: true,
                        has_user: false,
                        has_secret: true,
                    })
                }
                () => None,
            }
        }
        _ => None,
    }
}

/// Returns whether a command has one of these signs.
fn has_sign(scan: &Scan<'_>, option: &Range<usize>, signs: &[String]) -> bool {
    let start = boundary(
        scan.text,
        line_start(scan.bytes, option.start, COMMAND_BYTES_MAX),
    );
    let end = boundary(
        scan.text,
        line_end(scan.bytes, option.end, COMMAND_BYTES_MAX),
    );
    let command = &scan.text[start..end];
    signs.iter().any(|sign| command.contains(sign.as_str()))
}
