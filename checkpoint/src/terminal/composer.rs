//! Finds an agent's composer, where its user types, on a screen.
//!
//! A composer counts only where it is beyond doubt: in the agent's own form, with the cursor inside. Whatever else the
//! screen shows, a question above all, is left alone: an Enter would answer it.

use journal::Agent;

use super::screen::{Row, View, rows};

/// What a screen shows of the agent's composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Composer {
    /// It is there, and nothing is typed.
    Empty,
    /// Somebody's text stands in it, alone or together with ours.
    Draft,
    /// Our text stands in it, whole and alone, and was not sent.
    Ours,
    /// A question is up instead.
    Dialog,
    /// There is neither.
    Unknown,
}

/// How many characters of a long text have to be in sight to be taken for its end.
const TAIL_CHARS_MIN: usize = 40;
/// How many characters of a text's beginning make it known.
const BEGINNING_CHARS: usize = 60;
/// How many rows may stand between the upper rule of Gemini's composer and its first line.
const GEMINI_RULE_ROWS: usize = 4;
/// The column at which the text of Gemini's composer begins at most: in a frame.
const GEMINI_START_MAX: usize = 4;
/// The column at which the text of Codex's composer begins.
const CODEX_START: usize = 2;
/// The shortest line that is a rule.
const RULE_CHARS_MIN: usize = 10;

/// What agents write into an empty composer without dimming it.
const HINTS: [&str; 4] = [
    "Type your message",
    "Type your shell command",
    "Press up to edit queued messages",
    "Try \"",
];

/// Reads the composer on a screen, where `ours` is the text that we may have put there.
pub fn read(agent: Agent, view: &View, ours: &str) -> Composer {
    let rows = rows(&view.screen);
    let found = match agent {
        Agent::Claude => claude(&rows, view),
        Agent::Gemini => gemini(&rows, view),
        Agent::Codex => codex(&rows, view),
        Agent::Daemon => None,
    };
    match found {
        Some(typed) if typed.is_empty() => Composer::Empty,
        Some(typed) if typed.is(agent, ours) => Composer::Ours,
        Some(_) => Composer::Draft,
        None if rows.iter().any(is_choice) => Composer::Dialog,
        None => Composer::Unknown,
    }
}

/// Returns whether the screen shows the beginning of our text, wherever it is.
pub fn shows(view: &View, ours: &str) -> bool {
    let shown: String = rows(&view.screen)
        .iter()
        .flat_map(|row| bare(&row.text))
        .collect();
    let beginning: String = bare(ours).take(BEGINNING_CHARS).collect();
    !beginning.is_empty() && shown.contains(&beginning)
}

/// Composers break lines where they like: blanks say nothing.
fn bare(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !char.is_whitespace())
}

/// What stands in a composer.
struct Typed<'a> {
    /// Its lines, the marker and the frame taken off.
    lines: Vec<&'a str>,
    /// What stands there is a hint of the agent's.
    is_hint: bool,
}

impl<'a> Typed<'a> {
    /// Takes the lines of a composer whose marker ends at `column` of the first.
    fn of(rows: &'a [Row], column: usize, at_start: bool) -> Self {
        let inside = |row: &'a Row| after(&row.text, column).trim_end_matches('│').trim_end();
        let lines: Vec<_> = rows.iter().map(inside).collect();
        let first = lines.first().map_or("", |line| line.trim_start());
        let is_hint = at_start
            && (rows.iter().all(|row| row.is_dim)
                || HINTS.iter().any(|hint| first.starts_with(hint)));
        Self { lines, is_hint }
    }

    fn is_empty(&self) -> bool {
        self.is_hint || self.lines.iter().all(|line| line.trim().is_empty())
    }

    /// Returns whether all that stands there is our text, as far as it is in sight, or what the agent shows in its place.
    fn is(&self, agent: Agent, ours: &str) -> bool {
        let (shown, ours_bare): (String, String) =
            (bare(&self.lines.concat()).collect(), bare(ours).collect());
        if shown == ours_bare {
            return true;
        }
        let breaks = ours.matches('\n').count();
        let chars = ours.chars().count();
        let whole = self.lines.join(" ");
        let in_place = match agent {
            Agent::Claude => whole
                .trim()
                .strip_prefix("[Pasted text #")
                .is_some_and(|rest| {
                    rest.trim_start_matches(|c: char| c.is_ascii_digit())
                        == format!(" +{breaks} lines]")
                }),
            Agent::Gemini => [
                format!("[Pasted Text: {} lines]", breaks + 1),
                format!("[Pasted Text: {chars} chars]"),
            ]
            .iter()
            .any(|place| whole.trim() == place),
            Agent::Codex => whole.trim() == format!("[Pasted Content {chars} chars]"),
            Agent::Daemon => false,
        };
        // A composer of many lines shows only the last ones.
        in_place || shown.chars().count() >= TAIL_CHARS_MIN && ours_bare.ends_with(&shown)
    }
}

/// Claude Code: `❯ text` between two rules; in older versions `> text` in a frame.
fn claude<'a>(rows: &'a [Row], view: &View) -> Option<Typed<'a>> {
    let (column, row) = view.cursor;
    let below = (row + 1..rows.len()).find(|at| is_rule(&rows[*at]))?;
    let above = (0..row).rev().find(|at| is_rule(&rows[*at]))?;
    let lines = &rows[above + 1..below];
    let start = marker(&lines.first()?.text, &['❯', '>'])?;
    (column >= start).then(|| Typed::of(lines, start, (column, row) == (start, above + 1)))
}

/// Gemini CLI: ` > text` below a rule, or in a frame; ` * text` where it asks for no permission (`--yolo`). Behind ` ! `
/// it takes shell commands, which is no composer of ours.
fn gemini<'a>(rows: &'a [Row], view: &View) -> Option<Typed<'a>> {
    let (first, last, start) = open_composer(rows, view, &['>', '*'], GEMINI_START_MAX)?;
    let has_rule = (first.saturating_sub(GEMINI_RULE_ROWS)..first).any(|at| is_rule(&rows[at]));
    let asks = rows[last..].iter().any(is_choice);
    (has_rule && !asks).then(|| Typed::of(&rows[first..last], start, view.cursor == (start, first)))
}

/// Codex CLI: `› text` at the left edge. It shows the terminal's cursor, except while it asks something.
fn codex<'a>(rows: &'a [Row], view: &View) -> Option<Typed<'a>> {
    let (first, last, start) =
        open_composer(rows, view, &['›'], CODEX_START).filter(|_| view.cursor_shown)?;
    Some(Typed::of(
        &rows[first..last],
        start,
        view.cursor == (start, first),
    ))
}

/// Finds the rows from the last marker above the cursor to the end of the text around it, where nothing but that text
/// stands between, and the column behind the marker, which is no more than `start_max`: further in, a line of the text
/// itself may begin with such a sign.
fn open_composer(
    rows: &[Row],
    view: &View,
    signs: &[char],
    start_max: usize,
) -> Option<(usize, usize, usize)> {
    let (column, row) = view.cursor;
    let above = rows.get(..=row)?;
    let begins = |text: &str| marker(text, signs).filter(|start| *start <= start_max);
    let (first, start) = above
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, row)| Some((at, begins(&row.text)?)))?;
    let is_inside = above[first + 1..]
        .iter()
        .all(|row| row.text.is_empty() || continues(row, start));
    let last = row
        + 1
        + rows[row + 1..]
            .iter()
            .take_while(|row| continues(row, start))
            .count();
    (is_inside && column >= start).then_some((first, last, start))
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
    let blank = row
        .text
        .chars()
        .take(start)
        .all(|char| char == ' ' || char == '│');
    blank && (framed || row.text.chars().count() > start)
}

fn after(text: &str, column: usize) -> &str {
    text.char_indices()
        .nth(column)
        .map_or("", |(at, _)| &text[at..])
}

fn is_rule(row: &Row) -> bool {
    let line = row.text.trim_start().trim_start_matches(['╭', '╰']);
    line.chars().take_while(|char| *char == '─').count() >= RULE_CHARS_MIN
}

/// Returns whether a row is a chosen one of numbered answers: `❯ 1. Yes`.
fn is_choice(row: &Row) -> bool {
    let inside = row.text.trim_start_matches([' ', '│']);
    let Some(rest) = inside.strip_prefix(['❯', '›', '●', '>']) else {
        return false;
    };
    let (number, words) = rest.trim_start().split_once('.').unwrap_or_default();
    !number.is_empty()
        && number.len() <= 2
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && words.starts_with(' ')
}

#[cfg(test)]
#[path = "composer_tests.rs"]
mod tests;
