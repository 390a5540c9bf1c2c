//! `init`: installs the hooks of every agent on this machine.

use std::path::{Path, PathBuf};

use actors::project;
use clap::Args;
use journal::{Agent, Home};
use serde_json::json;

use crate::cli::commands::lookback;
use crate::cli::commands::trust::{self, Taken};
use crate::cli::shared::{AgentNames, Output};
use crate::cli::text::plan as show;
use crate::cli::text::print_json;
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::install::agents::{self, installer};
use crate::install::found::Found;
use crate::install::run::{install, plans};
use crate::install::{AgentPlan, Scope};
use crate::service::place;

/// Add the hooks to the settings of every agent on this machine
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd init --dry-run\n  checkpointd init --diff\n  checkpointd init --agent claude\n  checkpointd init --project"
)]
pub(crate) struct InitArgs {
    /// Only this agent, even if it was not found; may be repeated
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Vec<Agent>,
    /// Write the project's settings instead of the user's
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) project: Option<PathBuf>,
    /// Add the commands /checkpoint and /handoff too, by which a person asks an agent to write down where its work stands
    #[arg(long)]
    pub(crate) commands: bool,
    /// List the changes without writing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show the changes as diffs without writing anything
    #[arg(long)]
    pub(crate) diff: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl InitArgs {
    fn is_dry_run(&self) -> bool {
        self.dry_run || self.diff
    }
}

/// Installs the hooks, or with a dry run shows the changes and writes nothing.
pub(crate) fn run(home: &Home, arguments: &InitArgs) -> Result<u8> {
    let scope = match &arguments.project {
        None => Scope::User,
        Some(project) => Scope::Project(absolute(project)?),
    };
    if !arguments.is_dry_run() {
        settings::refuse_unusable_home(home)?;
        settings::refuse_foreign_home(home)?;
    }
    let asked = &arguments.agent;
    let found = find(asked, &scope)?;
    let mut done = Vec::new();
    let mut failed = Vec::new();
    // One agent's broken settings are no reason to leave the others without hooks.
    for one in &found {
        match set_up(home, one, &scope, arguments) {
            Ok(plans) => done.extend(plans),
            Err(failure) => failed.push((one.agent, failure)),
        }
    }
    if done.is_empty()
        && let Some((_, failure)) = failed.pop()
    {
        failed
            .iter()
            .for_each(|(_, failure)| eprintln!("{failure}"));
        return Err(failure);
    }
    let trusted = match &scope {
        Scope::Project(top) if !arguments.is_dry_run() => trust_file(home, top),
        _ => None,
    };
    report(&done, &failed, trusted.as_ref(), arguments);
    if let Some(folder) =
        place::copies(home).filter(|_| !arguments.output.json && !arguments.is_dry_run())
    {
        let folder = crate::render::path(&folder);
        println!(
            "Hooks call a copy of this program in {folder}, because this one is in a cache. Run `init` again to update it."
        );
    }
    if failed.is_empty() && !arguments.is_dry_run() && !arguments.output.json {
        lookback::in_one_line(home)
            .iter()
            .for_each(|line| println!("{line}"));
    }
    match failed.pop() {
        None => Ok(exit::OK),
        Some((_, failure)) => {
            failed
                .iter()
                .for_each(|(_, failure)| eprintln!("{failure}"));
            Err(failure.hint(
                "the other agents are set up; run `checkpointd init` again once this is fixed",
            ))
        }
    }
}

/// Installs the hooks of one agent, or with a dry run only plans it.
fn set_up(
    home: &Home,
    found: &Found,
    scope: &Scope,
    arguments: &InitArgs,
) -> Result<Vec<AgentPlan>> {
    let plans = plans(home, std::slice::from_ref(found), scope, arguments.commands)?;
    if !arguments.is_dry_run() {
        install(home, &plans)?;
    }
    Ok(plans)
}

/// Trusts the project's own file, if it has one: who sets a project up has chosen it.
fn trust_file(home: &Home, top: &Path) -> Option<Taken> {
    top.join(project::FILE).symlink_metadata().ok()?;
    settings::load(home)
        .and_then(|config| trust::take(home, &config, top))
        .inspect_err(|error| {
            let error = crate::render::printable_lines(&error.text());
            eprintln!(
                "note: the project's {} is not trusted: {error}",
                project::FILE
            );
        })
        .ok()
}

fn find(asked: &[Agent], scope: &Scope) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for agent in agents::all().filter(|agent| asked.is_empty() || asked.contains(agent)) {
        if asked.is_empty() && installer(agent).is_on_request {
            continue;
        }
        let one = agents::find(agent).map_err(Failure::usage)?;
        if asked.is_empty() && !one.is_here() {
            continue;
        }
        if asked.is_empty() && *scope != Scope::User && installer(agent).project.is_none() {
            eprintln!("note: {} supports no hooks in a project", agent.name());
            continue;
        }
        found.push(agents::with_version(one));
    }
    if found.is_empty() {
        return Err(Failure::failed(format!(
            "no agent was found: none of {} is on PATH or has settings",
            Agent::words()
        ))
        .hint("install one first, or name one with `--agent claude`"));
    }
    Ok(found)
}

fn absolute(project: &Path) -> Result<PathBuf> {
    project.canonicalize().map_err(|error| {
        Failure::usage(format!(
            "the project {} cannot be used: {error}",
            project.display()
        ))
    })
}

fn report(
    plans: &[AgentPlan],
    failed: &[(Agent, Failure)],
    trusted: Option<&Taken>,
    arguments: &InitArgs,
) {
    let is_dry_run = arguments.is_dry_run();
    if arguments.output.json {
        let mut answer = show::json(plans, is_dry_run);
        if !failed.is_empty() {
            let failed = failed.iter();
            let failed = failed.map(|(agent, it)| json!({ "agent": agent, "error": it.text() }));
            answer["failed"] = failed.collect();
        }
        if let Some(trusted) = trusted {
            answer["trusted"] = json!(trusted);
        }
        print_json(&answer);
        return;
    }
    for plan in plans {
        if arguments.diff {
            show::print(plan, true);
            println!();
        } else {
            show::print_short(plan);
        }
    }
    let names: Vec<_> = plans.iter().map(|plan| plan.agent.name()).collect();
    match (is_dry_run, show::is_needed(plans)) {
        (true, _) if arguments.diff => println!("Nothing was written."),
        (true, _) => println!("Nothing was written. `--diff` shows each change."),
        (false, false) => println!("All hooks are already installed."),
        (false, true) => {
            println!("Done. Restart {} to load the hooks.", names.join(", "));
            println!(
                "`checkpointd doctor` checks the installation; `checkpointd uninstall` restores the settings."
            );
        }
    }
    if let Some(trusted) = trusted {
        trusted.print();
    }
    if std::env::var_os("CHECKPOINTD_HOME").is_some_and(|home| !home.is_empty()) {
        println!(
            "CHECKPOINTD_HOME is set here; set it in all your shells, because agents need the same value."
        );
    }
}
