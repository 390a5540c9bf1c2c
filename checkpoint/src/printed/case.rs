//! A line, and what it printed.

use std::collections::HashMap;

use crate::shell::{Flow, Step};

use super::template::{self, Template};

/// The longest line of an output that a command of the line may have printed, and the most lines that are examined.
const LINE_BYTES_MAX: usize = 400;
const LINES_MAX: usize = 20_000;
/// The most commands of a line that is followed.
const STEPS_MAX: usize = 200;
/// What an output shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown<'a> {
    /// All that the line printed.
    Whole,
    /// Some of what the line printed.
    Part,
    /// What the line wrote to a file, or some of it.
    File(&'a str),
}

/// What task runners put before the command that they run.
const HEADINGS: [&str; 2] = ["> ", "$ "];

/// Beginnings of lines in which package managers refer to themselves.
const NOTICES: [&str; 3] = ["npm notice", "npm warn", "npm WARN"];

/// Returns whether a step runs tasks of a project.
pub(super) fn is_runner(step: &Step) -> bool {
    let program = step.words.first().map_or("", String::as_str);
    ["npm", "pnpm", "yarn", "bun"].contains(&program)
}

/// Returns whether a line is nothing, or what a task runner says besides what its task prints.
pub(super) fn is_blank(line: &str, any_runner: bool) -> bool {
    let begins = |heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
    line.is_empty() || begins(&NOTICES) || (any_runner && begins(&HEADINGS))
}

/// The lines of an output without the marks of a shell that does not know `\n`.
pub(super) fn lines(output: &str) -> Vec<&str> {
    let lines = output.lines().take(LINES_MAX).map(|line| {
        let mut line = line
            .rsplit('\r')
            .find(|part| !part.is_empty())
            .unwrap_or("")
            .trim();
        while let Some(rest) = line.strip_prefix("\\n") {
            line = rest.trim_start();
        }
        line.strip_suffix("\\n").unwrap_or(line)
    });
    let lines = lines.map(|line| if is_blank_note(line) { "" } else { line });
    lines
        .map(|line| {
            if line.len() > LINE_BYTES_MAX {
                "…"
            } else {
                line
            }
        })
        .collect()
}

/// How hosts write that nothing was printed.
fn is_blank_note(line: &str) -> bool {
    [
        "(Bash completed with no output)",
        "(no output)",
        "(empty)",
        "Output: (empty)",
        "(no content)",
    ]
    .contains(&line)
}

/// The simple commands of a line, by position.
pub(super) struct Steps<'a> {
    pub(super) steps: Vec<&'a Step>,
    pub(super) templates: Vec<Option<Template>>,
}

impl<'a> Steps<'a> {
    /// Returns the steps of a flow; none if it is too long to be followed.
    pub(super) fn of(flow: &'a Flow<Step>) -> Option<Self> {
        let mut steps = Vec::new();
        gather(flow, &mut steps);
        let templates = steps.iter().map(|step| {
            let prints = template::prints(&step.words);
            prints.then(|| Template::of(&step.words)).flatten()
        });
        let templates = templates.collect();
        (steps.len() <= STEPS_MAX).then_some(Self { steps, templates })
    }

    pub(super) fn position(&self, step: &Step) -> usize {
        let same = |known: &&&Step| std::ptr::eq(**known, step);
        self.steps
            .iter()
            .position(|known| same(&known))
            .unwrap_or(usize::MAX)
    }
}

fn gather<'a>(flow: &'a Flow<Step>, steps: &mut Vec<&'a Step>) {
    match flow {
        Flow::Run(step) => steps.push(step),
        Flow::Set(_, by) => by.iter().for_each(|by| gather(by, steps)),
        Flow::Not(inner) | Flow::Behind(inner) | Flow::Apart(inner) | Flow::Away(inner, _) => {
            gather(inner, steps);
        }
        Flow::Pipe(parts, _) | Flow::Seq(parts) => {
            parts.iter().for_each(|part| gather(part, steps));
        }
        Flow::Chain(first, rest) => {
            gather(first, steps);
            rest.iter().for_each(|(_, part)| gather(part, steps));
        }
        Flow::If(condition, then, other) => {
            gather(condition, steps);
            gather(then, steps);
            other.iter().for_each(|other| gather(other, steps));
        }
        Flow::Opaque => {}
    }
}

pub(super) struct Case<'a> {
    pub(super) steps: Steps<'a>,
    pub(super) lines: &'a [&'a str],
    pub(super) shown: Shown<'a>,
    /// How many lines have the form of each template.
    pub(super) counts: HashMap<usize, usize>,
    /// Whether something was left out.
    pub(super) cut: bool,
}

impl<'a> Case<'a> {
    pub(super) fn new(steps: Steps<'a>, lines: &'a [&'a str], shown: Shown<'a>) -> Self {
        let counts = steps
            .templates
            .iter()
            .enumerate()
            .filter_map(|(at, template)| {
                let template = template.as_ref()?;
                let fitting = lines.iter().filter(|line| template.values(line).is_some());
                Some((at, fitting.count()))
            });
        let counts = counts.collect();
        let is_note = |line: &&&str| {
            let brackets = line.contains('[') || line.contains('…') || line.contains("...");
            brackets
                && (line.contains("truncated")
                    || line.contains("trimmed")
                    || line.contains("omitted"))
        };
        Self {
            steps,
            lines,
            shown,
            counts,
            cut: shown != Shown::Whole || lines.iter().any(|line| is_note(&line)),
        }
    }

    /// Returns whether two texts are printed in the same form.
    pub(super) fn is_alike(&self, one: usize, other: usize) -> bool {
        self.steps.templates[one] == self.steps.templates[other]
    }

    /// Returns whether another command may have printed what is printed there.
    pub(super) fn is_ambiguous(&self, at: usize) -> bool {
        self.counts
            .get(&at)
            .is_some_and(|count| *count > self.alike(at))
    }

    /// Returns how many texts are printed in the form of one.
    pub(super) fn alike(&self, at: usize) -> usize {
        (0..self.steps.templates.len())
            .filter(|other| self.is_alike(at, *other))
            .count()
    }
}
