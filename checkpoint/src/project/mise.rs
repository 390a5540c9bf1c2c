//! mise.toml, and tasks that are files of their own.

use super::commands::Commands;
use super::toml::{entries, read, texts};

/// Tasks with what they need and their commands.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let file = read(text);
    for (name, task) in entries(&file, &["tasks"]) {
        let Some(table) = task.as_table_like() else {
            add(name, texts(Some(task)).into_iter().collect());
            continue;
        };
        let needs = texts(table.get("depends"));
        let needs = needs.iter();
        let mut commands: Commands = needs.map(|need| format!("mise run {need}")).collect();
        commands.extend(
            table
                .get("dir")
                .and_then(|dir| dir.as_str())
                .map(|dir| format!("cd {dir}")),
        );
        commands.extend(texts(table.get("run")));
        add(name, commands);
    }
}

/// `mise-tasks/test/unit` is the task `test:unit`; its text is a script.
pub(super) fn file_task(path: &str, text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let place = path
        .split_once("mise-tasks/")
        .or_else(|| path.split_once(".mise/tasks/"));
    if let Some((_, name)) = place {
        let name = name.strip_suffix(".sh").unwrap_or(name);
        add(&name.replace('/', ":"), Commands::from_iter([text]));
    }
}
