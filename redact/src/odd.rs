//! How much a word looks like a secret, whatever stands around it.

use super::chars::Look;
use super::value::{is_code, is_code_word, plain, says_nothing};
use super::words::WORDS;

/// The shortest word that is odd, in bytes.
const WORD_BYTES_MIN: usize = 5;
/// The shortest random word, in bytes.
const RANDOM_BYTES_MIN: usize = 8;
/// The shortest random word without a digit, in bytes.
const LETTERS_MIN: usize = 12;
/// The shortest word of base32, in bytes.
const BASE32_BYTES_MIN: usize = 16;
/// The shortest hash, in bytes.
const HASH_BYTES_MIN: usize = 20;
/// The shortest random word with slashes: a shorter one is a path.
const BASE64_BYTES_MIN: usize = 24;

/// What a word looks like; the later, the more it looks like a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Odd {
    /// What texts and code are made of: words, names, paths, versions, dates.
    Plain,
    /// Words as passwords are made of, in quotes with a number or joined: `KettleCanyon`, `Sonntag.Braten`.
    Phrase,
    /// Only digits, as codes are.
    Number,
    /// A long row of hexadecimal digits: a key, or a hash, which programs write everywhere.
    Hash,
    /// A word with a number or a sign, as many passwords are and other things too: `hunter2`, `sha256sum`.
    Numbered,
    /// As passwords are that people think of: `gr3p-Treffer`, `Tiger_998!`.
    Made,
    /// As generated ones are.
    Random,
    /// More than any word.
    Never,
}

/// Weighs a word.
pub(super) fn odd(word: &str) -> Odd {
    let look = Look::at(word);
    let letters = look.upper + look.lower;
    let is_sign = |three: &&[u8]| {
        b"!#$%^&*?~".contains(&three[1]) && three[0].is_ascii_alphanumeric() && three[2] != three[1]
    };
    let signs = word.as_bytes().windows(3).filter(is_sign).count();
    if is_joined(word, &look) {
        return Odd::Phrase;
    }
    if look.digits >= 4 && letters < 2 {
        return Odd::Number;
    }
    if word.len() < WORD_BYTES_MIN
        || letters < 2
        || look.digits + signs == 0 && look.upper * look.lower == 0
    {
        return Odd::Plain;
    }
    if word.contains(char::is_whitespace) || word.starts_with("0x") && Look::at(&word[2..]).is_hex {
        return Odd::Plain;
    }
    if look.is_hex {
        let groups = word.split('-').count();
        let is_hash = word.len() >= HASH_BYTES_MIN && matches!(groups, 1 | 5);
        return if is_hash { Odd::Hash } else { Odd::Plain };
    }
    if is_ordinary(word, &look) {
        return Odd::Plain;
    }
    // `KX7-2QD`
    let is_numbered = letters >= 6 && letters + look.digits == word.len();
    if look.lower == 0 && word.len() < BASE32_BYTES_MIN && !is_numbered {
        return Odd::Number;
    }
    let is_random = word.len() >= RANDOM_BYTES_MIN && look.digits > 0 && is_random(&look);
    let is_base32 = word.len() >= BASE32_BYTES_MIN
        && word
            .bytes()
            .all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'))
        && look.digits > 0;
    match () {
        () if is_base32 || is_random => Odd::Random,
        () if look.digits + signs == 0 => {
            let is_letters = letters == word.trim_end_matches('!').len();
            let is_turning = |least: usize| is_letters && look.turns() * 9 >= look.looked() * least;
            match word.len() {
                HASH_BYTES_MIN.. if is_turning(3) && !look.is_words() => Odd::Random,
                LETTERS_MIN.. if is_turning(4) => Odd::Random,
                RANDOM_BYTES_MIN.. if is_turning(4) => Odd::Numbered,
                _ => Odd::Plain,
            }
        }
        () if is_known(word) => Odd::Plain,
        () if is_disguised(word)
            || signs > 0 && look.digits > 0
            || look.kinds() == 4 && !word.contains(['.', ':', '=']) =>
        {
            Odd::Made
        }
        () => Odd::Numbered,
    }
}

/// Returns whether a word without a digit is made of several words, none of which is one of code.
fn is_joined(word: &str, look: &Look<'_>) -> bool {
    let is_part = |c: char| c.is_alphabetic() || "-._!&".contains(c);
    if !(7..48).contains(&word.len()) || look.lower == 0 || !word.chars().all(is_part) {
        return false;
    }
    let parts = || {
        word.split(['-', '.', '_', '&'])
            .filter(|part| !part.is_empty())
    };
    let is_capital = |part: &str| part.starts_with(char::is_uppercase);
    let is_odd = match parts().count() {
        1 => word.ends_with('!'),
        2 => parts().skip(1).any(is_capital),
        _ => parts().filter(|part| part.len() >= 4).count() >= 2,
    };
    is_odd && !humps(word).any(is_code_word)
}

/// Returns whether a text is one word: `Kiefernzapfen`.
pub(super) fn is_free_word(text: &str) -> bool {
    text.len() >= WORD_BYTES_MIN && text.chars().all(char::is_alphabetic)
}

/// Returns the words that a name consists of, by their capitals and the signs between them.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(|c: char| !c.is_alphabetic());
    parts.flat_map(|part| {
        let begins = |at: usize| part[..at].ends_with(char::is_lowercase);
        let ends = part
            .char_indices()
            .filter(move |(at, c)| c.is_uppercase() && begins(*at));
        let ends = ends.map(|(at, _)| at).chain([part.len()]);
        let mut from = 0;
        ends.map(move |at| &part[std::mem::replace(&mut from, at)..at])
    })
}

/// Returns whether the kinds of characters alternate as they do in no word.
fn is_random(look: &Look<'_>) -> bool {
    look.turns() * 3 >= look.looked() && !look.is_words()
}

/// Returns whether a word is a technical one with a number: `utf8`, `sha256sum`.
fn is_known(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    WORDS
        .values
        .numbered
        .iter()
        .any(|known| lower.starts_with(known.as_str()))
}

/// Returns whether a word has one digit between letters, in place of a letter: `gr3p`, but not `sha1sum`.
fn is_disguised(word: &str) -> bool {
    let parts = word.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| part.len() >= 4).any(|part| {
        let is_inner = |three: &[u8]| {
            three[0].is_ascii_alphabetic()
                && b"01345789".contains(&three[1])
                && three[2].is_ascii_lowercase()
        };
        part.as_bytes().windows(3).any(is_inner)
    })
}

/// Returns whether a word with digits or signs is what programs and their texts are full of.
fn is_ordinary(word: &str, look: &Look<'_>) -> bool {
    let letters = look.upper + look.lower;
    let bytes = word.as_bytes();
    // `2026-01-04`, `0.8.0`, `30m`, `12-14`, and a hash, in part or with hyphens.
    let is_measure = bytes[0].is_ascii_digit() && letters <= 2;
    let is_version = bytes
        .windows(3)
        .any(|three| three[0].is_ascii_digit() && three[1] == b'.' && three[2].is_ascii_digit());
    let last = word.rsplit('.').next().unwrap_or_default();
    let is_file = last.len() < word.len() && last.bytes().all(|byte| byte.is_ascii_lowercase());
    let has_inner_digit = bytes.windows(2).any(|two| two[0].is_ascii_digit());
    let is_constant = look.lower == 0 && word.len() < 16 && !has_inner_digit;
    let is_snake = look.upper == 0
        && word.contains('_')
        && (word.matches('_').count() >= 2 || look.digits == 1);
    // A type: `Utf8Error`.
    let is_humped = bytes
        .windows(2)
        .any(|two| two[0].is_ascii_digit() && two[1].is_ascii_uppercase());
    let is_type = look.digits == 1 && is_humped && look.is_words();
    let parts = word.split(['-', '_', '.']);
    let is_public = word.starts_with("AAAA");
    let is_word =
        |part: &str| part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_base64 =
        || word.len() >= BASE64_BYTES_MIN && is_random(look) && !word.split('/').any(is_word);
    let is_field = word
        .rsplit_once(':')
        .is_some_and(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let has_slash = (word.contains('/') || word.contains('\\')) && !is_base64();
    let is_part_of_code = || {
        look.upper == 0
            && parts.clone().any(|part| {
                WORDS
                    .names
                    .stems
                    .iter()
                    .any(|stem| stem == part.trim_end_matches('s'))
            })
    };
    is_measure
        || word.matches(':').count() > 2
        || is_field
        || is_type
        || is_version
        || is_file
        || is_constant
        || is_snake
        || is_public
        || has_slash
        || ["self.", "this.", "#", "@"]
            .iter()
            .any(|begin| word.starts_with(begin))
        || says_nothing(plain(word))
        || is_code(word)
        || is_part_of_code()
}
