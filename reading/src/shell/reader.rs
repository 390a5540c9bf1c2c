//! The state of the shell reader: its cursor, its nesting, and the commands found so far.
//!
//! Nesting is limited; past the limit, reading stops and nothing that was found counts.

use std::ops::Range;
use std::rc::Rc;

use super::state::State;

/// Levels of nesting that are followed; a group counts for one or two. People stay far below ten.
const DEPTH_MAX: usize = 64;
/// Commands that are noted for one line.
pub(super) const COMMANDS_MAX: usize = 2_000;

/// One simple command as the grammar sees it, wrappers and all; without words, it only redirects.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) certain: bool,
    pub(super) decides: bool,
    pub(super) dir: Option<Rc<str>>,
    pub(super) io: Io,
    /// The command whose output this one reads, as an index.
    pub(super) fed_by: Option<usize>,
    /// Options that variables before it give to a program: the program, and the words.
    pub(super) options: Vec<(&'static str, String)>,
}

/// Variables whose value is options of a program.
const OPTIONS_IN: [(&str, &str); 2] = [("PYTEST_ADDOPTS", "pytest"), ("GOFLAGS", "go")];

impl Command {
    /// Takes over the variables that are set for the command: options, or where programs are looked for instead.
    pub(super) fn assign<'t>(&mut self, assigned: impl IntoIterator<Item = &'t String>) {
        for text in assigned {
            let (name, value) = text.split_once('=').unwrap_or_default();
            self.certain &= name != "PATH" || value.contains("PATH");
            let program = OPTIONS_IN.iter().find(|(variable, _)| *variable == name);
            // The last one counts.
            if let Some((_, program)) = program {
                self.options.retain(|(known, _)| known != program);
                self.options.push((program, value.to_owned()));
            }
        }
    }

    /// Adds the options that variables give to its program.
    pub(super) fn add_options(&self, words: &mut Vec<String>) {
        for (program, value) in &self.options {
            if words.first().is_some_and(|first| first == program) {
                let options = value.split_whitespace().map(str::to_owned);
                words.splice(1..1, options);
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Io {
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    /// Index of the heredoc body or here-string that is its standard input.
    pub(super) stdin: Option<usize>,
}

/// The content of one text.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    pub(super) bodies: Vec<String>,
    /// What the text defines, as [`super::CommandLine::defines`].
    pub(super) defines: Vec<String>,
}

/// One word with its quotes removed.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// The text that the command would see, expansions as written.
    pub(super) text: String,
    /// Whether any part was quoted; such a word is not a reserved word, and such a heredoc
    /// delimiter keeps the body literal.
    pub(super) quoted: bool,
    /// Whether the text depends on a variable or on a command.
    pub(super) expands: bool,
    /// Whether this is an assignment, `NAME=value`.
    pub(super) assigns: bool,
    /// Whether an unquoted `=` was met; only the first can make an assignment.
    pub(super) equals: bool,
}

/// A heredoc whose body has not been reached yet.
#[derive(Debug)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) literal: bool,
    pub(super) strip_tabs: bool,
    pub(super) body: usize,
}

impl Heredoc {
    /// Creates the heredoc with delimiter `word`, whose body goes to index `body`.
    pub(super) fn new(word: Word, strip_tabs: bool, body: usize) -> Self {
        Self {
            delimiter: word.text,
            literal: word.quoted,
            strip_tabs,
            body,
        }
    }
}

/// The reader of one text.
#[derive(Default)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) open_parens: usize,
    pub(super) certain: bool,
    pub(super) state: State,
    pub(super) commands: Vec<Command>,
    pub(super) bodies: Vec<String>,
    pub(super) pending: Vec<Heredoc>,
    /// Where the texts are that run nothing by themselves.
    pub(super) inert: Vec<Range<usize>>,
    /// First command of the last substitution that was read, as an index.
    pub(super) last_substitution: usize,
    /// Whether a limit was exceeded.
    pub(super) overrun: bool,
}

/// Whether a command was simple, a group in braces, or another compound command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Simple,
    Braces,
    Other,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, depth: usize, state: State) -> Self {
        Self {
            text,
            depth,
            certain: true,
            state,
            ..Self::default()
        }
    }

    /// Reads another text, as a subshell of this one, and takes over what it runs.
    pub(super) fn read_apart(&mut self, text: &str, read: impl FnOnce(&mut Reader<'_>)) {
        if !self.enter() {
            return;
        }
        let mut child = Reader::new(text, self.depth, self.state.clone());
        child.certain = self.certain;
        read(&mut child);
        let commands = self.commands.len();
        let bodies = self.bodies.len();
        for command in &mut child.commands {
            command.fed_by = command.fed_by.map(|index| index + commands);
            command.io.stdin = command.io.stdin.map(|index| index + bodies);
        }
        self.commands.append(&mut child.commands);
        self.bodies.append(&mut child.bodies);
        self.leave();
        if child.overrun || self.commands.len() >= COMMANDS_MAX {
            self.stop();
        }
    }

    /// Enters the next deeper level, or stops reading at the limit.
    pub(super) fn enter(&mut self) -> bool {
        let fits = self.depth < DEPTH_MAX;
        if fits {
            self.depth += 1;
        } else {
            self.stop();
        }
        fits
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn stop(&mut self) {
        self.overrun = true;
        self.at = self.text.len();
    }

    /// Notes that the commands from `start` on decide nothing.
    pub(super) fn mask(&mut self, start: usize) {
        self.mask_range(start, self.commands.len());
    }

    pub(super) fn mask_range(&mut self, start: usize, end: usize) {
        for command in self.commands.get_mut(start..end).unwrap_or_default() {
            command.decides = false;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Returns the text after the cursor.
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Notes a text that was read as one that runs nothing, unless it holds a substitution.
    pub(super) fn note_inert(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        if !text.contains("$(") && !text.contains('`') {
            self.inert.push(range);
        }
    }

    /// Moves the cursor past `token` if that comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    /// Moves the cursor past the next character and returns it.
    pub(super) fn next_char(&mut self) -> Option<char> {
        let found = self.rest().chars().next()?;
        self.at += found.len_utf8();
        Some(found)
    }
}
