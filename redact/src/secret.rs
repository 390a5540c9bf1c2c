//! Whether a value is a secret, by the name that it is assigned to and by its form.

use std::sync::LazyLock;

use super::chars::Look;
use super::literals::Literals;
use super::odd::is_free_word;
use super::value::{is_call, is_code, is_path, plain, says_nothing};
use super::words::WORDS;

/// The syntax around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// In quotes, or a string of JSON.
    Quoted,
    /// `NAME=value` of a shell.
    Env,
    /// `name=value`.
    Tight,
    /// `name: value` or `name = value`, as in code and prose too.
    Loose,
    /// The same, and the line has nothing else.
    Line,
    /// `--name value`.
    Flag,
}

/// Finds what tells a label of a form from a password, in any case.
static LABELS: LazyLock<Literals> =
    LazyLock::new(|| Literals::new(WORDS.values.labels.iter().map(String::as_str)));
/// The shortest password, in bytes.
const PASSWORD_BYTES_MIN: usize = 3;
/// The shortest key or token, in bytes.
const SECRET_BYTES_MIN: usize = 8;

pub(super) fn is_password(value: &str, style: Style) -> bool {
    let plain = plain(value);
    if plain.len() < PASSWORD_BYTES_MIN || says_nothing(plain) || is_path(plain) {
        return false;
    }
    match style {
        Style::Quoted => !is_label(value),
        Style::Env => !is_call(value),
        Style::Tight => !is_code(value) && !is_label(plain),
        Style::Flag => {
            let is_place = plain.bytes().all(|byte| byte.is_ascii_uppercase());
            plain.len() > PASSWORD_BYTES_MIN && !is_place && !is_code(value)
        }
        // Types and variables of code follow a colon too; those have no digits, and no other signs than these.
        Style::Line if is_free_word(plain) => !is_label(plain),
        Style::Loose | Style::Line => {
            Look::at(plain).digits > 0 && !is_code(value) && !is_label(plain)
        }
    }
}

/// Returns whether a value is a key or a token: it looks random, as words do not.
pub(super) fn is_secret(value: &str, style: Style) -> bool {
    let plain = plain(value);
    let is_other = || {
        let is_text = plain.contains(char::is_whitespace);
        says_nothing(plain) || is_call(value) || is_text || plain.contains("://")
    };
    if plain.len() < SECRET_BYTES_MIN || is_other() {
        return false;
    }
    let look = Look::at(plain);
    if look.upper + look.lower == 0 {
        return false;
    }
    let is_chain = || plain.contains(['-', '_', '.', '/', ' ', ':']) && look.is_words();
    match style {
        Style::Env => look.digits > 0 || !is_code(value) && !is_chain() && !is_label(plain),
        Style::Quoted => look.digits > 0 && !is_chain(),
        Style::Tight | Style::Loose | Style::Line | Style::Flag => {
            look.digits > 0 && !look.is_words() && !is_code(value)
        }
    }
}

/// Returns whether a text is a label or a message about passwords.
fn is_label(value: &str) -> bool {
    let head = value.get(..value.len().min(64)).unwrap_or(value);
    let has_digit = head.contains(|c: char| c.is_ascii_digit());
    let is_word =
        |c: char| c.is_alphanumeric() || c.is_whitespace() || ".!?:'’-,()…。、".contains(c);
    let is_foreign = !value.is_ascii() && value.chars().all(is_word);
    !has_digit && (is_foreign || LABELS.any(head, |_| true))
}
