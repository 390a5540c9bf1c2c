//! Arguments that several commands take.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParserFactory};
use clap::{Arg, Args, ValueEnum};
use journal::{Agent, Event, Reason};
use serde::Serialize;

use crate::cli::text::print_json;
use crate::error::Result;
use crate::install::agents;

/// Asks on the terminal. Anything but `y` or `yes` is a no.
pub(crate) fn ask_yes(question: &str) -> Result<bool> {
    print!("{question} [y/N] ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

/// Runs a program with an input, and returns how it ended and what it printed. It need not read the input.
pub(crate) fn with_input(mut command: Command, input: &[u8]) -> io::Result<std::process::Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // Beside the reading: it may print before it has read all.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    })
}

#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Output {
    /// Prints an answer: as JSON, or for people by `show`.
    pub(crate) fn print<T: Serialize>(self, answer: &T, show: impl FnOnce(&T)) {
        if self.json {
            print_json(answer);
        } else {
            show(answer);
        }
    }
}

/// An agent that is named on the command line: one that is known, or one that the configuration describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentName(Agent);

impl ValueParserFactory for AgentName {
    type Parser = AgentNames;

    fn value_parser() -> AgentNames {
        AgentNames
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentNames;

impl AgentNames {
    fn known() -> impl Iterator<Item = PossibleValue> {
        Agent::WORDS.into_iter().map(PossibleValue::new)
    }
}

impl TypedValueParser for AgentNames {
    type Value = AgentName;

    /// Reads the configuration only for a name that is not known without it.
    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<AgentName, clap::Error> {
        if let Some(agent) = value.to_str().and_then(Agent::host) {
            return Ok(AgentName(agent));
        }
        let described = agents::described_words().map(PossibleValue::new);
        let all: Vec<PossibleValue> = Self::known().chain(described).collect();
        let word = PossibleValuesParser::new(all).parse_ref(command, argument, value)?;
        Ok(AgentName(agents::named(&word).expect("one of the words")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::known()))
    }
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictName {
    /// A checkpoint was sent
    #[value(name = "sent", alias = "inject")]
    Inject,
    /// The agent stopped normally
    #[value(name = "let-through", alias = "pass")]
    Pass,
}

impl From<VerdictName> for journal::Verdict {
    fn from(name: VerdictName) -> Self {
        match name {
            VerdictName::Inject => Self::Inject,
            VerdictName::Pass => Self::Pass,
        }
    }
}

/// Parses the names that reasons have in JSON. The error for an unknown one suggests the nearest.
pub(crate) fn reason() -> impl TypedValueParser<Value = Reason> {
    let name = |reason: Reason| PossibleValue::new(reason.word()).help(reason.words());
    let words = PossibleValuesParser::new(Reason::ALL.map(name));
    words.map(|word| {
        Reason::ALL
            .into_iter()
            .find(|reason| reason.word() == word)
            .expect("one of the words")
    })
}

/// Parses one of these by its word.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(word)).map(move |given| {
        let found = all.into_iter().find(|one| word(*one) == given);
        found.expect("one of the words")
    })
}

/// Parses the words of event kinds in the same way.
pub(crate) fn kind() -> PossibleValuesParser {
    PossibleValuesParser::new(Event::KINDS)
}
