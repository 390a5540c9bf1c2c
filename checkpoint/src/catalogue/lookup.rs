//! What a command is, by the catalogue.

use super::{Catalogue, Operands, Purpose, Row};
use super::row::Verb;

/// How far an unknown program is looked through for a known command.
const BEHIND_MAX: usize = 4;

/// A command whose program is in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// What it does; none if the subcommand is not known.
    pub does: Option<Purpose>,
    /// The language whose programs name it; empty if it is one of no language.
    pub language: &'a str,
    /// What its operands are.
    pub takes: Operands,
    /// Its operands after the subcommands.
    pub operands: Vec<String>,
    /// Whether an option chooses a part of what it would run.
    pub is_partial: bool,
    /// Whether it only lists or pretends.
    pub is_dry: bool,
    /// Whether it may end well without having done anything.
    pub may_do_nothing: bool,
    /// Whether an option makes it write files of the project.
    pub writes: bool,
    /// What the command names: a script, a task, or a program text.
    pub opening: Opening,
}

/// What a command names that is defined elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// Nothing.
    #[default]
    Nothing,
    /// Its first operand is a script.
    Script,
    /// A program text: that of an option, or what it reads.
    Inline,
    /// Its operands are tasks of the project.
    Tasks,
}

impl Catalogue {
    /// Returns what is known of a command; `words[0]` is its program, without its folder. An unknown program before a known
    /// command that verifies something runs that command.
    pub fn command(&self, words: &[String]) -> Option<Command<'_>> {
        let known = self.known(words);
        if known.is_some() {
            return known;
        }
        let behind = (1..words.len().min(BEHIND_MAX)).filter(|at| !words[*at].starts_with('-'));
        behind
            .filter_map(|at| self.known(&words[at..]))
            .find(|command| command.does >= Some(Purpose::Lint))
    }

    fn known(&self, words: &[String]) -> Option<Command<'_>> {
        let (program, rest) = words.split_first()?;
        let program = crate::shell::canonical_name(program);
        let (language, row) = self.programs.get(program)?;
        let mut command = Command {
            does: row.does,
            language: &self.languages[*language].language,
            takes: row.operands,
            operands: Vec::new(),
            is_partial: false,
            is_dry: is_dry_everywhere(rest),
            may_do_nothing: false,
            writes: false,
            opening: Opening::Nothing,
        };
        command.read(row, rest);
        Some(command)
    }
}

impl Command<'_> {
    fn read(&mut self, row: &Row, words: &[String]) {
        self.takes = row.operands;
        let mut inline = false;
        let mut rest = words.iter().enumerate();
        while let Some((at, word)) = rest.next() {
            if word == "--" {
                self.operands.extend(words[at + 1..].iter().cloned());
                break;
            }
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            if name.starts_with('-') && name.len() > 1 {
                self.is_partial |= has(&row.chooses, name);
                self.is_dry |= has(&row.dry, name);
                self.may_do_nothing |= has(&row.may_do_nothing, name);
                self.writes |= has(&row.writes, name);
                inline |= has(&row.inline, name);
                if has(&row.inline, name) || (has(&row.values, name) && !word.contains('=')) {
                    let value = rest.next();
                    if has(&row.chooses, name) && row.operands == Operands::Packages {
                        self.operands.extend(value.map(|(_, value)| value.clone()));
                    }
                }
                continue;
            }
            if self.operands.is_empty()
                && let Some(verb) = row.verb(word)
            {
                match verb {
                    Verb::Does(purpose) => {
                        self.does = Some(*purpose);
                        let inherited = Row {
                            verbs: Default::default(),
                            ..row.clone()
                        };
                        return self.read(&inherited, &words[at + 1..]);
                    }
                    Verb::Row(inner) => {
                        self.does = inner.does.or(self.does);
                        if inner.tasks && inner.does.is_some() {
                            self.operands.push(word.clone());
                        }
                        return self.read(inner, &words[at + 1..]);
                    }
                }
            }
            self.is_dry |= has(&row.dry, name);
            self.operands.push(word.clone());
        }
        let script = self.operands.first().filter(|script| *script != "-");
        self.opening = if inline || (row.script && script.is_none()) {
            Opening::Inline
        } else if row.script {
            Opening::Script
        } else if row.tasks {
            Opening::Tasks
        } else {
            Opening::Nothing
        };
    }
}

impl Row {
    fn verb(&self, word: &str) -> Option<&Verb> {
        let mut verbs = self.verbs.iter();
        let is_it = |names: &str| names.split_whitespace().any(|name| name == word);
        verbs.find(|(names, _)| is_it(names)).map(|(_, verb)| verb)
    }
}

/// Returns whether an option is listed: by its name, or as a letter of a cluster of short ones.
fn has(list: &[String], name: &str) -> bool {
    let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    list.iter().any(|one| {
        one == name
            || letters.is_some_and(|letters| {
                let listed = one.strip_prefix('-').filter(|rest| rest.len() == 1);
                listed.is_some_and(|letter| letters.len() <= 4 && letters.contains(letter))
            })
    })
}

/// Returns whether the words ask for help, a version or a rehearsal, as all programs understand them.
fn is_dry_everywhere(words: &[String]) -> bool {
    let asks = |word: &String| {
        matches!(
            word.as_str(),
            "--help" | "--version" | "--dry-run" | "--dryrun" | "--just-print"
        )
    };
    words.iter().take_while(|word| *word != "--").any(asks)
        || matches!(words, [only] if ["-h", "-V", "-?", "-version", "-help", "help", "version"].contains(&only.as_str()))
}
