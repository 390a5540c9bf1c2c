//! The README shows a real message, and stays short.

use super::read;
use crate::support::{Home, run};

/// Returns a message as one line, with the path of the way out taken out.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.split_once("`touch '") {
        Some((before, after)) => {
            let rest = after.split_once("'`").map_or("", |(_, rest)| rest);
            format!("{before}`touch PATH`{rest}")
        }
        None => line,
    }
}

#[test]
fn its_message_is_the_one_that_the_demo_shows() {
    let home = Home::new();
    let mut demo = home.command(env!("CARGO_BIN_EXE_checkpointd"), &["demo"]);
    let output = run(
        demo.env("HOME", home.path()).env("TMPDIR", home.path()),
        b"",
    );
    let said = String::from_utf8(output.stdout).expect("text");
    let first = said.lines().skip_while(|line| !line.contains('│'));
    let message: Vec<&str> = first
        .map_while(|line| line.trim_start().strip_prefix('│'))
        .collect();
    let readme = read("README.md");
    let shown = readme
        .split_once("<!-- message")
        .and_then(|(_, after)| after.split_once("```text\n")?.1.split_once("```"))
        .expect("a message");
    assert_eq!(plain(shown.0), plain(&message.join("\n")));
    assert!(plain(shown.0).starts_with("[checkpointd]"));
}

#[test]
fn it_is_short() {
    let lines = read("README.md").lines().count();
    assert!(
        lines <= 150,
        "README.md has {lines} lines: move some of it to docs/"
    );
}
