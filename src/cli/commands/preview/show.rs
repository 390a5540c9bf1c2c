//! A preview for people: the verdict and why, what changed, what each rule made of it, and the message.

use checkpoint::decide::Case;
use checkpoint::judging::Findings;
use journal::{Changes, Decision, TimelineSource, Verdict};

use crate::cli::text::explanation::with_figures;
use crate::cli::text::rule_trace;
use crate::ops::views::RulesView;
use crate::render::{self, Color};

/// The most files of a category that are named.
const FILES_MAX: usize = 8;

/// Prints a decision with its evidence and policy.
pub(super) fn show(case: &Case<'_>, decision: &Decision) {
    let inject = decision.verdict == Verdict::Inject;
    let color = if inject { Color::Green } else { Color::Yellow };
    let elapsed = decision.elapsed_ms.map_or("no turn".into(), |ms| {
        format!("turn of {}", render::duration_ms(ms))
    });
    let verdict = render::paint(color, &decision.verdict.to_string());
    let considered = case.considered();
    let why = considered.last().map_or("", |exit| &exit.why);
    let reason = with_figures(decision.reason, why);
    let agent = case.state.stream.agent;
    let said = format!("{reason}  ({elapsed}, {agent})");
    render::print_wrapped(&format!("{verdict}: "), &said);
    if decision.reason == journal::Reason::NoTurnStart {
        println!(
            "  `--session last` judges the last session; `--elapsed 90s` says how long a turn has lasted"
        );
    }
    let findings = case.find();
    show_files(case, &findings);
    show_timeline(case);
    let found = RulesView::new(findings.clone(), &case.evidence.timeline);
    let mut rules = Vec::new();
    rule_trace::show(&mut rules, &found.trace);
    rules.iter().for_each(|line| println!("{line}"));
    let observations = if inject {
        &decision.observations
    } else {
        &findings.observations
    };
    if !observations.is_empty() {
        heading("observations");
        observations
            .iter()
            .for_each(|line| render::print_wrapped("  ", &render::printable(line)));
    }
    if let Some(message) = &decision.message {
        heading("message");
        render::printable_lines(message)
            .lines()
            .for_each(|line| render::print_wrapped("  ", line));
    }
}

fn heading(text: &str) {
    println!("\n{}", render::paint(Color::Bold, text));
}

fn show_files(case: &Case<'_>, findings: &Findings) {
    heading("changed files");
    match &case.evidence.changes {
        Changes::NotAsked => println!("  not looked at"),
        Changes::Unknown(why) => println!("  not known: {}", render::printable(why)),
        Changes::Known(files) if files.is_empty() => println!("  none"),
        Changes::Known(files) => {
            let mut unclaimed: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            let rules = findings.trace.iter().filter(|rule| !rule.files.is_empty());
            for rule in rules {
                unclaimed.retain(|path| !rule.files.iter().any(|file| file == path));
                let label = format!("  {:24} ", rule.rule);
                render::print_wrapped(&label, &few(rule.files.iter().map(String::as_str)));
            }
            if !unclaimed.is_empty() {
                render::print_wrapped(
                    &format!("  {:24} ", "(no rule)"),
                    &few(unclaimed.into_iter()),
                );
            }
        }
    }
}

/// Names the first few of many files.
fn few<'a>(files: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = files.len().saturating_sub(FILES_MAX);
    let names: Vec<_> = files.take(FILES_MAX).map(render::printable).collect();
    if more == 0 {
        names.join(" ")
    } else {
        format!("{} and {more} more", names.join(" "))
    }
}

fn show_timeline(case: &Case<'_>) {
    let timeline = &case.evidence.timeline;
    let from = match timeline.source {
        TimelineSource::Transcript => "from the transcript",
        TimelineSource::Journal => "from the journal",
        TimelineSource::None => {
            "neither transcript nor journal has any calls, so nothing counts as done"
        }
    };
    heading("what the agent did");
    let failed = timeline.calls.iter().filter(|call| call.is_error).count();
    render::print_wrapped(
        "  ",
        &format!(
            "{}, {failed} failed; {from}",
            render::count(timeline.calls.len(), "call", "calls")
        ),
    );
}
