//! The one place that knows how the three hosts name their tools, and how they tell the end of a call.
//!
//! [`describe`] says what a call does, [`outcome`] and [`hook_outcome`] how it ended, [`bound`] keeps it small. A tool that is not known (MCP
//! servers, newer versions) is guessed at only where its name says what it does and its input has the field for it.

mod outcome;
mod patch;
mod search;

use journal::{Agent, ToolCall, ToolKind};
use serde_json::Value;

pub use outcome::{Outcome, ResultText, hook_outcome, outcome};

use crate::text;

/// Fields that hold one path, or a list of paths.
const PATH_FIELDS: [&str; 9] = [
    "file_path",
    "path",
    "notebook_path",
    "absolute_path",
    "dir_path",
    "relative_path",
    "filename",
    "paths",
    "include",
];

/// Fields that hold a command line.
const COMMAND_FIELDS: [&str; 3] = ["command", "cmd", "script"];

/// Returns what a tool call does: its kind, the command line of a shell call, and the files it names.
///
/// A shell command that hands a patch to `apply_patch` is an edit (or a write) of the patch's files, and keeps its
/// command line. Nothing is cut to its limit: [`bound`] does that.
pub fn describe(
    agent: Agent,
    tool: &str,
    input: &Value,
) -> (ToolKind, Option<String>, Vec<String>) {
    if tool == "apply_patch" {
        let text = input
            .as_str()
            .or_else(|| first_text(input, &["command", "input", "patch"]))
            .unwrap_or_default();
        let patch = patch::read(text);
        return patch.map_or((ToolKind::Edit, None, Vec::new()), |patch| {
            (patch.kind, None, patch.paths)
        });
    }
    let kind = kind_of(agent, tool).unwrap_or_else(|| guess(tool, input));
    if kind != ToolKind::Shell {
        return (kind, None, paths_in(input));
    }
    let Some(command) = command_in(input) else {
        return (kind, None, Vec::new());
    };
    match patch::in_command(&command) {
        Some(patch) => (patch.kind, Some(command), patch.paths),
        None => (kind, Some(command), Vec::new()),
    }
}

/// Returns whether a tool call is a subagent at work, in a host that has no events of its own for subagents.
pub fn is_subagent(agent: Agent, tool: &str) -> bool {
    agent == Agent::Gemini && tool == "invoke_agent"
}

/// Returns the command line that an argument list stands for: the script of `bash -lc SCRIPT`, else the words joined.
pub(crate) fn command_line(words: &[&str]) -> String {
    match words {
        [shell, flags, script, ..]
            if is_shell(shell) && flags.starts_with('-') && flags.ends_with('c') =>
        {
            (*script).to_owned()
        }
        [shell, flag, "-Command", script] if is_shell(shell) && flag.starts_with('-') => {
            (*script).to_owned()
        }
        [shell, "-Command", script] if is_shell(shell) => (*script).to_owned(),
        _ => words
            .iter()
            .map(|word| quote(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn is_shell(word: &str) -> bool {
    let name = word
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(word)
        .trim_end_matches(".exe");
    matches!(
        name,
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell"
    )
}

/// Returns a word as a shell would have to read it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the kind of a tool that its host is known to have.
fn kind_of(agent: Agent, tool: &str) -> Option<ToolKind> {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    Some(match (agent, tool) {
        (Agent::Claude, "Bash" | "PowerShell") => Shell,
        (Agent::Claude, "Read" | "NotebookRead") => Read,
        (Agent::Claude, "Edit" | "MultiEdit" | "NotebookEdit") => Edit,
        (Agent::Claude, "Write") => Write,
        (
            Agent::Claude,
            "Grep" | "Glob" | "LS" | "Agent" | "Task" | "BashOutput" | "KillShell" | "KillBash",
        ) => Other,
        (
            Agent::Claude,
            "TodoWrite" | "TaskOutput" | "TaskCreate" | "TaskUpdate" | "WebFetch" | "WebSearch",
        ) => Other,
        (Agent::Gemini, "run_shell_command") => Shell,
        (Agent::Gemini, "read_file" | "read_many_files") => Read,
        (Agent::Gemini, "replace" | "edit") => Edit,
        (Agent::Gemini, "write_file") => Write,
        (Agent::Gemini, "list_directory" | "glob" | "search_file_content" | "grep_search") => Other,
        (Agent::Gemini, "save_memory" | "write_todos" | "web_fetch" | "google_web_search") => Other,
        (
            Agent::Codex,
            "Bash" | "shell" | "exec_command" | "local_shell" | "shell_command" | "container.exec",
        ) => Shell,
        (Agent::Codex, "view_image") => Read,
        (
            Agent::Codex,
            "write_stdin" | "update_plan" | "web_search" | "list_dir" | "grep_files",
        ) => Other,
        (Agent::Codex, "read_file") => Read,
        _ => return None,
    })
}

/// Guesses what an unknown tool does, from the words of its name and the fields of its input.
fn guess(tool: &str, input: &Value) -> ToolKind {
    // The name of an MCP server says nothing about its tool.
    let name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let has_path = !paths_in(input).is_empty();
    if has_path && says(&["edit", "replace", "patch", "insert", "modify"]) {
        ToolKind::Edit
    } else if has_path && says(&["write", "create"]) {
        ToolKind::Write
    } else if has_path && says(&["read", "view"]) {
        ToolKind::Read
    } else if says(&["bash", "shell", "exec", "terminal", "run_command"])
        && command_in(input).is_some()
    {
        ToolKind::Shell
    } else {
        ToolKind::Other
    }
}

fn first_text<'a>(input: &'a Value, fields: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|field| input.get(*field)?.as_str())
}

fn command_in(input: &Value) -> Option<String> {
    let value = COMMAND_FIELDS
        .iter()
        .find_map(|field| input.get(*field))
        .unwrap_or(input);
    match value {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| command_line(&words))
        }
        _ => None,
    }
}

fn paths_in(input: &Value) -> Vec<String> {
    let values = PATH_FIELDS.iter().filter_map(|field| input.get(*field));
    values
        .flat_map(|value| match value {
            Value::String(path) => vec![path.clone()],
            Value::Array(paths) => paths
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        })
        .filter(|path| !path.is_empty())
        .collect()
}

/// Cuts what is known of a call to its limits.
pub fn bound(call: &mut ToolCall) {
    call.paths.truncate(ToolCall::PATHS_MAX);
    if let Some(command) = &mut call.command {
        command.truncate(text::head(command, ToolCall::COMMAND_BYTES_MAX).len());
    }
    if call.output.len() > ToolCall::OUTPUT_BYTES_MAX {
        call.output = text::head_and_tail(&call.output, ToolCall::OUTPUT_BYTES_MAX);
    }
}

#[cfg(test)]
mod tests;
