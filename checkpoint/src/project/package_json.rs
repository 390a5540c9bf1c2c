//! package.json, deno.json.

use serde_json::Value;

use super::commands::Commands;
use super::file::{ProjectFile, folder};
use super::json::{entries, list};

/// Returns the package manager of a package.json: the one that it or the nearest one above it names, or that of the nearest
/// lock file.
pub(super) fn runner<'a>(file: &'a ProjectFile, files: &[ProjectFile]) -> &'a str {
    if let Some(runner) = named(&file.text) {
        return runner;
    }
    let mut at = folder(&file.path);
    loop {
        let find = |name: &str| {
            let path = if at.is_empty() {
                name.to_owned()
            } else {
                format!("{at}/{name}")
            };
            files.iter().find(|file| file.path == path)
        };
        if let Some(runner) = find("package.json").and_then(|file| named(&file.text)) {
            return runner;
        }
        let locks = [
            ("pnpm-lock.yaml", "pnpm"),
            ("yarn.lock", "yarn"),
            ("bun.lock", "bun"),
            ("bun.lockb", "bun"),
            ("package-lock.json", "npm"),
        ];
        let lock = locks.iter().find(|(name, _)| find(name).is_some());
        if let Some((_, runner)) = lock {
            return runner;
        }
        if at.is_empty() {
            return "npm";
        }
        at = folder(at);
    }
}

/// Returns the package manager that a package.json names.
fn named(text: &str) -> Option<&'static str> {
    let package: Value = serde_json::from_str(text).ok()?;
    let named = package.get("packageManager")?.as_str()?;
    let known = ["pnpm", "yarn", "bun", "npm"];
    known.into_iter().find(|known| named.starts_with(*known))
}

/// Scripts; those that run before another one of themselves (`pretest`) belong to it.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    for (name, script) in entries(&package, "scripts") {
        let before = package["scripts"][format!("pre{name}")].as_str();
        let parts: Vec<&str> = before.into_iter().chain(script.as_str()).collect();
        add(name, Commands::from_iter([parts.join(" && ")]));
    }
}

/// Tasks of Deno: a command, or an object with one and the tasks before it.
pub(super) fn deno_tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let config: Value = serde_json::from_str(text).unwrap_or_default();
    for (name, task) in entries(&config, "tasks") {
        let mut parts: Vec<String> = Vec::new();
        for before in list(task.get("dependencies")) {
            parts.extend(before.as_str().map(|before| format!("deno task {before}")));
        }
        let command = task.as_str().or_else(|| task.get("command")?.as_str());
        parts.extend(command.map(str::to_owned));
        add(name, Commands::from_iter([parts.join(" && ")]));
    }
}
