//! build.gradle and build.gradle.kts: tasks that the build defines, in both languages.

use super::commands::Commands;
use super::file::quoted;

/// Lines of a task's block that are read.
const LINES_MAX: usize = 60;

/// Tasks with what they depend on (as calls of gradle) and what they execute. A task of type `Test` runs tests.
pub(super) fn tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = declared(line) else {
            continue;
        };
        let mut commands = Commands::default();
        let (mut depth, mut is_test) = (0_i64, false);
        for (number, inner) in lines[at..].iter().take(LINES_MAX).enumerate() {
            is_test |= number == 0
                && ["<Test>", "(Test", "Test::class", "type: Test"]
                    .iter()
                    .any(|kind| inner.contains(kind));
            commands.extend(of_line(inner, number == 0));
            let count = |char: char| i64::try_from(inner.matches(char).count()).unwrap_or_default();
            depth += count('{') - count('}');
            if depth <= 0 {
                break;
            }
        }
        if is_test {
            commands.push("gradle test");
        }
        add(&name, commands);
    }
}

/// `tasks.register("x") {`, `task x(dependsOn: "y") {`, `val x by tasks.registering {`. A block that configures a task of
/// a plugin does not say all that the task does.
fn declared(line: &str) -> Option<String> {
    let begins = ["tasks.register", "tasks.create"];
    if let Some(rest) = begins.iter().find_map(|begin| line.strip_prefix(begin)) {
        return quoted(rest).into_iter().next();
    }
    let by = [" by tasks.registering", " by tasks.creating"];
    if let Some(head) = by.iter().find_map(|by| line.split_once(by)) {
        return head
            .0
            .strip_prefix("val ")
            .map(|name| name.trim().to_owned());
    }
    let rest = line.strip_prefix("task ")?;
    let inside = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    let name = rest.split(|char: char| !inside(char)).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the commands that a line of a task names.
fn of_line(line: &str, is_head: bool) -> Vec<String> {
    let after = |word: &str| line.split_once(word).map(|(_, rest)| rest);
    if let Some(rest) = after("dependsOn").or_else(|| after("finalizedBy")) {
        let mut names = quoted(rest);
        if names.is_empty() && !is_head {
            // `dependsOn test, lint`, `dependsOn(tasks.test)`.
            let words = rest.split([',', ' ', '(', ')', '[', ']', '=', ':']);
            names.extend(
                words
                    .filter(|word| !word.is_empty())
                    .map(|word| word.trim_start_matches("tasks.").to_owned()),
            );
        }
        return names
            .into_iter()
            .filter(|name| {
                name.chars()
                    .all(|char| char.is_alphanumeric() || ":_-".contains(char))
            })
            .map(|name| format!("gradle {name}"))
            .collect();
    }
    let Some(rest) = after("commandLine") else {
        return Vec::new();
    };
    let words = quoted(rest);
    if words.is_empty() {
        Vec::new()
    } else {
        vec![words.join(" ")]
    }
}

/// Returns the folders of the projects that a settings file includes.
pub(super) fn included(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut within = false;
    for line in text.lines().map(str::trim) {
        within |= line.starts_with("include") && !line.starts_with("includeBuild");
        if within {
            found.extend(
                quoted(line)
                    .iter()
                    .map(|name| name.trim_start_matches(':').replace(':', "/")),
            );
            within = line.ends_with([',', '(']);
        }
    }
    found
}
