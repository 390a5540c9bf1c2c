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

/// Returns a table's rows without its header; `None` without a table.
pub(super) fn rows(lines: &[String]) -> Option<Vec<Vec<String>>> {
    let table: Vec<&str> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| line.starts_with('|'))
        .collect();
    let is_rule = |line: &&str| line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let rule = table.iter().position(is_rule)?;
    let cells = |line: &&str| {
        let inner = line.trim_start_matches('|').replace("\\|", "\u{0}");
        let inner = inner.strip_suffix('|').unwrap_or(&inner);
        inner
            .split('|')
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect()
    };
    Some(table[rule + 1..].iter().map(cells).collect())
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
