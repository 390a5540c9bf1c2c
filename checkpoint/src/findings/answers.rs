//! Failures that are answers: the call failed, but nothing is broken (spec HYG-10).

use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::Regex;

use super::known::reference;
use super::outcomes;
use super::own_script;
use super::questions;
use super::settled;
use crate::shell::{self, CommandLine};

/// How much of a result is searched for what a host says of a call that it did not run.
const HOST_TEXT_BYTES: usize = 400;

/// What hosts say about calls that they did not run: a sibling failed, a person or a policy refused, the tool does not
/// exist.
const NOT_RUN: [&str; 29] = [
    "sibling tool call errored",
    "cancelled: parallel tool call",
    "cancelled because",
    "operation cancelled",
    "file has not been read yet",
    "has been modified since read",
    "user doesn't want to",
    "user rejected",
    "user denied",
    "rejected by user",
    "aborted by user",
    "interrupted by user",
    "was blocked. for security",
    "requires approval",
    "requires user approval",
    "requested permissions",
    "permission to use ",
    "permission denied by",
    "denied by policy",
    "denied by the user",
    "blocked by policy",
    "sandbox denied",
    "failed in sandbox",
    "unable to verify if domain",
    "domain is not allowed",
    "no such tool available",
    "unknown tool",
    "unsupported call",
    "not found in registry",
];

/// Words in the names of tools that read something and change nothing.
const LOOKING_TOOLS: [&str; 25] = [
    "read",
    "search",
    "grep",
    "glob",
    "list",
    "fetch",
    "web",
    "get",
    "find",
    "view",
    "query",
    "status",
    "info",
    "wait",
    "output",
    "question",
    "plan",
    "todo",
    "kill",
    "taskstop",
    "navigate",
    "screenshot",
    "snapshot",
    "resolve",
    "skill",
];

/// What hosts say of an edit that would change nothing.
const NO_CHANGE: [&str; 4] = [
    "no changes to make",
    "no changes to apply",
    "are exactly the same",
    "old_string and new_string are identical",
];

/// Texts that servers print after they have started.
const STARTED: [&str; 9] = [
    "listening",
    "running at",
    "running on",
    "http://localhost",
    "http://127.0.0.1",
    "http://0.0.0.0",
    "ready in",
    "server started",
    "watching for",
];

/// What a command says that does not know what it was asked for.
const UNKNOWN_COMMAND: [&str; 7] = [
    "no such command",
    "unknown command",
    "unrecognized subcommand",
    "unrecognized command",
    "is not a git command",
    "available commands:",
    "unknown subcommand",
];

/// What a shell says of a line that it could not run as it is written.
static SHELL_ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^(?:\(eval\)|(?:/\S*/)?(?:ba|z|da|k|fi)?sh)(?:: (?:line )?\d+|:\d+)?: .*(?:not found|no matches found|parse error|syntax error|unexpected)",
    )
    .expect("a constant that a test compiles")
});

/// Returns whether the failure of a call says that nothing is broken.
pub(super) fn is_answer(call: &ToolCall, line: &CommandLine, project: &str) -> bool {
    let begin = crate::text::head(&call.output, HOST_TEXT_BYTES).to_lowercase();
    if NOT_RUN.iter().any(|said| begin.contains(said)) {
        return true;
    }
    match call.kind {
        ToolKind::Read => true,
        ToolKind::Edit | ToolKind::Write => {
            NO_CHANGE.iter().any(|said| begin.contains(said))
                || (!call.paths.is_empty()
                    && call.paths.iter().all(|path| is_outside(path, project)))
        }
        ToolKind::Other => is_stopped(call, line) || is_look(&call.tool),
        ToolKind::Shell => {
            let text = call.command.as_deref().unwrap_or_default();
            is_stopped(call, line)
                || asks(text, line, &begin)
                || is_usage(call, line)
                || own_script::asks_for_module(call, line)
        }
    }
}

/// Returns whether an absolute path is outside the project.
fn is_outside(path: &str, project: &str) -> bool {
    !project.is_empty()
        && path.starts_with(['/', '~'])
        && reference(path, project).path.starts_with('/')
}

fn is_look(tool: &str) -> bool {
    // The name of an MCP server says nothing about its tool.
    let name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    LOOKING_TOOLS.iter().any(|word| name.contains(word)) || name == "ls"
}

/// Returns whether the call was stopped, by the agent or by its time running out, and no check was lost by it.
fn is_stopped(call: &ToolCall, line: &CommandLine) -> bool {
    let code = outcomes::exit_code(&call.output);
    let lower = call.output.to_lowercase();
    let text = call.command.as_deref().unwrap_or_default();
    let is_server = STARTED.iter().any(|said| lower.contains(said));
    let interrupted =
        matches!(code, Some(0 | 130 | 143)) || lower.lines().any(|line| line.trim() == "^c");
    let killed =
        code == Some(137) && (is_server || call.kind == ToolKind::Other || runs_server(text));
    let timed_out = lower.contains("command timed out after")
        || (code == Some(124) && text.contains("timeout "));
    interrupted
        || killed
        || (timed_out && (is_server || !line.commands.iter().any(settled::is_check)))
}

fn runs_server(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| {
            matches!(
                word,
                "dev" | "serve" | "server" | "start" | "preview" | "watch"
            )
        })
}

/// Returns whether each command that can have failed the line asked a question.
fn asks(text: &str, line: &CommandLine, output: &str) -> bool {
    if let Some(asks) = questions::powershell(text) {
        return asks;
    }
    // The shell gave up, so what came after in the line was not done.
    if SHELL_ERROR.is_match(output) && line.commands.iter().any(settled::is_check) {
        return false;
    }
    let deciding: Vec<_> = line
        .commands
        .iter()
        .filter(|simple| simple.decides && !questions::is_harmless(simple))
        .collect();
    let all = line
        .commands
        .iter()
        .filter(|simple| !questions::is_harmless(simple));
    let commands = if deciding.is_empty() {
        all.collect()
    } else {
        deciding
    };
    commands.iter().all(|simple| {
        remote(simple).map_or_else(
            || questions::is_question(simple, output),
            |inner| asks(&inner, &shell::read(&inner), output),
        )
    }) && !text.trim().is_empty()
}

/// Returns the command line that is run on another machine.
pub(super) fn remote(simple: &shell::Simple) -> Option<String> {
    let (program, words) = simple.words.split_first()?;
    let line = words.last().filter(|line| line.contains(' '))?;
    (program == "ssh").then(|| line.clone())
}

/// Returns whether a tool said that it has no such command. A program of the project is no such tool.
fn is_usage(call: &ToolCall, line: &CommandLine) -> bool {
    let lower = call.output.to_lowercase();
    UNKNOWN_COMMAND.iter().any(|said| lower.contains(said))
        && !line.commands.iter().any(settled::is_check)
}
