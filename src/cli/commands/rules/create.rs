//! `rules new`: asks a few questions, and writes a rule with its example.

use std::io::{BufRead, IsTerminal as _, Write as _};
use std::path::Path;

use actors::project;
use checkpoint::config::Config;
use clap::Args;
use journal::Home;
use serde_json::Value;

use super::examples;
use crate::cli::commands::trust;
use crate::error::{Failure, Result, exit};
use crate::render;

/// The answers to the questions, given in advance.
#[derive(Args, Debug)]
pub(crate) struct NewRule {
    /// What kind of files it is about, for example `database schema`
    #[arg(long)]
    name: Option<String>,
    /// The files, as a glob, for example 'migrations/**'
    #[arg(long)]
    include: Option<String>,
    /// What the agent is asked to do, for example 'Run the migration against a copy'
    #[arg(long)]
    text: Option<String>,
    /// The command that shows that it was done, for example 'make migrate-test'
    #[arg(long)]
    command: Option<String>,
    /// One of the files, for the example
    #[arg(long)]
    changed: Option<String>,
}

/// Asks what was not given, and adds the rule to the project's file.
pub(super) fn create(home: &Home, config: &Config, top: &Path, given: NewRule) -> Result<u8> {
    let mut answers = std::io::stdin().lock();
    let mut ask = |given, question| ask(given, question, &mut answers);
    let name = ask(
        given.name,
        "What kind of files is it about, for example `database schema`?",
    )?;
    let include = ask(
        given.include,
        "Which files, as a glob, for example `migrations/**`?",
    )?;
    let text = ask(
        given.text,
        "What should the agent do, for example `Run the migration against a copy`?",
    )?;
    let command = ask(
        given.command,
        "Which command shows that it was done, for example `make migrate-test`?",
    )?;
    let changed = ask(given.changed, "Name one of the files, for the example:")?;
    let entry = entry(&name, &include, &text, &command, &changed);
    let path = top.join(project::FILE);
    let before = match project::text(&path) {
        Ok(before) => before,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let shown = path.display();
            return Err(Failure::failed(format!("cannot read {shown}: {error}")));
        }
    };
    let cannot = |why: String| {
        Failure::failed(why).hint(format!(
            "nothing was written; the rule is\n{}",
            indented(&entry, 2)
        ))
    };
    let after = added(&before, &entry).ok_or_else(|| {
        cannot(format!(
            "the list `rules` of {} is not one rule a line",
            project::FILE
        ))
    })?;
    let file = config
        .project_file(project::FILE, &after)
        .map_err(|error| cannot(error.to_string()))?;
    let policy = config.policy_with(&project::facts(top), Some(&file), true);
    let tested = examples::run(&file, &policy, top);
    let failed = tested
        .iter()
        .find(|tested| tested.rule == name && !tested.passed);
    if let Some(failed) = failed {
        let asked = failed.asked.join("; ");
        return Err(cannot(format!(
            "its example fails: after a change of {changed}, this is asked: {}",
            if asked.is_empty() { "nothing" } else { &asked }
        )));
    }
    let was_trusted = before.is_empty()
        || actors::trust::Trust::of(home).standing(top, &before)
            == actors::trust::Standing::Trusted;
    std::fs::write(&path, &after)?;
    println!("Added to {}:\n{}", render::path(&path), indented(&entry, 2));
    if was_trusted {
        trust::take(home, config, top)?.print();
    } else {
        println!("The file is not trusted: read it, then `checkpointd rules trust`.");
    }
    Ok(exit::OK)
}

/// Returns an answer: the given one, or what a person types. An empty line is no answer, so the question comes again.
fn ask(given: Option<String>, question: &str, answers: &mut impl BufRead) -> Result<String> {
    let mut answer = given.unwrap_or_default().trim().to_owned();
    while answer.is_empty() {
        if std::io::stdin().is_terminal() {
            eprint!("{question} ");
            std::io::stderr().flush()?;
        }
        if answers.read_line(&mut answer)? == 0 {
            return Err(Failure::usage(format!("no answer to: {question}"))
                .hint("`checkpointd rules new --help` lists the options that answer in advance"));
        }
        answer = answer.trim().to_owned();
    }
    Ok(answer)
}

/// Returns the lines of a rule, without indentation.
fn entry(name: &str, include: &str, text: &str, command: &str, changed: &str) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let text = quoted(&format!("{text} (`{command}`)"));
    let [name, include, command, changed] = [name, include, command, changed].map(quoted);
    format!(
        "- name: {name}\n  include: [{include}]\n  actions:\n    - text: {text}\n      evidence: [{command}]\n  expect:\n    \
         - changed: [{changed}]\n      asks: [{text}]\n    - changed: [{changed}]\n      ran: [{command}]\n      asks: []\n"
    )
}

fn indented(text: &str, by: usize) -> String {
    let indent = " ".repeat(by);
    text.lines()
        .map(|line| format!("{indent}{line}\n"))
        .collect()
}

/// Returns a file with a rule before its other rules; none if its list of rules is not one that can be added to.
fn added(before: &str, entry: &str) -> Option<String> {
    let is_rules = |line: &&str| line.trim_end() == "rules:" || line.starts_with("rules: ");
    let Some(head) = before.lines().find(is_rules) else {
        let gap = if before.is_empty() || before.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        return Some(format!("{before}{gap}rules:\n{}", indented(entry, 2)));
    };
    if !["rules:", "rules: []"].contains(&head.trim_end()) {
        return None;
    }
    let start = head.as_ptr() as usize - before.as_ptr() as usize;
    let rest = before[start + head.len()..]
        .strip_prefix('\n')
        .unwrap_or("");
    let first = rest.lines().find(|line| line.trim_start().starts_with('-'));
    let indent = first.map_or(2, |line| line.len() - line.trim_start().len());
    Some(format!(
        "{}rules:\n{}{rest}",
        &before[..start],
        indented(entry, indent)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_alone_is_no_answer_and_loses_none() {
        let mut typed = &b"\n  \nschema\nsrc/**\n"[..];
        let mut answer = |given: Option<&str>| ask(given.map(str::to_owned), "?", &mut typed);
        assert_eq!(answer(None).expect("an answer"), "schema");
        assert_eq!(answer(Some("given")).expect("an answer"), "given");
        assert_eq!(answer(Some(" ")).expect("an answer"), "src/**");
        assert!(answer(None).is_err(), "nothing more is typed");
    }

    #[test]
    fn a_rule_is_added_to_the_list_that_is_there() {
        for (before, expected) in [
            ("", Some("rules:\n  - a\n")),
            ("min_turn: 1m", Some("min_turn: 1m\nrules:\n  - a\n")),
            ("rules: []\nx: 1\n", Some("rules:\n  - a\nx: 1\n")),
            ("rules:\n- b\nx: 1\n", Some("rules:\n- a\n- b\nx: 1\n")),
            (
                "rules:\n    # why\n    - b\n",
                Some("rules:\n    - a\n    # why\n    - b\n"),
            ),
            ("rules: [{name: b}]\n", None),
        ] {
            assert_eq!(added(before, "- a\n").as_deref(), expected, "{before:?}");
        }
    }
}
