//! `init`: the hooks of every agent on this machine.

use std::path::{Path, PathBuf};

use clap::Args;
use journal::{Agent, Home};

use crate::cli::shared::{AgentName, Output};
use crate::cli::text::plan as show;
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::install::agents::{self, Found};
use crate::install::apply::{self, Way};
use crate::install::plan::{self, Means};
use crate::install::record::Record;
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

/// Plans for several agents.
///
/// # Errors
///
/// When one agent's files cannot be added to; then no agent's are.
pub(crate) fn plans(home: &Home, found: &[Found], scope: &Scope) -> Result<Vec<AgentPlan>> {
    let record = Record::load(home).map_err(Failure::failed)?;
    let client = plan::client().map_err(Failure::failed)?;
    // As the daemon does: a configuration that is wrong is not used.
    let config = settings::load(&home.config).unwrap_or_default();
    let stop_wait_ms = config.settings.hooks.stop_wait.as_millis();
    let means = Means {
        home,
        record: &record,
        client: &client,
        stop_wait_ms,
    };
    let plans = found
        .iter()
        .map(|found| plan::plan(found, scope, &means).map_err(Failure::failed));
    plans.collect()
}

/// Carries plans out.
///
/// # Errors
///
/// As [`apply::apply`].
pub(crate) fn install(home: &Home, plans: &[AgentPlan]) -> Result<()> {
    let changes: Vec<_> = plans.iter().flat_map(|plan| plan.changes.clone()).collect();
    apply::apply(home, &changes, Way::In).map_err(Failure::failed)
}

fn find(asked: &[Agent]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for agent in Agent::HOSTS
        .into_iter()
        .filter(|agent| asked.is_empty() || asked.contains(agent))
    {
        let one = Found::look(agent).map_err(Failure::usage)?;
        if one.is_here() || !asked.is_empty() {
            found.push(one.with_version());
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
