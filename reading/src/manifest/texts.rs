//! Manifests that are read line by line, or by their elements.

use std::collections::BTreeSet;

/// Returns the lines that are neither empty nor comments, besides those that begin with one of `without`.
pub(super) fn lines(text: &str, without: &[String]) -> BTreeSet<String> {
    let mut lines: BTreeSet<_> = code_lines(text, "#").map(spaced).collect();
    lines.retain(|line| !without.iter().any(|begin| line.starts_with(begin)));
    lines
}

fn code_lines<'a>(text: &'a str, comment: &'a str) -> impl Iterator<Item = &'a str> {
    let code = move |line: &'a str| line.split(comment).next().unwrap_or_default().trim();
    text.lines().map(code).filter(|line| !line.is_empty())
}

/// Returns the text with single spaces.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the directives of a `go.mod`, blocks taken apart.
pub(super) fn blocks(text: &str, directives: &[String]) -> BTreeSet<String> {
    let mut block = None;
    let mut found = BTreeSet::new();
    for line in code_lines(text, "//") {
        if line == ")" {
            block = None;
            continue;
        }
        let (first, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        if block.is_none() && rest.trim() == "(" {
            block = Some(first);
            continue;
        }
        let (directive, rest) = block.map_or((first, rest), |block| (block, line));
        if directives.iter().any(|known| known == directive) {
            found.insert(format!("{directive} {}", spaced(rest)));
        }
    }
    found
}

/// Returns elements of a `pom.xml`, and the properties that hold versions.
pub(super) fn elements(text: &str, names: &[String]) -> BTreeSet<String> {
    let text = without_comments(text);
    let mut found = BTreeSet::new();
    for name in names {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        found.extend(text.split(&open).skip(1).map(|rest| {
            let inner = rest.split(&close).next().unwrap_or_default();
            format!("{name} {}", spaced(inner))
        }));
    }
    let properties = text.split("<properties>").skip(1);
    let properties = properties.filter_map(|rest| rest.split("</properties>").next());
    let is_version = |line: &&str| line.contains("version");
    let lines = properties.flat_map(str::lines).filter(is_version);
    found.extend(lines.map(spaced));
    found
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once("-->").map_or("", |(_, rest)| rest));
    }
    kept
}
