//! What a value is that is no secret: a placeholder, a path, code, or a call.

use super::chars::Look;
use super::words::WORDS;

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
    is_variable
        || is_filler
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
}

/// Returns whether a value is the place of a file, or a pattern in slashes.
pub(super) fn is_path(value: &str) -> bool {
    let rooted = ["/", "~/", "./", "../", "~\\", "C:\\"]
        .iter()
        .any(|root| value.starts_with(root));
    let is_long_key = || value.len() >= 40 && Look::at(value).is_key();
    rooted && !is_long_key()
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
    let joined = inner.contains(['.', ':', '-']);
    let joined_by_code = inner.contains("::") || inner.contains("->") || inner.contains("?.");
    let has_underscore = |part: &str| part.contains('_') && Look::at(part).digits <= 1;
    let is_chain = || {
        let chain = inner
            .trim_end_matches('!')
            .replace("::", ".")
            .replace("->", ".")
            .replace("?.", ".");
        // Names in code seldom have digits, passwords do.
        let is_code = |part: &str| {
            let has_digit = part.contains(|c: char| c.is_ascii_digit());
            is_identifier(part) && (joined_by_code || has_underscore(part))
                || is_name(part) && (!has_digit || !part.contains(|c: char| c.is_ascii_lowercase()))
        };
        chain.contains('.') && chain.split('.').all(is_code)
    };
    // An argument: another one follows, or the call ends.
    let is_argument =
        || inner.len() < value.len() && is_identifier(inner) && Look::at(inner).digits == 0;
    let parts = || inner.split('_').filter(|part| !part.is_empty()).count();
    let is_constant =
        || is_identifier(inner) && !inner.contains(|c: char| c.is_ascii_lowercase()) && parts() > 2;
    is_call(value)
        || joined && is_chain()
        || is_argument()
        || is_constant()
        || inner.starts_with("__")
}

pub(super) fn is_identifier(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && value.chars().all(is_part)
}
