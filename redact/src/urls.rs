//! What addresses carry: passwords and tokens before the host, and parameters.

use std::ops::Range;

use super::chars::{Look, line_start};
use super::scan::Scan;
use super::shapes::Set;
use super::value::says_nothing;
use super::words::AddressPart as Part;

/// The most bytes of an address before its host that are read.
const LOGIN_BYTES_MAX: usize = 512;
/// The shortest token before a host, in bytes.
const TOKEN_BYTES_MIN: usize = 16;
/// The most characters of a bot's id, and the fewest.
const BOT_DIGITS: std::ops::RangeInclusive<usize> = 8..=10;

/// Examines a text where a literal was found.
pub(super) fn read(scan: &mut Scan<'_>, part: Part, literal: Range<usize>) {
    match part {
        Part::Host => host(scan, literal.end),
        Part::Parameter => parameter(scan, literal.end),
        Part::LoginEnd => {
            let start = line_start(scan.bytes, literal.start, LOGIN_BYTES_MAX);
            let before = &scan.bytes[start..literal.start];
            let colon = before
                .iter()
                .rposition(|byte| b" \t\"'@".contains(byte))
                .map_or(0, |at| at + 1);
            if let Some(user) = before[colon..].iter().position(|byte| *byte == b':') {
                password(scan, start + colon + user + 1..literal.start);
            }
        }
        Part::SlashLogin => {
            let login =
                &scan.bytes[literal.end..scan.bytes.len().min(literal.end + LOGIN_BYTES_MAX)];
            let end = login.iter().position(|byte| *byte == b'@');
            let slash = login.iter().position(|byte| *byte == b'/');
            if let (Some(end), Some(slash)) = (end, slash)
                && slash < end
            {
                password(scan, literal.end + slash + 1..literal.end + end);
            }
        }
        Part::Bot => bot(scan, &literal),
    }
}

fn password(scan: &mut Scan<'_>, span: Range<usize>) {
    let text = scan.text.get(span.clone()).unwrap_or_default();
    if text.len() >= 2 && !says_nothing(text) && !text.contains("${") {
        scan.take(span, "url_password");
    }
}

/// Reads the login before a host: `user:password@`, `token@`.
fn host(scan: &mut Scan<'_>, at: usize) {
    let window = &scan.bytes[at..scan.bytes.len().min(at + LOGIN_BYTES_MAX)];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>`".contains(byte);
    let address = &window[..window.iter().position(ends).unwrap_or(window.len())];
    let query = address
        .iter()
        .position(|byte| b"?#".contains(byte))
        .unwrap_or(address.len());
    // A slash ends the host, but a password may have one; a port has not.
    let slash = address[..query].iter().position(|byte| *byte == b'/');
    let colon = address[..query].iter().position(|byte| *byte == b':');
    let is_port =
        |colon: usize, slash: usize| address[colon + 1..slash].iter().all(u8::is_ascii_digit);
    let end = match (colon, slash) {
        (Some(colon), Some(slash)) if colon < slash && !is_port(colon, slash) => query,
        (_, slash) => slash.unwrap_or(query),
    };
    let Some(login) = address[..end].iter().rposition(|byte| *byte == b'@') else {
        return;
    };
    match colon.filter(|colon| *colon < login) {
        Some(colon) => {
            user_token(scan, at..at + colon);
            password(scan, at + colon + 1..at + login);
        }
        None => user_token(scan, at..at + login),
    }
}

fn user_token(scan: &mut Scan<'_>, span: Range<usize>) {
    let look = Look::at(&scan.text[span.clone()]);
    if span.len() >= TOKEN_BYTES_MIN && look.is_mixed() {
        scan.take(span, "token");
    }
}

fn parameter(scan: &mut Scan<'_>, at: usize) {
    let end = scan.set_end(Set::Base64, at);
    let text = &scan.text[at..end];
    let look = Look::at(text);
    let letters = look.upper + look.lower;
    if text.len() >= 8 && look.digits >= 2 && letters >= 2 && !look.is_words() {
        scan.take(at..end, "url_parameter");
    }
}

fn bot(scan: &mut Scan<'_>, literal: &Range<usize>) {
    let before = scan.bytes[..literal.start]
        .iter()
        .rev()
        .take(BOT_DIGITS.end() + 1);
    let digits = before.take_while(|byte| byte.is_ascii_digit()).count();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let after = scan.bytes[literal.end..]
        .iter()
        .take(64)
        .take_while(is_part)
        .count();
    if BOT_DIGITS.contains(&digits) && after >= 16 {
        scan.take(literal.start - digits..literal.end + after, "token");
    }
}
