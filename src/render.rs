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
fn wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !forbidden && (set("CLICOLOR_FORCE") || std::io::stdout().is_terminal())
}

/// Colours a text, where colours are wanted.
pub(crate) fn paint(colour: Colour, text: &str) -> String {
    if !wanted() {
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
    printable(&within.map_or_else(|| path.display().to_string(), |rest| format!("~/{}", rest.display())))
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
    let Ok(at) = rfc3339.parse::<Timestamp>() else { return rfc3339.to_owned() };
    let Ok(at) = jiff::Timestamp::from_microsecond(at.as_micros()) else { return rfc3339.to_owned() };
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Returns only the time of day, to the millisecond.
pub(crate) fn time_of_day(rfc3339: &str) -> String {
    let Ok(at) = rfc3339.parse::<Timestamp>() else { return rfc3339.to_owned() };
    let Ok(at) = jiff::Timestamp::from_microsecond(at.as_micros()) else { return rfc3339.to_owned() };
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S%.3f").to_string()
}

/// Returns the width of the terminal, or 100 where there is none.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    columns.or_else(terminal).filter(|width| *width >= 40).unwrap_or(100)
}

/// A table whose last column takes what is left of the line.
pub(crate) struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// Begins a table.
    pub(crate) const fn new(head: [&'static str; N]) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// Adds a row. Texts from outside are made harmless here.
    pub(crate) fn row(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| printable(&cell)));
    }

    /// Returns the table's lines, each at most `width` characters.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let mut widths = self.head.map(str::len);
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: [&str; N]| {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(line, "{cell:width$}  ");
            }
            cut(line.trim_end(), width)
        };
        let mut lines = vec![line(self.head)];
        lines.extend(self.rows.iter().map(|row| line(std::array::from_fn(|column| row[column].as_str()))));
        lines
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        for (number, line) in self.lines(width()).into_iter().enumerate() {
            println!("{}", if number == 0 { paint(Colour::Bold, &line) } else { line });
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
        assert_eq!(printable("a\x1b[31m\r\nb\u{202e}c\u{7f}"), "a\\x1b[31m\\x0d⏎b\\u{202e}c\\x7f");
    }

    #[test]
    fn tables_fit_the_line() {
        let mut table = Table::new(["A", "LONG"]);
        table.row(["1".into(), "x".repeat(50)]);
        let lines = table.lines(20);
        assert_eq!(lines, ["A  LONG", "1  xxxxxxxxxxxxxxxx…"]);
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
