//! A terminal's screen: rows of characters, and which of them are only hints.

/// A terminal's screen at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The rows, from the top, with the escape sequences that say how they look (`tmux capture-pane -e`).
    pub screen: String,
    /// Column and row of the cursor, from 0.
    pub cursor: (usize, usize),
    /// The cursor is shown. Claude Code and Gemini hide it and draw their own.
    pub cursor_shown: bool,
}

/// One row of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The characters, without blanks at the end.
    pub text: String,
    /// Every character that is not blank, besides a marker in front, is dim: it was not typed.
    pub is_dim: bool,
}

/// Takes the escape sequences off. A row begins in the style that the one above ended in.
pub(super) fn rows(screen: &str) -> Vec<Row> {
    let (mut dim, mut rows) = (false, Vec::new());
    for line in screen.lines() {
        let mut row = Row {
            text: String::with_capacity(line.len()),
            is_dim: true,
        };
        let mut is_blank = true;
        let mut chars = line.chars();
        while let Some(char) = chars.next() {
            if char == '\u{1b}' {
                let sequence = chars.by_ref().skip(1);
                let sequence = sequence.take_while(|char| !char.is_ascii_alphabetic());
                dim = is_dim_after(&sequence.collect::<String>(), dim);
                continue;
            }
            // All in front of a marker is blank. Looking back at the row for each character would be quadratic.
            let is_marker = is_blank && MARKERS.contains(&char);
            is_blank &= char.is_whitespace();
            row.is_dim &= dim || char.is_whitespace() || is_marker;
            row.text.push(if char == '\u{a0}' { ' ' } else { char });
        }
        row.text.truncate(row.text.trim_end().len());
        rows.push(row);
    }
    rows
}

/// The signs that agents draw before the typed text.
const MARKERS: [char; 4] = ['❯', '›', '>', '│'];

/// Follows the parameters of one "select graphic rendition".
fn is_dim_after(parameters: &str, before: bool) -> bool {
    let mut dim = before;
    let parts = parameters.split(';');
    let mut parts = parts.map(|part| part.parse::<u16>().unwrap_or(0));
    while let Some(part) = parts.next() {
        match part {
            0 | 22 => dim = false,
            2 => dim = true,
            // A color: `5;N`, or `2;R;G;B`, whose 2 does not mean dim.
            38 | 48 | 58 => {
                let skipped = if parts.next() == Some(2) { 3 } else { 1 };
                parts.by_ref().take(skipped).for_each(drop);
            }
            _ => {}
        }
    }
    dim
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_go_and_dimness_is_told() {
        let read = rows(
            "\u{1b}[1m›\u{1b}[0m \u{1b}[2mAsk\u{1b}[0m\n\u{1b}[38;2;1;2;3mbright  \n\u{1b}[2;38;5;7mdim\nstill\n",
        );
        let told: Vec<_> = read
            .iter()
            .map(|row| (row.text.as_str(), row.is_dim))
            .collect();
        assert_eq!(
            told,
            [
                ("› Ask", true),
                ("bright", false),
                ("dim", true),
                ("still", true)
            ]
        );
        assert_eq!(
            rows("❯\u{a0}\u{1b}[7m \u{1b}[0m"),
            [Row {
                text: "❯".into(),
                is_dim: true
            }]
        );
        assert_eq!(
            rows("broken \u{1b}["),
            [Row {
                text: "broken".into(),
                is_dim: false
            }]
        );
    }

    /// Found by fuzzing: a check of all earlier blanks for each further one would not end here.
    #[test]
    fn a_row_is_read_in_linear_time() {
        let blanks = " ".repeat(1_000_000);
        let read = rows(&format!("{blanks}❯{blanks}\nx{blanks}❯"));
        assert_eq!(
            read[0],
            Row {
                text: format!("{blanks}❯"),
                is_dim: true
            }
        );
        assert!(!read[1].is_dim && read[1].text.ends_with('❯'));
    }
}
