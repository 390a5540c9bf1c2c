//! composer.json.

use serde_json::Value;

use super::commands::Commands;
use super::json::{entries, list};

/// Scripts: a command or several. `@name` is another script, `@php` the interpreter, `Class::method` is left out.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    for (name, script) in entries(&package, "scripts") {
        let lines = list(Some(script))
            .into_iter()
            .filter_map(Value::as_str)
            .filter(|line| !line.contains("::"));
        let commands = lines.map(command).filter(|line| !line.is_empty());
        add(name, commands.collect());
    }
}

fn command(line: &str) -> String {
    match line.strip_prefix('@') {
        Some(rest) if rest.starts_with("php ") || rest.starts_with("composer ") => rest.to_owned(),
        Some(rest) if rest.starts_with("putenv ") => String::new(),
        Some(rest) => format!("composer {rest}"),
        None => line.to_owned(),
    }
}
