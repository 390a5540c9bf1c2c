//! The shapes of keys and tokens, as their issuers document them: a prefix, and random characters after it.
//!
//! Prefixes and lengths were compared with those of gitleaks. A key may be cut off, so a third of its length is enough
//! if its prefix has no other meaning.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Set {
    Hex,
    /// Capitals, digits and hyphens.
    Upper,
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    Dotted,
    /// Base64 of either alphabet, and what password hashes are written with.
    Base64,
}

impl Set {
    /// All sets, in their order.
    pub(super) const COUNT: usize = 6;

    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || b"_-".contains(&byte),
            Self::Dotted => byte.is_ascii_alphanumeric() || b"_-.".contains(&byte),
            Self::Base64 => byte.is_ascii_alphanumeric() || b"_-+/=.$,%|~".contains(&byte),
        }
    }
}

/// What the prefix of a token says about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sign {
    /// Nothing else begins so: a few random characters after it are enough, and letters before it do not matter.
    #[default]
    Sure,
    /// As sure, but inside the token.
    Inner,
    /// Other texts begin so: what follows must look random, and not begin inside a word.
    Vague,
    /// As vague, and of exactly the shortest length.
    Exact,
}

/// A group of shapes that differ only in their prefix.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// The kind for the marker; `token` if empty.
    #[serde(default)]
    pub(super) kind: String,
    pub(super) set: Set,
    /// The fewest characters after the prefix.
    pub(super) least: usize,
    /// How many there are in a whole token; 0 if that varies.
    #[serde(default)]
    pub(super) whole: usize,
    #[serde(default)]
    pub(super) sign: Sign,
    pub(super) prefixes: Vec<String>,
}
