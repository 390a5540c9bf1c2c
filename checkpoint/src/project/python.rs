//! noxfile.py and tox.ini: sessions and environments.

use std::collections::HashSet;

use super::commands::Commands;
use super::file::quoted;

/// Sessions of nox with what they run; all that run by default as `nox`.
pub(super) fn nox_sessions(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let mut sessions: Vec<(String, Commands)> = Vec::new();
    let mut by_default: Vec<String> = Vec::new();
    let mut decorated: Option<Option<String>> = None;
    let mut call = String::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("@nox.session") || bare.starts_with("@session") {
            let name = bare
                .split_once("name=")
                .and_then(|(_, rest)| quoted(rest).into_iter().next());
            decorated = Some(name);
        } else if let Some(rest) = line.strip_prefix("def ").filter(|_| decorated.is_some()) {
            let own = rest.split('(').next().unwrap_or_default().trim().to_owned();
            sessions.push((
                decorated.take().flatten().unwrap_or(own),
                Commands::default(),
            ));
        } else if let Some(listed) = bare.strip_prefix("nox.options.sessions") {
            by_default = quoted(listed);
        } else if !line.starts_with([' ', '\t', ')', '@', '#']) && !bare.is_empty() {
            decorated = None;
        }
        // A call may go over several lines.
        if call.is_empty()
            && !["session.run", "session.notify"]
                .iter()
                .any(|begin| bare.starts_with(begin))
        {
            continue;
        }
        call.push_str(bare);
        if call.matches('(').count() > call.matches(')').count() && call.len() < 2_000 {
            continue;
        }
        let words = quoted(&std::mem::take(&mut call).replace("external=", ""));
        let is_notify = bare.starts_with("session.notify");
        if let Some((_, commands)) = sessions.last_mut().filter(|_| !words.is_empty()) {
            let begin = if is_notify { "nox -s " } else { "" };
            commands.push(&format!("{begin}{}", words.join(" ")));
        }
    }
    if by_default.is_empty() {
        by_default.extend(sessions.iter().map(|(name, _)| name.clone()));
    }
    for (name, commands) in sessions {
        add(&name, commands);
    }
    let calls = by_default.iter().map(|name| format!("nox -s {name}"));
    add("nox", calls.collect());
}

/// Environments of tox with their commands: `testenv` for those that have no section, all that run by default as `tox`.
pub(super) fn tox_environments(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let mut environments: Vec<(String, Commands)> = Vec::new();
    let (mut listed, mut key, mut section) = (String::new(), String::new(), String::new());
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = bare
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
        {
            name.clone_into(&mut section);
            key.clear();
            if let Some(name) = environment(name) {
                environments.push((name.to_owned(), Commands::default()));
            }
            continue;
        }
        let value = if line.starts_with([' ', '\t']) {
            bare
        } else {
            let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
            name.trim().clone_into(&mut key);
            value.trim()
        };
        if section == "tox" && matches!(key.as_str(), "envlist" | "env_list") {
            listed.push_str(value);
            listed.push(',');
        } else if key == "commands"
            && !value.is_empty()
            && environment(&section).is_some()
            && let Some((_, commands)) = environments.last_mut()
        {
            commands.push(&command(value));
        }
    }
    add_environments(&listed, environments, add);
}

/// Adds what `[tool.tox]` of a pyproject.toml and tox.ini have in common.
pub(super) fn add_environments(
    listed: &str,
    environments: Vec<(String, Commands)>,
    add: &mut dyn FnMut(&str, Commands),
) {
    let own: HashSet<&str> = environments.iter().map(|(name, _)| name.as_str()).collect();
    let names = listed
        .split([',', ' ', '\n'])
        .filter(|name| !name.is_empty());
    let mut runs: Vec<&str> = names
        .map(|name| own.get(name).copied().unwrap_or("testenv"))
        .collect();
    runs.dedup();
    if runs.is_empty() {
        runs.push("testenv");
    }
    let calls = runs.iter().map(|name| format!("tox -e {name}"));
    let all: Commands = calls.collect();
    for (name, commands) in environments {
        add(&name, commands);
    }
    add("tox", all);
}

/// `testenv`, `testenv:lint`.
fn environment(section: &str) -> Option<&str> {
    match section.split_once(':') {
        Some(("testenv", name)) => Some(name),
        None if section == "testenv" => Some(section),
        _ => None,
    }
}

/// `- pytest {posargs:tests}` is `pytest tests`.
fn command(line: &str) -> String {
    let line = line.trim_start_matches(['-', '!']).trim_start();
    let line = line
        .replace("{envpython}", "python")
        .replace("{toxinidir}/", "");
    let mut made = String::new();
    let mut rest = line.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        made.push_str(before);
        let Some((inner, after)) = after.split_once('}') else {
            break;
        };
        made.push_str(inner.strip_prefix("posargs:").unwrap_or_default());
        rest = after;
    }
    (made + rest).trim().to_owned()
}
