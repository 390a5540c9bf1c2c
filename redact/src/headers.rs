//! The headers of HTTP that carry secrets.

use super::base64::is_login_base64;
use super::chars::{Look, boundary};
use super::names::Class;
use super::scan::Scan;
use super::value::{Style, is_call, is_secret, says_nothing};
use super::words::WORDS;

/// The most bytes of a header that are read.
const HEADER_BYTES_MAX: usize = 8192;
/// The shortest value of a cookie that is a secret, in bytes.
const COOKIE_BYTES_MIN: usize = 6;
/// The shortest token without a digit.
const LETTERS_MIN: usize = 16;

pub(super) fn read(scan: &mut Scan<'_>, class: Class, at: usize) {
    match class {
        Class::Authorization => authorization(scan, at),
        Class::Cookie | Class::SetCookie => cookies(scan, class, at),
        _ => (),
    }
}

/// Reads a secret after the word `Bearer`.
pub(super) fn bearer(scan: &mut Scan<'_>, at: usize) {
    let start = scan.after_blanks(at, 4);
    let end = end_of(scan, start, |byte| {
        byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte)
    });
    let text = &scan.text[start..end];
    if start > at
        && text.len() >= LETTERS_MIN
        && Look::at(text).is_mixed()
        && is_secret(text, Style::Flag)
    {
        scan.take(start..end, "authorization");
    }
}

fn end_of(scan: &Scan<'_>, from: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let bytes = scan.bytes[from.min(scan.bytes.len())..]
        .iter()
        .take(HEADER_BYTES_MAX);
    boundary(
        scan.text,
        from + bytes.take_while(|byte| is_part(**byte)).count(),
    )
}

fn authorization(scan: &mut Scan<'_>, at: usize) {
    let mut start = end_of(scan, at, |byte| b"\"'\\ `".contains(&byte));
    let mut has_scheme = false;
    loop {
        let word = end_of(scan, start, |byte| {
            byte.is_ascii_alphanumeric() || byte == b'-'
        });
        let spelled = scan.text[start..word].to_ascii_lowercase();
        let next = scan.after_blanks(word, 4);
        if next == word || !WORDS.schemes.contains(&spelled) {
            break;
        }
        has_scheme = true;
        start = next;
    }
    let end = end_of(scan, start, |byte| {
        !byte.is_ascii_whitespace() && !b"\"'`\\,<>;){}".contains(&byte)
    });
    let text = &scan.text[start..end];
    let look = Look::at(text);
    let is_nothing = says_nothing(text) || is_call(text) || text.contains("${");
    let is_long = has_scheme && text.len() >= LETTERS_MIN && !look.is_words();
    let is_token = match has_scheme {
        true => is_long || text.len() >= 6 && look.digits > 0 || is_login_base64(text),
        false => text.len() >= 12 && look.is_mixed(),
    };
    if is_token && !is_nothing {
        scan.take(start..end, "authorization");
    }
}

/// Reads `name=value` pairs; of cookies to store, only the first.
fn cookies(scan: &mut Scan<'_>, class: Class, at: usize) {
    let start = end_of(scan, at, |byte| b"\"'\\ `".contains(&byte));
    if start < scan.header_until {
        return;
    }
    let end = end_of(scan, start, |byte| !b"\"'`\n\r\\<>".contains(&byte));
    scan.header_until = end;
    let mut from = start;
    for pair in scan.text[start..end].split(';') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value_at = from + name.len() + 1;
        from += pair.len() + 1;
        let value = value.trim_end();
        let is_name = !name.trim().is_empty() && !name.trim_start().contains([' ', '(', ':']);
        let look = Look::at(value);
        let is_random = look.digits > 0 && look.digits < look.bytes || value.len() >= LETTERS_MIN;
        let is_cookie =
            is_name && value.len() >= COOKIE_BYTES_MIN && is_random && !value.contains([' ', '(']);
        if is_cookie && !says_nothing(value) {
            scan.take(value_at..value_at + value.len(), "cookie");
        }
        if class == Class::SetCookie {
            break;
        }
    }
}
