//! `uninstall`: restores the agents' settings, stops the daemon and removes the data.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use journal::{Agent, Home};
use serde_json::json;

use crate::cli::commands::service;
use crate::cli::shared::{AgentName, Output};
use crate::cli::text::{plan, print_json};
use crate::cli::{connection, daemon_process};
use crate::error::{Failure, Result, exit};
use crate::install::agents;
use crate::install::apply::{self, Way};
use crate::install::record::Record;
use crate::install::{AgentPlan, undo};
use crate::render;
use crate::service::manager::Manager;

/// Restore the agents' settings, stop the daemon and remove all data
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd uninstall --dry-run\n  checkpointd uninstall --keep-data\n  checkpointd uninstall --agent codex"
)]
pub(crate) struct UninstallArgs {
    /// Remove only this agent's hooks, and keep daemon and data; may be repeated
    #[arg(long)]
    pub(crate) agent: Vec<AgentName>,
    /// Keep journal, configuration and logs
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show the changes without writing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Lists what will be removed, asks on a terminal, and removes it.
pub(crate) fn run(home: &Home, arguments: &UninstallArgs) -> Result<u8> {
    let asked: Vec<Agent> = arguments.agent.iter().map(|name| (*name).into()).collect();
    let plans = plans(home, &asked)?;
    // With `--agent` the other agents keep their hooks and the daemon.
    let is_whole = asked.is_empty();
    let data = if is_whole && !arguments.keep_data {
        data(home)
    } else {
        Vec::new()
    };
    let stops_daemon = is_whole && connection::health(home).is_some();
    // The service would start the daemon again.
    let removes_service = is_whole && Manager::of_platform().is_installed();
    if !arguments.output.json {
        announce(&plans, &data, stops_daemon, arguments.dry_run);
        if removes_service {
            println!("The service will be removed.");
        }
    }
    if !arguments.dry_run {
        if !arguments.yes && !arguments.output.json && !is_confirmed()? {
            println!("Nothing was changed.");
            return Ok(exit::FAILED);
        }
        let changes: Vec<_> = plans.iter().flat_map(|plan| plan.changes.clone()).collect();
        apply::apply(home, &changes, Way::Out).map_err(Failure::failed)?;
        if removes_service {
            service::remove()?;
        }
        if stops_daemon && connection::health(home).is_some() {
            daemon_process::end(home)?;
        }
        remove(home, &data)?;
    }
    if arguments.output.json {
        let mut answer = plan::to_json(&plans, arguments.dry_run);
        answer["data"] = json!(data);
        answer["daemon_stopped"] = json!(stops_daemon);
        answer["service_removed"] = json!(removes_service);
        print_json(&answer);
    } else if arguments.dry_run {
        println!("Nothing was written. Run without --dry-run to write it.");
    } else {
        println!("Done. Agents that are running keep their hooks until they end.");
    }
    Ok(exit::OK)
}

fn plans(home: &Home, asked: &[Agent]) -> Result<Vec<AgentPlan>> {
    let record = Record::load(home).map_err(Failure::failed)?;
    let agents = Agent::HOSTS
        .into_iter()
        .filter(|agent| asked.is_empty() || asked.contains(agent));
    let plans = agents.map(|agent| {
        let found = agents::find(agent).map_err(Failure::usage)?;
        undo::plan(&found, home, &record).map_err(Failure::failed)
    });
    let plans: Result<Vec<_>> = plans.collect();
    Ok(plans?
        .into_iter()
        .filter(|plan| !plan.changes.is_empty())
        .collect())
}

/// Returns our existing files and folders, including the configuration.
fn data(home: &Home) -> Vec<PathBuf> {
    let all = [
        &home.config,
        &home.journal,
        &home.spool,
        &home.run,
        &home.logs,
        &home.trust,
        &home.clear,
        &home.installed,
        &home.socket,
    ];
    let is_within_another = |path: &Path| {
        all.iter()
            .any(|other| path != other.as_path() && path.starts_with(other))
    };
    let there = all
        .iter()
        .filter(|path| !is_within_another(path) && path.symlink_metadata().is_ok());
    there.map(|path| (*path).clone()).collect()
}

fn announce(plans: &[AgentPlan], data: &[PathBuf], stops_daemon: bool, is_dry_run: bool) {
    for plan in plans {
        plan::print(plan, is_dry_run);
        println!();
    }
    if plans.is_empty() {
        println!("No agent has hooks of checkpointd.");
    }
    if stops_daemon {
        println!("The daemon will be stopped.");
    }
    if !data.is_empty() {
        println!("These will be deleted (--keep-data keeps them):");
        data.iter()
            .for_each(|path| println!("  {}", render::path(path)));
    }
}

/// Asks on a terminal only; a script does not need to confirm.
fn is_confirmed() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    print!("Continue? [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

/// Removes data, and the enclosing folders that become empty.
fn remove(home: &Home, data: &[PathBuf]) -> Result<()> {
    for path in data {
        let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let removed = if is_folder {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
        removed.map_err(|error| {
            Failure::failed(format!("{} cannot be removed: {error}", path.display()))
        })?;
    }
    if !data.is_empty() {
        let around = [&home.config, &home.journal, &home.run].map(|path| path.parent());
        for folder in around.into_iter().flatten() {
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}
