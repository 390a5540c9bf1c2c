//! Rakefiles: tasks, without including other files.

use super::commands::Commands;
use super::file::quoted;

/// Tasks with what they need (as calls of rake) and the commands of `sh`.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let mut found: Vec<(String, Commands)> = Vec::new();
    for line in text.lines().map(str::trim) {
        let runners = [
            ("RSpec::Core::RakeTask.new", "rspec", "spec"),
            ("Rake::TestTask.new", "minitest", "test"),
            ("Minitest::TestTask.create", "minitest", "test"),
            ("Cucumber::Rake::Task.new", "cucumber", "cucumber"),
            ("RuboCop::RakeTask.new", "rubocop", "rubocop"),
        ];
        let known = runners.iter().find_map(|(begin, command, usual)| {
            Some((line.strip_prefix(begin)?, *command, *usual))
        });
        if let Some((rest, command, usual)) = known {
            let name = names(rest)
                .into_iter()
                .next()
                .unwrap_or_else(|| usual.to_owned());
            found.push((name, Commands::from_iter([command])));
        } else if let Some(rest) = line
            .strip_prefix("task ")
            .or_else(|| line.strip_prefix("task("))
        {
            let rest = rest.trim_end_matches("do").trim_end();
            let (head, needs) = match rest.split_once("=>") {
                Some((head, needs)) => (head, needs),
                None => rest
                    .split_once(": ")
                    .map_or((rest, ""), |(head, needs)| (head, needs)),
            };
            let mut head = names(head).into_iter();
            let word = || {
                rest.split([' ', ':', ','])
                    .find(|word| !word.is_empty())
                    .map(str::to_owned)
            };
            let Some(name) = head.next().or_else(word) else {
                continue;
            };
            let calls = names(needs).into_iter().map(|need| format!("rake {need}"));
            found.push((name, calls.collect()));
        } else if let Some(rest) = line
            .strip_prefix("sh ")
            .or_else(|| line.strip_prefix("sh("))
            && let Some((_, commands)) = found.last_mut()
        {
            commands.push(&quoted(rest).join(" "));
        }
    }
    for (name, commands) in found {
        add(&name, commands);
    }
}

/// Returns the names in a list of symbols and texts: `:a`, `"b:c"`, `%w[a b]`, `%i[a b]`.
fn names(text: &str) -> Vec<String> {
    if let Some((_, list)) = text.split_once("%w").or_else(|| text.split_once("%i")) {
        let inner = list.trim_matches(['[', ']', '(', ')', ' ']);
        return inner
            .split_whitespace()
            .map(|name| name.trim_matches([']', ')']).to_owned())
            .collect();
    }
    let mut found = quoted(text);
    let words = text.split(|char: char| !(char.is_alphanumeric() || char == '_' || char == ':'));
    let symbols = words.filter_map(|word| word.strip_prefix(':'));
    found.extend(symbols.filter(|name| !name.is_empty()).map(str::to_owned));
    found
}
