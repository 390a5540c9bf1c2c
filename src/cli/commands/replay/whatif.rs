//! `replay --policy`: what another configuration, or a file of rules, would have decided.

use std::path::Path;

use actors::project;
use checkpoint::config::Candidate;
use journal::{Home, Verdict};

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
use crate::ops::views::{ChangedDecision, ReadAs, WhatIf};
use crate::render::{self, Color, Column, Table};

/// Decides history again under a file.
pub(super) fn run(
    home: &Home,
    (session, machine): (Option<String>, Option<String>),
    file: &Path,
    output: Output,
) -> Result<u8> {
    let name = file.display().to_string();
    let text = project::text(file).map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}")).hint("`--help` describes its format")
    })?;
    if let Candidate::Rules(rules) = Candidate::read(&name, &text).map_err(Failure::usage)? {
        rules
            .check(&settings::load(home)?)
            .map_err(Failure::usage)?;
    }
    let query = Query::WhatIf {
        session,
        machine,
        name: name.clone(),
        text,
    };
    let answer: WhatIf = connection::ask_one_with(home, &query, progress("deciding again"))?;
    progress_done();
    output.print(&answer, |_| show(&name, &answer));
    Ok(exit::OK)
}

fn show(name: &str, answer: &WhatIf) {
    let how = if answer.read_as == ReadAs::Rules {
        "is a file of rules; they are merged into the policy of each decision"
    } else {
        "is a config.yml that replaces yours; projects' own files still apply"
    };
    render::print_wrapped("", &format!("{} {how}", render::printable(name)));
    let columns: [Column<'_, ChangedDecision>; 7] = [
        ("SEQ", &|line| line.seq.to_string()),
        ("AT", &|line| render::local_time(line.at)),
        ("AGENT", &|line| line.agent.to_string()),
        ("SESSION", &|line| text::short(line.session)),
        ("WAS", &|line| line.was.verdict.to_string()),
        ("NOW", &|line| line.now.verdict.to_string()),
        ("WHAT IS ASKED", &asked),
    ];
    let table = Table::of(&answer.changed, &columns)
        .optional(&[3, 1, 2])
        .colored(color_of);
    if !table.is_empty() {
        println!();
        table.print();
        println!();
    }
    let changed = answer.changed.iter();
    let turned = |from: Verdict, to: Verdict| {
        let verdicts = changed
            .clone()
            .map(|line| (line.was.verdict, line.now.verdict));
        verdicts.filter(|verdicts| *verdicts == (from, to)).count()
    };
    println!(
        "{} of {} would change: {}, {} fewer",
        answer.changed.len(),
        render::count(answer.decisions, "decision", "decisions"),
        render::count(
            turned(Verdict::Pass, Verdict::Inject),
            "more checkpoint",
            "more checkpoints"
        ),
        turned(Verdict::Inject, Verdict::Pass)
    );
    if answer.withheld > 0 {
        let why = "are withheld: their machines do not send what they were based on";
        render::print_wrapped("", &format!("{} {why}", answer.withheld));
    }
    if answer.earlier > 0 {
        let why = "were decided by an earlier version of checkpointd, and may change for that reason alone";
        render::print_wrapped("", &format!("{} {why}", answer.earlier));
    }
    for line in &answer.waiting {
        render::print_wrapped("", &render::printable(line));
    }
    let guessed = changed.filter(|line| line.guessed).count();
    if guessed > 0 {
        let why = "passed before evidence was gathered: what would have been asked is unknown";
        render::print_wrapped("", &format!("{guessed} of them {why}"));
    }
}

fn color_of(cell: &str) -> Option<Color> {
    match cell {
        "sent" => Some(Color::Green),
        "let through" => Some(Color::Dim),
        _ => None,
    }
}

/// Says which actions a decision would ask for in addition, and which no longer; if none, which reason it would have.
fn asked(line: &ChangedDecision) -> String {
    if line.guessed {
        return "not known".into();
    }
    let was = &line.was.actions;
    let now = &line.now.actions;
    let more = now
        .iter()
        .filter(|action| !was.contains(action))
        .map(|action| format!("+ {action}"));
    let less = was
        .iter()
        .filter(|action| !now.contains(action))
        .map(|action| format!("- {action}"));
    let changes: Vec<_> = more.chain(less).collect();
    match (&line.was.message, &line.now.message) {
        _ if !changes.is_empty() => changes.join("; "),
        (Some(_), Some(_)) => "other words".into(),
        _ => format!(
            "- ({}; was: {})",
            line.now.reason.words(),
            line.was.reason.words()
        ),
    }
}
