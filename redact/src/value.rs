//! What a value is that is no secret: a placeholder, a path, code, or a call.

use std::sync::LazyLock;

use super::chars::Look;
use super::literals::Literals;
use super::words::WORDS;

/// Finds the words that stand for a value.
static PLACEHOLDERS: LazyLock<Literals> =
    LazyLock::new(|| Literals::new(WORDS.values.placeholders.iter().map(String::as_str)));

/// Returns a value without the punctuation around it.
pub(super) fn plain(value: &str) -> &str {
    value.trim_end_matches([',', '.', ')', '}', ']', ':', ';', '?'])
}

/// Returns whether a value is a placeholder or a variable.
pub(super) fn says_nothing(value: &str) -> bool {
    let first = value.chars().next();
    let is_variable = value.starts_with('$')
        && value[1..].starts_with(|c: char| c.is_alphabetic() || "_{(".contains(c));
    let is_filler = value
        .chars()
        .all(|c| Some(c) == first || "xX*.-_".contains(c));
    let begins = |name: &String| {
        let head = value.as_bytes().get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
    };
    let is_row = ["xxxxxx", "XXXXXX", "******"]
        .iter()
        .any(|row| value.contains(row));
    is_variable
        || is_filler
        || is_row
        || value.starts_with(['<', '%', ',', ')', ']', '}', ';'])
        || value.starts_with('{')
            && (!value.contains('"') || value.starts_with("{{") || value.starts_with("{%"))
        || value.starts_with("--")
        || WORDS
            .values
            .nothing
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word))
        || WORDS.values.beginnings.iter().any(begins)
        || is_placeholder(value)
}

/// Returns whether a word is one that code and messages are made of.
pub(super) fn is_code_word(word: &str) -> bool {
    let names = &WORDS.names;
    let mut known = WORDS
        .values
        .code
        .iter()
        .chain(&names.stems)
        .chain(&names.passwords);
    let is_head = |known: &String| {
        let head = word.get(..known.len());
        word.len() <= known.len() + 2 && head.is_some_and(|head| head.eq_ignore_ascii_case(known))
    };
    known.any(is_head)
}

/// Returns whether a value says what to write in its place: `CHANGE_ME_123`, `<your-token>`, `[FILTERED]`, `__TOKEN__`.
fn is_placeholder(value: &str) -> bool {
    let is_framed = |open: &str, close: &str| {
        let inner = value
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(|inner| inner.chars().all(|c| c.is_alphabetic()))
    };
    let is_asking = |part: &str| {
        let part = part.to_ascii_lowercase();
        WORDS.values.placeholders.contains(&part)
    };
    let bare = |part| str::trim_end_matches(part, |c: char| c.is_ascii_digit());
    let parts = value.split(|c: char| !c.is_alphanumeric()).map(bare);
    let asks = || PLACEHOLDERS.any(value, |_| true) && parts.clone().any(is_asking);
    is_framed("[", "]") || asks() && parts.clone().all(|part| part.len() <= 4 || is_asking(part))
}

/// Returns whether a value is the place of a file, or a pattern in slashes.
pub(super) fn is_path(value: &str) -> bool {
    ["/", "~/", "./", "../", "~\\", "C:\\"]
        .iter()
        .any(|root| value.starts_with(root))
}

/// Returns whether a value is code: `name(`.
pub(super) fn is_call(value: &str) -> bool {
    let name = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.:!?".contains(c));
    name.len() < value.len() && name.starts_with(['(', '['])
}

/// Returns whether a value is code: a call, or a name in a name.
pub(super) fn is_code(value: &str) -> bool {
    let inner = value.trim_end_matches([',', ')', ';', ']', '}']);
    let is_name =
        |part: &str| is_identifier(part) && (part.len() <= 4 || Look::at(part).is_words());
    let is_joined = |part: &str| part.contains('_') || inner.contains("::");
    let is_chain = || {
        let chain = inner
            .trim_end_matches('!')
            .replace("::", ".")
            .replace("->", ".")
            .replace("?.", ".");
        // Names in code seldom have digits, passwords do.
        let is_code = |part: &str| {
            let has_digit = part.contains(|c: char| c.is_ascii_digit());
            is_identifier(part) && is_joined(part) || is_name(part) && !has_digit
        };
        chain.contains('.') && chain.split('.').all(is_code)
    };
    let parts = || inner.split('_').filter(|part| !part.is_empty()).count();
    let is_constant =
        || is_identifier(inner) && !inner.contains(|c: char| c.is_ascii_lowercase()) && parts() > 2;
    is_call(value) || is_chain() || is_constant() || inner.starts_with("__")
}

pub(super) fn is_identifier(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && value.chars().all(is_part)
}
