//! Manifests that are read line by line, or by their elements.

use std::collections::BTreeSet;

/// Returns the lines that are neither empty nor comments, without what follows `comment`.
pub(super) fn lines(text: &str, comment: &str) -> BTreeSet<String> {
    code_lines(text, comment).map(spaced).collect()
}

fn code_lines<'a>(text: &'a str, comment: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .map(move |line| line.split(comment).next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
}

/// Returns the text with single spaces.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the directives of a `go.mod` that name modules, blocks taken apart.
pub(super) fn go_module(text: &str) -> BTreeSet<String> {
    const DIRECTIVES: [&str; 5] = ["require", "replace", "exclude", "tool", "toolchain"];
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
        if DIRECTIVES.contains(&directive) {
            found.insert(format!("{directive} {}", spaced(rest)));
        }
    }
    found
}

/// Returns the lines of a `Gemfile` besides the version of Ruby.
pub(super) fn gemfile(text: &str) -> BTreeSet<String> {
    let mut lines = lines(text, "#");
    lines.retain(|line| !line.starts_with("ruby ") && !line.starts_with("ruby("));
    lines
}

/// Returns the elements of a `pom.xml` that name artifacts, and the properties that hold versions.
pub(super) fn maven(text: &str) -> BTreeSet<String> {
    const ELEMENTS: [&str; 5] = ["parent", "dependency", "plugin", "extension", "repository"];
    let text = without_comments(text);
    let mut found = BTreeSet::new();
    for name in ELEMENTS {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        found.extend(text.split(&open).skip(1).map(|rest| {
            let inner = rest.split(&close).next().unwrap_or_default();
            format!("{name} {}", spaced(inner))
        }));
    }
    let properties = text.split("<properties>").skip(1);
    let properties = properties.filter_map(|rest| rest.split("</properties>").next());
    let is_version = |line: &&str| line.contains("version");
    found.extend(
        properties
            .flat_map(str::lines)
            .filter(is_version)
            .map(spaced),
    );
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
