//! `rules trust`: whether a project's own file counts (spec RULE-16).

use std::path::{Path, PathBuf};

use actors::project;
use actors::trust::{Standing, Trust, Trusted};
use checkpoint::config::Config;
use clap::Args;
use journal::Home;
use serde::Serialize;

use crate::cli::commands::preview::folder;
use crate::cli::shared::Output;
use crate::cli::text::print_json;
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::render::{self, Column, Table};

/// Trust the project's current .checkpointd.yml, so that its rules and settings are used
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd rules trust\n  checkpointd rules trust --project ~/code/shop\n  checkpointd rules trust --list\n\n\
    Read the file first: its rules speak to your agent. A later change of the file has to be trusted again."
)]
pub(crate) struct TrustArgs {
    /// List what is trusted, and change nothing
    #[arg(long, conflicts_with = "project")]
    pub(crate) list: bool,
    /// Trust it no longer
    #[arg(long, conflicts_with = "list")]
    pub(crate) undo: bool,
}

/// What a newly trusted file brings.
#[derive(Serialize)]
pub(super) struct Taken {
    /// The project's folder.
    pub(super) project: PathBuf,
    /// Its keys and rules that count from now on.
    counts: Vec<String>,
    /// What of it never counts, and why.
    overruled: Vec<String>,
}

/// A trusted file in the list.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    trusted: Trusted,
    /// Whether it still has the trusted content; null where there is no such file now.
    standing: Option<Standing>,
    /// Whether the file is there and cannot be used: others can write to it, or it is no plain file.
    is_refused: bool,
}

/// Trusts a project's file, or no longer, or lists what is trusted.
pub(crate) fn run(home: &Home, args: &TrustArgs, given: &Path, output: Output) -> Result<u8> {
    if args.list {
        return list(&Trust::of(home), output);
    }
    if args.undo {
        return withdraw(home, given, output);
    }
    let config = settings::load(home)?;
    let taken = take(home, &config, &folder(given)?)?;
    output.print(&taken, |_| taken.print());
    Ok(exit::OK)
}

/// Trusts a project's file no longer.
fn withdraw(home: &Home, given: &Path, output: Output) -> Result<u8> {
    let top = folder(given).unwrap_or_else(|_| given.to_owned());
    let was_trusted = Trust::of(home).withdraw(&top)?;
    let file = render::path(&top.join(project::FILE));
    if output.json {
        print_json(&serde_json::json!({ "project": top, "was_trusted": was_trusted }));
    } else if was_trusted {
        println!("{file} is no longer trusted.");
    } else {
        println!("{file} was not trusted.");
    }
    Ok(exit::OK)
}

/// Trusts the file of a project as it is now.
pub(super) fn take(home: &Home, config: &Config, top: &Path) -> Result<Taken> {
    let path = top.join(project::FILE);
    let name = path.display().to_string();
    let text = project::text(&path).map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}"))
            .hint("only a project with such a file needs trust: `checkpointd rules trust --project FOLDER`")
    })?;
    let file = config.project_file(&name, &text).map_err(Failure::failed)?;
    Trust::of(home)
        .trust(top, &text)
        .map_err(|error| Failure::failed(format!("cannot remember it: {error}")))?;
    Ok(Taken {
        project: top.to_owned(),
        counts: file.needs_trust(),
        overruled: file.overruled(&config.settings),
    })
}

impl Taken {
    pub(super) fn print(&self) {
        let name = render::path(&self.project.join(project::FILE));
        println!("{name} is trusted as it is now.");
        if !self.counts.is_empty() {
            let counts = render::printable(&self.counts.join(", "));
            render::print_wrapped("  counts now: ", &counts);
        }
        for line in &self.overruled {
            render::print_wrapped("  ", &render::printable(line));
        }
    }
}

fn list(trust: &Trust, output: Output) -> Result<u8> {
    let all = trust
        .list()
        .map_err(|error| Failure::failed(format!("cannot read what is trusted: {error}")))?;
    let lines: Vec<_> = all
        .into_iter()
        .map(|trusted| Line::new(trust, trusted))
        .collect();
    if output.json {
        lines.iter().for_each(print_json);
        return Ok(exit::OK);
    }
    if lines.is_empty() {
        println!("No project's {} is trusted.", project::FILE);
        return Ok(exit::OK);
    }
    let columns: [Column<'_, Line>; 3] = [
        ("PROJECT", &|line| render::path(&line.trusted.project)),
        ("SINCE", &|line| render::local_time(line.trusted.at)),
        ("NOW", &|line| line.word().to_owned()),
    ];
    Table::of(&lines, &columns).print();
    Ok(exit::OK)
}

impl Line {
    fn new(trust: &Trust, trusted: Trusted) -> Self {
        let path = trusted.project.join(project::FILE);
        let text = project::text(&path);
        let is_there = path.exists();
        Self {
            is_refused: is_there && text.is_err(),
            standing: text
                .ok()
                .map(|text| trust.standing(&trusted.project, &text)),
            trusted,
        }
    }

    const fn word(&self) -> &'static str {
        match self.standing {
            None if self.is_refused => "cannot be used",
            Some(Standing::Trusted) => "counts",
            Some(Standing::Changed | Standing::Unknown) => "changed, waits",
            None => "gone",
        }
    }
}
