//! `rules test --command`: what each command of a line is taken for.

use checkpoint::Policy;
use checkpoint::catalogue::{Catalogue, Operands, Purpose};
use checkpoint::shell;
use serde::Serialize;

use crate::cli::shared::Output;
use crate::cli::text::{print_json, word};
use crate::error::{Result, exit};
use crate::render::{self, Column, Table};

/// A command of the line.
#[derive(Serialize)]
struct Taken {
    /// Its words, without wrappers and redirections.
    command: String,
    /// Whether its program is in the catalogue.
    known: bool,
    /// What it does; null if that is not known.
    does: Option<Purpose>,
    /// The language whose programs name it; empty for any.
    language: String,
    /// What its operands are; null if the program is not known.
    takes: Option<Operands>,
    operands: Vec<String>,
    /// Whether an option chooses a part of what it would run.
    partial: bool,
    /// Whether it only lists or pretends.
    dry: bool,
    /// Whether the line always runs it.
    certain: bool,
    /// Whether the success of the line is its success.
    decides: bool,
}

/// Shows what the catalogue, with the programs of the policy, takes a line for.
pub(super) fn show(policy: &Policy, line: &str, output: Output) -> Result<u8> {
    let catalogue = Catalogue::with(&policy.programs);
    let commands = shell::read(line).commands;
    let taken = commands.iter().map(|simple| taken(&catalogue, simple));
    if output.json {
        taken.for_each(|taken| print_json(&taken));
        return Ok(exit::OK);
    }
    let taken: Vec<_> = taken.collect();
    let columns: [Column<'_, Taken>; 5] = [
        ("COMMAND", &|taken| taken.command.clone()),
        ("DOES", &|taken| {
            taken.does.map_or_else(|| "unknown".into(), word)
        }),
        ("LANGUAGE", &|taken| taken.language.clone()),
        ("OPERANDS", &operands),
        ("NOTES", &|taken| notes(taken).join(", ")),
    ];
    let table = Table::of(&taken, &columns);
    if table.is_empty() {
        println!("the line runs no command");
    } else {
        table.print();
    }
    Ok(exit::OK)
}

fn taken(catalogue: &Catalogue, simple: &shell::Simple) -> Taken {
    let known = catalogue.command(&simple.words);
    let mut taken = Taken {
        command: render::printable(&simple.words.join(" ")),
        known: known.is_some(),
        does: None,
        language: String::new(),
        takes: None,
        operands: Vec::new(),
        partial: false,
        dry: shell::is_dry(simple),
        certain: simple.certain,
        decides: simple.decides,
    };
    if let Some(known) = known {
        taken.does = known.does;
        known.language.clone_into(&mut taken.language);
        taken.takes = Some(known.takes);
        taken.operands = known.operands;
        taken.partial = known.is_partial;
        taken.dry |= known.is_dry;
    }
    taken
}

fn operands(taken: &Taken) -> String {
    match taken.takes {
        Some(takes) if !taken.operands.is_empty() => {
            let operands = render::printable(&taken.operands.join(" "));
            format!("{}: {operands}", word(takes))
        }
        _ => String::new(),
    }
}

fn notes(taken: &Taken) -> Vec<&'static str> {
    [
        (!taken.known, "not in the catalogue"),
        (taken.partial, "a part"),
        (taken.dry, "runs nothing"),
        (!taken.certain, "may not run"),
        (!taken.decides, "its end is hidden"),
    ]
    .into_iter()
    .filter_map(|(holds, note)| holds.then_some(note))
    .collect()
}
