//! `replay --policy`: what another configuration, or a file of rules, would have decided.

use std::path::Path;

use checkpoint::config::Candidate;
use journal::Home;
use serde_json::Value;

use crate::cli::connection;
use crate::cli::shared::Output;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::ops::query::Query;
use crate::render::{self, Colour, Table};

/// Decides history again under a file.
pub(super) fn run(home: &Home, session: Option<String>, file: &Path, output: Output) -> Result<u8> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}"))
            .hint("`--help` shows what it may say")
    })?;
    if let Candidate::Rules(rules) = Candidate::read(&name, &text).map_err(Failure::usage)? {
        rules
            .check(&settings::load(&home.config)?)
            .map_err(Failure::usage)?;
    }
    let query = Query::WhatIf {
        session,
        name: name.clone(),
        text,
    };
    let answer = connection::ask_one(home, &query, progress("deciding again"))?;
    progress_done();
    if output.json {
        println!("{answer}");
    } else {
        show(&name, &answer);
    }
    Ok(exit::OK)
}

fn show(name: &str, answer: &Value) {
    let how = if answer["read_as"] == "rules" {
        "is read as a file of rules: it lies over the policy that each decision was made by"
    } else {
        "is read as a config.yml in place of yours; projects' own files lie over it"
    };
    render::print_wrapped("", &format!("{} {how}", render::printable(name)));
    let changed = answer["changed"].as_array().map_or(&[][..], Vec::as_slice);
    let mut table = Table::new([
        "SEQ",
        "AT",
        "AGENT",
        "SESSION",
        "WAS",
        "NOW",
        "WHAT IS ASKED",
    ])
    .optional(&[3, 2, 1])
    .coloured(colour_of);
    for line in changed {
        table.row([
            line["seq"].to_string(),
            render::local_time(line["at"].as_str().unwrap_or_default()),
            line["agent"].as_str().unwrap_or_default().into(),
            line["session"]
                .as_str()
                .unwrap_or_default()
                .chars()
                .take(8)
                .collect(),
            short(&line["was"]),
            short(&line["now"]),
            asked(line),
        ]);
    }
    if !table.is_empty() {
        println!();
        table.print();
        println!();
    }
    let count = |fits: &dyn Fn(&Value) -> bool| changed.iter().filter(|line| fits(line)).count();
    let turned = |from: &str, to: &str| {
        count(&|line| line["was"]["verdict"] == from && line["now"]["verdict"] == to)
    };
    println!(
        "{} of {} decisions would change: {} more checkpoints, {} fewer",
        changed.len(),
        answer["decisions"],
        turned("pass", "inject"),
        turned("inject", "pass")
    );
    let guessed = count(&|line| line["guessed"] == true);
    if guessed > 0 {
        let why = "passed before anything was looked up: what these would have been asked for is not known";
        render::print_wrapped("", &format!("{guessed} of them {why}"));
    }
}

fn short(side: &Value) -> String {
    format!(
        "{} {}",
        side["verdict"].as_str().unwrap_or_default(),
        side["reason"].as_str().unwrap_or_default()
    )
}

fn colour_of(cell: &str) -> Option<Colour> {
    match cell.split(' ').next() {
        Some("inject") => Some(Colour::Green),
        Some("pass") => Some(Colour::Dim),
        _ => None,
    }
}

/// Says which actions a decision would ask for in addition, and which no longer.
fn asked(line: &Value) -> String {
    if line["guessed"] == true {
        return "not known".into();
    }
    let actions = |side: &str| -> Vec<&str> {
        line[side]["actions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    };
    let (was, now) = (actions("was"), actions("now"));
    let more = now
        .iter()
        .filter(|action| !was.contains(action))
        .map(|action| format!("+ {action}"));
    let less = was
        .iter()
        .filter(|action| !now.contains(action))
        .map(|action| format!("- {action}"));
    let changes: Vec<_> = more.chain(less).collect();
    match (changes.is_empty(), line["now"]["message"].is_null()) {
        (false, _) => changes.join("; "),
        (true, false) if !line["was"]["message"].is_null() => "other words".into(),
        (true, _) => "-".into(),
    }
}
