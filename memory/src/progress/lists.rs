//! Lists and tables in the Markdown of agents.

/// Reads the beginning of an item: `- `, `* `, `1. `, with or without a box. Returns whether the box is ticked.
pub(super) fn bullet(line: &str) -> Option<(Option<bool>, &str)> {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if digits.len() < line.len() {
        digits.strip_prefix(". ").or(digits.strip_prefix(") "))
    } else {
        None
    };
    let item = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or(numbered)?;
    for (open, is_ticked) in [("[x] ", true), ("[X] ", true), ("[ ] ", false)] {
        if let Some(item) = item.strip_prefix(open) {
            return Some((Some(is_ticked), item.trim()));
        }
    }
    Some((None, item.trim()))
}

/// Returns a list's items. A line without a bullet continues the previous item; without any
/// bullets, each line is an item.
pub(super) fn items_with_boxes(lines: &[String]) -> Option<Vec<(Option<bool>, String)>> {
    let marked = lines.iter().any(|line| bullet(line).is_some());
    let mut items: Vec<(Option<bool>, String)> = Vec::new();
    let mut begun = false;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        begun = true;
        match (bullet(line), items.last_mut()) {
            (Some((ticked, item)), _) => items.push((ticked, item.to_owned())),
            (None, Some((_, item))) if marked => *item = format!("{item} {}", line.trim()),
            // Text that introduces a list, such as `If resuming from this checkpoint:`.
            (None, None) if marked => {}
            (None, _) => items.push((None, line.trim().to_owned())),
        }
    }
    items.retain(|(_, item)| !says_none(item));
    begun.then_some(items)
}

pub(super) fn items(lines: &[String]) -> Option<Vec<String>> {
    items_with_boxes(lines).map(|items| items.into_iter().map(|(_, item)| item).collect())
}

pub(super) struct Table {
    /// The titles of its columns, as [`word`] has them.
    titles: Vec<String>,
    /// The cells of each row.
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns what a row states in the column with this title; in a table without any such title, in the column at
    /// `place`. Nothing if the cell says that there is nothing.
    pub(super) fn cell<'a>(
        &self,
        row: &'a [String],
        title: &str,
        titles: &[&str],
        place: usize,
    ) -> Option<&'a str> {
        let by_title = self.titles.iter().position(|known| known == title);
        let has_titles = self
            .titles
            .iter()
            .any(|known| titles.contains(&known.as_str()));
        let index = by_title.or((!has_titles).then_some(place))?;
        let cell = row.get(index)?.trim_matches('`');
        (!matches!(cell, "" | "-") && word(cell) != "not_stated").then_some(cell)
    }
}

/// Reads a table; `None` without one.
pub(super) fn table(lines: &[String]) -> Option<Table> {
    let table: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| line.starts_with('|'))
        .collect();
    let is_rule = |line: &&str| line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let rule = table.iter().position(is_rule)?;
    let cells = |line: &&str| -> Vec<String> {
        let inner = line.trim_start_matches('|').replace("\\|", "\u{0}");
        let inner = inner.strip_suffix('|').unwrap_or(&inner);
        inner
            .split('|')
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect()
    };
    let titles = table[..rule].last().map(cells).unwrap_or_default();
    Some(Table {
        titles: titles.iter().map(|title| word(title)).collect(),
        rows: table[rule + 1..].iter().map(cells).collect(),
    })
}

pub(super) fn says_none(text: &str) -> bool {
    matches!(
        word(text).as_str(),
        "none" | "not_stated" | "nothing" | "n/a" | "no" | "" | "_none_" | "(none)" | "_"
    )
}

/// Turns a text into the fixed word for it (spec PROG-6): `In progress` is `in_progress`.
pub(super) fn word(text: &str) -> String {
    text.trim()
        .trim_matches(['`', '*', '.'])
        .to_lowercase()
        .replace([' ', '-'], "_")
}
