//! Whether a value is a secret, by the class of the name that it belongs to.

use super::chars::{Look, boundary};
use super::names::{Class, Name};
use super::odd::{Odd, odd};
use super::secret::{Style, is_password, is_secret};
use super::value::plain;

/// How far a name extends on each side of its stem, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 48;
/// The most blanks around a sign of assignment.
pub(super) const BLANKS_MAX: usize = 16;
/// How many bytes of a value are examined.
pub(super) const JUDGED_BYTES_MAX: usize = 128;

/// Returns whether a value is a secret, by the class of its name.
pub(super) fn judge(name: Name, style: Style, text: &str) -> bool {
    let text = &text[..boundary(text, JUDGED_BYTES_MAX)];
    // Base64 in lines is one value.
    let joined: String;
    let text = match text.contains('\n') && matches!(name.class, Class::Key | Class::Secret) {
        true => {
            joined = text.split_whitespace().collect();
            &joined
        }
        false => text,
    };
    match name.class {
        Class::Password if name.is_part => {
            odd(plain(text))
                >= if style == Style::Quoted {
                    Odd::Numbered
                } else {
                    Odd::Made
                }
        }
        Class::Password
            if name.is_env
                && style == Style::Line
                && Look::at(plain(text)).digits == plain(text).len() =>
        {
            false
        }
        Class::Password => is_password(text, style) && !is_count(text, style),
        Class::Secret if style == Style::Quoted && Look::at(text).digits == text.len() => {
            text.len() >= 8
        }
        // What a command or a variable of the environment is given is no code, whatever it looks like.
        Class::Secret if style == Style::Quoted && name.is_flag => is_password(text, style),
        Class::Secret if style == Style::Quoted && name.is_env => is_secret(text, Style::Env),
        Class::Secret if name.is_compound && odd(text) >= Odd::Numbered => {
            Look::at(text).kinds() >= 3
        }
        Class::Secret => {
            let odd = odd(plain(text));
            is_secret(text, style)
                || odd >= Odd::Made
                || odd == Odd::Phrase && text.matches('-').count() > 1
        }
        Class::Auth => is_secret(text, Style::Quoted),
        Class::Key => name.is_env && Look::at(text).is_hex_key(),
        Class::Login | Class::Provider => Look::at(text).is_hex_key(),
        Class::Code => is_code_of(text),
        Class::Call | Class::Authorization | Class::Cookie | Class::SetCookie => false,
    }
}

/// Returns whether a number counts passwords, or is a field of a list, rather than being one.
fn is_count(text: &str, style: Style) -> bool {
    let digits = &text[..text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
    let is_number = text[digits.len()..]
        .chars()
        .next()
        .is_none_or(|c| ",)};]".contains(c));
    let is_fields = text
        .split(':')
        .nth(1)
        .is_some_and(|field| field.bytes().all(|byte| byte.is_ascii_digit()));
    matches!(style, Style::Loose | Style::Line) && (is_number && digits.len() < 4 || is_fields)
}

/// Returns whether a text is a code that is sent to a person, or one of those to recover an account.
pub(super) fn is_code_of(text: &str) -> bool {
    let plain = plain(text);
    let look = Look::at(plain);
    let is_digit = |byte: u8| byte.is_ascii_digit() || b" -".contains(&byte);
    let is_number = (4..=10).contains(&plain.len()) && plain.bytes().all(is_digit);
    is_number || (6..=24).contains(&plain.len()) && look.digits >= 2
}
