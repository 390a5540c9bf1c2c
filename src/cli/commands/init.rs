//! `init`: the hooks of every agent on this machine.

use std::path::{Path, PathBuf};

use clap::Args;
use journal::{Agent, Home};

use crate::cli::shared::{AgentName, Output};
use crate::cli::text::plan as show;
use crate::error::{Failure, Result, exit};
use crate::install::agents;
use crate::install::found::Found;
use crate::install::run::{install, plans};
use crate::install::{AgentPlan, Scope};

/// Add the hooks to the settings of every agent on this machine
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd init --dry-run\n  checkpointd init --agent claude\n  checkpointd init --project"
)]
pub(crate) struct InitArgs {
    /// Only this agent, found or not; may be given several times
    #[arg(long)]
    pub(crate) agent: Vec<AgentName>,
    /// Write the project's settings instead of yours
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub(crate) project: Option<PathBuf>,
    /// Show what would change, and write nothing anywhere
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How an answer is printed.
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Installs, or with a dry run says what would be done and writes nothing anywhere.
pub(crate) fn run(home: &Home, arguments: &InitArgs) -> Result<u8> {
    let scope = match &arguments.project {
        None => Scope::User,
        Some(project) => Scope::Project(absolute(project)?),
    };
    let asked: Vec<Agent> = arguments.agent.iter().map(|name| (*name).into()).collect();
    let found = find(&asked)?;
    let plans = plans(home, &found, &scope)?;
    if !arguments.dry_run {
        install(home, &plans)?;
    }
    report(&plans, arguments.dry_run, arguments.output);
    Ok(exit::OK)
}

fn find(asked: &[Agent]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for agent in Agent::HOSTS
        .into_iter()
        .filter(|agent| asked.is_empty() || asked.contains(agent))
    {
        let one = agents::find(agent).map_err(Failure::usage)?;
        if one.is_here() || !asked.is_empty() {
            found.push(agents::with_version(one));
        }
    }
    if found.is_empty() {
        return Err(Failure::failed(
            "no agent was found: neither claude, gemini nor codex is on PATH or has settings",
        )
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

fn report(plans: &[AgentPlan], is_dry_run: bool, output: Output) {
    let answer = show::to_json(plans, is_dry_run);
    if output.json {
        println!("{answer}");
        return;
    }
    for plan in plans {
        show::print(plan, is_dry_run);
        println!();
    }
    let names: Vec<_> = plans.iter().map(|plan| agents::name(plan.agent)).collect();
    match (is_dry_run, answer["changed"] == serde_json::json!(true)) {
        (true, _) => println!("Nothing was written. Without --dry-run it is."),
        (false, false) => println!("All was there already."),
        (false, true) => {
            println!(
                "Done. Start {} anew: hooks count from the next start on.",
                names.join(", ")
            );
            println!(
                "`checkpointd doctor` checks everything; `checkpointd uninstall` puts all back."
            );
        }
    }
    if std::env::var_os("CHECKPOINTD_HOME").is_some_and(|home| !home.is_empty()) {
        println!(
            "CHECKPOINTD_HOME is set here: agents must see the same, so set it for all your shells."
        );
    }
}
