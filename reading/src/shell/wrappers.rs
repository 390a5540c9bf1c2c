//! Programs that run another command: `sudo`, `timeout`, `uv run`, `python -m`, `bash -c`, `docker exec`.

use super::state::State;
use crate::catalogue::{Arg, Catalogue, Wrapped, file_name};

/// Words that are looked at for the options of a wrapper.
const WORDS_MAX: usize = 64;
/// Folders that wrappers change to.
const DIRS_MAX: usize = 8;

/// The content of a command after its wrappers are removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// A command; its program is a file name without directory.
    Command(Vec<String>),
    /// A script, given as an argument.
    Script(String),
    /// A shell that reads its script from standard input.
    Stdin,
}

/// A command without its wrappers.
#[derive(Debug)]
pub(super) struct Unwrapped {
    pub(super) inner: Inner,
    /// Whether a wrapper may not have run it at all (`xargs` without input).
    pub(super) uncertain: bool,
    /// Directories that wrappers changed to, outermost first.
    pub(super) dirs: Vec<String>,
    /// The options of the shell that runs an inner script.
    pub(super) state: State,
}

/// The role of the first program.
enum Step {
    /// The command is not a wrapper.
    Keep,
    /// A wrapper; the command begins this many words later.
    Skip(usize),
    /// The same, with a replacement for the command's first word.
    Rename(usize, String),
    Script(String),
    Stdin,
}

pub(super) fn unwrap(words: &[String]) -> Unwrapped {
    let mut found = Unwrapped {
        inner: Inner::Stdin,
        uncertain: false,
        dirs: Vec::new(),
        state: State::default(),
    };
    let mut at = 0;
    let mut head: Option<String> = None;
    loop {
        let rest = &words[at..];
        let first = head
            .take()
            .unwrap_or_else(|| rest.first().cloned().unwrap_or_default());
        let name = file_name(&first);
        match step(name, rest, &mut found) {
            Step::Skip(by) if by < rest.len() => at += by,
            Step::Rename(by, first) if by < rest.len() => {
                at += by;
                head = Some(first);
            }
            Step::Script(script) => {
                found.inner = Inner::Script(script);
                return found;
            }
            Step::Stdin => return found,
            Step::Keep | Step::Skip(_) | Step::Rename(..) => {
                let mut command = rest.to_vec();
                command
                    .iter_mut()
                    .take(1)
                    .for_each(|first| name.clone_into(first));
                found.inner = Inner::Command(command);
                return found;
            }
        }
    }
}

fn step(name: &str, words: &[String], found: &mut Unwrapped) -> Step {
    let catalogue = Catalogue::built_in();
    match catalogue.canonical(name) {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish" => {
            return shell(words, &mut found.state);
        }
        "cmd" if matches!(words.get(1).map(String::as_str), Some("/c" | "/C")) => {
            return Step::Script(words[2..].join(" "));
        }
        "eval" if words.len() > 1 => return Step::Script(words[1..].join(" ")),
        "python" | "pypy" | "py" => return python(words),
        _ => {}
    }
    // A replaced first word is no part of the words. What belongs to the wrapper stands near the beginning.
    let mut words = words[..words.len().min(WORDS_MAX)].to_vec();
    if let Some(first) = words.first_mut() {
        name.clone_into(first);
    }
    let parsed = catalogue.parse(&words);
    let Some(wrapped) = parsed.wrapped(&words) else {
        return Step::Keep;
    };
    let wraps = parsed.row().and_then(|row| row.wraps.as_ref());
    let end = match &wrapped {
        Wrapped::At(at) => *at,
        Wrapped::Script(_) => words.len(),
    };
    let is_dir = |arg: &&Arg<'_>| arg.at < end && parsed.lists(arg, |row| &row.dirs);
    let dirs = parsed
        .args
        .iter()
        .filter(is_dir)
        .filter_map(|arg| arg.value);
    let room = DIRS_MAX.saturating_sub(found.dirs.len());
    found.dirs.extend(dirs.map(str::to_owned).take(room));
    found.uncertain |= wraps.is_some_and(|wraps| wraps.uncertain);
    match wrapped {
        Wrapped::Script(text) => Step::Script(text),
        Wrapped::At(at) => match words[at].split_once(':') {
            Some((_, command)) if name == "hatch" && !command.is_empty() => {
                Step::Rename(at, command.to_owned())
            }
            _ => Step::Rename(at, unversioned(&words[at])),
        },
    }
}

/// `python -m pytest` is `pytest`; `python script.py` and `python -c ..` stay what they are.
fn python(words: &[String]) -> Step {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        at += 1;
        if letters.starts_with('-') {
            continue;
        }
        for (index, letter) in letters.char_indices() {
            let attached = &letters[index + letter.len_utf8()..];
            match letter {
                'm' if attached.is_empty() => return Step::Skip(at),
                'm' => return Step::Rename(at - 1, attached.to_owned()),
                'c' => return Step::Keep,
                'W' | 'X' | 'Q' => {
                    at += usize::from(attached.is_empty());
                    break;
                }
                _ => {}
            }
        }
    }
    Step::Keep
}

fn shell(words: &[String], state: &mut State) -> Step {
    let mut at = 1;
    let mut script = false;
    let mut stdin = false;
    let mut inert = false;
    while let Some(word) = words.get(at) {
        let Some(letters) = word.strip_prefix(['-', '+']) else {
            break;
        };
        at += 1;
        if letters.is_empty() || letters == "-" {
            break;
        }
        if letters.starts_with('-') {
            at += usize::from(matches!(letters, "-rcfile" | "-init-file"));
            inert |= matches!(letters, "-help" | "-version");
            continue;
        }
        script |= letters.contains('c');
        stdin |= letters.contains('s');
        inert |= letters.contains('n');
        let named = letters.contains(['o', 'O']);
        state.set(&words[at - 1..(at + usize::from(named)).min(words.len())]);
        at += usize::from(named);
    }
    match words.get(at) {
        _ if inert => Step::Keep,
        Some(text) if script => Step::Script(text.clone()),
        Some(_) if !stdin => Step::Keep,
        _ if script => Step::Keep,
        _ => Step::Stdin,
    }
}

/// Returns a package without its version: `@scope/tool@1.2` is `@scope/tool`.
fn unversioned(package: &str) -> String {
    match package.rfind('@') {
        Some(at) if at > 0 && !package[at..].contains('/') => package[..at].to_owned(),
        _ => package.to_owned(),
    }
}
