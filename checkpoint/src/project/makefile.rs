//! Makefiles: explicit rules, without including other files.

use std::collections::{HashMap, HashSet};
use std::iter::once_with;

use super::commands::Commands;
use super::justfile::substitute;

/// Rules that one file may have.
const RULES_MAX: usize = 400;

/// Targets with what they need (as calls of make) and their recipes.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let mut variables = HashMap::from([("MAKE", "make".to_owned())]);
    // Targets, what they need, and their recipe.
    let mut rules: Vec<(&str, &str, Commands)> = Vec::new();
    let mut in_rule = false;
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            if in_rule && let Some((.., commands)) = rules.last_mut() {
                let command = recipe.trim_start_matches(['@', '-', '+', ' ']);
                commands.extend(once_with(|| expand(command, &variables)));
            }
            continue;
        }
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        in_rule = false;
        if let Some((name, value)) = assignment(line) {
            let value = expand(value, &variables);
            variables.insert(name, value);
        } else if let Some((targets, rest)) = line.split_once(':')
            && rules.len() < RULES_MAX
            && !line.starts_with(' ')
        {
            in_rule = true;
            let (needs, recipe) = rest.split_once(';').unwrap_or((rest, ""));
            let needs = needs
                .trim_start_matches(':')
                .split('|')
                .next()
                .unwrap_or_default();
            let recipe = expand(recipe.trim(), &variables);
            rules.push((targets, needs, Commands::from_iter([recipe])));
        }
    }
    let known: HashSet<&str> = rules
        .iter()
        .flat_map(|(targets, ..)| targets.split_whitespace())
        .collect();
    for (targets, needs, recipe) in &rules {
        let calls = needs.split_whitespace().map(|need| format!("make {need}"));
        // Files are no tasks, and neither are what they are made of.
        let commands: Commands = calls
            .chain(recipe.lines().map(str::to_owned))
            .filter(|command| is_task(command, &known))
            .collect();
        for target in targets
            .split_whitespace()
            .filter(|target| !target.starts_with('.') && !target.contains(['%', '$']))
        {
            add(target, commands.clone());
        }
    }
}

fn is_task(command: &str, known: &HashSet<&str>) -> bool {
    let need = command.strip_prefix("make ");
    need.is_none_or(|need| need.contains(' ') || known.contains(need))
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "_-.".contains(char));
    plain.then(|| (name, value.trim()))
}

fn expand(text: &str, variables: &HashMap<&str, String>) -> String {
    let text = substitute(text, "$(", ")", variables);
    substitute(&text, "${", "}", variables).replace("$$", "$")
}
