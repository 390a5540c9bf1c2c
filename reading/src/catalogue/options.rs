//! The words of a command: its subcommands, options with their values, and operands.
//!
//! Without the options that take a value, `make -f restart` would look like `make restart`, and `head -n 5 file` would seem
//! to read a file `5`. A program that is not in the catalogue has no such options.

use super::{Catalogue, Operands, Purpose, Row, Tasks};

/// One argument of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg<'a> {
    /// Index among all words.
    pub at: usize,
    /// The word; of `--name=value` only `--name`.
    pub text: &'a str,
    /// The letters of a cluster of short options, up to one that takes a value.
    pub letters: &'a str,
    /// The value of an option.
    pub value: Option<&'a str>,
    /// What it is.
    pub kind: Kind,
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `-x`, `--name`.
    Option,
    /// The name of a subcommand, or an option that is like one.
    Verb,
    /// A word that is not an option.
    Operand,
    /// Anything after `--`.
    Passed,
}

/// Longer words behind a single dash are no clusters of letters.
const LETTERS_MAX: usize = 4;

impl<'a> Arg<'a> {
    /// Returns whether this is the option of that letter or name (with dashes).
    pub fn is(&self, letter: char, name: &str) -> bool {
        self.kind == Kind::Option
            && (self.letters.contains(letter) || (!name.is_empty() && self.text == name))
    }

    /// Returns whether this is one of some options: `-k`, `--name`, `-name`, or `-x value`.
    pub fn is_in(&self, options: &[String]) -> bool {
        let name = self.name();
        let is_cluster = self.letters.chars().take(LETTERS_MAX + 1).count() <= LETTERS_MAX;
        let is_one = |option: &str| match option.split_once(' ') {
            Some((option, value)) => name == option && self.value == Some(value),
            None => {
                let rest = option.strip_prefix('-');
                let letter = rest.filter(|rest| rest.chars().count() == 1);
                name == option || (is_cluster && letter.is_some_and(|l| self.letters.contains(l)))
            }
        };
        matches!(self.kind, Kind::Option | Kind::Verb) && options.iter().any(|one| is_one(one))
    }

    /// Returns the name of the option: `-e` of `-e.`, `-only-testing` of `-only-testing:App`.
    pub fn name(&self) -> &'a str {
        let end = self.letters.len();
        if self.text.starts_with("--") || self.kind != Kind::Option {
            self.text
        } else if self.value.is_some() && end > 0 {
            self.text.get(..=end).unwrap_or(self.text)
        } else {
            self.text.split(['=', ':']).next().unwrap_or(self.text)
        }
    }
}

/// The rows that say which options take values.
#[derive(Clone, Copy, Debug)]
struct Options<'r, 'c> {
    rows: &'r [&'c Row],
    /// Whether names of several letters follow a single dash.
    is_single: bool,
}

impl<'r, 'c> Options<'r, 'c> {
    fn new(rows: &'r [&'c Row]) -> Self {
        let is_single = |option: &String| option.len() > 2 && !option.starts_with("--");
        Self {
            rows,
            is_single: rows.iter().any(|row| row.values.iter().any(is_single)),
        }
    }

    fn take(&self, option: &str) -> bool {
        let lists = |row: &&&'c Row| {
            let mut lists = [&row.values, &row.dirs, &row.inline, &row.targets].into_iter();
            lists.any(|list| list.iter().any(|one| one == option))
        };
        self.rows.iter().any(|row| lists(&row))
    }

    fn letter_takes(&self, letter: char) -> bool {
        let mut option = [b'-'; 5];
        let end = 1 + letter.encode_utf8(&mut option[1..]).len();
        self.take(std::str::from_utf8(&option[..end]).unwrap_or_default())
    }
}

/// A command, read by what the catalogue says of it.
#[derive(Clone, Debug, Default)]
pub struct Parsed<'a> {
    /// The name of the program in the catalogue, else as it is written, without its folder.
    pub program: &'a str,
    /// The language whose programs name it; empty if it is one of no language.
    pub language: &'a str,
    /// The rows of the program and of its subcommands; none if it is not known.
    pub rows: Vec<&'a Row>,
    /// Its arguments.
    pub args: Vec<Arg<'a>>,
    /// The names of its subcommands, as the catalogue writes them first.
    pub verbs: Vec<&'a str>,
}

impl Catalogue {
    /// Reads a command; `words[0]` is its program.
    pub fn parse<'a, S: AsRef<str>>(&'a self, words: &'a [S]) -> Parsed<'a> {
        let Some(program) = words.first() else {
            return Parsed::default();
        };
        let program = super::names::file_name(program.as_ref());
        let mut parsed = Parsed {
            program: self.canonical(program),
            ..Parsed::default()
        };
        if let Some((language, row)) = self.entry(program) {
            parsed.language = language;
            parsed.rows.push(row);
        }
        let mut reader = Reader {
            words,
            next: 1,
            passed: false,
        };
        let mut may_be_verb = true;
        while let Some(mut arg) = reader.arg(Options::new(&parsed.rows)) {
            let verb = parsed.rows.last().filter(|_| may_be_verb);
            let is_verb = matches!(arg.kind, Kind::Option | Kind::Operand);
            if let Some((key, row)) = verb.filter(|_| is_verb).and_then(|row| row.verb(arg.text)) {
                // What seemed to be a value is the first argument of the subcommand.
                reader.next = arg.at + 1;
                (arg.kind, arg.value, arg.letters) = (Kind::Verb, None, "");
                let is_also = row.also.iter().any(|also| also == arg.text);
                let mut names = key.split(' ').filter(|_| !key.contains('*'));
                let name = names.find(|name| *name == arg.text || is_also);
                parsed.verbs.push(name.unwrap_or(arg.text));
                parsed.rows.push(row);
            } else {
                may_be_verb &= arg.kind == Kind::Option;
            }
            parsed.args.push(arg);
        }
        parsed
    }
}

struct Reader<'a, S> {
    words: &'a [S],
    next: usize,
    passed: bool,
}

impl<'a, S: AsRef<str>> Reader<'a, S> {
    fn value(&mut self) -> Option<&'a str> {
        let value = self.words.get(self.next)?.as_ref();
        self.next += 1;
        Some(value)
    }

    fn arg(&mut self, options: Options<'_, '_>) -> Option<Arg<'a>> {
        let mut text = self.words.get(self.next)?.as_ref();
        if text == "--" && !self.passed {
            self.passed = true;
            self.next += 1;
            text = self.words.get(self.next)?.as_ref();
        }
        let mut arg = Arg {
            at: self.next,
            text,
            letters: "",
            value: None,
            kind: Kind::Option,
        };
        self.next += 1;
        let assigned = text.split_once('=');
        let name = assigned.map_or(text, |(name, _)| name);
        if self.passed {
            arg.kind = Kind::Passed;
        } else if !text.starts_with('-') || text.len() == 1 {
            arg.kind = Kind::Operand;
        } else if text.starts_with("--") || (name.len() > 2 && options.take(name)) {
            if let Some((before, value)) = assigned {
                (arg.text, arg.value) = (before, Some(value));
            } else if options.take(text) {
                arg.value = self.value();
            }
        } else if text.len() == 2 || !options.is_single {
            let letters = &text[1..];
            let mut places = letters.char_indices();
            let taker = places.find(|(_, letter)| options.letter_takes(*letter));
            let end = taker.map_or(letters.len(), |(index, letter)| index + letter.len_utf8());
            let (before, after) = letters.split_at(end);
            arg.letters = before;
            arg.value = match taker {
                Some(_) if after.is_empty() => self.value(),
                Some(_) => Some(after),
                None => None,
            };
        }
        Some(arg)
    }
}

impl<'a> Parsed<'a> {
    /// Returns the command as the catalogue names it: `git push`.
    pub fn name(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.verbs);
        words.copied().collect::<Vec<_>>().join(" ")
    }

    /// Returns the row of the last subcommand, else of the program.
    pub fn row(&self) -> Option<&'a Row> {
        self.rows.last().copied()
    }

    /// Returns whether an option of the command is in a list of its rows.
    pub fn has(&self, list: impl Fn(&'a Row) -> &'a [String]) -> bool {
        self.args.iter().any(|arg| self.lists(arg, &list))
    }

    /// Returns whether an option is in a list of the rows.
    pub fn lists(&self, arg: &Arg<'_>, list: impl Fn(&'a Row) -> &'a [String]) -> bool {
        self.rows.iter().any(|row| arg.is_in(list(row)))
    }

    /// Returns what the command does if nothing more is known: what its last row says that says something.
    pub(super) fn does(&self) -> Option<Purpose> {
        let mut does = None;
        for row in &self.rows {
            let is_of_others = row.tasks != Tasks::None || row.script || row.wraps.is_some();
            does = if is_of_others {
                row.does
            } else {
                row.does.or(does)
            };
        }
        does
    }

    /// Returns what its operands are.
    pub(super) fn takes(&self) -> Operands {
        let mut rows = self.rows.iter().rev().map(|row| row.operands);
        let known = rows.find(|takes| *takes != Operands::Unknown);
        known.unwrap_or_default()
    }

    /// Returns its arguments that are no options, subcommands included.
    pub fn operands(&self) -> impl Iterator<Item = &'a str> {
        let args = self.args.iter().filter(|arg| arg.kind != Kind::Option);
        args.map(|arg| arg.text)
            .filter(|text| !text.starts_with('-'))
    }

    /// Returns the folders that it changes to by its own options.
    pub fn dirs(&self) -> impl Iterator<Item = &'a str> {
        let args = self.args.iter();
        let dirs = args.filter(|arg| self.lists(arg, |row| &row.dirs));
        dirs.filter_map(|arg| arg.value)
    }

    /// Returns whether it only prints what it would do, or what it is.
    pub fn is_dry(&self) -> bool {
        let pretends = |arg: &&Arg<'_>| match arg.text {
            "--help" | "--dryrun" | "--just-print" => true,
            "--dry-run" => !matches!(arg.value, Some("none" | "false")),
            _ => false,
        };
        if self.args.iter().any(|arg| pretends(&arg)) {
            return true;
        }
        if let [only] = self.args.as_slice()
            && ["-h", "-V", "-?", "-version", "-help"].contains(&only.text)
        {
            return true;
        }
        let mut words = self.args.iter().filter(|arg| arg.kind != Kind::Option);
        let first = words.next().map(|arg| arg.text);
        let version = self.args.iter().any(|arg| arg.is('\0', "--version"));
        let is_dry = |word: &str| (self.rows.iter()).any(|row| row.dry.iter().any(|it| it == word));
        let makes = self.row().is_some_and(|row| row.tasks == Tasks::Many);
        let is_operand = |arg: &Arg<'_>| matches!(arg.kind, Kind::Operand | Kind::Passed);
        let has_operand = self.args.iter().any(is_operand);
        let is_bare = first.is_none() || (!has_operand && self.does() == Some(Purpose::Tests));
        (version && is_bare)
            || (first == Some("help") && !makes)
            || self.has(|row| &row.dry)
            || words.any(|arg| is_dry(arg.text))
    }
}
