//! Rules that fit a project, from what its sessions did: which commands verify it, and what changed with nothing run
//! (spec RULE-22).

mod text;

use std::collections::{BTreeMap, BTreeSet};

use journal::{Evidence, SummaryKind, SummaryVerdict, Task, Timestamp, ToolCall, ToolKind};

use crate::catalogue::Catalogue;
use crate::judging::Ending;
use crate::policy::Policy;
use crate::rules::{Kind, RuleSet};
use crate::shell::{self, Simple};

pub use text::{RuleHistory, Suggested, suggest};

/// Names of tasks that verify a project, the best first.
const VERIFYING: [&str; 7] = ["test", "tests", "unit", "check", "ci", "verify", "lint"];
/// What launches a program of a project's own environment, the longest first.
const LAUNCHERS: [&str; 6] = [
    "uv run python -m",
    "python3 -m",
    "python -m",
    "poetry run",
    "uv run",
    "npx",
];
/// The most words of a command that name it.
const WORDS_MAX: usize = 3;

/// How often a command was run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// All of them that ended.
    pub times: u64,
    /// Those that passed.
    pub passed: u64,
    /// When it was run last.
    pub last: Timestamp,
    /// The turns with a change of such files in which it was run, by the files' ending.
    with: BTreeMap<String, u64>,
}

/// How often files with an ending changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The turns in which one did.
    pub turns: u64,
    /// Those that ended with nothing run.
    pub nothing_run: u64,
    /// One of the files.
    pub example: String,
    /// When one changed last.
    pub last: Timestamp,
}

/// What the sessions of a project did.
#[derive(Clone, Debug, Default)]
pub struct Habits {
    /// The turns that were examined.
    pub turns: u64,
    /// When the first of them began.
    pub since: Option<Timestamp>,
    commands: BTreeMap<String, Runs>,
    endings: BTreeMap<String, Changed>,
}

impl Habits {
    /// Takes a turn.
    pub fn add(
        &mut self,
        evidence: &Evidence,
        ending: Ending,
        at: Timestamp,
        policy: &Policy,
        tasks: &[Task],
    ) {
        self.turns += 1;
        self.since = Some(self.since.map_or(at, |since| since.min(at)));
        let files = evidence.changes.files().unwrap_or_default();
        let mut endings = BTreeSet::new();
        for file in files.iter().filter(|file| is_code(&file.path, policy)) {
            let Some(of) = ending_of(&file.path) else {
                continue;
            };
            let known = self.endings.entry(of.to_owned()).or_default();
            if endings.insert(of) {
                known.turns += 1;
                known.nothing_run += u64::from(ending.nothing_run);
            }
            known.example.clone_from(&file.path);
            known.last = known.last.max(at);
        }
        let mut seen = BTreeSet::new();
        for (at_call, call) in evidence.timeline.calls.iter().enumerate() {
            for command in verifying(evidence, at_call, call, policy, tasks) {
                let runs = self.commands.entry(command.clone()).or_default();
                runs.times += 1;
                runs.passed += u64::from(!failed(evidence, at_call, call));
                runs.last = runs.last.max(at);
                if seen.insert(command) {
                    for of in &endings {
                        *runs.with.entry((*of).to_owned()).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Takes a file that the project has, where no turn is known.
    pub fn add_file(&mut self, path: &str, policy: &Policy) {
        if let Some(of) = ending_of(path).filter(|_| is_code(path, policy)) {
            let known = self.endings.entry(of.to_owned()).or_default();
            known.turns += 1;
            if known.example.is_empty() {
                path.clone_into(&mut known.example);
            }
        }
    }

    /// Returns whether no change of code is known.
    pub fn is_empty(&self) -> bool {
        self.endings.is_empty()
    }
}

fn ending_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_plain = ending.chars().all(|c| c.is_ascii_alphanumeric());
    (!stem.is_empty() && is_plain && !ending.is_empty()).then_some(ending)
}

fn is_code(path: &str, policy: &Policy) -> bool {
    let taking = RuleSet::new(&policy.rules).taking(path, policy.sorting());
    taking
        .iter()
        .any(|rule| policy.rules[*rule].kind == Kind::Code)
}

fn failed(evidence: &Evidence, at: usize, call: &ToolCall) -> bool {
    let said = evidence.facts.outcome(at);
    let by_output = said.is_some_and(|said| {
        let mut verdicts = said.summaries.iter().map(|summary| summary.verdict);
        verdicts.any(|verdict| verdict == SummaryVerdict::Failed)
    });
    call.is_error || by_output
}

/// Returns the commands of a call that verify something, as rules write them.
fn verifying(
    evidence: &Evidence,
    at: usize,
    call: &ToolCall,
    policy: &Policy,
    tasks: &[Task],
) -> Vec<String> {
    if call.kind != ToolKind::Shell || call.refused || !call.finished {
        return Vec::new();
    }
    let given = call.command.as_deref().unwrap_or_default();
    let line = shell::read(given);
    let ran: Vec<&Simple> = line
        .commands
        .iter()
        .filter(|simple| simple.certain && !shell::is_dry(simple))
        .collect();
    let mut found: Vec<String> = ran
        .iter()
        .filter_map(|simple| named(simple, policy, tasks))
        .map(|name| launched(given, name))
        .collect();
    let tests = |kind| kind == SummaryKind::Tests;
    let said = evidence.facts.outcome(at);
    let shows_tests = said.is_some_and(|said| said.summaries.iter().any(|said| tests(said.kind)));
    // What printed the result of tests, if nothing else of the line can have.
    if let (true, true, [only]) = (found.is_empty(), shows_tests, ran.as_slice()) {
        found.extend(own_name(only));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the name of a command that a rule or a task file knows.
fn named(simple: &Simple, policy: &Policy, tasks: &[Task]) -> Option<String> {
    let words = simple.words.join(" ");
    let task = tasks
        .iter()
        .filter(|task| rank(&task.name).is_some())
        .flat_map(calls_of)
        .find(|call| begins_with(&words, call));
    if task.is_some() {
        return task;
    }
    let rules = RuleSet::new(&policy.rules);
    let actions = policy.rules.iter().flat_map(|rule| &rule.actions);
    let evidence: Vec<_> = actions
        .filter(|action| action.purpose == "tests")
        .flat_map(|action| &action.evidence)
        .collect();
    let catalogue = Catalogue::built_in();
    // What was run, without the arguments after the words that are known.
    (1..=simple.words.len()).find_map(|count| {
        let begin = Simple {
            words: simple.words[..count].to_vec(),
            ..simple.clone()
        };
        let mut evidence = evidence.iter();
        let is_known = evidence.any(|text| rules.fits(text, &begin, catalogue));
        is_known.then(|| begin.words.join(" "))
    })
}

/// Returns the name of a command with what launched it in a line, as a person would type it.
fn launched(line: &str, name: String) -> String {
    let mut whole = LAUNCHERS.iter().map(|by| format!("{by} {name}"));
    whole.find(|whole| line.contains(whole)).unwrap_or(name)
}

/// Returns whether a line begins with the words of a command.
fn begins_with(line: &str, command: &str) -> bool {
    line.strip_prefix(command)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns the lines that run a task.
fn calls_of(task: &Task) -> Vec<String> {
    let (runner, name) = (task.runner.as_str(), task.name.as_str());
    let run = format!("{runner} run {name}");
    match runner {
        "npm" if name == "test" => vec![format!("npm {name}"), run],
        "npm" | "mise" | "deno" => vec![run],
        "pnpm" | "yarn" | "bun" => vec![format!("{runner} {name}"), run],
        _ => vec![format!("{runner} {name}")],
    }
}

/// Says how well a task's name fits one that verifies; less is better.
fn rank(name: &str) -> Option<usize> {
    VERIFYING.iter().position(|known| *known == name)
}

/// Returns the words that name a command which is not known.
fn own_name(simple: &Simple) -> Option<String> {
    let mut words = simple.words.iter();
    let mut name = vec![words.next()?.as_str()];
    let is_plain = |word: &&String| {
        let mut chars = word.chars();
        chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, ':' | '_' | '-'))
            && !word.starts_with('-')
    };
    let rest = words.take_while(is_plain).take(WORDS_MAX - 2);
    name.extend(rest.map(String::as_str));
    Some(name.join(" "))
}

#[cfg(test)]
mod tests;
