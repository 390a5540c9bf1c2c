//! The forms of lines, read from `prints:` in the catalogue.
//!
//! A row holds a tool (`-` for none), a kind, what the form says, and a pattern, which has to match a whole line without the
//! blanks around it. `%N` in a pattern is a whole number, `%D` a duration. Rows of no tool count if no others fit a line.

use std::sync::LazyLock;

use journal::{SummaryKind, SummaryVerdict};
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::counts::Style;
use crate::catalogue::Catalogue;
use crate::catalogue::Counted;

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// All counts of a run.
    Counts(Style),
    /// Some of the counts; the others are in lines nearby, if they are not zero.
    Part(Style),
    /// Some of the counts; the others are in lines nearby, even if they are zero.
    Full(Style),
    /// Counts of files or suites: only failures say something that the counts of tests do not.
    Suites(Style),
    /// How the run ended.
    Verdict(SummaryVerdict),
    /// How one of several runs ended.
    Item(SummaryVerdict),
    /// A run whose end a later line tells.
    Opens(Style),
    /// The end of a block that an earlier line opened.
    Closes(SummaryVerdict),
    /// One item of a list with a plan, or the plan.
    Tally(Counted),
}

/// The form of a line.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) tool: &'static str,
    pub(super) kind: SummaryKind,
    pub(super) says: Says,
    groups: Option<Regex>,
}

impl Row {
    /// Calls `note` with the counts in the groups of the pattern.
    pub(super) fn groups(&self, line: &str, mut note: impl FnMut(Counted, u64)) {
        let groups = self.groups.as_ref();
        let Some(found) = groups.and_then(|groups| groups.captures(line.as_bytes())) else {
            return;
        };
        for (what, name) in [
            (Counted::Passed, "passed"),
            (Counted::Failed, "failed"),
            (Counted::Skipped, "skipped"),
            (Counted::Total, "total"),
        ] {
            let group = found.name(name);
            let digits = group.and_then(|group| std::str::from_utf8(group.as_bytes()).ok());
            if let Some(number) = digits.and_then(|digits| digits.replace(',', "").parse().ok()) {
                note(what, number);
            }
        }
    }
}

/// What no certain tool prints is a few words; a longer line is prose of the same form.
const PROSE_BYTES_MAX: usize = 120;

struct Table {
    rows: Vec<Row>,
    set: RegexSet,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| load().expect("the catalogue is a constant that a test reads"));

/// Adds to `found` the form that a line has, the first of the tables; and before it, forms that only end what is open.
pub(super) fn find(line: &str, found: &mut Vec<&'static Row>) {
    let table = &*TABLE;
    for index in table.set.matches(line.as_bytes()) {
        let row = &table.rows[index];
        if row.tool.is_empty() && line.len() > PROSE_BYTES_MAX {
            continue;
        }
        found.push(row);
        if !matches!(row.says, Says::Closes(_)) {
            return;
        }
    }
}

fn load() -> Result<Table, String> {
    let languages = Catalogue::built_in().languages().iter();
    let lines = languages.flat_map(|language| language.prints.lines());
    let lines = lines.filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| row(line).map_err(|problem| format!("{problem}: {line}")));
    let mut found: Vec<(Row, String)> = rows.collect::<Result<_, _>>()?;
    found.sort_by_key(|(row, _)| row.tool.is_empty());
    let (rows, patterns): (Vec<Row>, Vec<String>) = found.into_iter().unzip();
    let set = RegexSetBuilder::new(&patterns).unicode(false).build();
    let set = set.map_err(|problem| problem.to_string())?;
    Ok(Table { rows, set })
}

const DURATION: &str = r"[0-9][0-9.,:]*(?: ?(?:[a-z]|µ)+\.?)?(?:,? ?[0-9.]+ ?[a-z]+)*";

fn row(line: &'static str) -> Result<(Row, String), String> {
    let (tool, rest) = column(line)?;
    let (kind, rest) = column(rest)?;
    let (says, pattern) = column(rest)?;
    let pattern = pattern
        .replace("%N", "[0-9][0-9,]*")
        .replace("%D", DURATION);
    let pattern = format!("^(?:{pattern})$");
    let says = says_of(says).ok_or("what it says is not known")?;
    let uses_groups = matches!(
        says,
        Says::Counts(Style::Groups) | Says::Tally(Counted::Total)
    );
    let groups = uses_groups.then(|| RegexBuilder::new(&pattern).unicode(false).build());
    let row = Row {
        tool: if tool == "-" { "" } else { tool },
        kind: kind_of(kind).ok_or("the kind is not known")?,
        says,
        groups: groups.transpose().map_err(|problem| problem.to_string())?,
    };
    Ok((row, pattern))
}

fn column(line: &'static str) -> Result<(&'static str, &'static str), String> {
    let (column, rest) = line.split_once(' ').ok_or("a column is missing")?;
    Ok((column, rest.trim_start()))
}

fn kind_of(word: &str) -> Option<SummaryKind> {
    Some(match word {
        "tests" => SummaryKind::Tests,
        "build" => SummaryKind::Build,
        "types" => SummaryKind::Types,
        "lint" => SummaryKind::Lint,
        "format" => SummaryKind::Format,
        "other" => SummaryKind::Other,
        _ => return None,
    })
}

fn says_of(word: &str) -> Option<Says> {
    use SummaryVerdict::{Failed, Passed, RanNothing};
    Some(match word {
        "counts" => Says::Counts(Style::Before),
        "counts-after" => Says::Counts(Style::After),
        "counts-in-groups" => Says::Counts(Style::Groups),
        "part" => Says::Part(Style::Before),
        "full" => Says::Full(Style::Before),
        "full-after" => Says::Full(Style::After),
        "suites" => Says::Suites(Style::Before),
        "passed" => Says::Verdict(Passed),
        "failed" => Says::Verdict(Failed),
        "nothing" => Says::Verdict(RanNothing),
        "item-failed" => Says::Item(Failed),
        "item-passed" => Says::Item(Passed),
        "opens" => Says::Opens(Style::Before),
        "passes-if-open" => Says::Closes(Passed),
        "plan" => Says::Tally(Counted::Total),
        "planned-passed" => Says::Tally(Counted::Passed),
        "planned-failed" => Says::Tally(Counted::Failed),
        "planned-skipped" => Says::Tally(Counted::Skipped),
        _ => return None,
    })
}

/// Returns the positions of all forms that a line has.
#[cfg(test)]
pub(super) fn positions(line: &str) -> Vec<usize> {
    TABLE.set.matches(line.as_bytes()).into_iter().collect()
}

#[cfg(test)]
pub(super) fn length() -> usize {
    TABLE.rows.len()
}

#[cfg(test)]
pub(super) fn pattern(position: usize) -> String {
    TABLE.set.patterns()[position].clone()
}
