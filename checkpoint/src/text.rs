//! Cutting texts to their limits, never inside a character.

/// Replaces the middle of a text that was cut.
const GAP: &str = "\n[..]\n";

/// Returns the first `bytes_max` bytes of a text, or fewer if a character would be split.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Returns the last `bytes_max` bytes of a text, or fewer if a character would be split.
pub(crate) fn tail(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

/// Returns the text in at most `bytes_max` bytes: beginning and end of a longer one.
///
/// The end gets the larger part, because programs print errors last.
pub(crate) fn head_and_tail(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let room = bytes_max.saturating_sub(GAP.len());
    let start = head(text, room / 3);
    let end = tail(text, room - room / 3);
    format!("{start}{GAP}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
