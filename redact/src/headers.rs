//! The headers of HTTP that carry secrets.

use super::base64::is_login_base64;
use super::chars::{Look, boundary};
use super::names::Class;
use super::scan::Scan;
use super::value::{is_call, says_nothing};

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

fn end_of(scan: &Scan<'_>, from: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let bytes = scan.bytes[from.min(scan.bytes.len())..]
        .iter()
        .take(HEADER_BYTES_MAX);
    boundary(
        scan.text,
        from + bytes.take_while(|byte| is_part(**byte)).count(),
    )
}

/// Reads all that a header gives besides its scheme, whichever that is: a token, or parameters.
fn authorization(scan: &mut Scan<'_>, at: usize) {
    let start = end_of(scan, at, |byte| b"\"'\\ `".contains(&byte));
    let end = end_of(scan, start, |byte| !b"\r\n'`<>;){}".contains(&byte));
    let line = &scan.text[start..end];
    // A quote that nothing opened ends the header.
    let open = scan.before(start) == b'"';
    let line = if open {
        line.split('"').next().unwrap_or_default()
    } else {
        line
    };
    let mut words = 0;
    for word in line.split([' ', ',', '\t', '"']) {
        let offset = start + (word.as_ptr() as usize - line.as_ptr() as usize);
        if word.is_empty()
            || word.ends_with('=') && (word.len() < LETTERS_MIN || word.contains('_'))
        {
            continue;
        }
        words += 1;
        // `Credential=...`, but not the padding of base64.
        let name = word
            .find('=')
            .filter(|at| at + 2 < word.len() && *at < LETTERS_MIN);
        let value = &word[name.map_or(0, |at| at + 1)..];
        let look = Look::at(value);
        let is_nothing =
            says_nothing(value) || is_call(value) || value.contains("${") || value.contains("$(");
        let is_token = match words {
            2 => {
                let is_long = value.len() >= LETTERS_MIN && !look.is_words();
                is_long || value.len() >= 6 && look.digits > 0 || is_login_base64(value)
            }
            _ => value.len() >= LETTERS_MIN && look.is_mixed(),
        };
        // The second word of a sentence is no token.
        if words > 2 && name.is_none() && scan.before(offset) != b'"' {
            return;
        }
        if is_token && !is_nothing {
            scan.take(
                offset + word.len() - value.len()..offset + word.len(),
                "authorization",
            );
        }
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
