//! pyproject.toml: the tasks of poe, pdm, hatch and taskipy, and the programs that a package installs.

use toml_edit::{Item, TableLike};

use super::toml::{read, table, texts};

/// All tasks; they are called by different programs, but no project defines one name for two of them.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, String)) {
    let file = read(text);
    for (keys, runner) in [
        (&["tool", "poe", "tasks"], "poe"),
        (&["tool", "pdm", "scripts"], "pdm run"),
        (&["tool", "taskipy", "tasks"], "task"),
    ] {
        for (name, task) in table(&file, keys).into_iter().flat_map(TableLike::iter) {
            add(name, commands(task, runner).join("\n"));
        }
    }
    for (_, env) in table(&file, &["tool", "hatch", "envs"])
        .into_iter()
        .flat_map(TableLike::iter)
    {
        let scripts = env.get("scripts").and_then(Item::as_table_like);
        for (name, script) in scripts.into_iter().flat_map(TableLike::iter) {
            let lines = texts(Some(script)).into_iter();
            add(
                name,
                lines
                    .map(|line| line.trim_start_matches("- ").to_owned())
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
        }
    }
    for keys in [&["project", "scripts"][..], &["tool", "poetry", "scripts"]] {
        for (name, entry) in table(&file, keys).into_iter().flat_map(TableLike::iter) {
            let module = entry.as_str().and_then(|entry| entry.split(':').next());
            add(
                name,
                module
                    .map(|module| format!("python -m {module}"))
                    .unwrap_or_default(),
            );
        }
    }
}

/// Returns the commands of a task: a text, a list of other tasks, or a table with one of several keys.
fn commands(task: &Item, runner: &str) -> Vec<String> {
    let calls = |names: Vec<String>| {
        names
            .iter()
            .map(|name| format!("{runner} {name}"))
            .collect()
    };
    if task.is_array() {
        return calls(texts(Some(task)));
    }
    let Some(table) = task.as_table_like() else {
        return texts(Some(task));
    };
    for key in ["cmd", "shell"] {
        if let Some(item) = table.get(key) {
            return vec![texts(Some(item)).join(" ")];
        }
    }
    for key in ["sequence", "composite", "parallel"] {
        if let Some(item) = table.get(key) {
            return if runner == "poe" {
                calls(texts(Some(item)))
            } else {
                texts(Some(item))
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
