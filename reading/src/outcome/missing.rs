//! What could not be run because it was not found: the words of shells, and of programs that run others.

use std::sync::LazyLock;

use regex::Regex;

use super::failure::matching;
use crate::catalogue::file_name;

/// The most names of one output that are kept.
const NAMES_MAX: usize = 8;
/// Longer names are none.
const NAME_BYTES_MAX: usize = 80;
/// The words of which each form has one.
const WORDS: [&str; 7] = [
    "not found",
    "o such file",
    "o module named",
    "ermission denied",
    "issing script",
    "to spawn",
    "can't cd",
];

/// The forms; the group is what is missing.
static FORMS: LazyLock<Regex> = LazyLock::new(|| {
    matching(concat!(
        // bash, dash, ash; with a line also a script.
        r"^(?:\S+: (?:line )?[0-9]+: (\S+): (?:command )?not found",
        r"|(?:\S*/)?[a-z]*sh: (\S+): (?:command )?not found",
        r"|(?:\S*/)?[a-z]*sh: (?:line [0-9]+: )?(\S*/\S+): (?:No such file or directory|Permission denied)",
        // zsh, also where it evaluates a text.
        r"|(?:(?:\S*/)?zsh|\(eval\)):(?:[0-9]+:)? command not found: (\S+)",
        r"|(?:\S+: )?(?:line [0-9]+: |[0-9]+: )?(cd): (?:can't cd to .+|no such file or directory: .+|.+: No such file or directory)",
        r"|\S+:(cd):[0-9]+: no such file or directory: .+",
        r"|(?:\S*/)?g?make(?:\[[0-9]+\])?: (\S+): (?:No such file or directory|Command not found|Permission denied)",
        r"|(?:\S*/)?(?:env|nice|nohup|setsid|stdbuf|timeout|xargs): (?:failed to run command )?['‘]?([^'‘’ ]+)['’]?: No such file or directory",
        r"|\S*python[0-9.]*(?:\.exe)?: No module named '?([\w.]+)'?",
        r#"|(?:npm (?:ERR!|error)|\[?ERR_PNPM_NO_SCRIPT\]?) +[Mm]issing script:? "?([^"\s]+)"?"#,
        r#"|error Command "([^"\s]+)" not found\."#,
        r"|error: Failed to spawn: `([^`\s]+)`)$",
    ))
});

/// The names of what is missing, by one output.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// Adds what a line calls missing. Returns whether it does.
    pub(super) fn add(&mut self, line: &str) -> bool {
        if !WORDS.iter().any(|word| line.contains(word)) {
            return false;
        }
        let found = FORMS.captures(line);
        let name = found.and_then(|found| found.iter().skip(1).flatten().next());
        let Some(name) = name.map(|name| file_name(name.as_str())) else {
            return false;
        };
        let is_new = !self.0.iter().any(|known| known == name);
        if is_new && name.len() <= NAME_BYTES_MAX && self.0.len() < NAMES_MAX {
            self.0.push(name.to_owned());
        }
        true
    }

    pub(super) fn finish(self) -> Vec<String> {
        self.0
    }
}
