//! Workflows of CI services: what they run is a hint where the project says nothing else.

use serde_json::Value;

use super::values::{entries, list, of_yaml, texts};

/// Longer lines are no plain commands.
const LINE_CHARS_MAX: usize = 64;

/// Calls `add` with the folder and each plain command that a workflow runs.
pub(super) fn commands(path: &str, text: &str, add: &mut dyn FnMut(&str, String)) {
    let workflow = of_yaml(text);
    if path.ends_with(".gitlab-ci.yml") {
        for (_, job) in workflow.as_object().into_iter().flatten() {
            for line in texts(job.get("script")) {
                plain(line, |line| add("", line));
            }
        }
        return;
    }
    for (_, job) in entries(&workflow, &["jobs"]) {
        let usual = folder(job.get("defaults").and_then(|defaults| defaults.get("run")));
        for step in list(job.get("steps")) {
            let own = folder(Some(step));
            let place = if own.is_empty() { usual } else { own };
            let run = step.get("run").and_then(Value::as_str).unwrap_or_default();
            run.lines()
                .for_each(|line| plain(line, |line| add(place, line)));
        }
    }
}

fn folder(value: Option<&Value>) -> &str {
    let folder = value.and_then(|value| value.get("working-directory")?.as_str());
    folder
        .unwrap_or_default()
        .trim_start_matches("./")
        .trim_end_matches('/')
}

/// Calls `add` if a line is one command of plain words: it is shown to people and agents.
fn plain(line: &str, mut add: impl FnMut(String)) {
    let line = line.trim();
    let is_plain = line.len() <= LINE_CHARS_MAX
        && line
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || " @:._/=+,-".contains(char));
    if is_plain && line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '.') {
        add(line.to_owned());
    }
}
