//! What a tool call does: its kind, its command line and its files.

use std::borrow::Cow;

use journal::{ToolCall, ToolKind};
use serde_json::Value;

use super::patch;
use super::table::Tools;
use reading::shell::{quoted, shortened};
use reading::text;

/// Fields that hold a command line.
const COMMAND_FIELDS: [&str; 4] = ["command", "cmd", "script", "CommandLine"];

/// Fields of an edit that quote the text that it replaces.
const QUOTES: [&str; 5] = [
    "old_string",
    "old_str",
    "oldText",
    "oldString",
    "TargetContent",
];
/// The tool whose input is a patch.
const PATCH_TOOL: &str = "apply_patch";

impl Tools {
    /// Returns what a tool call does: its kind, the command line of a shell call, and the files it names.
    ///
    /// A shell command that hands a patch to `apply_patch` is an edit (or a write) of the patch's files, and keeps its
    /// command line. Nothing is cut to its limit: [`bound`] does that.
    pub fn describe(&self, tool: &str, input: &Value) -> (ToolKind, Option<String>, Vec<String>) {
        if tool == PATCH_TOOL {
            let patch = patch::read(patch_text(input));
            let (kind, paths) =
                patch.map_or((ToolKind::Edit, Vec::new()), |it| (it.kind, it.paths));
            return (kind, None, paths);
        }
        let kind = match self.kind(tool) {
            // A tool may do several things, by its command.
            Some(ToolKind::Edit) => {
                let command = input.get("command").and_then(Value::as_str);
                let part = command.and_then(|command| self.kind(&format!("{tool}.{command}")));
                part.unwrap_or(ToolKind::Edit)
            }
            known => known.unwrap_or_else(|| guess(tool, input)),
        };
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

    /// Returns the files whose text an edit has by itself: it makes them, or it quotes the text that it replaces, without
    /// which it would not apply.
    pub(crate) fn created(&self, tool: &str, input: &Value) -> Vec<String> {
        let patch = if tool == PATCH_TOOL {
            patch::read(patch_text(input))
        } else if self.kind(tool) == Some(ToolKind::Shell) {
            command_in(input).and_then(|command| patch::in_command(&command))
        } else {
            None
        };
        if let Some(patch) = patch {
            return patch.created.into_iter().chain(patch.quoted).collect();
        }
        let quoted = QUOTES
            .iter()
            .filter_map(|field| input.get(*field)?.as_str());
        match quoted.into_iter().any(|text| !text.trim().is_empty()) {
            true => self.describe(tool, input).2,
            false => Vec::new(),
        }
    }
}

/// Returns the command line for an argument list: the script of `bash -lc SCRIPT`, otherwise the words joined.
fn command_line(words: &[&str]) -> String {
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
        _ => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        }
    }
}

fn is_shell(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(
        name.trim_end_matches(".exe"),
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell"
    )
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
    } else if (says(&["bash", "shell", "exec", "terminal", "run_command"])
        || ["sh", "zsh", "run", "cmd"].contains(&name.as_str()))
        && command_in(input).is_some()
    {
        ToolKind::Shell
    } else {
        ToolKind::Other
    }
}

fn patch_text(input: &Value) -> &str {
    let field = || first_text(input, &["command", "input", "patch", "patchText"]);
    input.as_str().or_else(field).unwrap_or_default()
}

fn first_text<'a>(input: &'a Value, fields: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|field| input.get(*field)?.as_str())
}

fn command_in(input: &Value) -> Option<String> {
    let value = COMMAND_FIELDS.iter().find_map(|field| input.get(*field));
    match value.unwrap_or(input) {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| command_line(&words))
        }
        _ => None,
    }
}

fn paths_in(input: &Value) -> Vec<String> {
    let fields = input.as_object().into_iter().flatten();
    let values = fields.filter(|(name, _)| names_a_path(name));
    let paths = values.flat_map(|(_, value)| match value {
        Value::Array(paths) => paths.as_slice(),
        path => std::slice::from_ref(path),
    });
    let paths = paths.filter_map(Value::as_str);
    let named = paths.filter(|path| !path.is_empty());
    named.map(str::to_owned).collect()
}

/// Returns whether a field holds one path or a list of paths, by its name.
fn names_a_path(field: &str) -> bool {
    let name = field.to_lowercase();
    name.contains("path")
        || ["filename", "include", "target_file", "targetfile"].contains(&name.as_str())
}

/// Cuts the paths, command line and output of a call to their limits.
pub fn bound(call: &mut ToolCall) {
    call.paths.truncate(ToolCall::PATHS_MAX);
    if let Some(command) = &mut call.command
        && let Cow::Owned(short) = shortened(command, ToolCall::COMMAND_BYTES_MAX)
    {
        *command = short;
    }
    if call.output.len() > ToolCall::OUTPUT_BYTES_MAX {
        call.output = text::head_and_tail(&call.output, ToolCall::OUTPUT_BYTES_MAX);
    }
}
