//! Classes of tests that are chosen by their names (spec EVID-23).

use crate::project::file_name;
use crate::shell::Simple;

/// Returns the patterns by which Maven or Gradle choose classes of tests. In their languages a file is named for its class.
pub(super) fn chosen(simple: &Simple) -> Vec<String> {
    let mut words = simple.words.iter().map(String::as_str);
    let options: &[&str] = match words.next() {
        Some("mvn" | "mvnw") => &["-Dtest", "-Dit.test"],
        Some("gradle" | "gradlew") => &["--tests"],
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        if options.contains(&option) {
            let value = value.or_else(|| words.next()).unwrap_or_default();
            found.extend(value.split(',').map(|part| part.trim().to_owned()));
        }
    }
    // What is left out does not say what is chosen.
    if found.iter().any(|part| part.starts_with('!')) {
        return Vec::new();
    }
    found
}

/// Returns whether a pattern may choose the class of a file: `ShopTest`, `com.shop.Shop*`, `ShopTest#buys`.
pub(super) fn chooses(pattern: &str, path: &str) -> bool {
    let stem = file_name(path).split('.').next().unwrap_or_default();
    let class = pattern.split('#').next().unwrap_or_default();
    let mut parts = class
        .split(['.', '$', '/', '*', '?'])
        .filter(|part| part.starts_with(|first: char| first.is_uppercase()))
        .peekable();
    let is_open = class.contains(['*', '?']);
    // Of a package all classes.
    parts.peek().is_none() || parts.any(|part| part == stem || (is_open && stem.contains(part)))
}
