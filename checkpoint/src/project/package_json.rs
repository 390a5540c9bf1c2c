//! package.json, deno.json.

use serde_json::Value;

use super::file::{ProjectFile, folder};

/// Returns the package manager of a package.json: the one it names, or that of the nearest lock file above it.
pub(super) fn runner<'a>(file: &'a ProjectFile, files: &[ProjectFile]) -> &'a str {
    let named: Option<Value> = serde_json::from_str(&file.text).ok();
    let named = named
        .as_ref()
        .and_then(|package| package.get("packageManager")?.as_str());
    let known = ["pnpm", "yarn", "bun", "npm"];
    if let Some(runner) =
        named.and_then(|named| known.iter().find(|known| named.starts_with(**known)))
    {
        return runner;
    }
    let mut at = folder(&file.path);
    loop {
        let has = |name: &str| {
            let path = if at.is_empty() {
                name.to_owned()
            } else {
                format!("{at}/{name}")
            };
            files.iter().any(|file| file.path == path)
        };
        if has("pnpm-lock.yaml") {
            return "pnpm";
        }
        if has("yarn.lock") {
            return "yarn";
        }
        if has("bun.lock") || has("bun.lockb") {
            return "bun";
        }
        if at.is_empty() {
            return "npm";
        }
        at = folder(at);
    }
}

/// Scripts; those that run before another one of themselves (`pretest`) belong to it.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, String)) {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(scripts) = package.get("scripts").and_then(Value::as_object) else {
        return;
    };
    for (name, script) in scripts {
        let before = scripts.get(&format!("pre{name}")).and_then(Value::as_str);
        let parts: Vec<&str> = before.into_iter().chain(script.as_str()).collect();
        add(name, parts.join(" && "));
    }
}

/// Tasks of Deno: a command, or an object with one and the tasks before it.
pub(super) fn deno_tasks(text: &str, add: &mut dyn FnMut(&str, String)) {
    let config: Value = serde_json::from_str(text).unwrap_or_default();
    for (name, task) in config
        .get("tasks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let mut parts: Vec<String> = Vec::new();
        for before in task
            .get("dependencies")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            parts.extend(before.as_str().map(|before| format!("deno task {before}")));
        }
        let command = task.as_str().or_else(|| task.get("command")?.as_str());
        parts.extend(command.map(str::to_owned));
        add(name, parts.join(" && "));
    }
}
