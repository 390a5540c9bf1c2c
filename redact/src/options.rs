//! Secrets behind options of one letter, of any program: `-p ...`, `-u jane:...`.

use std::ops::Range;

use super::chars::{Look, boundary, line_end, line_start};
use super::odd::{Odd, odd};
use super::scan::Scan;
use super::value::{plain, says_nothing};
use super::words::WORDS;

/// The longest value, in bytes.
const VALUE_BYTES_MAX: usize = 256;
/// How far on each side the command is read, in bytes.
const COMMAND_BYTES_MAX: usize = 256;

/// Examines what follows an option.
pub(super) fn read(scan: &mut Scan<'_>, option: Range<usize>) {
    let begin = scan.at(option.start);
    if !scan.text[option.clone()].ends_with(|c: char| c.is_ascii_alphabetic()) || !b" \"'=".contains(&begin) {
        return;
    }
    let closed = option.end + usize::from(b"\"'".contains(&scan.at(option.end)) && begin == scan.at(option.end));
    let at = match closed > option.end && scan.at(closed) == b',' {
        true => scan.after_blanks(closed + 1, 2),
        false => scan.after_blanks(option.end, 4),
    };
    let is_attached = at == option.end;
    let quote = Some(scan.at(at)).filter(|byte| b"\"'".contains(byte));
    let from = at + usize::from(quote.is_some());
    let to = boundary(scan.text, line_end(scan.bytes, from.min(scan.bytes.len()), VALUE_BYTES_MAX));
    let ends = |c: char| match quote {
        Some(quote) => c == char::from(quote),
        None => c.is_whitespace() || "\"'`|;<>)".contains(c),
    };
    let Some(rest) = scan.text.get(from..to) else { return };
    let value = &rest[..rest.find(ends).unwrap_or(rest.len())];
    if says_nothing(value) || value.contains("$(") || value.contains("${") {
        return;
    }
    let login = value.find([':', '%', ',']).filter(|sign| *sign > 0 && is_user(&value[..*sign]));
    let is_user_option = scan.text[option.clone()].ends_with(['u', 'U', 'a', 'r']);
    let skipped = match login {
        Some(sign) if is_user_option || odd(&value[sign + 1..]) >= Odd::Made => sign + 1,
        _ => 0,
    };
    let secret = if quote.is_some() { &value[skipped..] } else { plain(&value[skipped..]) };
    let (weight, look) = (odd(secret), Look::at(secret));
    let is_secret = match skipped {
        0 if is_user_option => false,
        0 if weight == Odd::Numbered => {
            is_attached && look.kinds() >= 3 || quote.is_some() && look.kinds() >= 3 || is_login(scan, &option)
        }
        0 => weight >= Odd::Made,
        _ => weight >= Odd::Numbered || look.digits == 0 && secret.len() >= 6 && secret.contains([' ', '!', '#', '_']),
    };
    if is_secret && !secret.contains('=') {
        let start = from + skipped;
        scan.take(start..start + secret.len(), "password");
    }
}

fn is_user(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "_-.@\\+".contains(c))
}

/// Returns whether a command logs in: it names a user, or says so.
fn is_login(scan: &Scan<'_>, option: &Range<usize>) -> bool {
    let start = boundary(scan.text, line_start(scan.bytes, option.start, COMMAND_BYTES_MAX));
    let end = boundary(scan.text, line_end(scan.bytes, option.end, COMMAND_BYTES_MAX));
    let command = &scan.text[start..end];
    WORDS.logins.iter().any(|sign| command.contains(sign.as_str()))
}
