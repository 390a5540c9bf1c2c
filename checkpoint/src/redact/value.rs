//! Whether a value is a secret, by its name and its form.

/// The syntax around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// In quotes, or a string of JSON.
    Quoted,
    /// `name=value`.
    Tight,
    /// `name: value` or `name = value`, as in code and prose too.
    Loose,
    /// `--name value`.
    Flag,
}

/// Names that passwords have; the rest are names of keys and tokens, whose values look random.
const PASSWORD_NAMES: [&str; 4] = ["password", "passwd", "passphrase", "pwd"];
/// Ends of other names that secrets have, without `_` and `-`.
const SECRET_NAMES: [&str; 10] = [
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "credential",
    "credentials",
];
/// Placeholders: values that are not secrets.
const NO_SECRETS: [&str; 12] = [
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "string",
    "required",
    "optional",
    "hidden",
    "redacted",
    "...",
];
/// The shortest password, in characters.
const PASSWORD_BYTES_MIN: usize = 3;
/// The shortest key or token, in characters.
const SECRET_BYTES_MIN: usize = 8;

/// Returns whether a value that is assigned to `name` is a secret.
pub(super) fn is_secret_name(name: &str, value: &str, style: Style) -> bool {
    let name: String = name
        .chars()
        .filter(|c| !"_-".contains(*c))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if PASSWORD_NAMES.iter().any(|end| name.ends_with(end)) {
        // The shell's own PWD is a path.
        let is_path = name.ends_with("pwd") && value.starts_with(['/', '~', '.']);
        return !is_path && style != Style::Flag && is_password(value, style);
    }
    SECRET_NAMES.iter().any(|end| name.ends_with(end)) && is_secret(value)
}

/// Returns whether a value can be a password.
pub(super) fn is_password(value: &str, style: Style) -> bool {
    let plain = value.trim_end_matches([',', '.', ')', '}', ']', ':']);
    let is_long = plain.len() >= PASSWORD_BYTES_MIN && !says_nothing(value);
    // Types and variables of code follow a colon too; those have no digits, and no other signs than
    // these.
    let is_random = |c: char| c.is_ascii_digit() || "!@#%^*+?~/=".contains(c);
    match style {
        Style::Quoted => is_long,
        Style::Tight | Style::Flag => is_long && !is_call(value),
        Style::Loose => is_long && !is_call(value) && plain.contains(is_random),
    }
}

/// Returns whether a value looks random, as keys and tokens do, and words do not.
pub(super) fn is_secret(value: &str) -> bool {
    let mut digits = false;
    let mut letters = false;
    for byte in value.bytes() {
        digits |= byte.is_ascii_digit();
        letters |= byte.is_ascii_alphabetic();
    }
    let is_path = value.starts_with(['/', '~', '.']) || value.contains("://");
    let is_text = value.contains(char::is_whitespace);
    value.len() >= SECRET_BYTES_MIN
        && digits
        && letters
        && !is_path
        && !is_text
        && !is_call(value)
        && !says_nothing(value)
}

/// Returns whether a value is a placeholder or a variable.
pub(super) fn says_nothing(value: &str) -> bool {
    let first = value.chars().next();
    let is_variable = value.starts_with('$')
        && value[1..].starts_with(|c: char| c.is_alphabetic() || "_{(".contains(c));
    let is_filler = value.chars().all(|c| Some(c) == first);
    let word = value
        .trim_end_matches([',', '.', ')', '}', ']'])
        .to_ascii_lowercase();
    is_variable
        || is_filler
        || value.starts_with(['<', '{', '%'])
        || NO_SECRETS.contains(&word.as_str())
}

/// Returns whether a value is code: `name(`.
fn is_call(value: &str) -> bool {
    let name = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.:!?".contains(c));
    name.len() < value.len() && name.starts_with('(')
}
