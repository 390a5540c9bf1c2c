//! Justfiles: recipes, aliases and variables, without including other files.

use std::collections::HashMap;
use std::iter::once_with;

use reading::text;

use super::commands::{BYTES_MAX, Commands};

/// Recipes with what they need (as calls of just) and their lines.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let mut variables: HashMap<&str, String> = HashMap::new();
    let mut recipes: Vec<(&str, Commands)> = Vec::new();
    let mut in_recipe = false;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if in_recipe && let Some((_, commands)) = recipes.last_mut() {
                let command = line.trim_start().trim_start_matches(['@', '-']);
                commands.extend(once_with(|| substitute(command, "{{", "}}", &variables)));
            }
            continue;
        }
        let line = line.trim_end();
        if line.is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        in_recipe = false;
        if let Some((name, value)) = line.split_once(":=") {
            let name = name.trim();
            if let Some(name) = name.strip_prefix("alias ") {
                let call = format!("just {}", value.trim());
                recipes.push((name.trim(), Commands::from_iter([call])));
            } else {
                let name = name.strip_prefix("export ").unwrap_or(name);
                let value = value.trim().trim_matches(['"', '\'']);
                variables.insert(name, value.to_owned());
            }
        } else if let Some((head, needs)) = split_head(line) {
            in_recipe = true;
            let needs = needs.split("&&").flat_map(str::split_whitespace);
            let needs = needs
                .map(|need| need.trim_matches(['(', ')']))
                .filter(|need| !need.is_empty());
            let name = head
                .trim_start_matches('@')
                .split_whitespace()
                .next()
                .unwrap_or_default();
            let calls = needs.map(|need| format!("just {need}"));
            recipes.push((name, calls.collect()));
        }
    }
    for (name, commands) in recipes {
        add(name, commands);
    }
}

/// Splits `name parameter="a:b": needs` at its colon.
fn split_head(line: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, char) in line.char_indices() {
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, ':') => return Some((&line[..at], &line[at + 1..])),
            _ => {}
        }
    }
    None
}

/// Replaces variables between two marks by the beginnings of their values, once, as far as a task's commands are kept: so
/// a line grows by no more than that, however long the values are.
pub(super) fn substitute(
    text: &str,
    open: &str,
    close: &str,
    variables: &HashMap<&str, String>,
) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open).filter(|_| made.len() < BYTES_MAX) {
        made.push_str(before);
        let Some((name, after)) = after.split_once(close) else {
            made.push_str(open);
            rest = after;
            continue;
        };
        match variables.get(name.trim()) {
            Some(value) => made.push_str(text::head(value, BYTES_MAX)),
            None => made.extend([open, name, close]),
        }
        rest = after;
    }
    made + rest
}
