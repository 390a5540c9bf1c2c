//! Each agent's hooks: installed as they are to be, trusted, switched on, and calling.

use std::collections::BTreeMap;

use journal::{Agent, Home, Timestamp};

use super::{Check, fire};
use crate::cli::commands::init;
use crate::cli::connection;
use crate::edit::files;
use crate::install::agents::{self, Found};
use crate::install::settings::{self, Handler};
use crate::install::{AgentPlan, Change, Entry, Kind, Scope, Status, hooks_file, trust};
use crate::ops::query::Query;
use crate::render;

/// Checks all three agents.
pub(super) fn checks(home: &Home) -> Vec<Check> {
    let last = last_events(home);
    Agent::HOSTS
        .into_iter()
        .flat_map(|agent| agent_checks(home, agent, &last))
        .collect()
}

/// Installs anew where entries are stale, doubled, missing or not trusted; an agent without any is left alone. Says
/// what was done, and what could not be.
pub(crate) fn mend(home: &Home) -> (Vec<String>, Vec<String>) {
    let (mut done, mut problems) = (Vec::new(), Vec::new());
    for agent in Agent::HOSTS {
        let Ok(found) = Found::look(agent) else {
            continue;
        };
        // A file that cannot be read has a check of its own.
        let Ok(plans) = init::plans(home, &[found.with_version()], &Scope::User) else {
            continue;
        };
        let is_wrong = plans
            .iter()
            .any(|plan| is_installed(plan) && plan.changes.iter().any(is_wrong));
        if is_wrong {
            match init::install(home, &plans) {
                Ok(()) => done.push(format!(
                    "the hooks of {} are as they are to be",
                    agents::name(agent)
                )),
                Err(error) => problems.push(error.to_string()),
            }
        }
    }
    (done, problems)
}

fn is_wrong(change: &Change) -> bool {
    change.kind != Kind::Prompt && change.is_needed()
}

/// Returns whether anything of ours is there.
fn is_installed(plan: &AgentPlan) -> bool {
    let hooks = plan
        .changes
        .iter()
        .filter(|change| change.kind != Kind::Prompt);
    hooks
        .flat_map(|change| &change.entries)
        .any(|entry| !matches!(entry.status, Status::Added | Status::Kept))
}

fn agent_checks(home: &Home, agent: Agent, last: &BTreeMap<Agent, Timestamp>) -> Vec<Check> {
    let name = |what: &str| format!("{agent}.{what}");
    let found = match Found::look(agent) {
        Ok(found) if found.is_here() => found.with_version(),
        Ok(_) => {
            return vec![Check::skip(
                name("hooks"),
                format!("{} is not on this machine", agents::name(agent)),
            )];
        }
        Err(error) => return vec![Check::skip(name("hooks"), error)],
    };
    let plan = match init::plans(home, std::slice::from_ref(&found), &Scope::User) {
        Ok(mut plans) => plans.remove(0),
        Err(error) => {
            return vec![Check::fail(
                name("hooks"),
                error.to_string(),
                "mend the file, then run `checkpointd init`",
            )];
        }
    };
    if !is_installed(&plan) {
        let fix = format!("`checkpointd init --agent {agent}` installs them");
        return vec![Check::warn(
            name("hooks"),
            format!("{} has no hooks of checkpointd", agents::name(agent)),
            fix,
        )];
    }
    let mut checks = vec![hooks(&found, &plan)];
    if agent == Agent::Codex && !found.has_no_hooks() {
        checks.push(trusted(&found, &plan));
    }
    checks.push(firing(agent, last.get(&agent).copied()));
    checks
}

fn hooks(found: &Found, plan: &AgentPlan) -> Check {
    let name = format!("{}.hooks", found.agent);
    let kind = if found.has_no_hooks() {
        Kind::Trust
    } else {
        Kind::Settings
    };
    let Some(change) = plan.changes.iter().find(|change| change.kind == kind) else {
        return Check::skip(name, "there is nothing to install");
    };
    if let Some(switch) = switched_off(found, change) {
        let fix = format!("take `{switch}` out of {} again", found.folder.display());
        return Check::fail(
            name,
            format!("all hooks are switched off by `{switch}`"),
            fix,
        );
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
    if found.agent == Agent::Codex {
        doubled.extend(in_config(found));
    }
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

/// Codex reads hooks from config.toml as well; by hand ours may have come there.
fn in_config(found: &Found) -> Vec<String> {
    let config = files::read(&found.folder.join("config.toml"))
        .ok()
        .flatten();
    let events = trust::events_of_ours(&files::text(config.as_deref()));
    events
        .into_iter()
        .map(|event| format!("{event} (take [[hooks.{event}]] out of config.toml)"))
        .collect()
}

fn text_before(change: &Change) -> String {
    files::text(change.before.as_deref())
}

fn handlers(change: &Change) -> Vec<Handler> {
    settings::handlers(&text_before(change)).unwrap_or_default()
}

/// Returns the events for which there is more than one entry of ours.
fn doubled(change: &Change) -> Vec<String> {
    if change.kind != Kind::Settings {
        return Vec::new();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for handler in handlers(change)
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

fn switched_off(found: &Found, change: &Change) -> Option<&'static str> {
    let read = |path: &std::path::Path| files::text(files::read(path).ok().flatten().as_deref());
    if found.agent == Agent::Codex {
        let is_off = change.kind == Kind::Settings
            && trust::switched_off(&read(&found.folder.join("config.toml")));
        return is_off.then_some("features.hooks");
    }
    settings::switched_off(&read(&change.path))
}

/// Checks the hooks that are there, not those that are to be: Codex goes by what it finds.
fn trusted(found: &Found, plan: &AgentPlan) -> Check {
    let name = "codex.trust";
    let file = hooks_file(found.agent, &found.folder);
    let config = found.folder.join("config.toml");
    let before = |path: &std::path::Path| plan.changes.iter().find(|change| change.path == path);
    let text = before(&config).map(text_before).unwrap_or_default();
    let states = match trust::states(&text) {
        Ok(states) => states,
        Err(error) => {
            return Check::fail(
                name,
                format!("{}: {error}", config.display()),
                "mend the file",
            );
        }
    };
    let (mut wrong, mut disabled) = (Vec::new(), Vec::new());
    let ours = before(&file)
        .map(handlers)
        .unwrap_or_default()
        .into_iter()
        .filter(|handler| handler.client.is_some());
    for handler in ours {
        let state = states
            .get(&trust::key(&file, &handler))
            .cloned()
            .unwrap_or_default();
        if state.trusted_hash != Some(trust::hash(&handler)) {
            wrong.push(handler.event);
        } else if state.is_disabled {
            disabled.push(handler.event);
        }
    }
    if !wrong.is_empty() {
        let detail = format!(
            "Codex asks before it runs these, or leaves them out: {}",
            wrong.join(", ")
        );
        return Check::fail(
            name,
            detail,
            "`checkpointd doctor --fix` records them as trusted",
        );
    }
    if !disabled.is_empty() {
        let detail = format!(
            "trusted, but switched off in Codex: {}",
            disabled.join(", ")
        );
        return Check::warn(name, detail, "switch them on in Codex (`/hooks`)");
    }
    Check::pass(name, "Codex trusts all of them")
}

fn firing(agent: Agent, last: Option<Timestamp>) -> Check {
    let name = format!("{agent}.firing");
    match last {
        Some(last) => {
            let ago = render::duration_ms(Timestamp::now().millis_since(last));
            Check::pass(name, format!("the last event came {ago} ago"))
        }
        None => {
            let fix = format!(
                "start {} anew, or test with `checkpointd doctor --fire {agent}`",
                agents::name(agent)
            );
            Check::warn(name, "no event has come yet", fix)
        }
    }
}

/// Returns when each agent was last heard of, tests of ours aside.
fn last_events(home: &Home) -> BTreeMap<Agent, Timestamp> {
    let mut last = BTreeMap::new();
    if !home.journal.join("intake").is_dir() {
        return last;
    }
    // Without an answer the check of the journal says why.
    let _ = connection::ask(home, &Query::Sessions, |line| {
        let text = |key: &str| line[key].as_str().unwrap_or_default();
        let (Some(agent), Ok(at)) = (
            Agent::host(text("agent")),
            text("last_at").parse::<Timestamp>(),
        ) else {
            return;
        };
        if !text("native_session").starts_with(fire::SESSION_PREFIX) {
            last.entry(agent)
                .and_modify(|last: &mut Timestamp| *last = (*last).max(at))
                .or_insert(at);
        }
    });
    last
}
