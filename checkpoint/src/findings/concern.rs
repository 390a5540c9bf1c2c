//! Failures that say something of the project: those of its tests, builds, checks, runs, services and edits, and of what is
//! to leave something behind (spec HYG-16).

use std::sync::LazyLock;

use journal::{SummaryVerdict, ToolCall, ToolKind};
use regex::Regex;

use super::messages::ignoring_case;
use super::turn::Turn;
use super::verify::kinds;
use super::{answers, missing, own_script, questions, reached, server, verify, went_on};
use crate::project::covering::{Family, family};
use crate::shell::{self, CommandLine, Simple};

/// Words of the names of tools that bring something about which the turn was for.
const DOING: [&str; 13] = [
    "create", "push", "publish", "deploy", "merge", "commit", "upload", "send", "post", "apply",
    "test", "build", "migrat",
];

/// What a program says of something that is there already, as it was told to bring about.
static ALREADY: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"already (?:exists?|up[- ]to[- ]date|installed|running|merged|enabled|registered|present|added|published)|",
        r"file exists|nothing to (?:do|commit|push|merge|update)|everything up-to-date|no changes (?:to|detected|found)",
    ))
});

/// What git says of a work tree that it left half done.
static HALF_DONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^CONFLICT \(|needs merge$|fix conflicts and then")
        .expect("a constant that a test compiles")
});

/// Returns whether a failed call says something of the project.
pub(super) fn is_one(turn: &Turn<'_>, index: usize) -> bool {
    let call = &turn.evidence.timeline.calls[index];
    match call.kind {
        ToolKind::Read => false,
        ToolKind::Edit | ToolKind::Write => true,
        ToolKind::Other => does(&call.tool),
        ToolKind::Shell => {
            let tests = turn.outcomes.as_ref();
            let tests = tests.and_then(|said| said.any_tests(index));
            tests == Some(SummaryVerdict::Failed)
                || missing::is_tool(call, &turn.lines[index])
                || HALF_DONE.is_match(&call.output)
                || is_work(call, &turn.lines[index])
        }
    }
}

fn does(tool: &str) -> bool {
    // The name of an MCP server says nothing about its tool.
    let name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    DOING.iter().any(|word| name.contains(word))
}

/// Returns whether a line works on the project, or was to leave something behind.
fn is_work(call: &ToolCall, line: &CommandLine) -> bool {
    if own_script::failed_looking(call, line) {
        return false;
    }
    let is_there = ALREADY.is_match(&call.output);
    line.commands
        .iter()
        .filter(|simple| !questions::is_harmless(simple))
        .any(|simple| {
            went_on::is_of_project(simple)
                || (went_on::is_lasting(simple) && !is_there)
                || server::starts_any(std::slice::from_ref(simple))
                || verify::asks_server(simple)
                || kinds::is_server(simple)
                || names_code(simple)
                || answers::remote(simple).is_some_and(|inner| is_work(call, &shell::read(&inner)))
        })
}

/// Returns whether a command was given a file of code, as databases are given scripts.
fn names_code(simple: &Simple) -> bool {
    let program = simple.words.first().map_or("", String::as_str);
    let is_code = |path: &&str| {
        let is_other_code = [".sql", ".ipynb"].iter().any(|end| path.ends_with(end));
        is_other_code || family(path) != Family::Other
    };
    program != "git"
        && !reached::FILE_TOOLS.contains(&program)
        && !questions::is_question(simple, "")
        && shell::operands(simple).iter().any(is_code)
}
