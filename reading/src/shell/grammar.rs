//! The grammar of the shell reader: lists, pipelines, commands.
//!
//! One pass over the text, no tree: each simple command is noted when it is met, and its flags are corrected when
//! the text after it is known.

use std::ops::Range;

use super::reader::{COMMANDS_MAX, Command, Io, Kind, Reader, Script};
use super::redirects::closes;
use super::state::State;

/// One pipeline of an and-or list.
struct Link {
    start: usize,
    end: usize,
    /// Whether it follows `||`.
    or: bool,
    /// Whether it leaves the script with a failure.
    exits: bool,
    /// Whether it leaves the script with any code.
    ends: bool,
    /// Whether it has only simple commands.
    plain: bool,
    /// Whether its failure ends the script, whatever comes behind the list.
    holds: bool,
}

/// Reads a script whose initial state is `state`.
pub(super) fn read(text: &str, state: State) -> Script {
    let mut reader = Reader::new(text, 0, state);
    reader.list(&[]);
    if reader.overrun {
        for command in &mut reader.commands {
            (command.certain, command.decides) = (false, false);
        }
    }
    Script {
        commands: reader.commands,
        bodies: reader.bodies,
        defines: reader.state.defined,
    }
}

/// Returns the places of the texts of a script that run nothing by themselves, in order: quoted ones and heredocs.
pub(super) fn inert(text: &str) -> Vec<Range<usize>> {
    let mut reader = Reader::new(text, 0, State::default());
    reader.list(&[]);
    let mut inert = reader.inert;
    inert.sort_unstable_by_key(|range| range.start);
    let mut end = 0;
    inert.retain(|range| {
        let is_apart = range.start >= end;
        end = end.max(range.end);
        is_apart
    });
    inert
}

impl Reader<'_> {
    /// Reads commands until one of the reserved words `stops`, a closing parenthesis, or the end.
    pub(super) fn list(&mut self, stops: &[&str]) {
        let certain = self.certain;
        let mut last: Option<Vec<Link>> = None;
        while self.at_command(stops) {
            if let Some(links) = last.take() {
                self.overrule(&links);
            }
            let before = self.at;
            let start = self.commands.len();
            let links = self.and_or();
            if self.at == before {
                self.next_char();
                continue;
            }
            self.blank();
            if self.peek() == Some(b'&') {
                self.at += 1;
                self.mask(start);
            } else {
                if matches!(links.as_slice(), [only] if only.ends) {
                    self.state.is_over |= self.certain;
                    self.certain = false;
                }
                last = Some(links);
            }
        }
        self.certain = certain;
    }

    /// Skips separators; returns whether a command comes next that belongs to this list.
    fn at_command(&mut self, stops: &[&str]) -> bool {
        loop {
            self.newlines();
            match self.peek() {
                None => return false,
                Some(b')') if self.open_parens > 0 => return false,
                Some(b';')
                    if stops.contains(&"esac") && matches!(self.peek_at(1), Some(b';' | b'&')) =>
                {
                    return false;
                }
                Some(b'&') if self.peek_at(1) == Some(b'>') => return true,
                Some(b')' | b';' | b'&' | b'|') => self.at += 1,
                Some(_) => match self.reserved() {
                    Some(word) if stops.contains(&word) => return false,
                    // A stray closer is a syntax error; reading on does no harm.
                    Some(word) if closes(word) => self.at += word.len(),
                    _ => return true,
                },
            }
        }
    }

    /// Masks commands before another command of the list: only those whose failure ends the script
    /// still decide.
    fn overrule(&mut self, links: &[Link]) {
        for link in links {
            // Under `set -e`, `a && b; c` continues when `a` fails, so it says nothing about `b`; nor does a group that
            // ends so.
            let kept = link.holds || (self.state.errexit && links.len() == 1 && link.plain);
            if !kept {
                self.mask_range(link.start, link.end);
            }
        }
    }

    fn and_or(&mut self) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        let mut or = false;
        loop {
            let certain = self.certain;
            self.certain &= !or;
            let start = self.commands.len();
            let (exits, ends, plain) = self.pipeline();
            self.certain = certain;
            links.push(Link {
                start,
                end: self.commands.len(),
                or,
                exits,
                ends,
                plain,
                holds: false,
            });
            self.blank();
            or = match (self.peek(), self.peek_at(1)) {
                (Some(b'&'), Some(b'&')) => false,
                (Some(b'|'), Some(b'|')) => true,
                _ => break,
            };
            self.at += 2;
            self.newlines();
        }
        // `set -e` means nothing inside a group that is not the last of its list.
        if self.state.errexit {
            for link in links.iter().rev().skip(1) {
                self.mask_range(link.start, link.end.saturating_sub(1).max(link.start));
            }
        }
        // A failure continues at the next `||`, and is forgotten there unless that leaves the
        // script.
        let mut next_or = None;
        for link in links.iter_mut().rev() {
            match next_or {
                Some(true) => link.holds = true,
                Some(false) => self.mask_range(link.start, link.end),
                None => {}
            }
            if link.or {
                next_or = Some(link.exits);
            }
        }
        links
    }

    /// Reads one pipeline; returns whether it is `exit` with a failure, alone or at the end of some braces, whether it is
    /// any `exit`, and whether it has no compound command.
    fn pipeline(&mut self) -> (bool, bool, bool) {
        let mut negated = false;
        loop {
            self.blank();
            match self.reserved() {
                Some("!") => (negated, self.at) = (!negated, self.at + 1),
                Some("time") if self.time_is_keyword() => {}
                _ => break,
            }
        }
        let start = self.commands.len();
        let state = self.state.clone();
        let mut kind = self.command();
        let mut plain = kind == Kind::Simple;
        let mut piece = start;
        let mut piped = false;
        self.blank();
        while self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|') {
            self.at += 1;
            self.eat("&");
            self.newlines();
            if !self.state.pipefail {
                self.mask(piece);
            }
            let is_one = kind == Kind::Simple && self.commands.len() > piece;
            let feeder = is_one.then(|| self.commands.len() - 1);
            piece = self.commands.len();
            self.state = state.clone();
            kind = self.command();
            plain &= kind == Kind::Simple;
            let new = self.commands.get_mut(piece..);
            let new = new.and_then(|new| new.last_mut());
            if let (Kind::Simple, Some(command)) = (kind, new) {
                command.fed_by = feeder;
            }
            piped = true;
            self.blank();
        }
        if piped {
            self.state = state;
        }
        if negated {
            self.mask(start);
        }
        // What a subshell or a piece of a pipeline leaves is not this shell.
        let is_own = !negated && !piped && kind != Kind::Other;
        (
            is_own && self.ends(start, |code| code != "0"),
            is_own && self.ends(start, |_| true),
            plain,
        )
    }

    /// Skips `time` and its `-p`; with any other option it is the program of that name.
    fn time_is_keyword(&mut self) -> bool {
        let options = self.rest()["time".len()..].trim_start_matches([' ', '\t']);
        let portable = options.starts_with("-p ");
        let keyword = portable || !options.starts_with('-');
        if keyword {
            self.at += "time".len();
            self.blank();
            self.at += if portable { "-p".len() } else { 0 };
        }
        keyword
    }

    /// Returns whether the commands from `start` on only print and then leave the script with a code, where it is given.
    fn ends(&self, start: usize, with: impl Fn(&str) -> bool) -> bool {
        let Some((last, before)) = self.commands.get(start..).and_then(<[Command]>::split_last)
        else {
            return false;
        };
        let is = |command: &Command, names: &[&str]| {
            let name = command.words.first();
            name.is_some_and(|name| names.contains(&name.as_str()))
        };
        let words = last.words.iter().map(String::as_str);
        let mut words = words.skip_while(|word| matches!(*word, "builtin" | "command"));
        let leaves = match (words.next(), words.next()) {
            (Some("exit" | "return" | "logout"), code) => code.is_none_or(&with),
            // Without a program, it only redirects. How the program ends is not known.
            (Some("exec"), Some(_)) => with("0"),
            _ => false,
        };
        let shows = |command: &Command| is(command, &["echo", "printf", "cat", "tail"]);
        leaves && before.iter().all(shows)
    }

    pub(super) fn command(&mut self) -> Kind {
        self.blank();
        if !self.enter() {
            return Kind::Other;
        }
        let kind = match self.peek() {
            Some(b'(') => {
                if self.peek_at(1) == Some(b'(') && self.is_arithmetic(0) {
                    self.arithmetic();
                } else {
                    self.at += 1;
                    self.subshell();
                }
                Kind::Other
            }
            Some(b'[') if self.rest().starts_with("[[ ") => self.condition(),
            _ => match self.reserved() {
                Some(word) => self.compound(word),
                None => self.simple(),
            },
        };
        if kind != Kind::Simple {
            let mut io = Io::default();
            self.blank();
            while self.redirect(&mut io) {
                self.blank();
            }
            self.note(Vec::new(), io);
        }
        self.leave();
        kind
    }

    /// Reads a list in parentheses, the opening one already taken.
    pub(super) fn subshell(&mut self) {
        if !self.enter() {
            return;
        }
        self.open_parens += 1;
        let state = self.state.clone();
        self.list(&[")"]);
        self.state = state;
        self.open_parens -= 1;
        self.eat(")");
        self.leave();
    }

    /// Reads `[[ .. ]]`, in which operators are no operators.
    fn condition(&mut self) -> Kind {
        let start = self.commands.len();
        loop {
            self.newlines();
            match self.word() {
                Some(word) if word.text == "]]" => break,
                Some(_) => {}
                None if self.next_char().is_none() => break,
                None => {}
            }
        }
        self.mask(start);
        self.note(vec!["[[".to_owned()], Io::default());
        Kind::Other
    }

    pub(super) fn simple(&mut self) -> Kind {
        let start = self.commands.len();
        let mut words: Vec<String> = Vec::new();
        let mut io = Io::default();
        let mut assigned: Vec<String> = Vec::new();
        loop {
            self.blank();
            if self.redirect(&mut io) {
                continue;
            }
            let Some(word) = self.word() else { break };
            if words.is_empty() && word.assigns {
                assigned.push(word.text);
                continue;
            }
            words.push(word.text);
            if words.len() == 1 && self.eat_parentheses() {
                self.function_body(start);
                self.state.defined.append(&mut words);
                return Kind::Other;
            }
        }
        // Assignments alone have the status of their last substitution.
        let end = if words.is_empty() {
            self.last_substitution.max(start)
        } else {
            self.commands.len()
        };
        self.mask_range(start, end);
        let mut after = self.state.clone();
        after.run(&words);
        after.note_path(assigned.iter().chain(&words));
        let count = self.commands.len();
        self.note(words, io);
        if let Some(command) = self.commands.get_mut(count) {
            command.assign(self.state.exported.iter().chain(&assigned));
        }
        self.state = after;
        Kind::Simple
    }

    fn eat_parentheses(&mut self) -> bool {
        let rest = self.rest();
        let spaced = rest.trim_start_matches([' ', '\t']);
        let Some(inside) = spaced.strip_prefix('(') else {
            return false;
        };
        let Some(after) = inside.trim_start_matches([' ', '\t']).strip_prefix(')') else {
            return false;
        };
        self.at += rest.len() - after.len();
        true
    }

    fn note(&mut self, mut words: Vec<String>, io: Io) {
        let name = words.first();
        if name.is_some_and(|name| self.state.defined.contains(name)) {
            words.clear();
        }
        if self.state.is_over {
            return;
        }
        if words.is_empty() && io.inputs.is_empty() && io.outputs.is_empty() {
            return;
        }
        if self.commands.len() >= COMMANDS_MAX {
            self.stop();
            return;
        }
        let certain = self.certain;
        let dir = self.state.dir.clone();
        self.commands.push(Command {
            words,
            certain,
            decides: true,
            dir,
            io,
            fed_by: None,
            options: Vec::new(),
        });
    }
}
