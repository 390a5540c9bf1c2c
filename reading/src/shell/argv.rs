//! The meaning of one command: whether it matches a rule's evidence, and whether it is a dry run.

use super::simple::Simple;
use super::wrappers::{self, Inner};
use crate::catalogue::{Arg, Catalogue, Kind, Parsed, Row, Tasks};

/// A command that a rule asks for.
///
/// The program has to be the same. The other wanted words have to be among the arguments: words in their order, options
/// anywhere, an option with its value if the wanted one has a value. A wanted word that begins with `*` is looked for
/// inside the arguments. Options that are not wanted do not matter, nor do wrappers around what is wanted.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Reads a command from a rule; `None` for a text that no command can match, such as the empty
    /// one.
    pub fn read(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match wrappers::unwrap(&words).inner {
            Inner::Command(words) => Some(Self(words)),
            _ => None,
        }
    }

    /// Returns whether a command is the wanted one.
    pub fn fits(&self, simple: &Simple) -> bool {
        if is_wanted(&simple.words, &self.0) {
            return true;
        }
        // `bash scripts/restart.sh` runs `restart.sh`.
        let parsed = Catalogue::built_in().parse(&simple.words);
        let reads = matches!(parsed.program, "." | "source");
        let interprets = reads || parsed.row().is_some_and(|row| row.script);
        let mut args = parsed.args.iter();
        let script = args.find(|arg| interprets && arg.kind == Kind::Operand);
        script.is_some_and(|script| is_wanted(&simple.words[script.at..], &self.0))
    }
}

fn is_wanted(words: &[String], wanted: &[String]) -> bool {
    let catalogue = Catalogue::built_in();
    let (have, want) = (catalogue.parse(words), catalogue.parse(wanted));
    if have.program != want.program {
        return false;
    }
    let have = arguments(&have, words);
    let mut operands = have.iter().filter(|arg| arg.option.is_none());
    let is_there = |want: &Argument<'_>| match (want.option, want.text.strip_prefix('*')) {
        (None, Some(part)) => words.iter().skip(1).any(|word| word.contains(part)),
        (None, None) => operands.any(|operand| operand.text == want.text),
        (Some(_), _) => have.iter().any(|arg| arg.covers(want)),
    };
    arguments(&want, wanted).iter().all(is_there)
}

/// An argument with the spellings of one thing made equal.
struct Argument<'a> {
    /// The operand; the value of an option.
    text: &'a str,
    option: Option<&'a str>,
    letters: &'a str,
}

impl Argument<'_> {
    fn covers(&self, want: &Self) -> bool {
        let Some(option) = self.option else {
            return false;
        };
        let is_one = want.letters.len() == 1;
        let letter = want.letters.chars().next().filter(|_| is_one);
        let named = Some(option) == want.option
            || letter.is_some_and(|letter| self.letters.contains(letter));
        named && (want.text.is_empty() || want.text == self.text)
    }
}

fn arguments<'a>(parsed: &Parsed<'a>, words: &'a [String]) -> Vec<Argument<'a>> {
    let program = parsed.program;
    let signals = matches!(program, "kill" | "pkill" | "killall");
    // Words after `--` are for another program; `+nightly` selects a toolchain.
    let first = parsed.rows.first();
    let passes_on = first.is_some_and(|row| row.tasks == Tasks::One) || program == "bun";
    let mut found: Vec<Argument<'a>> = Vec::new();
    let mut verbs = parsed.verbs.iter();
    let mut add = |text, option, letters| {
        found.push(Argument {
            text,
            option,
            letters,
        })
    };
    let has_operand = parsed.args.iter().any(|arg| arg.kind == Kind::Operand);
    for arg in &parsed.args {
        if signals && let Some(signal) = signal(&words[arg.at], arg) {
            add("", Some(signal), "");
            continue;
        }
        match arg.kind {
            Kind::Option => add(arg.value.unwrap_or_default(), Some(arg.name()), arg.letters),
            Kind::Verb => {
                let verb = verbs.next().copied().unwrap_or(arg.text);
                let is_runner = |row: &Row| row.tasks == Tasks::One && row.does.is_none();
                let runs = parsed.row().is_some_and(is_runner);
                // `npm run test` is `npm test`.
                if arg.text.starts_with('-') {
                    add("", Some(arg.text), "");
                } else if !(runs && passes_on && has_operand) {
                    add(verb, None, "");
                }
            }
            Kind::Passed if passes_on => {}
            Kind::Operand if program == "cargo" && arg.text.starts_with('+') => {}
            Kind::Operand | Kind::Passed => add(arg.text, None, ""),
        }
    }
    found
}

/// Returns the bare name of the signal that an option of `kill` names: `-USR2`, `-SIGUSR2`, `-s USR2`, `--signal=USR2`.
fn signal<'a>(word: &'a str, arg: &Arg<'a>) -> Option<&'a str> {
    if arg.kind != Kind::Option {
        return None;
    }
    let name = match arg.text {
        "-s" | "--signal" => arg.value?,
        _ => word.strip_prefix('-')?,
    };
    let name = name.strip_prefix("SIG").unwrap_or(name);
    let fits = |next: char| next.is_ascii_uppercase() || next.is_ascii_digit();
    let is_name = name.len() > 1 && name.chars().all(fits);
    is_name.then_some(name)
}

/// Returns whether a command only prints what it would do, or what it is: `--help`, `--dry-run`, `make -n`. That is not
/// evidence.
pub fn is_dry(simple: &Simple) -> bool {
    Catalogue::built_in().parse(&simple.words).is_dry()
}

/// Returns the operands of a command: its words without options and their values.
pub fn operands(simple: &Simple) -> Vec<&str> {
    let parsed = Catalogue::built_in().parse(&simple.words);
    parsed.operands().collect()
}
