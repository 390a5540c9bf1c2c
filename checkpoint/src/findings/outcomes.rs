//! How the turn's commands ended, by their output (spec EVID-17).

use std::sync::LazyLock;

use journal::{Summary, SummaryKind, SummaryVerdict, ToolCall, ToolKind};
use regex::Regex;

use super::paths::PathRef;
use crate::outcome::{is_log, language, overall};
use crate::shell::{self, CommandLine, Simple};

static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?im)^(?:Error: )?(?:Exit code:? |Process exited with code )(-?\d+)")
        .expect("a constant that a test compiles")
});

/// Programs that only show something: texts, files, states, or what a server answers. What they print did not run now.
const VIEWERS: [&str; 88] = [
    "echo",
    "printf",
    "cat",
    "bat",
    "tac",
    "nl",
    "head",
    "tail",
    "less",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "sed",
    "awk",
    "gawk",
    "sort",
    "uniq",
    "wc",
    "cut",
    "tr",
    "tee",
    "column",
    "fold",
    "jq",
    "yq",
    "xxd",
    "od",
    "strings",
    "diff",
    "cmp",
    "comm",
    "ls",
    "tree",
    "find",
    "fd",
    "stat",
    "file",
    "du",
    "df",
    "cd",
    "pushd",
    "popd",
    "pwd",
    "export",
    "set",
    "unset",
    "source",
    ".",
    ":",
    "true",
    "false",
    "test",
    "[",
    "[[",
    "sleep",
    "wait",
    "exit",
    "date",
    "which",
    "type",
    "mkdir",
    "touch",
    "kill",
    "pkill",
    "killall",
    "jobs",
    "ps",
    "pgrep",
    "lsof",
    "uptime",
    "rm",
    "cp",
    "mv",
    "chmod",
    "basename",
    "seq",
    "journalctl",
    "curl",
    "wget",
    "Get-Content",
    "Select-String",
    "Write-Output",
    "Write-Host",
];

/// Programs of which only some subcommands run what a project has; the others show something.
const RUNNING_VERBS: [(&str, &[&str]); 4] = [
    (
        "git",
        &[
            "push",
            "commit",
            "merge",
            "rebase",
            "pull",
            "am",
            "cherry-pick",
            "revert",
            "bisect",
            "hook",
        ],
    ),
    ("gh", &["extension", "act"]),
    (
        "docker",
        &["run", "exec", "build", "compose", "buildx", "start"],
    ),
    ("kubectl", &["exec", "run", "debug"]),
];

/// Interpreters; a script that is given in the line may print anything.
const INTERPRETERS: [&str; 9] = [
    "python",
    "python3",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "lua",
    "osascript",
];

/// What the outputs of a turn's calls say, each with the call whose commands printed it.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    by_call: Vec<Vec<Summary>>,
}

impl Outcomes {
    /// Finds out what each output belongs to. An output that was only shown belongs to the call that wrote the file.
    pub(super) fn new(evidence: &journal::Evidence, lines: &[CommandLine], project: &str) -> Self {
        let calls = &evidence.timeline.calls;
        let mut by_call: Vec<Vec<Summary>> = vec![Vec::new(); calls.len()];
        for outcome in &evidence.facts.outcomes {
            let at = outcome.call;
            let (Some(call), Some(line)) = (calls.get(at), lines.get(at)) else {
                continue;
            };
            let owner = if call.kind == ToolKind::Shell && executes(line) {
                // Output that was shown of an older run cannot be distinguished from its own.
                let own = shown(call, line).all(|path| writes(line, path, project));
                own.then_some(at)
            } else {
                shown(call, line)
                    .filter_map(|path| {
                        (0..at)
                            .rev()
                            .find(|before| writes(&lines[*before], path, project))
                    })
                    .max()
                    .filter(|before| executes(&lines[*before]))
            };
            if let Some(owner) = owner {
                by_call[owner].extend(outcome.summaries.iter().cloned());
            }
        }
        Self { by_call }
    }

    /// Returns the summaries of a call's output.
    pub(super) fn of(&self, call: usize) -> &[Summary] {
        self.by_call.get(call).map_or(&[], Vec::as_slice)
    }

    /// Returns how the tests of a call ended that may be about code of one of the packs.
    pub(super) fn tests(&self, call: usize, packs: &[&str]) -> Option<SummaryVerdict> {
        tests_of(self.of(call), packs)
    }

    /// Returns how the tests of a call ended by the language that they may be about; none for any.
    pub(super) fn languages(&self, call: usize) -> Vec<(Option<&'static str>, SummaryVerdict)> {
        let tests = self
            .of(call)
            .iter()
            .filter(|said| said.kind == SummaryKind::Tests);
        let mut languages: Vec<_> = tests.map(|said| language(&said.tool)).collect();
        languages.sort_unstable();
        languages.dedup();
        let of = |wanted: Option<&'static str>| {
            let fits = |said: &&Summary| language(&said.tool) == wanted;
            let said: Vec<Summary> = self.of(call).iter().filter(fits).cloned().collect();
            Some((wanted, overall(&said, SummaryKind::Tests)?))
        };
        languages.into_iter().filter_map(of).collect()
    }

    /// Returns how a command ended that is none of tests, or whose output sums up no tests: by what built, checked or
    /// installed, and by the task runner that says what failed.
    pub(super) fn others(&self, call: usize) -> Option<SummaryVerdict> {
        use SummaryKind::{Build, Other, Types};
        let verdicts = [Build, Types, Other].map(|kind| overall(self.of(call), kind));
        [SummaryVerdict::Failed, SummaryVerdict::Passed]
            .into_iter()
            .find(|wanted| verdicts.contains(&Some(*wanted)))
    }

    /// Returns how the tests of a call ended, of whatever language.
    pub(super) fn any_tests(&self, call: usize) -> Option<SummaryVerdict> {
        overall(self.of(call), SummaryKind::Tests)
    }
}

/// Returns how the tests ended that may be about code of one of the packs.
pub(super) fn tests_of(said: &[Summary], packs: &[&str]) -> Option<SummaryVerdict> {
    let fits = |summary: &&Summary| {
        let language = language(&summary.tool);
        language.is_none_or(|language| packs.iter().any(|pack| speaks(pack, language)))
    };
    let tests: Vec<Summary> = said.iter().filter(fits).cloned().collect();
    overall(&tests, SummaryKind::Tests)
}

/// Returns whether the tests of a language may be about the code of a pack. Packs of no language take all.
fn speaks(pack: &str, language: &str) -> bool {
    pack == language || !["rust", "node", "python", "go"].contains(&pack)
}

/// Returns whether a line runs more than programs that only show something.
pub(super) fn executes(line: &CommandLine) -> bool {
    line.commands
        .iter()
        .any(|simple| !only_shows(&simple.words))
}

/// Returns the position of the last command that does more than show something.
pub(super) fn last_executed(commands: &[Simple]) -> Option<usize> {
    commands
        .iter()
        .rposition(|simple| !only_shows(&simple.words))
}

/// Returns whether another command of the line can be why the line failed.
pub(super) fn may_fail_elsewhere(commands: &[Simple], place: usize) -> bool {
    let after = commands.iter().skip(place + 1);
    after.into_iter().any(|simple| !sets_up(&simple.words))
}

fn sets_up(words: &[String]) -> bool {
    let program = words.first().map_or("", String::as_str);
    [
        "cd", "echo", "printf", "export", "set", "true", ":", "sleep",
    ]
    .contains(&program)
}

pub(super) fn only_shows(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return true;
    };
    let program = program.as_str();
    if program == "ssh" {
        return remote(rest).is_none_or(|line| !executes(&shell::read(&line)));
    }
    if INTERPRETERS.contains(&program) {
        // A module or a file runs what the project has.
        let first = rest.first().map_or("", String::as_str);
        return matches!(first, "" | "-" | "-c" | "-e" | "-p" | "-r" | "eval");
    }
    let verbs = RUNNING_VERBS.iter().find(|(name, _)| *name == program);
    if let Some((_, verbs)) = verbs {
        let runs = |word: &String| verbs.contains(&word.as_str());
        let shows_logs = rest.iter().any(|word| word == "logs" || word == "log");
        return shows_logs || !rest.iter().any(runs);
    }
    if program == "docker-compose" {
        return rest.iter().any(|word| word == "logs");
    }
    VIEWERS.contains(&program)
}

/// Returns the command line that `ssh` runs on another machine.
pub(super) fn remote(words: &[String]) -> Option<String> {
    let takes_value = |word: &str| word.len() == 2 && "bcDEeFIiJLlmOopQRSWw".contains(&word[1..]);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            // The host; the line follows.
            let line: Vec<&str> = rest.map(String::as_str).collect();
            return (!line.is_empty()).then(|| line.join(" "));
        }
        if takes_value(word) {
            rest.next();
        }
    }
    None
}

/// Returns the files with a kept output that a call shows.
fn shown<'a>(call: &'a ToolCall, line: &'a CommandLine) -> impl Iterator<Item = &'a str> {
    let read = (call.kind == ToolKind::Read).then_some(call.paths.as_slice());
    let paths = line.reads.iter().chain(read.unwrap_or_default());
    paths.map(String::as_str).filter(|path| is_log(path))
}

fn writes(line: &CommandLine, path: &str, project: &str) -> bool {
    let shown = PathRef::written(path, project);
    let written = |path: &String| PathRef::written(path, project).same(&shown);
    line.writes.iter().any(written)
}

/// Returns the exit code that a host names before or after the output.
pub(super) fn exit_code(output: &str) -> Option<i64> {
    EXIT_CODE.captures(output)?.get(1)?.as_str().parse().ok()
}

/// Returns whether a failed call is a program that started well and was then stopped.
pub(super) fn was_stopped(call: &ToolCall) -> bool {
    let output = call.output.to_lowercase();
    let stopped = [
        "timed out after",
        "command timed out",
        "exit code 124",
        "exit code 130",
        "exit code 143",
        "exit code: 124",
        "exit code: 130",
    ];
    let broke = [
        "traceback",
        "error:",
        "exception",
        "panicked",
        "cannot find",
        "eaddrinuse",
        "syntaxerror",
    ];
    call.is_error
        && stopped.iter().any(|word| output.contains(word))
        && !broke.iter().any(|word| output.contains(word))
}
