//! `uninstall`: restores the agents' settings, stops the daemon and, if told, removes the data.

use std::collections::BTreeSet;
use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use actors::draft::daemon_draft;
use checkpoint::record::UNINSTALL;
use clap::Args;
use journal::{Agent, Event, Home};
use serde_json::json;
use uuid::Uuid;

use crate::cli::commands::{config, service};
use crate::cli::shared::{AgentNames, Output, ask_yes, session_here};
use crate::cli::text::{plan, print_json};
use crate::cli::{connection, daemon_process};
use crate::config as settings;
use crate::error::{Failure, Result, exit};
use crate::install::agents;
use crate::install::apply::{self, Way};
use crate::install::record::Record;
use crate::install::{AgentPlan, git_hook, undo};
use crate::render;
use crate::service::manager::Manager;
use crate::service::place;

/// Restore the agents' settings and stop the daemon; with --purge, delete all data
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  checkpointd uninstall --dry-run\n  checkpointd uninstall --purge\n  checkpointd uninstall --agent codex"
)]
pub(crate) struct UninstallArgs {
    /// Remove only this agent's hooks, and keep daemon and data; may be repeated
    #[arg(long, value_parser = AgentNames)]
    pub(crate) agent: Vec<Agent>,
    /// Delete journal, configuration and logs without asking
    #[arg(long, conflicts_with_all = ["keep_data", "agent"])]
    pub(crate) purge: bool,
    /// Keep journal, configuration and logs without asking
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// Do not ask; the data is kept unless --purge is given
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show the changes without writing anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Lists what will be removed, asks on a terminal, and removes it. Nothing deletes the data but an answer or `--purge`.
pub(crate) fn run(home: &Home, arguments: &UninstallArgs) -> Result<u8> {
    if !arguments.dry_run {
        settings::refuse_foreign_home(home)?;
    }
    let asked = &arguments.agent;
    // With `--agent` the other agents keep their hooks and the daemon.
    let is_whole = asked.is_empty();
    let mut work = Work {
        plans: plans(home, asked)?,
        stops_daemon: is_whole && connection::health(home).is_some(),
        // The service would start the daemon again.
        removes_service: is_whole && Manager::of_platform().is_installed(),
        removes_copies: is_whole,
        manual: if is_whole { manual_pages() } else { Vec::new() },
        data: Vec::new(),
    };
    let all = if is_whole { data(home) } else { Vec::new() };
    if arguments.purge {
        work.data.clone_from(&all);
    }
    let asks = !arguments.yes && !arguments.output.json && std::io::stdin().is_terminal();
    // What is done without asking is told when it is done.
    let is_plan = asks || arguments.dry_run;
    if is_plan && !arguments.output.json {
        work.announce(true);
    }
    if !arguments.dry_run {
        if asks && !ask_yes("Continue?")? {
            println!("Nothing was changed.");
            return Ok(exit::FAILED);
        }
        if asks && !arguments.purge && !arguments.keep_data && !all.is_empty() {
            print_paths(
                "Journal, configuration and logs are kept, unless you delete them now:",
                &all,
            );
            if ask_yes("Delete them?")? {
                work.data.clone_from(&all);
            }
        }
        work.carry_out(home)?;
        if !is_plan && !arguments.output.json {
            work.announce(false);
        }
    }
    let kept: Vec<_> = all
        .iter()
        .filter(|path| !work.data.contains(path))
        .collect();
    if arguments.output.json {
        let mut answer = plan::json(&work.plans, arguments.dry_run);
        answer["data"] = json!(work.data);
        answer["kept"] = json!(kept);
        answer["manual_pages"] = json!(work.manual);
        answer["daemon_stopped"] = work.stops_daemon.into();
        answer["service_removed"] = work.removes_service.into();
        print_json(&answer);
        return Ok(exit::OK);
    }
    if arguments.dry_run {
        println!("Nothing was written. Run without --dry-run to write it.");
    } else {
        println!("Done. Agents that are running keep their hooks until they end.");
    }
    if !kept.is_empty() {
        println!(
            "Journal, configuration and logs are kept; `checkpointd uninstall --purge` deletes them."
        );
    }
    Ok(exit::OK)
}

/// What is removed.
struct Work {
    plans: Vec<AgentPlan>,
    stops_daemon: bool,
    removes_service: bool,
    removes_copies: bool,
    manual: Vec<PathBuf>,
    data: Vec<PathBuf>,
}

impl Work {
    /// Says what will be removed, or what was.
    fn announce(&self, is_plan: bool) {
        let (one, many) = if is_plan {
            ("will be", "will be")
        } else {
            ("was", "were")
        };
        for plan in &self.plans {
            plan::print(plan, is_plan);
            println!();
        }
        if self.plans.is_empty() {
            println!("No agent has hooks of checkpointd.");
        }
        if self.stops_daemon {
            println!("The daemon {one} stopped.");
        }
        if self.removes_service {
            println!("The service {one} removed.");
        }
        if !self.manual.is_empty() {
            println!("The manual pages {many} removed.");
        }
        if !self.data.is_empty() {
            print_paths(&format!("These {many} deleted:"), &self.data);
        }
    }

    fn carry_out(&self, home: &Home) -> Result<()> {
        let changes = self.plans.iter().flat_map(|plan| plan.changes.clone());
        let changes: Vec<_> = changes.collect();
        apply::apply(home, &changes, Way::Out).map_err(Failure::failed)?;
        if self.removes_service {
            service::remove()?;
        }
        if self.stops_daemon && connection::health(home).is_some() {
            daemon_process::end(home)?;
        }
        if self.removes_copies && !self.plans.is_empty() && self.data.is_empty() {
            note(home)?;
        }
        if self.removes_copies {
            // Copies are no data, so they go with the hooks that name them.
            let _ = fs::remove_dir_all(place::folder(home));
        }
        for page in &self.manual {
            // A page that cannot be removed belongs to another user.
            let _ = fs::remove_file(page);
        }
        remove(home, &self.data)
    }
}

/// Journals that a person took the hooks away (spec EVID-23). What an agent does is in its calls.
fn note(home: &Home) -> Result<()> {
    if session_here().is_some() || connection::has_journal(home).is_err() {
        return Ok(());
    }
    let event = Event::EscapeHatchUsed {
        by: UNINSTALL.to_owned(),
    };
    let journal = connection::open_journal(home)?;
    journal.append_wait(vec![daemon_draft(event, Uuid::new_v4())])?;
    journal.close();
    Ok(())
}

fn print_paths(title: &str, paths: &[PathBuf]) {
    println!("{title}");
    paths
        .iter()
        .for_each(|path| println!("  {}", render::path(path)));
}

/// Returns the manual pages below the user's home folder. Those elsewhere belong to a package manager.
fn manual_pages() -> Vec<PathBuf> {
    let Some(user) = std::env::var_os("HOME").map(PathBuf::from) else {
        return Vec::new();
    };
    let program = std::env::current_exe().ok();
    let prefix = program
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent);
    let shares = [
        prefix.map(|prefix| prefix.join("share")),
        Some(user.join(".local/share")),
    ];
    let folders: BTreeSet<_> = shares
        .into_iter()
        .flatten()
        .filter(|share| share.starts_with(&user))
        .map(|share| share.join("man/man1"))
        .collect();
    let is_ours = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let rest = name
            .strip_prefix("checkpointd")
            .and_then(|rest| rest.strip_suffix(".1"));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let entries = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let mut pages: Vec<_> = entries
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(is_ours)
        .collect();
    pages.sort();
    pages
}

fn plans(home: &Home, asked: &[Agent]) -> Result<Vec<AgentPlan>> {
    let record = Record::load(home).map_err(Failure::failed)?;
    let agents = agents::all_with_hooks().filter(|agent| asked.is_empty() || asked.contains(agent));
    let plans = agents.map(|agent| {
        let found = agents::find(agent).map_err(Failure::usage)?;
        undo::plan(&found, home, &record).map_err(Failure::failed)
    });
    let mut plans: Vec<_> = plans.collect::<Result<_>>()?;
    if asked.is_empty() {
        plans.push(git_hook::removal(&record).map_err(Failure::failed)?);
    }
    Ok(plans
        .into_iter()
        .filter(|plan| !plan.changes.is_empty())
        .collect())
}

/// Returns our existing files and folders, including the configuration.
fn data(home: &Home) -> Vec<PathBuf> {
    let draft = config::draft(home);
    let mut all = vec![
        &home.config,
        &draft,
        &home.journal,
        &home.spool,
        &home.run,
        &home.logs,
        &home.progress,
        &home.trust,
        &home.clear,
        &home.installed,
        &home.socket,
    ];
    // Elsewhere they are other programs' too.
    let is_ours = home.phases.parent() == home.journal.parent();
    all.extend(Some(&home.phases).filter(|_| is_ours));
    let is_within_another = |path: &Path| {
        all.iter()
            .any(|other| path != other.as_path() && path.starts_with(other))
    };
    let there = all
        .iter()
        .filter(|path| !is_within_another(path) && path.symlink_metadata().is_ok());
    there.map(|path| (*path).clone()).collect()
}

/// Removes data, and the enclosing folders that become empty.
fn remove(home: &Home, data: &[PathBuf]) -> Result<()> {
    // Read before it is deleted.
    let phases = settings::load(home).ok().and_then(|config| {
        let user = std::env::var("HOME").ok();
        match &config.settings.phase.folder.0 {
            Some(folder) => folder.resolve(user.as_deref()).map(PathBuf::from),
            None => Some(home.phases.clone()),
        }
    });
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
        // Files of phase records are others' too; only empty folders go.
        for folder in phases.iter().flat_map(|folder| folder.ancestors().take(2)) {
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}
