//! The README shows a real look back and a real message, and stays short.

use std::fs;
use std::process::Command;

use regex::Regex;

use super::{check_generated, read};
use crate::support::{Home, run};

/// The transcripts of `tests/data/readme`, and where the agents keep theirs.
const TRANSCRIPTS: [(&str, &str); 2] = [
    (
        "claude.jsonl",
        ".claude/projects/shop/7c1d9e52-0a6b-4f7e-9d3a-1b2c3d4e5f60.jsonl",
    ),
    (
        "codex.jsonl",
        ".codex/sessions/2026/11/24/rollout-2026-11-24T16-00-00-01a20e5c-71d4-7c02-9a55-3f6f0c1d2e3b.jsonl",
    ),
];

/// The files of their projects.
const FILES: [&str; 6] = [
    "code/shop/pyproject.toml",
    "code/shop/src/cart.py",
    "code/shop/tests/test_cart.py",
    "code/limiter/go.mod",
    "code/limiter/limit.go",
    "code/limiter/limit_test.go",
];

/// Returns a text whose block after a comment that begins with `<!-- NAME` is this one.
fn with_block(text: &str, name: &str, block: &str) -> String {
    let (before, after) = text.split_once(&format!("<!-- {name}")).expect("a comment");
    let (comment, after) = after.split_once("```text\n").expect("a block");
    let (_, after) = after.split_once("```").expect("an end");
    format!("{before}<!-- {name}{comment}```text\n{block}```{after}")
}

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
fn its_picture_is_what_lookback_prints() {
    let home = Home::new();
    let user = home.path().join("user");
    let write = |path: &str, text: &str| {
        let file = user.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("writes");
    };
    for (name, path) in TRANSCRIPTS {
        let text = read(&format!("tests/data/readme/{name}"));
        write(path, &text.replace("HOME", user.to_str().expect("text")));
    }
    FILES.iter().for_each(|path| write(path, "x\n"));
    for project in ["code/shop", "code/limiter"] {
        for arguments in [["init", "-q"], ["add", "."]] {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(user.join(project));
            assert!(run(&mut git, b"").status.success());
        }
    }
    let arguments = ["lookback", "--since", "2026-11-16"];
    let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments);
    let output = run(command.env("HOME", &user).env("TZ", "UTC"), b"");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("text");
    // The paths of the folder are in the transcripts, so their size differs.
    let size = Regex::new(r"(\d transcripts), \d+ KB").expect("a pattern");
    let picture = size.replace(&said, "$1, 8 KB");
    check_generated(
        "README.md",
        &with_block(&read("README.md"), "picture", &picture),
    );
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
    let after = said
        .lines()
        .skip_while(|line| !line.ends_with("checkpoint sent"));
    let is_message = |line: &&str| line.is_empty() || line.starts_with("        ");
    let message: Vec<&str> = after.skip(1).take_while(is_message).collect();
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
        lines <= 120,
        "README.md has {lines} lines: move some of it to docs/"
    );
}
