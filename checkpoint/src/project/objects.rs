//! Task files in which an object holds the tasks by their names: of package managers, task runners and monorepo tools.

use serde_json::Value;

use super::commands::Commands;
use super::values::{entries, list, of_json, of_toml, of_yaml, texts};
use crate::catalogue::Catalogue;

type Add<'a> = &'a mut dyn FnMut(&str, Commands);

/// Tasks of a Taskfile.yml.
pub(super) fn taskfile(text: &str, add: Add<'_>) {
    for (name, task) in entries(&of_yaml(text), &["tasks"]) {
        add(name, commands(task, "task"));
    }
}

/// Tasks of a mise.toml.
pub(super) fn mise(text: &str, add: Add<'_>) {
    for (name, task) in entries(&of_toml(text), &["tasks"]) {
        add(name, commands(task, "mise run"));
    }
}

/// `mise-tasks/test/unit` is the task `test:unit`; its text is a script.
pub(super) fn mise_file(path: &str, text: &str, add: Add<'_>) {
    let place = path
        .split_once("mise-tasks/")
        .or_else(|| path.split_once(".mise/tasks/"));
    if let Some((_, name)) = place {
        let name = name.strip_suffix(".sh").unwrap_or(name);
        add(&name.replace('/', ":"), Commands::from_iter([text]));
    }
}

/// Tasks of a deno.json.
pub(super) fn deno(text: &str, add: Add<'_>) {
    for (name, task) in entries(&of_json(text), &["tasks"]) {
        let commands = commands(task, "deno task");
        let lines: Vec<_> = commands.lines().collect();
        add(name, Commands::from_iter([lines.join(" && ")]));
    }
}

/// Scripts of a package.json; those that run before another one of themselves (`pretest`) belong to it.
pub(super) fn package_json(text: &str, add: Add<'_>) {
    let package = of_json(text);
    for (name, script) in entries(&package, &["scripts"]) {
        let before = package["scripts"][format!("pre{name}")].as_str();
        let parts: Vec<&str> = before.into_iter().chain(script.as_str()).collect();
        add(name, Commands::from_iter([parts.join(" && ")]));
    }
}

/// Scripts of a composer.json. `@name` is another script, `@php` the interpreter, `Class::method` is left out.
pub(super) fn composer(text: &str, add: Add<'_>) {
    for (name, script) in entries(&of_json(text), &["scripts"]) {
        let mut lines = texts(Some(script));
        lines.retain(|line| !line.contains("::") && !line.starts_with("@putenv "));
        let command = |line: &str| match line.strip_prefix('@') {
            Some(rest) if rest.starts_with("php ") || rest.starts_with("composer ") => {
                rest.to_owned()
            }
            Some(rest) => format!("composer {rest}"),
            None => line.to_owned(),
        };
        add(name, lines.into_iter().map(command).collect());
    }
}

/// Aliases of `.cargo/config.toml`.
pub(super) fn cargo(text: &str, add: Add<'_>) {
    for (name, alias) in entries(&of_toml(text), &["alias"]) {
        let call = format!("cargo {}", texts(Some(alias)).join(" "));
        add(name, Commands::from_iter([call]));
    }
}

/// Tasks that turbo.json defines; what they run is the script of that name in each package.
pub(super) fn turbo(text: &str, add: Add<'_>) {
    let config = of_json(text);
    // Before turbo 2, `tasks` was `pipeline`.
    for (name, _) in entries(&config, &["tasks"]).chain(entries(&config, &["pipeline"])) {
        let name = name.rsplit('#').next().unwrap_or(name);
        add(name, Commands::default());
    }
}

/// Targets of a project.json of nx: their commands, or the tool of their executor.
pub(super) fn nx(text: &str, add: Add<'_>) {
    let languages = Catalogue::built_in().languages().iter();
    let executors = languages.flat_map(|language| &language.executors);
    for (name, target) in entries(&of_json(text), &["targets"]) {
        let mut lines = commands(target, "nx");
        lines.extend(commands(&target["options"], "nx").lines());
        let executor = target["executor"].as_str().unwrap_or_default();
        let tool = executors
            .clone()
            .find(|(end, _)| executor.ends_with(end.as_str()));
        lines.extend(tool.map(|(_, tool)| tool));
        add(name, lines);
    }
}

/// Returns the commands of a task: a command, a list of them, or an object that also says what it needs (as calls) and
/// its folder.
fn commands(task: &Value, call: &str) -> Commands {
    let field = |names: &[&str]| names.iter().find_map(|name| task.get(name));
    let line = |command: &Value| {
        let named = command.as_str().or_else(|| command.get("task")?.as_str())?;
        Some(format!("{call} {}", named.trim_start_matches(':')))
    };
    let needs = field(&["deps", "depends", "dependencies"]);
    let mut commands: Commands = list(needs).iter().filter_map(line).collect();
    let dir = task.get("dir").and_then(Value::as_str);
    commands.extend(dir.map(|dir| format!("cd {dir}")));
    let own = field(&["cmds", "cmd", "run", "command", "commands"]);
    for command in list(own.or((!task.is_object()).then_some(task))) {
        let inner = || command.get("cmd").or(command.get("command"))?.as_str();
        let text = command.as_str().or_else(inner).map(str::to_owned);
        commands.extend(text.or_else(|| line(command)));
    }
    commands
}
