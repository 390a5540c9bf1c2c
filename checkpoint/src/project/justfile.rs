//! Justfiles: recipes, aliases and variables, without including other files.

/// Recipes with what they need (as calls of just) and their lines.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, String)) {
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut recipes: Vec<(String, Vec<String>)> = Vec::new();
    let mut in_recipe = false;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if in_recipe && let Some((_, commands)) = recipes.last_mut() {
                let command = line.trim_start().trim_start_matches(['@', '-']);
                commands.push(substitute(command, "{{", "}}", &variables));
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
                recipes.push((
                    name.trim().to_owned(),
                    vec![format!("just {}", value.trim())],
                ));
            } else {
                let name = name.strip_prefix("export ").unwrap_or(name).to_owned();
                variables.push((name, value.trim().trim_matches(['"', '\'']).to_owned()));
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
            recipes.push((
                name.to_owned(),
                needs.map(|need| format!("just {need}")).collect(),
            ));
        }
    }
    for (name, commands) in recipes {
        add(&name, commands.join("\n"));
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

/// Replaces variables between two marks by their values, once.
pub(super) fn substitute(
    text: &str,
    open: &str,
    close: &str,
    variables: &[(String, String)],
) -> String {
    const BYTES_MAX: usize = 8 * 1024;
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open).filter(|_| made.len() < BYTES_MAX) {
        made.push_str(before);
        let Some((name, after)) = after.split_once(close) else {
            made.push_str(open);
            rest = after;
            continue;
        };
        match variables
            .iter()
            .rev()
            .find(|(known, _)| known == name.trim())
        {
            Some((_, value)) => made.push_str(value),
            None => made.extend([open, name, close]),
        }
        rest = after;
    }
    made + rest
}
