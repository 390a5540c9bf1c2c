//! Cutting texts to their limits, never inside a character; counts with their nouns.

use std::fmt::{Display, Write as _};

/// Replaces the middle of a text that was cut.
const GAP: &str = "\n[..]\n";

/// Formats a count with its noun.
pub fn count<N: Display + From<u8> + PartialEq>(count: N, one: &str, many: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// Returns the first `bytes_max` bytes of a text, or fewer if a character would be split.
pub fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Returns the last `bytes_max` bytes of a text, or fewer if a character would be split.
pub fn tail(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

/// Returns the text in at most `bytes_max` bytes: beginning and end of a longer one.
///
/// The end gets the larger part, because programs print errors last.
pub fn head_and_tail(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let room = bytes_max.saturating_sub(GAP.len());
    let start = head(text, room / 3);
    let end = tail(text, room - room / 3);
    format!("{start}{GAP}{end}")
}

/// Returns whether a character is shown by no terminal or editor, but steers it: control characters, and those that
/// change the direction of what follows, which could make one text look like another.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Adds a character, in a visible form if it [`steers`].
pub fn push_visible(out: &mut String, c: char) {
    let _ = match u32::from(c) {
        _ if !steers(c) => out.write_char(c),
        code @ 0..=0xff => write!(out, "\\x{code:02x}"),
        code => write!(out, "\\u{{{code:x}}}"),
    };
}

/// Returns a text in which only line breaks and tabs [`steers`].
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c => push_visible(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_made_visible() {
        for (text, expected) in [
            ("a\tb\nc é עברית 👍", "a\tb\nc é עברית 👍"),
            ("\u{1b}[31m\u{7f}\r", "\\x1b[31m\\x7f\\x0d"),
            ("\u{9b}2J", "\\x9b2J"),
            (
                "a\u{202e}b\u{2066}c\u{2069}",
                "a\\u{202e}b\\u{2066}c\\u{2069}",
            ),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn cuts_keep_whole_characters_and_the_limit() {
        let text = "é".repeat(100);
        for bytes_max in 10..=200 {
            assert!(
                head(&text, bytes_max).len() <= bytes_max
                    && tail(&text, bytes_max).len() <= bytes_max
            );
            let cut = head_and_tail(&text, bytes_max);
            assert!(cut.len() <= bytes_max, "{bytes_max}: {}", cut.len());
        }
        assert_eq!(head_and_tail("short", 5), "short");
        assert_eq!(
            head_and_tail("0123456789abcdefghijkl", 16),
            "012\n[..]\nfghijkl"
        );
    }
}
