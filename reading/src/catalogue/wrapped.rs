//! The commands that others run: `sudo`, `timeout`, `uv run`, `docker exec`.

use super::options::{Kind, Parsed};
use super::{Arg, Wraps};

/// What a wrapper runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrapped {
    /// The command that begins at this word.
    At(usize),
    /// A command line.
    Script(String),
}

impl Parsed<'_> {
    /// Returns what the command runs, if it is a wrapper and runs something.
    pub fn wrapped<S: AsRef<str>>(&self, words: &[S]) -> Option<Wrapped> {
        let wraps = self.row()?.wraps.as_ref()?;
        let verb = self.args.iter().rposition(|arg| arg.kind == Kind::Verb);
        let args = &self.args[verb.map_or(0, |at| at + 1)..];
        let mut operands = args.iter().filter(|arg| arg.kind != Kind::Option);
        let is_line = |arg: &Arg<'_>| arg.text.contains(char::is_whitespace);
        if wraps.lines && operands.clone().any(is_line) {
            let lines = operands.map(|arg| arg.text);
            let lines: Vec<&str> = lines.take_while(|text| *text != ":::").collect();
            return Some(Wrapped::Script(lines.join("\n")));
        }
        let begin = begin(wraps, args, words.len())?;
        let at = match begin {
            Begin::Script(text) => return Some(Wrapped::Script(text.to_owned())),
            Begin::At(at) => at,
            Begin::Operand if wraps.dashes => operands.find(|arg| arg.kind == Kind::Passed)?.at,
            Begin::Operand => operands.next()?.at + wraps.operands,
        };
        let next = args.iter().find(|arg| arg.at == at);
        if let Some(arg) = next.filter(|arg| arg.is_in(&wraps.script)) {
            return arg.value.map(|text| Wrapped::Script(text.to_owned()));
        }
        let is_assignment = |word: &&S| wraps.assigns && is_assignment(word.as_ref());
        let at = at + words.iter().skip(at).take_while(is_assignment).count();
        (at < words.len()).then_some(Wrapped::At(at))
    }
}

enum Begin<'a> {
    Script(&'a str),
    At(usize),
    Operand,
}

/// Returns what the options say about where the command begins; none if it does not run.
fn begin<'a>(wraps: &Wraps, args: &[Arg<'a>], length: usize) -> Option<Begin<'a>> {
    for arg in args {
        match arg.kind {
            Kind::Option => {}
            // What follows is the command's.
            Kind::Operand if !wraps.dashes => return Some(Begin::Operand),
            Kind::Operand | Kind::Verb => continue,
            Kind::Passed => return Some(Begin::Operand),
        }
        let is_inert = arg.is_in(&wraps.inert) || matches!(arg.text, "--help" | "--version");
        if is_inert {
            return None;
        }
        if arg.is_in(&wraps.script) {
            return arg.value.map(Begin::Script);
        }
        if arg.is_in(&wraps.begins) {
            return Some(Begin::At(arg.at + 1)).filter(|_| arg.at + 1 < length);
        }
    }
    Some(Begin::Operand)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.starts_with(|first: char| first.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
