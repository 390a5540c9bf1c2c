//! The forms of composers that agents draw, and what is typed in one.

use super::screen::{Row, View};

/// What a screen shows of an agent's composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Composer {
    /// It is there, and nothing is typed.
    Empty,
    /// It holds a text that is not ours, alone or together with ours.
    Draft,
    /// It holds our text, whole and alone, not sent yet.
    Ours,
    /// A question is up instead.
    Dialog,
    /// There is neither.
    Unknown,
}

/// How many characters of a long text have to be in sight to be taken for its end.
const TAIL_CHARS_MIN: usize = 40;
/// The shortest line that is a rule.
const RULE_CHARS_MIN: usize = 10;

/// The text in a composer.
#[derive(Debug)]
pub(crate) struct TextBox<'a> {
    /// Its lines, without the marker and the frame.
    lines: Vec<&'a str>,
    /// Whether the text is a hint of the agent, not typed text.
    is_hint: bool,
}

impl<'a> TextBox<'a> {
    /// Takes the lines of a composer whose marker ends at `column` of the first. With the cursor `at_start`, text that is
    /// dim, or begins with one of `hints`, is not typed.
    pub(crate) fn new(rows: &'a [Row], column: usize, at_start: bool, hints: &[&str]) -> Self {
        // Qwen Code puts a sign without width where it draws the cursor, OpenHands a scroll bar before the frame.
        let inside = |row: &'a Row| {
            after(&row.text, column)
                .trim_end_matches(|c: char| c.is_whitespace() || "│\u{200b}▁▂▃▄▅▆▇█".contains(c))
        };
        let lines: Vec<_> = rows.iter().map(inside).collect();
        let first = lines.first().map_or("", |line| line.trim_start());
        let is_hint = at_start
            && (rows.iter().all(|row| row.is_dim)
                || hints.iter().any(|hint| first.starts_with(hint)));
        Self { lines, is_hint }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_hint || self.lines.iter().all(|line| line.trim().is_empty())
    }

    /// Returns whether the whole text is ours, as far as it is in sight, or what the agent shows in its place.
    pub(super) fn is(&self, ours: &str, stands_for_ours: impl Fn(&str) -> bool) -> bool {
        let shown: String = bare(&self.lines.concat()).collect();
        let ours: String = bare(ours).collect();
        // A composer of many lines shows only the last ones.
        shown == ours
            || stands_for_ours(self.lines.join(" ").trim())
            || shown.chars().count() >= TAIL_CHARS_MIN && ours.ends_with(&shown)
    }
}

/// Composers break lines where they like: blanks say nothing.
pub(super) fn bare(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !char.is_whitespace())
}

/// Finds a composer without a rule below it: the rows from the last marker above the cursor to the end of the text
/// around it, if there is only that text between, and the column after the marker. That column is at most `start_max`:
/// further in, a line of the text itself may begin with such a sign.
pub(crate) fn open_composer(
    rows: &[Row],
    view: &View,
    signs: &[char],
    start_max: usize,
) -> Option<(usize, usize, usize)> {
    let (column, row) = view.cursor;
    let above = rows.get(..=row)?;
    let begins = |text: &str| marker(text, signs).filter(|start| *start <= start_max);
    let mut upward = above.iter().enumerate().rev();
    let (first, start) = upward.find_map(|(at, row)| Some((at, begins(&row.text)?)))?;
    let mut between = above[first + 1..].iter();
    let is_inside = between.all(|row| row.text.is_empty() || continues(row, start));
    let below = rows[row + 1..].iter();
    let last = row + 1 + below.take_while(|row| continues(row, start)).count();
    (is_inside && column >= start).then_some((first, last, start))
}

/// Finds a composer between two rules: `markers` are the signs before its text, and `hints` what the agent writes into an
/// empty one without dimming it.
pub(crate) fn between_rules<'a>(
    rows: &'a [Row],
    view: &View,
    markers: &[char],
    hints: &[&str],
) -> Option<TextBox<'a>> {
    let row = view.cursor.1;
    let below = (row + 1..rows.len()).find(|at| is_rule(&rows[*at]))?;
    let above = (0..row).rev().find(|at| is_rule(&rows[*at]))?;
    marked(rows, above + 1, below, view, markers, hints)
}

/// Takes rows up to `end` for a composer whose first row has a marker.
pub(crate) fn marked<'a>(
    rows: &'a [Row],
    first: usize,
    end: usize,
    view: &View,
    markers: &[char],
    hints: &[&str],
) -> Option<TextBox<'a>> {
    let lines = &rows[first..end];
    let start = marker(&lines.first()?.text, markers)?;
    let at_start = view.cursor == (start, first);
    (view.cursor.0 >= start).then(|| TextBox::new(lines, start, at_start, hints))
}

/// Finds a composer in a frame, with this sign before its text.
pub(crate) fn framed<'a>(rows: &'a [Row], view: &View, sign: char) -> Option<TextBox<'a>> {
    let (first, end) = frame(rows, view)?;
    marked(rows, first, end, view, &[sign], &[])
}

/// Returns the rows of the frame that the cursor is in: the first, and the one behind the last.
pub(crate) fn frame(rows: &[Row], view: &View) -> Option<(usize, usize)> {
    let row = view.cursor.1;
    let is_inside = |at: usize| begins(rows, at, '│');
    let below = (row..rows.len()).find(|at| !is_inside(*at))?;
    let above = (0..row).rev().find(|at| !is_inside(*at))?;
    let is_framed = is_inside(row) && begins(rows, above, '╭') && begins(rows, below, '╰');
    is_framed.then_some((above + 1, below))
}

/// Returns whether there is such a row, and it begins with a sign.
pub(crate) fn begins(rows: &[Row], at: usize, sign: char) -> bool {
    let row = rows.get(at);
    row.is_some_and(|row| row.text.trim_start().starts_with(sign))
}

/// Returns the column behind a composer's marker and the blank that follows it, frame included.
fn marker(text: &str, markers: &[char]) -> Option<usize> {
    let inside = text.trim_start_matches([' ', '│']);
    let before = text.chars().count() - inside.chars().count();
    let rest = inside.strip_prefix(markers)?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(before + 2)
}

fn continues(row: &Row, start: usize) -> bool {
    let framed = row.text.starts_with('│');
    let mut before = row.text.chars().take(start);
    before.all(|char| char == ' ' || char == '│') && (framed || row.text.chars().count() > start)
}

fn after(text: &str, column: usize) -> &str {
    let at = text.char_indices().nth(column);
    at.map_or("", |(at, _)| &text[at..])
}

/// Returns whether `shown` is `[paste #N +L lines]` or `[paste #N C chars]` for a pasted text, as Pi's text field and its
/// descendants show a long one.
pub(crate) fn numbered_paste(shown: &str, pasted: &str) -> bool {
    let rest = shown.strip_prefix("[paste #").unwrap_or_default();
    let (lines, chars) = (pasted.split('\n').count(), pasted.encode_utf16().count());
    let count = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    count.len() < rest.len()
        && (count == format!(" +{lines} lines]") || count == format!(" {chars} chars]"))
}

pub(crate) fn is_rule(row: &Row) -> bool {
    let line = row.text.trim_start().trim_start_matches(['╭', '╰']);
    line.chars().take_while(|char| *char == '─').count() >= RULE_CHARS_MIN
}

/// Returns whether a row is a chosen one of numbered answers: `❯ 1. Yes`.
pub(crate) fn is_choice(row: &Row) -> bool {
    let inside = row.text.trim_start_matches([' ', '│']);
    let Some(rest) = inside.strip_prefix(['❯', '›', '●', '▶', '>']) else {
        return false;
    };
    let (number, words) = rest.trim_start().split_once('.').unwrap_or_default();
    !number.is_empty()
        && number.len() <= 2
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && words.starts_with(' ')
}
