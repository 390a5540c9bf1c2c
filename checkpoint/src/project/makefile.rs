//! Makefiles: explicit rules, without including other files.

use super::justfile::substitute;

/// Rules that one file may have.
const RULES_MAX: usize = 400;

/// Targets with what they need (as calls of make) and their recipes.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, String)) {
    let mut variables: Vec<(String, String)> = vec![("MAKE".into(), "make".into())];
    let mut rules: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    let mut in_rule = false;
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            if in_rule && let Some((_, commands)) = rules.last_mut() {
                let command = recipe.trim_start_matches(['@', '-', '+', ' ']);
                commands.push(expand(command, &variables));
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
            variables.push((name.to_owned(), value));
        } else if let Some((targets, rest)) = line.split_once(':')
            && rules.len() < RULES_MAX
            && !line.starts_with(' ')
        {
            in_rule = true;
            let (needs, recipe) = rest.split_once(';').unwrap_or((rest, ""));
            let recipe = expand(recipe.trim(), &variables);
            let needs = needs
                .trim_start_matches(':')
                .split('|')
                .next()
                .unwrap_or_default();
            let mut commands: Vec<String> = needs
                .split_whitespace()
                .map(|need| format!("make {need}"))
                .collect();
            commands.extend(Some(recipe).filter(|recipe| !recipe.is_empty()));
            rules.push((
                targets.split_whitespace().map(str::to_owned).collect(),
                commands,
            ));
        }
    }
    for (targets, commands) in &rules {
        for target in targets
            .iter()
            .filter(|target| !target.starts_with('.') && !target.contains(['%', '$']))
        {
            // Files are no tasks, and neither are what they are made of.
            let commands: Vec<&str> = commands
                .iter()
                .map(String::as_str)
                .filter(|command| is_task(command, &rules))
                .collect();
            add(target, commands.join("\n"));
        }
    }
}

fn is_task(command: &str, rules: &[(Vec<String>, Vec<String>)]) -> bool {
    let Some(need) = command.strip_prefix("make ") else {
        return true;
    };
    need.contains(' ')
        || rules
            .iter()
            .any(|(targets, _)| targets.iter().any(|target| target == need))
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

fn expand(text: &str, variables: &[(String, String)]) -> String {
    let text = substitute(text, "$(", ")", variables);
    substitute(&text, "${", "}", variables).replace("$$", "$")
}
