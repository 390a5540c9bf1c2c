//! The names that secrets are assigned to.

use std::sync::LazyLock;

use super::literals::Literals;
use super::words::WORDS;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// What the value of a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Password,
    Secret,
    /// The name of a person and a password.
    Login,
    /// `auth`, of a registry: base64 of both.
    Auth,
    /// A code that lets a person in: a number, or letters and digits.
    Code,
    /// A key, which is a secret only if it is random.
    Key,
    /// What is called with a login: `connect("...", "user", "...")`.
    Call,
    /// Something of a provider: a secret only if it is random.
    Provider,
    /// The header `Authorization`.
    Authorization,
    /// Names and values of cookies.
    Cookie,
    /// Cookies to store: only the first value is secret.
    SetCookie,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) class: Class,
    /// Only capitals, as variables of the environment.
    pub(super) is_env: bool,
    /// Begins with a hyphen, as options of commands.
    pub(super) is_flag: bool,
    /// The telling word is not its last one: `password_prod_db`, but also `password_min_length`.
    pub(super) is_part: bool,
    /// Ends in `secret`, behind another word.
    pub(super) is_compound: bool,
}

impl Name {
    /// Reads a whole name. `before` is the text before it, which may be part of the name.
    pub(super) fn read(name: &str, before: &str) -> Option<Self> {
        let (mut small, mut length) = ([0; NAME_BYTES_MAX], 0);
        for byte in name
            .bytes()
            .filter(|byte| !b"_-".contains(byte))
            .take(NAME_BYTES_MAX)
        {
            small[length] = byte.to_ascii_lowercase();
            length += 1;
        }
        let small = std::str::from_utf8(&small[..length]).ok()?;
        // Most keys of JSON tell nothing, and the lists are long.
        if small.is_ascii() && !TELLING.any(small, |_| true) {
            return None;
        }
        let class_of = || {
            class(small, name, before).or_else(|| {
                let shorter = without_suffix(small)?;
                class(shorter, first_of(name, shorter.len()), before)
            })
        };
        let whole = class_of();
        let class = whole.or_else(|| part(name).then_some(Class::Password))?;
        Some(Self {
            class,
            is_part: whole.is_none(),
            is_compound: small.len() > 6 && small.ends_with("secret"),
            is_env: name.is_ascii() && !name.bytes().any(|byte| byte.is_ascii_lowercase()),
            is_flag: name.starts_with('-'),
        })
    }
}

/// Returns whether a word of a name is a password's.
fn part(name: &str) -> bool {
    let mut words = name
        .split(['_', '-'])
        .filter(|_| name.len() < NAME_BYTES_MAX);
    words.any(|word| {
        let is = |known: &String| known.eq_ignore_ascii_case(word);
        WORDS.names.passwords.iter().any(is)
    })
}

/// Returns the beginning of a name that has this many bytes besides `_` and `-`.
fn first_of(name: &str, bytes: usize) -> &str {
    let counted = name
        .bytes()
        .enumerate()
        .filter(|(_, byte)| !b"_-".contains(byte));
    counted
        .take(bytes)
        .last()
        .and_then(|(last, _)| name.get(..=last))
        .unwrap_or(name)
}

/// Returns a name without the number and the environment at its end.
fn without_suffix(small: &str) -> Option<&str> {
    let bare = small.trim_end_matches(|c: char| c.is_ascii_digit());
    let suffixes = &WORDS.names.suffixes;
    let suffix = suffixes.iter().find(|suffix| bare.ends_with(*suffix));
    let shorter = suffix.map_or(bare, |suffix| &bare[..bare.len() - suffix.len()]);
    (shorter.len() < small.len()).then_some(shorter)
}

fn class(small: &str, name: &str, before: &str) -> Option<Class> {
    let last = small.as_bytes().last();
    // Most ends differ in their last byte already.
    let has_end = |end: &String| end.as_bytes().last() == last && small.ends_with(end);
    let ends = |list: &[String]| list.iter().any(has_end);
    let names = &WORDS.names;
    let is_told_public = || {
        let word = before
            .trim_end()
            .rsplit(' ')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        small == "key"
            && names
                .public
                .iter()
                .any(|known| known.strip_suffix("key") == Some(&word))
    };
    if ends(&names.public)
        || is_told_public()
        || small.contains("public")
        || small.contains("publishable")
    {
        return None;
    }
    let class = match () {
        () if small.ends_with("authorization") => Class::Authorization,
        () if small.ends_with("setcookie") => Class::SetCookie,
        () if small.ends_with("cookie") => Class::Cookie,
        () if ends(&names.passwords) || is_pass(small, name) || !small.is_ascii() => {
            Class::Password
        }
        () if ends(&names.secrets) || is_key_word(small) => Class::Secret,
        () if ["credential", "credentials", "creds"]
            .iter()
            .any(|end| small.ends_with(end)) =>
        {
            Class::Login
        }
        () if matches!(
            small,
            "login" | "logins" | "unseal" | "unlock" | "zugangsdaten"
        ) =>
        {
            Class::Login
        }
        () if [
            "connect",
            "connection",
            "pdo",
            "sudo",
            "sqlplus",
            "adduser",
            "useradd",
            "setuser",
            "mysqli",
            "authenticate",
            "encrypt",
            "decrypt",
            "fernet",
        ]
        .iter()
        .any(|end| small.ends_with(end))
            || small.trim_start_matches('/') == "user" =>
        {
            Class::Call
        }
        () if small.ends_with("auth") => Class::Auth,
        () if is_code(small, before) => Class::Code,
        () if small == "key"
            && names
                .key_words
                .iter()
                .any(|word| ends_with_word(before, word)) =>
        {
            Class::Secret
        }
        () if ["key", "session", "sessionid", "sessid"]
            .iter()
            .any(|end| small.ends_with(end)) =>
        {
            Class::Key
        }
        () if is_provider(small) && !ends(&names.identities) => Class::Provider,
        () => return None,
    };
    Some(class)
}

/// Returns whether a name is that of a code, and which: only some of them let a person in.
fn is_code(small: &str, before: &str) -> bool {
    let names = &WORDS.names;
    let bare = small.strip_suffix('s').unwrap_or(small);
    let Some(of) = bare.strip_suffix("code") else {
        return names.codes.iter().any(|code| bare == code);
    };
    let ends = |word: &String| {
        of.ends_with(word.as_str()) || of.is_empty() && ends_with_word(before, word)
    };
    names.code_words.iter().any(ends)
}

/// Returns whether a name ends in `pass` or `pw`, and is no verb, or in the word `pat`, a personal access token.
fn is_pass(small: &str, name: &str) -> bool {
    let verbs = [
        "bypass",
        "compass",
        "surpass",
        "trespass",
        "erpass",
        "multipass",
        "singlepass",
    ];
    // Of `DOCKER_PASS`, the last word counts.
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    let last = last.to_ascii_lowercase();
    let is_end = small.ends_with("pass") && !verbs.iter().any(|verb| last.ends_with(verb))
        || small.ends_with("pw");
    is_end && !is_getter(name.trim_start_matches('-')) || last == "pat"
}

/// Returns whether a name ends in `key` behind a word that makes it a secret's.
fn is_key_word(small: &str) -> bool {
    let words = &WORDS.names.key_words;
    let before = small.strip_suffix("key");
    before.is_some_and(|before| words.iter().any(|word| before.ends_with(word)))
}

/// What every telling name has in it, unless it has other letters than ASCII's.
static TELLING: LazyLock<Literals> = LazyLock::new(|| {
    let stems = WORDS.names.stems.iter().chain(&WORDS.names.providers);
    Literals::new(stems.map(|stem| stem.trim_matches(['_', '-'])))
});

/// The names of providers.
static PROVIDERS: LazyLock<Literals> = LazyLock::new(|| {
    let stems = WORDS.names.providers.iter();
    Literals::new(stems.map(|stem| stem.trim_end_matches('_')))
});

fn is_provider(small: &str) -> bool {
    PROVIDERS.any(small, |stem| stem.start == 0)
}

/// Returns whether a text ends with a word and one blank.
fn ends_with_word(before: &str, word: &str) -> bool {
    let bytes = before.as_bytes();
    let end = bytes.len().saturating_sub(1);
    let start = end.saturating_sub(word.len());
    bytes.last() == Some(&b' ') && bytes[start..end].eq_ignore_ascii_case(word.as_bytes())
}

/// Returns whether a word is in a list, in any case.
pub(super) fn is(list: &[String], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the name that a text ends with, in quotes or not.
pub(super) fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches(|c: char| " \"'`\\])=:>".contains(c));
    text.rsplit(|c: char| !is_name(c))
        .next()
        .unwrap_or_default()
}

/// Returns whether a call asks for a secret by its name.
pub(super) fn is_getter(name: &str) -> bool {
    let begins = |getter: &String| {
        let head = name.as_bytes().get(..getter.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(getter.as_bytes()))
    };
    WORDS.names.getters.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_telling_name_is_passed_over() {
        let ends = "authorization setcookie cookie passe pass pw credentials login logins auth key session";
        let names = &WORDS.names;
        let all = names
            .passwords
            .iter()
            .chain(&names.secrets)
            .chain(&names.providers);
        for name in all.map(String::as_str).chain(ends.split(' ')) {
            let small = name.replace('_', "");
            assert!(TELLING.any(&small, |_| true), "{name}");
            assert_eq!(
                Name::read(name, "").is_some(),
                class(&small, name, "").is_some()
            );
        }
        for key in ["stdout", "command", "tool_input"] {
            assert_eq!(Name::read(key, ""), None, "{key}");
        }
    }
}
