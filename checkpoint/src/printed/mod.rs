//! How the commands of a line ended, by what the line itself printed about them (spec EVID-18).
//!
//! Agents hide the end of a command (`tsc | tail -3; git status`) and have it printed instead: `echo "exit=$?"`, `&& echo OK`,
//! `|| echo FAILED`. Which command such a text speaks of follows from the flow of the line. So the line is run in thought:
//! each command that something depends on may pass or fail, and only those runs are kept that print what the output shows.
//! What all of them have in common is known. A text that is printed in any case proves nothing by itself.
//!
//! Two of these texts also frame what was printed between them. If that is nothing, so did the commands between them.

mod case;
mod choices;
mod printing;
mod programs;
mod run;
mod template;
#[cfg(test)]
mod tests;
mod unread;

use std::borrow::Cow;

use journal::{CommandEnd, Summary, SummaryKind, SummaryVerdict};

use crate::outcome;
use crate::shell::{self, Flow, Step};

use case::{Case, Steps, is_blank, lines};
use choices::Choices;
use run::{Fate, Finished, Run};
use template::Template;

pub use case::Shown;

const ENDS_MAX: usize = 32;
/// The most runs that are tried for one line.
const RUNS_MAX: usize = 2_048;
/// The most steps of all of them.
const STEPS_MAX: usize = 100_000;

/// Returns what follows from an output about how the commands of a line ended, and what of them it shows.
pub fn ends(line: &str, output: &str, shown: Shown<'_>) -> Vec<CommandEnd> {
    let flow = shell::read_flow(line);
    let mut ends = followed(line, &flow, output, shown);
    unread::note(&flow, || without_own(line, output), shown, &mut ends);
    ends.truncate(ENDS_MAX);
    ends
}

fn followed(line: &str, flow: &Flow<Step>, output: &str, shown: Shown<'_>) -> Vec<CommandEnd> {
    let prints = ["echo", "printf", "Write-"]
        .iter()
        .any(|word| line.contains(word));
    let lines = lines(output);
    let is_empty = lines.iter().all(|line| is_blank(line, true));
    // Another command may have printed that output, and only a compiler could have failed in silence.
    let Some(steps) = Steps::of(flow) else {
        return Vec::new();
    };
    let tells = || steps.steps.iter().any(|step| programs::is_telling(step));
    if !prints && !is_empty && !tells() {
        return Vec::new();
    }
    // Some of what it prints may not be in the flow: texts of loops and of functions.
    let printers = steps
        .steps
        .iter()
        .filter(|step| template::prints(&step.words))
        .count();
    if line.matches("echo").count() + line.matches("printf").count() > printers {
        return Vec::new();
    }
    let case = Case::new(steps, &lines, shown);
    let said = outcome::read(&without_own(line, output));
    conclude(&case, &runs(&case, flow), &said)
}

/// Returns an output without the lines that `echo` and `printf` of its own line printed: they say what the line says, not what
/// its commands did.
pub fn without_own<'o>(line: &str, output: &'o str) -> Cow<'o, str> {
    if !["echo", "printf", "Write-"]
        .iter()
        .any(|word| line.contains(word))
    {
        return Cow::Borrowed(output);
    }
    let own: Vec<Template> = shell::read(line)
        .commands
        .iter()
        .filter(|simple| template::prints(&simple.words))
        .filter_map(|simple| Template::of(&simple.words))
        .filter(Template::is_known)
        .collect();
    let is_own = |text: &str| {
        own.iter()
            .any(|template| template.values(text.trim()).is_some())
    };
    if !output.lines().any(is_own) {
        return Cow::Borrowed(output);
    }
    let others = output.lines().filter(|text| !is_own(text));
    Cow::Owned(others.flat_map(|text| [text, "\n"]).collect())
}

/// Returns the runs of the line that print what the output shows.
fn runs<'c>(case: &'c Case<'c>, flow: &Flow<Step>) -> Vec<Finished<'c>> {
    let mut kept = Vec::new();
    let mut choices = Choices::default();
    let mut steps = 0;
    for _ in 0..RUNS_MAX {
        let mut run = Run::new(case, std::mem::take(&mut choices));
        run.follow(flow);
        steps += run.steps;
        let is_possible = run.is_possible();
        let (finished, made) = run.finished();
        choices = made;
        kept.extend(is_possible.then_some(finished));
        if !choices.advance() {
            return kept;
        }
        if steps > STEPS_MAX {
            break;
        }
    }
    Vec::new()
}

/// Returns what all runs have in common. `said` is what the output reports on.
fn conclude(case: &Case<'_>, runs: &[Finished<'_>], said: &[Summary]) -> Vec<CommandEnd> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let is_whole = case.shown == Shown::Whole;
    let fails =
        |said: &Summary| said.verdict == SummaryVerdict::Failed && said.kind != SummaryKind::Lint;
    let is_well = !said.iter().any(fails);
    let differs = is_whole && tests_differ(said);
    let mut ends = Vec::new();
    for (at, step) in case.steps.steps.iter().enumerate() {
        let Some(place) = step.place.filter(|_| programs::is_of_interest(step)) else {
            continue;
        };
        let verdict = verdict(at, runs);
        let ran = runs.iter().all(|run| run.fate(at) != Fate::NotRun);
        // Of a command that decides, the status of the call says more.
        let may_be_well = matches!(verdict, None | Some(SummaryVerdict::Passed)) && !step.decides;
        let is_quiet = || {
            first.is_silent(at) || (is_well && programs::is_telling(step) && first.would_tell(at))
        };
        let silent = is_whole && ran && may_be_well && is_quiet();
        let own = (differs && ran).then(|| first.own_part(at)).flatten();
        let summaries = own.map_or(Vec::new(), |own| outcome::read(&own.join("\n")));
        let says = verdict.is_some() || silent || !summaries.is_empty();
        if says && ends.len() < ENDS_MAX {
            ends.push(CommandEnd {
                place,
                program: step.words.first().cloned().unwrap_or_default(),
                verdict,
                silent,
                summaries,
                ..CommandEnd::default()
            });
        }
    }
    ends
}

/// Returns the outcome of a command in all runs.
fn verdict(at: usize, runs: &[Finished<'_>]) -> Option<SummaryVerdict> {
    let all = |fates: &[Fate]| runs.iter().all(|run| fates.contains(&run.fate(at)));
    if all(&[Fate::Passed]) {
        Some(SummaryVerdict::Passed)
    } else if all(&[Fate::NotRun]) {
        Some(SummaryVerdict::RanNothing)
    } else if all(&[Fate::Failed, Fate::NotRun]) {
        Some(SummaryVerdict::Failed)
    } else {
        None
    }
}

/// Returns whether an output says both that tests passed and that tests failed.
fn tests_differ(said: &[Summary]) -> bool {
    let any = |verdict| {
        let is_one = |said: &Summary| said.kind == SummaryKind::Tests && said.verdict == verdict;
        said.iter().any(is_one)
    };
    any(SummaryVerdict::Passed) && any(SummaryVerdict::Failed)
}
