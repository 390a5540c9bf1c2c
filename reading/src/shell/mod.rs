//! Reads the shell command lines that agents run: which commands a line executes, and which files it reads and writes.
//!
//! This is the evidence behind rules such as "was `make restart` run?". A text that merely mentions a command (an echo, a
//! commit message, a heredoc, a comment) is no evidence, and neither is a command whose failure the line would hide.
//!
//! The reader is total: any text gives an answer, in near-linear time, with bounded nesting (64
//! levels) and a bounded answer (2,000 commands). When a bound is hit, the commands found so far
//! are marked as neither certain nor deciding. Invalid shell is read as far as it makes sense; the
//! shell itself reports such a line as failed.
//!
//! Not followed: calls of functions and aliases that the line defines (they are no call of the program of that name), scripts
//! in files, commands on other machines (`ssh`),
//! `find -exec`, `parallel`, traps, and the values of variables.

mod argv;
mod compound;
mod files;
mod grammar;
mod reader;
mod redirects;
mod shorten;
mod simple;
mod state;
#[cfg(test)]
mod tests;
mod words;
mod wrappers;

pub use argv::{Pattern, is_dry, operands};
pub use shorten::shortened;
pub use simple::Simple;

/// Returns a word as a shell reads it, in quotes if it needs them.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns a program's name as rules write it, without its folder.
pub fn canonical_name(program: &str) -> &str {
    Catalogue::built_in().canonical(file_name(program))
}

use std::mem::take;

use crate::catalogue::{Catalogue, file_name};

use reader::{COMMANDS_MAX, Command, Script};
use simple::Run;
use state::{State, join_dir};
use wrappers::Inner;

/// Folders that a command and its wrappers change to.
const DIRS_MAX: usize = 8;
/// Levels of scripts in scripts (`bash -c "bash -c .."`) that are followed.
const SCRIPTS_MAX: usize = 8;

/// A command line: its commands, and the files that it reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The simple commands that it executes, in order.
    pub commands: Vec<Simple>,
    /// The paths that it shows to the agent, as written, each once.
    ///
    /// These are the operands of `cat`, `sed -n`, `head`, `grep` and similar programs, and of `<
    /// file`. Commands that may not have run are included.
    pub reads: Vec<String>,
    /// The paths that it writes, as written, each once.
    ///
    /// These come from redirections, `tee`, `sed -i`, `cp`, `mv`, `touch`, patches and similar
    /// commands. Commands that may not have run are included. Files that a program writes without
    /// naming them (a formatter, an inline script) are not seen.
    pub writes: Vec<String>,
    /// Functions and aliases that it defines, and `PATH` if it has programs looked for in a relative or a temporary
    /// folder first: a later call of a program of that name may run something else.
    pub defines: Vec<String>,
}

/// Reads a command line.
pub fn read(line: &str) -> CommandLine {
    let script = grammar::read(line, State::default());
    let defines = script.defines.clone();
    let runs = runs(script);
    let reads = files::reads(&runs);
    let writes = files::writes(&runs);
    let commands = runs
        .into_iter()
        .map(|run| run.simple)
        .filter(|simple| !simple.words.is_empty())
        .collect();
    CommandLine {
        commands,
        reads,
        writes,
        defines,
    }
}

/// Returns the commands of a line, including redirections without a command.
fn runs(script: Script) -> Vec<Run> {
    let mut found = Vec::new();
    let around = Around {
        certain: true,
        decides: true,
        depth: 0,
    };
    collect(script, &around, &mut found);
    found
}

/// The context of a script that another command runs.
struct Around {
    certain: bool,
    decides: bool,
    depth: usize,
}

/// Adds the commands of a script and of those that it runs.
fn collect(mut script: Script, around: &Around, found: &mut Vec<Run>) {
    for index in 0..script.commands.len() {
        if found.len() >= COMMANDS_MAX {
            return;
        }
        let unwrapped = wrappers::unwrap(&script.commands[index].words);
        let stdin = stdin_of(&script, index, &unwrapped.inner);
        let command = &mut script.commands[index];
        if let Inner::Command(inner) = &unwrapped.inner {
            // `env NAME=value program`
            let wrapper = command.words.len().saturating_sub(inner.len());
            let given = command.words[..wrapper].to_vec();
            command.assign(
                given
                    .iter()
                    .filter(|word| word.contains('=') && !word.starts_with('-')),
            );
        }
        let certain = command.certain && around.certain && !unwrapped.uncertain;
        let decides = command.decides && around.decides;
        let mut dir = command.dir.clone();
        for next in &unwrapped.dirs {
            dir = join_dir(dir.as_deref(), next);
        }
        let inner = match (unwrapped.inner, &stdin) {
            (Inner::Script(text), _) => Some(text),
            (Inner::Stdin, Some(text)) => Some(text.clone()),
            (Inner::Stdin, None) => None,
            (Inner::Command(mut words), _) => {
                command.add_options(&mut words);
                for next in Catalogue::built_in().parse(&words).dirs().take(DIRS_MAX) {
                    dir = join_dir(dir.as_deref(), next);
                }
                let simple = Simple {
                    words,
                    certain,
                    decides,
                    dir: dir.as_deref().map(str::to_owned),
                    input: stdin.clone(),
                };
                found.push(run_of(command, simple, stdin));
                continue;
            }
        };
        // The shell itself is not evidence, but its redirections name files.
        let simple = Simple {
            words: Vec::new(),
            certain,
            decides,
            dir: None,
            input: None,
        };
        found.push(run_of(command, simple, None));
        let mut state = unwrapped.state;
        state.dir = dir;
        let inside = Around {
            certain,
            decides,
            depth: around.depth + 1,
        };
        if let Some(mut text) = inner.filter(|_| around.depth < SCRIPTS_MAX) {
            // The rest of a script that was cut may be anything.
            if shorten::is_cut(&text) {
                shorten::GAP.clone_into(&mut text);
            }
            collect(grammar::read(&text, state), &inside, found);
        }
    }
}

/// Returns a command with its redirections, which are taken from it.
fn run_of(command: &mut Command, simple: Simple, stdin: Option<String>) -> Run {
    Run {
        simple,
        inputs: take(&mut command.io.inputs),
        outputs: take(&mut command.io.outputs),
        stdin,
    }
}

/// Returns the text on a command's standard input if the line contains it.
///
/// For a shell this includes `cat <<EOF | sh` and `echo.. | sh`.
fn stdin_of(script: &Script, index: usize, inner: &Inner) -> Option<String> {
    let command = script.commands.get(index)?;
    if let Some(body) = command.io.stdin {
        return script.bodies.get(body).cloned();
    }
    let feeder = script
        .commands
        .get(command.fed_by.filter(|_| *inner == Inner::Stdin)?)?;
    match feeder.words.split_first() {
        Some((name, [])) if name == "cat" => script.bodies.get(feeder.io.stdin?).cloned(),
        Some((name, words)) if name == "echo" || name == "printf" => Some(words.join("\n")),
        _ => None,
    }
}
