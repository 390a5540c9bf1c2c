//! The names, strings and signs of a JavaScript text, read without running it.

use std::borrow::Cow;

/// The most tokens that are read of one text.
const TOKENS_MAX: usize = 20_000;

/// A part of a script that its reader cares about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier, a keyword or a number.
    Name(Cow<'a, str>),
    /// The value of a string.
    Text(Cow<'a, str>),
    /// Any other character.
    Sign(char),
}

impl Token<'_> {
    /// Returns whether this is one other character.
    pub(super) fn is_sign(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }

    /// Returns whether this is a key of one of these names, quoted or not.
    pub(super) fn is(&self, names: &[&str]) -> bool {
        match self {
            Self::Name(name) | Self::Text(name) => names.contains(&name.as_ref()),
            Self::Sign(_) => false,
        }
    }
}

/// Returns the tokens of a text without its comments. A string that does not end is left out with all that follows.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next().filter(|_| found.len() < TOKENS_MAX) {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else if matches!(first, '"' | '\'' | '`') {
            let Some((value, length)) = string(&rest[1..], first) else {
                break;
            };
            found.push(Token::Text(value));
            rest = &rest[1 + length..];
        } else if is_in_name(first) {
            let end = rest.find(|c| !is_in_name(c)).unwrap_or(rest.len());
            found.push(Token::Name(Cow::Borrowed(&rest[..end])));
            rest = &rest[end..];
        } else {
            if !first.is_whitespace() {
                found.push(Token::Sign(first));
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Reads a string up to its closing quote; returns its value, and its length with the quote.
fn string(text: &str, quote: char) -> Option<(Cow<'_, str>, usize)> {
    let end = text.find([quote, '\\'])?;
    if text[end..].starts_with(quote) {
        return Some((Cow::Borrowed(&text[..end]), end + 1));
    }
    let mut value = text[..end].to_owned();
    let mut chars = text[end..].char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((Cow::Owned(value), end + at + 1));
        }
        if c != '\\' {
            value.push(c);
            continue;
        }
        let (_, escaped) = chars.next()?;
        match escaped {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            // A line that continues in the next one.
            '\n' => {}
            'u' | 'x' => {
                let digits = if escaped == 'u' { 4 } else { 2 };
                let mut code = 0;
                for _ in 0..digits {
                    code = code * 16 + chars.next()?.1.to_digit(16)?;
                }
                value.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_their_values() {
        for (text, expected) in [
            (r#""a \"b\" \\c""#, "a \"b\" \\c"),
            (r"'it\'s\n'", "it's\n"),
            (r"`a ${b} \`c\``", "a ${b} `c`"),
            (r#""\u00e4\x41""#, "äA"),
        ] {
            assert_eq!(tokens(text), [Token::Text(expected.into())], "{text}");
        }
        assert_eq!(tokens("'open"), []);
        assert_eq!(tokens("a/* b */:1 // c").len(), 3);
    }
}
