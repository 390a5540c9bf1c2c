//! pyproject.toml: the tasks of poe, pdm, hatch, taskipy and tox, and the programs that a package installs.

use serde_json::Value;

use super::commands::Commands;
use super::python::{add_environments, tox_environments};
use super::values::{at, entries, list, of_toml, texts};

/// Calls `add` with each task: the program that runs it, its name, and its commands.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, &str, Commands)) {
    let file = of_toml(text);
    for (runner, key, call) in [
        ("poe", "tasks", "poe"),
        ("pdm", "scripts", "pdm run"),
        ("taskipy", "tasks", "task"),
    ] {
        for (name, task) in entries(&file, &["tool", runner, key]) {
            add(runner, name, commands(task, call));
        }
    }
    if let Some(tox) = at(&file, &["tool", "tox"]) {
        of_tox(tox, &mut |name, text| add("tox", name, text));
    }
    for (env_name, env) in entries(&file, &["tool", "hatch", "envs"]) {
        // Scripts of another environment are called by its name too.
        let runner = match env_name.as_str() {
            "default" => "hatch",
            _ => "python",
        };
        for (name, script) in entries(env, &["scripts"]) {
            let lines = texts(Some(script)).into_iter();
            let commands = lines.map(|line| line.trim_start_matches("- ")).collect();
            add(runner, name, commands);
        }
    }
    for keys in [&["project", "scripts"][..], &["tool", "poetry", "scripts"]] {
        for (name, entry) in entries(&file, keys) {
            add("python", name, module(Some(entry)));
        }
    }
}

/// Environments of tox: those of a tox.ini in a text, or of tables.
fn of_tox(tox: &Value, add: &mut dyn FnMut(&str, Commands)) {
    if let Some(text) = tox["legacy_tox_ini"].as_str() {
        return tox_environments(text, add);
    }
    let lines = |env: &Value| -> Commands {
        let commands = list(env.get("commands")).iter();
        commands
            .map(|command| texts(Some(command)).join(" "))
            .collect()
    };
    let base = tox.get("env_run_base").into_iter();
    let base = base.map(|base| ("testenv".to_owned(), lines(base)));
    let own = entries(tox, &["env"]).map(|(name, env)| (name.clone(), lines(env)));
    let listed = texts(tox.get("env_list")).join(",");
    add_environments(&listed, base.chain(own).collect(), add);
}

/// Returns the commands of a task: a text, a list of other tasks, or a table with one of several keys.
fn commands(task: &Value, call: &str) -> Commands {
    let field = |names: &[&str]| names.iter().find_map(|name| task.get(name));
    let calls = |names: &Value| {
        let names = texts(Some(names)).into_iter();
        names.map(|name| format!("{call} {name}")).collect()
    };
    let line = field(&["cmd", "shell"]);
    match (line, field(&["sequence", "composite", "parallel"])) {
        _ if task.is_array() => calls(task),
        _ if task.is_string() => texts(Some(task)).into_iter().collect(),
        (Some(_), _) => Commands::from_iter([texts(line).join(" ")]),
        (_, Some(tasks)) if call == "poe" => calls(tasks),
        (_, lines @ Some(_)) => texts(lines).into_iter().collect(),
        (_, None) => module(field(&["script", "call"])),
    }
}

/// Returns the command that runs an entry point, `module:function`.
fn module(entry: Option<&Value>) -> Commands {
    let module = entry.and_then(|entry| entry.as_str()?.split(':').next());
    let call = module.map(|module| format!("python -m {module}"));
    call.into_iter().collect()
}
