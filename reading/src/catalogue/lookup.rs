//! What a command does, by the catalogue.

use super::options::{Arg, Kind, Parsed};
use super::wrapped::Wrapped;
use super::{Catalogue, Operands, Purpose, Tasks};

/// How far an unknown program is looked through for a known command.
const BEHIND_MAX: usize = 4;
/// Wrappers in wrappers that are followed.
const DEPTH_MAX: usize = 8;

/// A command whose program is in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// What it does; none if the subcommand is not known.
    pub does: Option<Purpose>,
    /// The language whose programs name it; empty if it is one of no language.
    pub language: &'a str,
    /// What its operands are.
    pub takes: Operands,
    /// Its operands after the subcommands: of a runner of tasks the tasks, of an interpreter the script first.
    pub operands: Vec<String>,
    /// Whether an option chooses a part of what it would run.
    pub is_partial: bool,
    /// Whether it only lists or pretends.
    pub is_dry: bool,
    /// Whether it may end well without having done anything.
    pub may_do_nothing: bool,
    /// Whether an option makes it write files of the project.
    pub writes: bool,
    /// Whether work leaves the machine by it, or reaches others.
    pub leaves: bool,
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
    /// Returns what is known of a command; `words[0]` is its program. An unknown program before a known command that
    /// verifies something runs that command; so does a known one that is given the path of such a program.
    pub fn command(&self, words: &[String]) -> Option<Command<'_>> {
        let known = self.known(words, 0);
        if known.is_some() {
            return known;
        }
        let behind = (1..words.len().min(BEHIND_MAX)).filter(|at| !words[*at].starts_with('-'));
        let mut known = behind.filter_map(|at| self.known(&words[at..], 0));
        known.find(|command| command.does >= Some(Purpose::Lint))
    }

    fn known(&self, words: &[String], depth: usize) -> Option<Command<'_>> {
        // A wrapper that runs `test` and nothing else runs what the project calls so.
        if matches!(words, [only] if only == "test") {
            return None;
        }
        let parsed = self.parse(words);
        let row = parsed.row()?;
        if depth < DEPTH_MAX
            && let Some(Wrapped::At(at)) = parsed.wrapped(words)
        {
            return self.known(&words[at..], depth + 1);
        }
        if row.script
            && depth < DEPTH_MAX
            && !parsed.has(|row| &row.inline)
            && let Some(script) = parsed.args.iter().find(|arg| arg.kind == Kind::Operand)
            && let Some(command) = self.known(&words[script.at..], depth + 1)
            && (command.does >= Some(Purpose::Lint) || command.opening == Opening::Tasks)
        {
            return Some(command);
        }
        // The row and its language are those of the catalogue, not of the words.
        let language = self.language_of_program(super::names::file_name(&words[0]));
        let mut command = Command {
            does: parsed.does(),
            language,
            takes: parsed.takes(),
            operands: Vec::new(),
            is_partial: parsed.has(|row| &row.chooses),
            is_dry: parsed.is_dry(),
            may_do_nothing: parsed.has(|row| &row.may_do_nothing),
            writes: parsed.has(|row| &row.writes),
            leaves: row.leaves,
            opening: Opening::Nothing,
        };
        command.read(&parsed);
        Some(command)
    }
}

impl Command<'_> {
    fn read(&mut self, parsed: &Parsed<'_>) {
        let Some(row) = parsed.row() else {
            return;
        };
        let args = parsed.args.iter();
        let is_operand = |arg: &&Arg<'_>| matches!(arg.kind, Kind::Operand | Kind::Passed);
        let operands = args.clone().filter(is_operand);
        self.operands = operands.map(|arg| arg.text.to_owned()).collect();
        let targets = args
            .clone()
            .filter(|arg| parsed.lists(arg, |row| &row.targets));
        let targets = targets.flat_map(|arg| arg.value.into_iter().flat_map(|it| it.split(',')));
        let targets: Vec<String> = targets.map(str::to_owned).collect();
        if row.script {
            let is_inline = self.operands.first().is_none_or(|script| script == "-");
            self.opening = match is_inline {
                true => Opening::Inline,
                false => Opening::Script,
            };
        } else if !targets.is_empty() {
            self.operands = targets;
            self.tasks(parsed, row.does);
        } else if row.tasks == Tasks::One && parsed.rows.len() > 1 && row.does.is_some() {
            // The subcommand is the task: `npm test`.
            self.is_partial |= !self.operands.is_empty();
            let verb = parsed.verbs.last().copied();
            self.operands = Vec::from_iter(verb.map(str::to_owned));
            self.opening = Opening::Tasks;
        } else if row.tasks == Tasks::One && !self.operands.is_empty() {
            self.is_partial |= self.operands.len() > 1;
            self.operands.truncate(1);
            (self.does, self.opening) = (None, Opening::Tasks);
        } else if parsed.rows.iter().any(|row| row.tasks == Tasks::Many)
            && !self.operands.is_empty()
        {
            let own = row.does.filter(|_| row.tasks == Tasks::None);
            self.tasks(parsed, own);
            self.does = self.does.max(own);
        }
        if parsed.has(|row| &row.inline) {
            self.opening = Opening::Inline;
        }
        let mut without = args.filter(|arg| parsed.lists(arg, |row| &row.without_tests));
        if without.any(|arg| !arg.text.ends_with("=false")) {
            self.does = self.does.min(Some(Purpose::Build));
        }
    }

    /// Reads the operands as names of tasks: what is known of them is what the command does, the others are kept.
    fn tasks(&mut self, parsed: &Parsed<'_>, otherwise: Option<Purpose>) {
        let known = |task: &str| {
            let name = task.rsplit(':').next().unwrap_or(task);
            let mut rows = parsed.rows.iter().rev();
            rows.find_map(|row| row.verb(name)?.1.does)
        };
        let is_of_part = |task: &String| task.contains(':') && known(task).is_some();
        self.is_partial |= self.operands.iter().any(is_of_part);
        let does = self.operands.iter().filter_map(|task| known(task));
        self.does = does.max().or(otherwise);
        self.operands.retain(|task| known(task).is_none());
        if !self.operands.is_empty() {
            self.opening = Opening::Tasks;
        }
    }
}
