//! The file that is suggested.

use std::fmt::Write as _;

use journal::{Task, Timestamp};

use super::{Changed, Habits, Runs, calls_of, rank};
use crate::catalogue::Catalogue;

/// The most endings of files that get a rule.
const RULES_MAX: usize = 4;
/// The most commands that are named.
const COMMANDS_MAX: usize = 12;
/// A rule that asked so often has shown what it is worth.
const ASKED_ENOUGH: u64 = 5;

/// How a rule of today did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleHistory<'a> {
    /// Its name.
    pub rule: &'a str,
    /// How often it asked.
    pub demanded: u64,
    /// How often what it asked for was done; none if it asks for nothing to do.
    pub met: Option<u64>,
    /// How often a person marked it wrong.
    pub wrong: u64,
}

/// What is suggested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested {
    /// A `.checkpointd.yml`, with the reasons as comments.
    pub text: String,
    /// How many rules are in it.
    pub rules: usize,
}

/// Suggests a rule for each kind of code that has a command which verifies it, if the rule `gains` something: it is asked
/// with one of the files and the command.
pub fn suggest(
    habits: &Habits,
    tasks: &[Task],
    rules: &[RuleHistory<'_>],
    gains: impl Fn(&str, &str) -> bool,
) -> Suggested {
    let mut out = String::from("# Suggested by `checkpointd rules suggest`");
    let since = habits.since.map(day).unwrap_or_default();
    let _ = match habits.turns {
        0 => writeln!(out, " from the project's files; no turn is known."),
        turns => writeln!(
            out,
            " from {turns} turns since {since} and the project's files."
        ),
    };
    commands(&mut out, habits);
    history(&mut out, rules);
    let mut endings: Vec<(&String, &Changed)> = habits.endings.iter().collect();
    endings.sort_by_key(|(_, changed)| std::cmp::Reverse(changed.turns));
    let (mut written, mut known) = (0, false);
    for (ending, changed) in endings {
        let command = command(habits, ending, changed, tasks);
        known |= command.is_some();
        let gains = |command: &String| written < RULES_MAX && gains(&changed.example, command);
        let Some(command) = command.filter(gains) else {
            continue;
        };
        if written == 0 {
            out.push_str("#\n# `checkpointd rules test` runs the examples. Delete what does not fit.\nrules:\n");
        }
        written += 1;
        rule(&mut out, habits, ending, changed, &command);
    }
    if written == 0 {
        out.push_str(if known {
            "#\n# The built-in rules ask for the same, so there is no rule to add.\nrules: []\n"
        } else {
            "#\n# Nothing is known that verifies this project, so there is no rule.\nrules: []\n"
        });
    }
    Suggested {
        text: out,
        rules: written,
    }
}

fn commands(out: &mut String, habits: &Habits) {
    let mut commands: Vec<(&String, &Runs)> = habits.commands.iter().collect();
    commands.sort_by_key(|(_, runs)| std::cmp::Reverse(runs.times));
    if !commands.is_empty() {
        out.push_str("#\n# What verified it so far:\n");
    }
    for (command, runs) in commands.into_iter().take(COMMANDS_MAX) {
        let (times, passed, last) = (runs.times, runs.passed, day(runs.last));
        let command = comment(command);
        let _ = writeln!(
            out,
            "#   {command}: runs {times}, passed {passed}, last on {last}"
        );
    }
}

/// Says which rules of today work, and which should go or change.
fn history(out: &mut String, rules: &[RuleHistory<'_>]) {
    for known in rules.iter().filter(|known| known.demanded >= ASKED_ENOUGH) {
        let (name, asked, wrong) = (comment(known.rule), known.demanded, known.wrong);
        let _ = match known.met {
            Some(met) if met == asked => {
                writeln!(
                    out,
                    "#\n# Rule `{name}` works: it asked {asked} times and was always met."
                )
            }
            met if met == Some(0) || wrong * 2 >= asked => {
                let met = met.map_or(String::new(), |met| format!(", was met {met} times"));
                writeln!(
                    out,
                    "#\n# Rule `{name}` should go or change: it asked {asked} times{met}, and was marked wrong {wrong} times.\n\
                     # To switch it off, add to `rules`: {{ name: {}, disable: true }}",
                    quoted(known.rule)
                )
            }
            _ => Ok(()),
        };
    }
}

/// Returns the command that verifies files with an ending: the one that was run most in turns that changed them, else a
/// task of the project, else the usual one of their language.
fn command(habits: &Habits, ending: &str, changed: &Changed, tasks: &[Task]) -> Option<String> {
    let with = |runs: &Runs| runs.with.get(ending).copied().unwrap_or(0);
    let run = habits.commands.iter().filter(|(_, runs)| with(runs) > 0);
    if let Some((command, _)) = run.max_by_key(|(_, runs)| (with(runs), runs.passed)) {
        return Some(command.clone());
    }
    let task = tasks
        .iter()
        .filter(|task| task.folder.is_empty() && !task.runner.is_empty())
        .filter_map(|task| Some((rank(&task.name)?, task)))
        .min_by_key(|(rank, _)| *rank);
    if let Some((_, task)) = task {
        return calls_of(task).into_iter().next();
    }
    let usual = Catalogue::built_in().language(&changed.example)?.usual();
    (!usual.is_empty()).then(|| usual.to_owned())
}

fn rule(out: &mut String, habits: &Habits, ending: &str, changed: &Changed, command: &str) {
    let _ = match habits.turns {
        0 => writeln!(
            out,
            "  # {} files of the project end with .{ending}.",
            changed.turns
        ),
        _ => writeln!(
            out,
            "  # .{ending} files changed in {} turns, last on {}; {} of these ended with nothing run after it.",
            changed.turns,
            day(changed.last),
            changed.nothing_run
        ),
    };
    let text = format!("Run `{command}` and look at its result");
    let (name, glob) = (format!("{ending} files"), format!("**/*.{ending}"));
    let (changed, command) = (quoted(&changed.example), quoted(command));
    let _ = write!(
        out,
        "  - name: {}\n    include: [{}]\n    actions:\n      - text: {}\n        purpose: tests\n        \
         evidence: [{command}]\n    expect:\n      - changed: [{changed}]\n        asks: [{command}]\n      \
         - changed: [{changed}]\n        ran: [{command}]\n        asks: []\n",
        quoted(&name),
        quoted(&glob),
        quoted(&text),
    );
}

/// Returns a text as a YAML string: JSON strings are.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a text for one line of a comment.
fn comment(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}
