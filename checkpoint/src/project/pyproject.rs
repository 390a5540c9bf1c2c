//! pyproject.toml: the tasks of poe, pdm, hatch, taskipy and tox, and the programs that a package installs.

use toml_edit::{Item, TableLike, Value};

use super::commands::Commands;
use super::python::{add_environments, tox_environments};
use super::toml::{entries, read, table, texts};

/// Calls `add` with each task: the program that runs it, its name, and its commands.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, &str, Commands)) {
    let file = read(text);
    for (keys, runner, call) in [
        (&["tool", "poe", "tasks"], "poe", "poe"),
        (&["tool", "pdm", "scripts"], "pdm", "pdm run"),
        (&["tool", "taskipy", "tasks"], "taskipy", "task"),
    ] {
        for (name, task) in entries(&file, keys) {
            add(runner, name, commands(task, call));
        }
    }
    if let Some(tox) = table(&file, &["tool", "tox"]) {
        of_tox(tox, &mut |name, text| add("tox", name, text));
    }
    for (env_name, env) in entries(&file, &["tool", "hatch", "envs"]) {
        let scripts = env.get("scripts").and_then(Item::as_table_like);
        for (name, script) in scripts.into_iter().flat_map(TableLike::iter) {
            let lines = texts(Some(script)).into_iter();
            // Scripts of another environment are called by its name too.
            let runner = if env_name == "default" {
                "hatch"
            } else {
                "python"
            };
            add(
                runner,
                name,
                lines.map(|line| line.trim_start_matches("- ")).collect(),
            );
        }
    }
    for keys in [&["project", "scripts"][..], &["tool", "poetry", "scripts"]] {
        for (name, entry) in entries(&file, keys) {
            let module = entry.as_str().and_then(|entry| entry.split(':').next());
            let call = module.map(|module| format!("python -m {module}"));
            add("python", name, call.into_iter().collect());
        }
    }
}

/// Environments of tox: those of a tox.ini in a text, or of tables.
fn of_tox(tox: &dyn TableLike, add: &mut dyn FnMut(&str, Commands)) {
    if let Some(text) = tox.get("legacy_tox_ini").and_then(Item::as_str) {
        return tox_environments(text, add);
    }
    let lines = |env: &Item| -> Commands {
        let commands = env.get("commands").and_then(Item::as_array);
        let words = commands.into_iter().flatten().map(|command| {
            let words = command.as_array().into_iter().flatten();
            words
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" ")
        });
        words.collect()
    };
    let mut environments: Vec<(String, Commands)> = Vec::new();
    if let Some(base) = tox.get("env_run_base") {
        environments.push(("testenv".to_owned(), lines(base)));
    }
    let own = tox.get("env").and_then(Item::as_table_like);
    for (name, env) in own.into_iter().flat_map(TableLike::iter) {
        environments.push((name.to_owned(), lines(env)));
    }
    add_environments(&texts(tox.get("env_list")).join(","), environments, add);
}

/// Returns the commands of a task: a text, a list of other tasks, or a table with one of several keys.
fn commands(task: &Item, runner: &str) -> Commands {
    let calls = |names: Vec<&str>| {
        names
            .iter()
            .map(|name| format!("{runner} {name}"))
            .collect()
    };
    if task.is_array() {
        return calls(texts(Some(task)));
    }
    let Some(table) = task.as_table_like() else {
        return texts(Some(task)).into_iter().collect();
    };
    for key in ["cmd", "shell"] {
        if let Some(item) = table.get(key) {
            return Commands::from_iter([texts(Some(item)).join(" ")]);
        }
    }
    for key in ["sequence", "composite", "parallel"] {
        if let Some(item) = table.get(key) {
            return if runner == "poe" {
                calls(texts(Some(item)))
            } else {
                texts(Some(item)).into_iter().collect()
            };
        }
    }
    let script = table
        .get("script")
        .or_else(|| table.get("call"))
        .and_then(Item::as_str);
    let module = script.and_then(|script| script.split(':').next());
    module
        .map(|module| format!("python -m {module}"))
        .into_iter()
        .collect()
}
