//! Whole lines of a transcript's tail. A first line that may be torn and empty lines are left out.

/// The end of a transcript.
#[derive(Clone, Copy, Debug)]
pub struct Tail<'a> {
    pub(crate) text: &'a str,
    /// Whether the text begins where the file begins.
    pub(crate) from_start: bool,
    /// Whether to read all turns, not only the current one.
    pub(crate) all_turns: bool,
}

impl<'a> Tail<'a> {
    /// Returns the lines, last one first.
    pub(crate) fn lines_backward(self) -> impl Iterator<Item = &'a str> {
        self.whole()
            .rsplit('\n')
            .map(|line| line.trim_end_matches('\r'))
            .filter(|line| line.starts_with('{'))
    }

    /// Returns the lines, first one first.
    pub(crate) fn lines(self) -> impl Iterator<Item = &'a str> {
        self.whole()
            .split('\n')
            .map(|line| line.trim_end_matches('\r'))
            .filter(|line| line.starts_with('{'))
    }

    fn whole(self) -> &'a str {
        if self.from_start {
            self.text
        } else {
            self.text.split_once('\n').map_or("", |(_, whole)| whole)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_first_line_is_left_out() {
        let text = "{1}\n{2}\r\n\n{3}\nrest";
        let lines = |from_start| {
            Tail {
                text,
                from_start,
                all_turns: false,
            }
            .lines_backward()
            .collect::<Vec<_>>()
        };
        assert_eq!(lines(true), ["{3}", "{2}", "{1}"]);
        assert_eq!(lines(false), ["{3}", "{2}"]);
        assert_eq!(
            Tail {
                text,
                from_start: false,
                all_turns: false
            }
            .lines()
            .collect::<Vec<_>>(),
            ["{2}", "{3}"]
        );
        assert_eq!(
            Tail {
                text: "{torn",
                from_start: false,
                all_turns: false
            }
            .lines()
            .count(),
            0
        );
    }
}
