//! Taskfile.yml.

use serde_json::Value;

use super::commands::Commands;
use super::json::{entries, list};
use crate::config::yaml;

/// Tasks with what they need and their commands; calls of other tasks as calls of `task`.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let file = yaml::value(text).unwrap_or_default();
    for (name, task) in entries(&file, "tasks") {
        let mut commands = Commands::default();
        let dir = task.get("dir").and_then(Value::as_str);
        commands.extend(dir.map(|dir| format!("cd {dir}")));
        for need in list(task.get("deps")) {
            let name = need.as_str().or_else(|| need.get("task")?.as_str());
            commands.extend(name.map(|name| format!("task {name}")));
        }
        let own = task
            .get("cmds")
            .or_else(|| task.get("cmd"))
            .or(Some(task).filter(|task| !task.is_object()));
        for command in list(own) {
            let line = command.as_str().or_else(|| command.get("cmd")?.as_str());
            let call = command.get("task").and_then(Value::as_str);
            commands.extend(
                line.map(str::to_owned)
                    .or(call.map(|name| format!("task {}", name.trim_start_matches(':')))),
            );
        }
        add(name, commands);
    }
}
