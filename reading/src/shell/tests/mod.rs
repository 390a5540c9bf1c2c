//! Tables of lines with their results, and properties over arbitrary ones.

mod commands;
mod files;
mod grammar;
mod properties;

use super::{Simple, read};

/// Writes a command as the tables do: `?` where it is uncertain, `~` where it does not decide, `@dir` at the end.
fn shown(simple: &Simple) -> String {
    let certain = if simple.certain { "" } else { "?" };
    let decides = if simple.decides { "" } else { "~" };
    let dir = simple
        .dir
        .as_ref()
        .map(|dir| format!(" @{dir}"))
        .unwrap_or_default();
    format!("{certain}{decides}{}{dir}", simple.words.join(" "))
}

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    let found: Vec<String> = read(line).commands.iter().map(shown).collect();
    assert_eq!(found, expected, "line: {line}");
}
