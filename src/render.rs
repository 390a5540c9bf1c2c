//! Making answers readable for people: tables that fit, times in words, colours on a terminal only.

use std::fmt::Write as _;
use std::io::IsTerminal;

use journal::Timestamp;

/// Colours that mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Good, or injected.
    Green,
    /// Worth a look.
    Yellow,
    /// Wrong.
    Red,
    /// By the way.
    Dim,
    /// A heading.
    Bold,
}

/// Tells whether colours are wanted: on a terminal, or where `CLICOLOR_FORCE` asks for them, unless `NO_COLOR` forbids.
pub(crate) fn colours_wanted() -> bool {
    let set =
        |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !forbidden && (set("CLICOLOR_FORCE") || std::io::stdout().is_terminal())
}

/// Colours a text, where colours are wanted.
pub(crate) fn paint(colour: Colour, text: &str) -> String {
    if !colours_wanted() {
        return text.to_owned();
    }
    let code = match colour {
        Colour::Green => "32",
        Colour::Yellow => "33",
        Colour::Red => "31",
        Colour::Dim => "2",
        Colour::Bold => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Returns a text that can do nothing to a terminal: control characters become visible.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            // Characters that turn the writing direction could make one text look like another.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Like [`printable`], but lines stay lines.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Returns a path as a person would write it: from `~` on where it is in their home folder.
pub(crate) fn path(path: &std::path::Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let within = home.as_ref().and_then(|home| path.strip_prefix(home).ok());
    printable(&within.map_or_else(
        || path.display().to_string(),
        |rest| format!("~/{}", rest.display()),
    ))
}

/// Cuts a text to so many characters, the last of them an ellipsis where something is missing.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Returns a duration as a person would say it.
pub(crate) fn duration_ms(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        3_600_000..86_400_000 => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
        _ => format!("{}d{:02}h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// Returns a size as a person would say it.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{} KB", count / 1_024),
        1_048_576..1_073_741_824 => format!("{:.1} MB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GB", count as f64 / 1_073_741_824.0),
    }
}

/// Returns an RFC 3339 time in the zone of whoever reads it, to the second.
pub(crate) fn local_time(rfc3339: &str) -> String {
    let Ok(at) = rfc3339.parse::<Timestamp>() else {
        return rfc3339.to_owned();
    };
    let Ok(at) = jiff::Timestamp::from_microsecond(at.as_micros()) else {
        return rfc3339.to_owned();
    };
    at.to_zoned(jiff::tz::TimeZone::system())
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

/// Returns only the time of day, to the millisecond.
pub(crate) fn time_of_day(rfc3339: &str) -> String {
    let Ok(at) = rfc3339.parse::<Timestamp>() else {
        return rfc3339.to_owned();
    };
    let Ok(at) = jiff::Timestamp::from_microsecond(at.as_micros()) else {
        return rfc3339.to_owned();
    };
    at.to_zoned(jiff::tz::TimeZone::system())
        .strftime("%H:%M:%S%.3f")
        .to_string()
}

/// Returns the width of the terminal, or 100 where there is none.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let terminal = || {
        rustix::termios::tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
    };
    columns
        .or_else(terminal)
        .filter(|width| *width >= 40)
        .unwrap_or(100)
}

/// Cuts a line that may have our own colours in it to so many characters that can be seen.
pub(crate) fn fit(line: &str, chars_max: usize) -> String {
    let mut seen = 0;
    let mut in_colour = false;
    let visible = |c: char, in_colour: &mut bool| {
        let is_part = *in_colour || c == '\x1b';
        *in_colour = is_part && c != 'm';
        !is_part
    };
    if line.chars().filter(|c| visible(*c, &mut in_colour)).count() <= chars_max {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if visible(c, &mut in_colour) {
            seen += 1;
            if seen == chars_max {
                out.push('…');
                break;
            }
        }
        out.push(c);
    }
    if out.contains('\x1b') {
        out.push_str("\x1b[0m");
    }
    out
}

/// Breaks a text between words into lines of at most so many characters; a word that is longer is cut.
pub(crate) fn wrap(text: &str, chars_max: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        let taken = line.chars().count();
        let word = cut(word, chars_max);
        if taken > 0 && taken + 1 + word.chars().count() > chars_max {
            line.truncate(line.trim_end().len());
            lines.push(word);
        } else {
            if taken > 0 {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}

/// Returns a text behind a label, broken between words into lines that fit.
pub(crate) fn wrapped(label: &str, text: &str) -> Vec<String> {
    let indent = label.chars().count();
    let lines = wrap(text, width().saturating_sub(indent).max(20))
        .into_iter()
        .enumerate();
    let before = |number| {
        if number == 0 {
            label.to_owned()
        } else {
            " ".repeat(indent)
        }
    };
    lines
        .map(|(number, line)| format!("{}{line}", before(number)).trim_end().to_owned())
        .collect()
}

/// Prints a text behind a label, broken between words so that it fits the line.
pub(crate) fn print_wrapped(label: &str, text: &str) {
    wrapped(label, text)
        .iter()
        .for_each(|line| println!("{line}"));
}

/// Columns that the last column of a table has at least, if it has so much to say.
const LAST_CHARS_MIN: usize = 16;

/// A table that fits its line: columns that are not needed go first, then the last one is cut.
pub(crate) struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
    /// Columns that go where the line is too short, the first one first.
    optional: &'static [usize],
    colour: fn(&str) -> Option<Colour>,
}

impl<const N: usize> Table<N> {
    /// Begins a table.
    pub(crate) const fn new(head: [&'static str; N]) -> Self {
        Self {
            head,
            rows: Vec::new(),
            optional: &[],
            colour: |_| None,
        }
    }

    /// Names the columns that go where the line is too short, the first one first.
    pub(crate) const fn optional(mut self, columns: &'static [usize]) -> Self {
        self.optional = columns;
        self
    }

    /// Colours cells by what is in them.
    pub(crate) const fn coloured(mut self, colour: fn(&str) -> Option<Colour>) -> Self {
        self.colour = colour;
        self
    }

    /// Adds a row. Texts from outside are made harmless here.
    pub(crate) fn row(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| printable(&cell)));
    }

    /// Returns the table's lines, each at most `width` characters that can be seen.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let mut widths = self.head.map(str::len);
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut shown: Vec<usize> = (0..N).collect();
        let mut optional = self.optional.iter();
        let needed = |shown: &[usize]| {
            let (last, others) = shown.split_last().expect("a table has columns");
            others
                .iter()
                .map(|column| widths[*column] + 2)
                .sum::<usize>()
                + widths[*last].min(LAST_CHARS_MIN)
        };
        while needed(&shown) > width
            && let Some(gone) = optional.next()
        {
            shown.retain(|column| column != gone);
        }
        let line = |cells: [&str; N], is_head: bool| {
            let mut line = String::new();
            for column in &shown {
                let (cell, width) = (cells[*column], widths[*column]);
                let pad = if Some(column) == shown.last() {
                    0
                } else {
                    width + 2 - cell.chars().count()
                };
                match (self.colour)(cell).filter(|_| !is_head) {
                    Some(colour) => line.push_str(&paint(colour, cell)),
                    None => line.push_str(cell),
                }
                line.extend(std::iter::repeat_n(' ', pad));
            }
            fit(line.trim_end(), width)
        };
        let mut lines = vec![line(self.head, true)];
        lines.extend(
            self.rows
                .iter()
                .map(|row| line(std::array::from_fn(|column| row[column].as_str()), false)),
        );
        lines
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        for (number, line) in self.lines(width()).into_iter().enumerate() {
            println!(
                "{}",
                if number == 0 {
                    paint(Colour::Bold, &line)
                } else {
                    line
                }
            );
        }
    }

    /// Tells whether there is nothing in it.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_outside_cannot_reach_the_terminal() {
        assert_eq!(
            printable("a\x1b[31m\r\nb\u{202e}c\u{7f}"),
            "a\\x1b[31m\\x0d⏎b\\u{202e}c\\x7f"
        );
    }

    #[test]
    fn tables_fit_the_line() {
        let mut table = Table::new(["A", "LONG"]);
        table.row(["1".into(), "x".repeat(50)]);
        let lines = table.lines(20);
        assert_eq!(lines, ["A  LONG", "1  xxxxxxxxxxxxxxxx…"]);
        let mut table = Table::new(["A", "B", "C"]).optional(&[1]);
        table.row(["1".into(), "2".repeat(10), "3".repeat(10)]);
        assert_eq!(
            table.lines(25),
            ["A  B           C", "1  2222222222  3333333333"]
        );
        assert_eq!(table.lines(24), ["A  C", "1  3333333333"]);
    }

    #[test]
    fn colours_take_no_room() {
        assert_eq!(
            fit("\x1b[31mred\x1b[0m and more", 12),
            "\x1b[31mred\x1b[0m and more"
        );
        assert_eq!(
            fit("\x1b[31mred\x1b[0m and more", 6),
            "\x1b[31mred\x1b[0m a…\x1b[0m"
        );
        assert_eq!(fit("\x1b[31mred\x1b[0m", 2), "\x1b[31mr…\x1b[0m");
    }

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("anything-long", 5), ["anyt…"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn durations_and_sizes_are_said_shortly() {
        assert_eq!(
            [0, 999, 1_500, 61_000, 3_660_000, 90_000_000].map(duration_ms),
            ["0ms", "999ms", "1.5s", "1m01s", "1h01m", "1d01h"]
        );
        assert_eq!([5, 2_048, 3_145_728].map(bytes), ["5 B", "2 KB", "3.0 MB"]);
    }
}
