//! Scripts: JavaScript that the model writes for the tool `exec`, and that calls the other tools.
//!
//! Newer rollouts have an item for each command and patch of a script. Older ones have the script only, and no item yet
//! for a command that still runs. So the calls of a script are read from its text, as far as they are written out, and
//! those that an item repeats are dropped.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use journal::ToolCall;
use serde_json::{Value, json};

use super::literals::{Token, tokens};
use super::results;
use super::tools::TOOLS;
use crate::transcript::normal::{self, Entry};

/// The tool that runs a script.
pub(super) const TOOL: &str = "exec";
/// The most calls that are read from one script.
const CALLS_MAX: usize = 32;
/// The tool that waits for a script's end.
const WAIT: &str = "wait";
/// First line of a patch.
const PATCH: &str = "*** Begin Patch";

/// Returns the script that a call of `wait` waits for.
pub(super) fn cell_in(input: &Value) -> Option<String> {
    input.get("cell_id")?.as_str().map(results::cell)
}

/// Puts the calls of the scripts in their place, oldest first.
pub(super) fn expand<'a>(entries: Vec<Entry<'a>>) -> Vec<Entry<'a>> {
    let mut expanded = Vec::with_capacity(entries.len());
    let mut calls_of: HashMap<String, Vec<String>> = HashMap::new();
    let mut waits: HashSet<String> = HashSet::new();
    let mut coded: HashSet<String> = HashSet::new();
    let mut echoes = Echoes::of(&entries);
    for entry in entries {
        match entry {
            Entry::Call {
                call,
                is_echo: false,
                ..
            } if call.tool == TOOL => {
                let id = call.id.clone().unwrap_or_default();
                let text = call.command.as_deref().unwrap_or_default();
                if text.contains("exit_code") {
                    coded.insert(id.clone());
                }
                let calls = calls(&call, &mut echoes);
                let ids = calls.iter().filter_map(|entry| match entry {
                    Entry::Call { call, .. } => call.id.clone(),
                    _ => None,
                });
                calls_of.insert(id, ids.collect());
                expanded.extend(calls);
            }
            Entry::Call {
                call,
                is_echo: false,
                task,
            } if call.tool == WAIT => {
                waits.extend(call.id.clone());
                expanded.push(Entry::Call {
                    call,
                    is_echo: false,
                    task,
                });
            }
            Entry::Result { ref id, .. } if waits.contains(&**id) => expanded.push(waited(entry)),
            Entry::Result { ref id, .. } if calls_of.contains_key(&**id) => {
                let ids = calls_of.get(&**id).map_or(&[][..], Vec::as_slice);
                let is_coded = coded.contains(&**id);
                expanded.extend(divided(entry, ids, is_coded));
            }
            entry => expanded.push(entry),
        }
    }
    tie(&mut expanded);
    expanded
}

/// Returns the result of a wait: the script has ended; its output says how its command ended.
fn waited(entry: Entry<'_>) -> Entry<'_> {
    let Entry::Result {
        id,
        mut result,
        at,
        duration_ms,
    } = entry
    else {
        return entry;
    };
    let is_over = result.is_error == Some(false);
    result.exit_code = result.exit_code.or(is_over.then_some(0));
    Entry::Result {
        id,
        result,
        at,
        duration_ms,
    }
}

/// Returns the result of a script as that of each of its calls. `is_coded` says that it prints their status.
fn divided<'a>(entry: Entry<'a>, ids: &[String], is_coded: bool) -> Vec<Entry<'a>> {
    let Entry::Result {
        result,
        at,
        duration_ms,
        ..
    } = entry
    else {
        return vec![entry];
    };
    let is_open = result.exit_code.is_none() && is_coded;
    let codes = if is_open {
        results::codes(&result.text)
    } else {
        Vec::new()
    };
    let one = |(number, id): (usize, &String)| Entry::Result {
        id: Cow::Owned(id.clone()),
        result: results::of_command(&result, &codes, number, ids.len()),
        at,
        duration_ms,
    };
    ids.iter().enumerate().map(one).collect()
}

/// Assigns a check of a background command, whose id no result named, to the last command before it that may still have
/// run: a script that prints only its command's output does not say that the command still runs.
fn tie(entries: &mut [Entry<'_>]) {
    let mut known: HashSet<String> = HashSet::new();
    let mut open: Option<usize> = None;
    for at in 0..entries.len() {
        let looked = match &entries[at] {
            Entry::Result { id, result, .. } => {
                known.extend(result.task.iter().map(|task| task.to_string()));
                let says =
                    result.exit_code.is_some() || result.running || result.is_error != Some(false);
                if id.contains('#') && !says {
                    open = Some(at);
                }
                None
            }
            Entry::Call {
                task: Some(task), ..
            } if !known.contains(task) => Some(task.clone()),
            _ => None,
        };
        let (Some(task), Some(place)) = (looked, open) else {
            continue;
        };
        if let Entry::Result { result, .. } = &mut entries[place] {
            (result.running, result.is_error) = (true, None);
            result.task = Some(Cow::Owned(task.clone()));
            known.insert(task);
            open = None;
        }
    }
}

/// What items say was run: how often each command, and each set of files.
struct Echoes {
    commands: HashMap<String, usize>,
    files: HashMap<Vec<String>, usize>,
}

impl Echoes {
    fn of(entries: &[Entry<'_>]) -> Self {
        let (mut commands, mut files) = (HashMap::new(), HashMap::new());
        for entry in entries {
            let Entry::Call {
                call,
                is_echo: true,
                ..
            } = entry
            else {
                continue;
            };
            if let Some(command) = &call.command {
                *commands.entry(command.trim().to_owned()).or_default() += 1;
            } else {
                *files.entry(sorted(&call.paths)).or_default() += 1;
            }
        }
        Self { commands, files }
    }

    /// Takes off one item that repeats a call; returns whether there was one.
    fn take(&mut self, call: &ToolCall) -> bool {
        let count = match &call.command {
            Some(command) => self.commands.get_mut(command.trim()),
            None => self.files.get_mut(&sorted(&call.paths)),
        };
        let Some(count) = count.filter(|count| **count > 0) else {
            return false;
        };
        *count -= 1;
        true
    }
}

fn sorted(paths: &[String]) -> Vec<String> {
    let mut paths = paths.to_vec();
    paths.sort_unstable();
    paths
}

/// Returns the calls of a script that no item repeats. A script that runs no command is one call that did something else.
fn calls<'a>(script: &ToolCall, echoes: &mut Echoes) -> Vec<Entry<'a>> {
    let id = script.id.as_deref().unwrap_or_default();
    let read = Script::read(script.command.as_deref().unwrap_or_default());
    if read.commands.is_empty() && read.patches.is_empty() {
        return vec![Entry::Call {
            call: normal::begun(&TOOLS, id, TOOL, &Value::Null, script.at),
            is_echo: false,
            task: read.session,
        }];
    }
    let commands = read.commands.iter().map(|command| {
        let input = json!({ "command": command });
        ("exec_command", input)
    });
    let patches = read.patches.iter().map(|patch| {
        let input = Value::from(patch.as_str());
        ("apply_patch", input)
    });
    let mut found: Vec<Entry<'a>> = Vec::new();
    for (number, (tool, input)) in commands.chain(patches).take(CALLS_MAX).enumerate() {
        let id = format!("{id}#{number}");
        let call = normal::begun(&TOOLS, &id, tool, &input, script.at);
        if !echoes.take(&call) {
            found.push(Entry::Call {
                call,
                is_echo: false,
                task: None,
            });
        }
    }
    found
}

/// The calls of a script.
#[derive(Debug, Default, PartialEq, Eq)]
struct Script {
    commands: Vec<String>,
    patches: Vec<String>,
    /// The command in the background whose output it reads.
    session: Option<String>,
}

impl Script {
    fn read(text: &str) -> Self {
        let tokens = tokens(text);
        let mut script = Self::default();
        let mut constants: HashMap<&str, &str> = HashMap::new();
        for window in tokens.windows(3) {
            match window {
                [Token::Name(name), Token::Sign('='), Token::Text(value)] => {
                    constants.insert(name, value);
                }
                [key, Token::Sign(':'), value] if key.is(&["cmd", "command"]) => {
                    let command = match value {
                        Token::Text(command) => Some(command.as_ref()),
                        Token::Name(name) => constants.get(name.as_ref()).copied(),
                        Token::Sign(_) => None,
                    };
                    script.commands.extend(command.map(str::to_owned));
                }
                [key, Token::Sign(':'), Token::Name(id) | Token::Text(id)]
                    if key.is(&["session_id"]) =>
                {
                    script.session = Some(id.clone().into_owned());
                }
                _ => {}
            }
        }
        let texts = tokens.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_ref()),
            _ => None,
        });
        let patches = texts.filter(|text| text.trim_start().starts_with(PATCH));
        script.patches = patches.map(str::to_owned).collect();
        // `{cmd}` means `{cmd: cmd}`; else it may be one of a list.
        if script.commands.is_empty() && text.contains("exec_command") {
            let mut names = ["cmd", "command"].iter();
            match names.find_map(|name| constants.get(name)) {
                Some(command) => script.commands.push((*command).to_owned()),
                None => script.commands = listed(&tokens),
            }
        }
        script
    }
}

/// Returns the texts of the first list that holds nothing else.
fn listed(tokens: &[Token<'_>]) -> Vec<String> {
    let begins = |at: &usize| tokens[*at].is_sign('[');
    let lists = (0..tokens.len()).filter(begins).map(|at| {
        let behind = tokens[at + 1..].iter();
        let inside = behind.take_while(|token| !token.is_sign(']'));
        let texts = inside.map(|token| match token {
            Token::Text(text) => Some(Some(text.clone().into_owned())),
            Token::Sign(',') => Some(None),
            _ => None,
        });
        let texts: Option<Vec<Option<String>>> = texts.collect();
        texts.into_iter().flatten().flatten().collect::<Vec<_>>()
    });
    let mut lists = lists.filter(|texts| !texts.is_empty());
    lists.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_written_out_are_read() {
        let cases: [(&str, &[&str], usize, Option<&str>); 9] = [
            (
                r#"const r = await tools.exec_command({"cmd":"make \"a b\" && ls","workdir":"/p"}); text(r.output);"#,
                &["make \"a b\" && ls"],
                0,
                None,
            ),
            (
                "text(await tools.exec_command({cmd: 'pytest -q\\nls'}));\ntext(await tools.exec_command({cmd:`cargo test`}));",
                &["pytest -q\nls", "cargo test"],
                0,
                None,
            ),
            (
                "const cmd = \"npm test\";\nconst r = await tools.exec_command({cmd, workdir: '/p'});",
                &["npm test"],
                0,
                None,
            ),
            (
                "const line = 'go vet ./...'; await tools.exec_command({ cmd: line });",
                &["go vet ./..."],
                0,
                None,
            ),
            (
                "const patch = \"*** Begin Patch\\n*** Update File: a.rs\\n*** End Patch\";\ntext(await tools.apply_patch(patch));",
                &[],
                1,
                None,
            ),
            (
                "// tools.exec_command({cmd: \"rm -rf /\"})\n/* cmd: 'x' */ text(1)",
                &[],
                0,
                None,
            ),
            (
                r#"const r = await tools.write_stdin({session_id:88,chars:""}); text(r.output);"#,
                &[],
                0,
                Some("88"),
            ),
            (
                "await tools.update_plan({plan:[{step:\"run cmd: make\",status:\"done\"}]})",
                &[],
                0,
                None,
            ),
            (
                "await tools.exec_command({cmd: \"never closed",
                &[],
                0,
                None,
            ),
        ];
        for (text, commands, patches, session) in cases {
            let script = Script::read(text);
            assert_eq!(script.commands, commands, "{text}");
            assert_eq!(script.patches.len(), patches, "{text}");
            assert_eq!(script.session.as_deref(), session, "{text}");
        }
    }
}
