//! Commands within sentences and tables: their names and options exist.

use std::collections::HashMap;

use super::documents;
use crate::support::{Home, run};

/// What the programs say of their own commands.
pub(super) struct Names {
    home: Home,
    /// The help of each command that was asked about; none where there is no such command.
    help: HashMap<String, Option<String>>,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            home: Home::new(),
            help: HashMap::new(),
        }
    }

    fn help(&mut self, words: &[&str]) -> Option<String> {
        let home = &self.home;
        let ask = || {
            let arguments = [words, &["--help"]].concat();
            let output = run(
                &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments),
                b"",
            );
            let text = String::from_utf8(output.stdout).expect("text");
            output.status.success().then_some(text)
        };
        let known = self.help.entry(words.join(" "));
        known.or_insert_with(ask).clone()
    }

    /// Returns what is wrong with a command line that begins with `checkpointd`.
    pub(super) fn problem(&mut self, line: &str) -> Option<String> {
        let line = line.split(" # ").next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let mut chain = Vec::new();
        let mut help = self.help(&[])?;
        for word in words.iter().take_while(|word| is_name(word)) {
            chain.push(*word);
            match self.help(&chain) {
                Some(lower) => help = lower,
                // An argument, if the command takes any.
                None if chain.len() > 1 => break,
                None => return Some(format!("there is no command `{word}`: {line}")),
            }
        }
        let options = words.iter().filter(|word| word.starts_with("--"));
        let mut names = options.map(|option| option.split('=').next().unwrap_or_default());
        let unknown = names.find(|option| !mentions(&help, option))?;
        Some(format!("there is no option `{unknown}`: {line}"))
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

fn mentions(help: &str, option: &str) -> bool {
    let mut words = help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | '='));
    words.any(|word| word == option)
}

/// Returns the code within the lines of a text.
fn spans(text: &str) -> Vec<String> {
    let paragraphs = text.split("\n\n");
    let code = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    let words = code.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    words.collect()
}

#[test]
fn every_command_in_a_sentence_exists() {
    let mut names = Names::new();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for document in documents() {
        for span in spans(&document.prose()) {
            if span.starts_with("checkpointd ") {
                checked += 1;
                let problem = names.problem(&span);
                wrong.extend(problem.map(|problem| format!("{}: {problem}", document.path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 100, "{checked}");
}

#[test]
fn wrong_names_are_found() {
    let mut names = Names::new();
    for line in [
        "checkpointd stauts",
        "checkpointd audit --sumary",
        "checkpointd journal backup --jsn FILE",
    ] {
        assert!(names.problem(line).is_some(), "{line}");
    }
    for line in [
        "checkpointd status",
        "checkpointd mute last --for 2h",
        "checkpointd journal backup FILE",
        "checkpointd rules test src/main.rs",
    ] {
        assert_eq!(names.problem(line), None, "{line}");
    }
}
