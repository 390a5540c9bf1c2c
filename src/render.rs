//! Formats answers for people: tables that fit the terminal, readable times, colors on a terminal.

use std::fmt::Write as _;
use std::io::IsTerminal;

use checkpoint::text;
pub(crate) use checkpoint::text::count;
use journal::Timestamp;
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a color means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// Success, or an injected checkpoint.
    Green,
    /// A warning.
    Yellow,
    /// An error.
    Red,
    /// A detail.
    Dim,
    /// A heading.
    Bold,
}

/// Returns whether output is colored: on a terminal or with `CLICOLOR_FORCE`, unless `NO_COLOR` is set.
pub(crate) fn colors_wanted() -> bool {
    let set =
        |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !forbidden && (set("CLICOLOR_FORCE") || std::io::stdout().is_terminal())
}

/// Colors a text if [`colors_wanted`].
pub(crate) fn paint(color: Color, text: &str) -> String {
    if !colors_wanted() {
        return text.to_owned();
    }
    let code = match color {
        Color::Green => "32",
        Color::Yellow => "33",
        Color::Red => "31",
        Color::Dim => "2",
        Color::Bold => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Makes a text safe for a terminal: control characters become visible.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            c => text::push_visible(&mut out, c),
        }
    }
    out
}

/// Formats an answer for programs: JSON on one line, with escapes for the characters that steer a terminal.
///
/// JSON itself has escapes for those below U+0020 only.
pub(crate) fn json(answer: &impl Serialize) -> String {
    let line = serde_json::to_string(answer).expect("answers are plain data");
    if !line.contains(text::steers) {
        return line;
    }
    let mut out = String::with_capacity(line.len() + 64);
    for c in line.chars() {
        if text::steers(c) {
            // All of them are below U+10000.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Like [`printable`], but keeps line breaks.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Returns the rest of a path within the user's home folder.
pub(crate) fn within_home(path: &std::path::Path) -> Option<&std::path::Path> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    path.strip_prefix(home).ok()
}

/// Formats a path, with `~` for the user's home folder.
pub(crate) fn path(path: &std::path::Path) -> String {
    printable(&within_home(path).map_or_else(
        || path.display().to_string(),
        |rest| format!("~/{}", rest.display()),
    ))
}

/// Formats a path that an agent gave: relative to its folder if it lies there.
pub(crate) fn path_in(folder: &str, of: &str) -> String {
    let of = std::path::Path::new(of);
    match of.strip_prefix(folder) {
        Ok(within) if !folder.is_empty() => path(within),
        _ => path(of),
    }
}

/// Cuts a path to this many columns: its first folders go, and the name at its end stays.
pub(crate) fn cut_path(path: &str, columns_max: usize) -> String {
    if path.width() <= columns_max {
        return path.to_owned();
    }
    let mut rest = path;
    while rest.width() + 2 > columns_max
        && let Some((_, inner)) = rest.split_once('/')
    {
        rest = inner;
    }
    let begin = if rest.len() < path.len() { "…/" } else { "" };
    cut(&format!("{begin}{rest}"), columns_max)
}

/// Cuts a text to this many columns, with an ellipsis at the end if something is missing.
pub(crate) fn cut(text: &str, columns_max: usize) -> String {
    if text.width() <= columns_max {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < columns_max
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Formats how long ago something was, with the largest unit only.
pub(crate) fn ago(ms: u64) -> String {
    let (count, unit) = match ms / 1_000 {
        seconds @ 0..60 => (seconds, 's'),
        seconds @ 60..3_600 => (seconds / 60, 'm'),
        seconds @ 3_600..86_400 => (seconds / 3_600, 'h'),
        seconds => (seconds / 86_400, 'd'),
    };
    format!("{count}{unit} ago")
}

/// Formats a value, or a dash where there is none.
pub(crate) fn or_dash<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), format)
}

/// Formats a duration with its two largest units.
pub(crate) fn duration_ms(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        3_600_000..86_400_000 => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
        _ => format!("{}d{:02}h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// Formats a size with its largest unit.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{} KB", count / 1_024),
        1_048_576..1_073_741_824 => format!("{:.1} MB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GB", count as f64 / 1_073_741_824.0),
    }
}

/// Formats a time in the local zone, to the second.
pub(crate) fn local_time(at: Timestamp) -> String {
    local(at, "%Y-%m-%d %H:%M:%S")
}

/// Formats the local time of day, to the millisecond.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    local(at, "%H:%M:%S%.3f")
}

fn local(at: Timestamp, format: &str) -> String {
    let zoned = at.to_jiff().to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime(format).to_string()
}

/// Returns the terminal's width in columns, or 100 without a terminal.
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

/// Returns how many columns each next character of a line takes; our own color codes take none.
fn visible() -> impl FnMut(char) -> usize {
    let mut in_color = false;
    move |c| {
        let is_code = in_color || c == '\x1b';
        in_color = is_code && c != 'm';
        if is_code { 0 } else { c.width().unwrap_or(0) }
    }
}

/// Cuts a line that may contain our own color codes to this many visible columns.
pub(crate) fn fit(line: &str, columns_max: usize) -> String {
    if line.chars().map(visible()).sum::<usize>() <= columns_max {
        return line.to_owned();
    }
    let mut columns = visible();
    let mut taken = 0;
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        taken += columns(c);
        if taken >= columns_max {
            out.push('…');
            break;
        }
        out.push(c);
    }
    if out.contains('\x1b') {
        out.push_str("\x1b[0m");
    }
    out
}

/// Wraps a text between words into lines of at most this many columns; a longer word is cut, a path at its beginning.
pub(crate) fn wrap(text: &str, columns_max: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        let taken = line.width();
        let word = cut_path(word, columns_max);
        if taken > 0 && taken + 1 + word.width() > columns_max {
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

/// Wraps a text after a label, which may be colored, indented to the label's width.
pub(crate) fn wrapped(label: &str, text: &str) -> Vec<String> {
    let indent = label.chars().map(visible()).sum();
    let mut before = label.to_owned();
    let lines = wrap(text, width().saturating_sub(indent).max(20)).into_iter();
    lines
        .map(|line| {
            let labeled = format!("{before}{line}").trim_end().to_owned();
            before = " ".repeat(indent);
            labeled
        })
        .collect()
}

/// Like [`wrapped`] for the first line of a text; its other lines stay lines, as a quoted file needs.
pub(crate) fn labeled(label: &str, text: &str) -> Vec<String> {
    let text = printable_lines(text);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let indent = label.chars().map(visible()).sum();
    let room = width().saturating_sub(indent).max(20);
    let rest = rest
        .lines()
        .map(|line| format!("{:indent$}{}", "", cut(line, room)));
    wrapped(label, first).into_iter().chain(rest).collect()
}

/// Prints a text wrapped after a label.
pub(crate) fn print_wrapped(label: &str, text: &str) {
    wrapped(label, text)
        .iter()
        .for_each(|line| println!("{line}"));
}

/// The smallest width of a table's last column, unless its content is narrower.
const LAST_CHARS_MIN: usize = 16;

/// A table that fits the terminal: optional columns are dropped first, then the last column is cut.
pub(crate) struct Table {
    head: Vec<String>,
    /// Each has as many cells as the head.
    rows: Vec<Vec<String>>,
    /// Columns dropped when the table is too wide, in this order.
    optional: &'static [usize],
    /// The width of the last column for which optional columns are dropped, unless its content is narrower.
    last_min: usize,
    color: fn(&str) -> Option<Color>,
}

/// A column: its title, and its cell in each row.
pub(crate) type Column<'a, R> = (&'a str, &'a dyn Fn(&R) -> String);

impl Table {
    /// Makes a table with a row for each of these.
    pub(crate) fn of<R>(rows: &[R], columns: &[Column<'_, R>]) -> Self {
        let mut table = Self::new(columns.iter().map(|(head, _)| *head));
        for row in rows {
            table.row(columns.iter().map(|(_, cell)| cell(row)));
        }
        table
    }

    pub(crate) fn new(head: impl IntoIterator<Item: Into<String>>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            optional: &[],
            last_min: LAST_CHARS_MIN,
            color: |_| None,
        }
    }

    /// Drops optional columns rather than cut the last one.
    pub(crate) const fn whole_last(mut self) -> Self {
        self.last_min = usize::MAX;
        self
    }

    /// Sets the columns dropped when the table is too wide, in this order.
    pub(crate) const fn optional(mut self, columns: &'static [usize]) -> Self {
        self.optional = columns;
        self
    }

    /// Colors cells by their content.
    pub(crate) const fn colored(mut self, color: fn(&str) -> Option<Color>) -> Self {
        self.color = color;
        self
    }

    /// Adds a row, with each cell made [`printable`].
    pub(crate) fn row(&mut self, row: impl IntoIterator<Item = String>) {
        let row: Vec<_> = row.into_iter().map(|cell| printable(&cell)).collect();
        assert_eq!(
            row.len(),
            self.head.len(),
            "a table's rows are as long as its head"
        );
        self.rows.push(row);
    }

    /// Returns the table's lines, each at most `width` visible columns.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let mut widths: Vec<_> = self.head.iter().map(|cell| cell.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        // An optional column without content is left out.
        let has_content = |column: &usize| {
            !self.optional.contains(column) || self.rows.iter().any(|row| !row[*column].is_empty())
        };
        let mut shown: Vec<usize> = (0..self.head.len()).filter(has_content).collect();
        let mut optional = self.optional.iter();
        let needed = |shown: &[usize]| {
            let (last, others) = shown.split_last().expect("a table has columns");
            others
                .iter()
                .map(|column| widths[*column] + 2)
                .sum::<usize>()
                + widths[*last].min(self.last_min)
        };
        while needed(&shown) > width
            && let Some(gone) = optional.next()
        {
            shown.retain(|column| column != gone);
        }
        let line = |cells: &[String], is_head: bool| {
            let mut line = String::new();
            for column in &shown {
                let cell = cells[*column].as_str();
                let pad = if Some(column) == shown.last() {
                    0
                } else {
                    widths[*column] + 2 - cell.width()
                };
                match (self.color)(cell).filter(|_| !is_head) {
                    Some(color) => line.push_str(&paint(color, cell)),
                    None => line.push_str(cell),
                }
                line.extend(std::iter::repeat_n(' ', pad));
            }
            fit(line.trim_end(), width)
        };
        let mut lines = vec![line(&self.head, true)];
        lines.extend(self.rows.iter().map(|row| line(row, false)));
        lines
    }

    pub(crate) fn print(&self) {
        for (number, line) in self.lines(width()).into_iter().enumerate() {
            println!(
                "{}",
                if number == 0 {
                    paint(Color::Bold, &line)
                } else {
                    line
                }
            );
        }
    }

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
        let mut table = Table::new(["A", "B", "C"]).optional(&[1]).whole_last();
        table.row(["1".into(), "2".into(), "3".repeat(30)]);
        assert_eq!(table.lines(33)[1], format!("1  {}", "3".repeat(30)));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(["NAME", "TEXT"]);
        table.row(["日本".into(), "a".into()]);
        table.row(["ada".into(), "修正テスト".into()]);
        assert_eq!(
            table.lines(20),
            ["NAME  TEXT", "日本  a", "ada   修正テスト"]
        );
        assert_eq!(table.lines(12)[2], "ada   修正…");
        assert_eq!(
            [cut("日本語", 6), cut("日本語", 5), cut("日本語", 4)],
            ["日本語", "日本…", "日…"]
        );
        assert_eq!(wrap("日本 語 x", 6), ["日本", "語 x"]);
    }

    #[test]
    fn colors_take_no_room() {
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
        assert_eq!(wrap("see home/ada/cart.py", 12), ["see", "…/cart.py"]);
        assert_eq!(cut_path("/home/ada/shop/cart.py", 15), "…/shop/cart.py");
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn durations_and_sizes_are_said_shortly() {
        assert_eq!(
            [0, 999, 1_500, 61_000, 3_660_000, 90_000_000].map(duration_ms),
            ["0ms", "999ms", "1.5s", "1m01s", "1h01m", "1d01h"]
        );
        assert_eq!([5, 2_048, 3_145_728].map(bytes), ["5 B", "2 KB", "3.0 MB"]);
        assert_eq!(
            [999, 59_999, 125_000, 7_200_000, 200_000_000].map(ago),
            ["0s ago", "59s ago", "2m ago", "2h ago", "2d ago"]
        );
    }
}
