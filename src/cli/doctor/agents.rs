//! Checks each agent's hooks: installed, current, trusted, enabled, and calling.

use std::collections::BTreeMap;
use std::time::Duration;

use journal::{Agent, Home, Timestamp};

use crate::cli::connection;
use crate::config as settings;
use crate::install::agents::{self, installer};
use crate::install::check::Check;
use crate::install::found::Found;
use crate::install::run::{install, plans};
use crate::install::settings::handlers;
use crate::install::{AgentPlan, Change, Entry, Kind, Scope, Status};
use crate::ops::lookback::newest_transcript;
use crate::ops::query::{FIRED_PREFIX, Query, Sessions};
use crate::ops::views::SessionRow;
use crate::render;

pub(super) fn checks(home: &Home) -> Vec<Check> {
    let last = last_events(home);
    let mut checks = Vec::new();
    let mut absent = Vec::new();
    for agent in agents::all() {
        match agents::find(agent) {
            Ok(found) if !found.is_here() => absent.push(agent.name().to_owned()),
            found => checks.extend(agent_checks(home, agent, found, &last)),
        }
    }
    if !absent.is_empty() {
        let detail = format!("not on this machine: {}", absent.join(", "));
        checks.push(Check::skip("agents", detail));
    }
    checks
}

/// Reinstalls stale, doubled, missing or untrusted entries; an agent without any is left alone.
/// Returns the fixes made and the errors.
pub(crate) fn fix(home: &Home) -> (Vec<String>, Vec<String>) {
    let mut done = Vec::new();
    let mut problems = Vec::new();
    for agent in agents::all() {
        let Ok(found) = agents::find(agent) else {
            continue;
        };
        // An unreadable file has a check of its own.
        let Ok(plans) = plans(home, &[agents::with_version(found)], &Scope::User, false) else {
            continue;
        };
        let is_wrong = plans
            .iter()
            .any(|plan| is_installed(plan) && plan.changes.iter().any(is_wrong));
        if is_wrong {
            match install(home, &plans) {
                Ok(()) => done.push(format!("the hooks of {} are up to date", agent.name())),
                Err(error) => problems.push(error.to_string()),
            }
        }
    }
    (done, problems)
}

fn is_wrong(change: &Change) -> bool {
    change.kind != Kind::Prompt && change.is_needed()
}

/// Returns whether any of our entries is installed.
fn is_installed(plan: &AgentPlan) -> bool {
    let hooks = plan
        .changes
        .iter()
        .filter(|change| change.kind != Kind::Prompt);
    hooks
        .flat_map(|change| &change.entries)
        .any(|entry| !matches!(entry.status, Status::Added | Status::Kept))
}

fn agent_checks(
    home: &Home,
    agent: Agent,
    found: Result<Found, String>,
    last: &BTreeMap<Agent, Timestamp>,
) -> Vec<Check> {
    let name = |what: &str| format!("{agent}.{what}");
    let found = match found {
        Ok(found) => agents::with_version(found),
        Err(error) => return vec![Check::skip(name("hooks"), error)],
    };
    let plan = match plans(home, std::slice::from_ref(&found), &Scope::User, false) {
        Ok(mut plans) => plans.remove(0),
        Err(error) => {
            return vec![Check::fail(
                name("hooks"),
                error.to_string(),
                "fix the file, then run `checkpointd init`",
            )];
        }
    };
    if !is_installed(&plan) && installer(agent).is_on_request {
        let detail = format!("{} has hooks only on request", agent.name());
        return vec![Check::skip(name("hooks"), detail)];
    }
    if !is_installed(&plan)
        && let Some(file) = installer(agent).plugin_file(&found)
    {
        let detail = format!("those of the plugin: {}", render::path(&file));
        return vec![
            Check::pass(name("hooks"), detail),
            firing(home, agent, last.get(&agent).copied()),
        ];
    }
    if !is_installed(&plan) {
        let fix = format!("`checkpointd init --agent {agent}` installs them");
        return vec![Check::warn(
            name("hooks"),
            format!("{} has no hooks of checkpointd", agent.name()),
            fix,
        )];
    }
    let mut checks = vec![hooks(&found, &plan)];
    checks.extend(agents::age(&found));
    checks.extend((installer(agent).checks)(&found, &plan));
    checks.push(firing(home, agent, last.get(&agent).copied()));
    checks
}

fn hooks(found: &Found, plan: &AgentPlan) -> Check {
    let name = format!("{}.hooks", found.agent);
    let installer = installer(found.agent);
    let kind = installer.hooks_kind(found);
    let Some(change) = plan.changes.iter().find(|change| change.kind == kind) else {
        return Check::skip(name, "there is nothing to install");
    };
    if let Some((switch, file)) = installer.switched_off(found, change) {
        let file = render::path(&file);
        let fix = format!("remove `{switch}` from {file}");
        let detail = format!("all hooks are disabled by `{switch}` in {file}");
        return Check::fail(name, detail, fix);
    }
    let malformed = installer.malformed(change);
    if !malformed.is_empty() {
        let detail = format!(
            "{} in {}, for which {} may ignore the whole file",
            malformed.join(", "),
            render::path(&change.path),
            found.agent.name(),
        );
        return Check::warn(name, detail, "mend each entry, or remove it");
    }
    let names = |wanted: fn(&Entry) -> bool| {
        let names = change
            .entries
            .iter()
            .filter(|entry| wanted(entry))
            .map(|entry| entry.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let mut doubled = doubled(change);
    doubled.extend(installer.misplaced(found));
    let mut wrong = Vec::new();
    for (what, names) in [
        ("missing", names(|entry| entry.status == Status::Added)),
        ("doubled", doubled.join(", ")),
        (
            "no longer used",
            names(|entry| entry.status == Status::Removed),
        ),
    ] {
        if !names.is_empty() {
            wrong.push(format!("{what}: {names}"));
        }
    }
    let stale = change
        .entries
        .iter()
        .filter(|entry| entry.status == Status::Updated && !doubled.contains(&entry.name));
    let stale: Vec<_> = stale.map(|entry| entry.name.as_str()).collect();
    if !stale.is_empty() {
        wrong.push(format!(
            "stale (another program, time limit or condition): {}",
            stale.join(", ")
        ));
    }
    if wrong.is_empty() {
        return Check::pass(
            name,
            format!("{} in {}", change.entries.len(), render::path(&change.path)),
        );
    }
    Check::fail(
        name,
        wrong.join("; "),
        "`checkpointd doctor --fix`, or `checkpointd init` to see each",
    )
}

/// Returns the events with more than one entry of ours.
fn doubled(change: &Change) -> Vec<String> {
    if change.kind != Kind::Settings {
        return Vec::new();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for handler in handlers(&change.text_before())
        .unwrap_or_default()
        .into_iter()
        .filter(|handler| handler.client.is_some())
    {
        *counts.entry(handler.event).or_default() += 1;
    }
    counts
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(event, _)| event)
        .collect()
}

/// How much later than the agent's last event a transcript may be written. One answer of the model takes less.
const WRITTEN_LATER_MAX: Duration = Duration::from_mins(10);

/// Checks that hooks are called: also in the session whose transcript is the newest.
fn firing(home: &Home, agent: Agent, last: Option<Timestamp>) -> Check {
    let name = format!("{agent}.firing");
    let now = Timestamp::now();
    let restart = format!(
        "restart the sessions of {} that began before `checkpointd init`; in new ones, look whether a setting disables hooks",
        agent.name()
    );
    match last {
        Some(last) => {
            let ago = render::ago(now.millis_since(last));
            let since = last.plus(WRITTEN_LATER_MAX);
            let newest = settings::load(home)
                .ok()
                .and_then(|config| newest_transcript(agent, since, &config));
            match newest {
                None => Check::pass(name, format!("the last event came {ago}")),
                Some((path, written)) => {
                    let written = render::ago(now.millis_since(written));
                    let path = render::path(&path);
                    let detail = format!(
                        "a session ran without hooks: {path} was written {written}, and the last event came {ago}"
                    );
                    Check::warn(name, detail, restart)
                }
            }
        }
        None => {
            let fix = format!(
                "restart {}, which loads hooks when it starts; `checkpointd doctor --fire {agent}` tests the hook's command",
                agent.name()
            );
            Check::warn(name, "it has not called a hook yet", fix)
        }
    }
}

/// Returns when each agent's last event came, our own tests excluded.
fn last_events(home: &Home) -> BTreeMap<Agent, Timestamp> {
    let mut last = BTreeMap::new();
    if !home.journal.join("intake").is_dir() {
        return last;
    }
    // If this fails, the journal's check reports why.
    let _ = connection::ask(
        home,
        &Query::Sessions(Sessions::default()),
        |row: SessionRow| {
            if !row.native_session.starts_with(FIRED_PREFIX) {
                let last = last.entry(row.agent).or_insert(row.last_at);
                *last = row.last_at.max(*last);
            }
        },
    );
    last
}
