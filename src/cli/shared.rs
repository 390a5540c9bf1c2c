//! Arguments that several commands take.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use checkpoint::agents;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use journal::{Agent, Event, Reason, Verdict};
use serde::Serialize;

use crate::cli::text::print_json;
use crate::error::{Failure, Result};
use crate::install;

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

/// Returns the session of the agent that this command runs in, if an agent runs it.
pub(crate) fn session_here() -> Option<String> {
    let mut names = agents::session_variables();
    names.find_map(|name| std::env::var(name).ok().filter(|id| !id.is_empty()))
}

/// Reads a file that was named, `-` for the input, at most one byte more than is taken.
pub(crate) fn read_given(path: &Path, bytes_max: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = bytes_max as u64 + 1;
    let read = if path == Path::new("-") {
        io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map(|_| bytes)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
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

/// Parses the agents that can be named on the command line: those that are known, and those that the configuration describes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentNames;

impl AgentNames {
    fn known() -> impl Iterator<Item = PossibleValue> {
        Agent::WORDS.into_iter().map(PossibleValue::new)
    }
}

impl TypedValueParser for AgentNames {
    type Value = Agent;

    /// Reads the configuration only for a name that is not known without it.
    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<Agent, clap::Error> {
        if let Some(agent) = value.to_str().and_then(Agent::host) {
            return Ok(agent);
        }
        let described = install::agents::described_words().map(PossibleValue::new);
        let all: Vec<PossibleValue> = Self::known().chain(described).collect();
        let word = PossibleValuesParser::new(all).parse_ref(command, argument, value)?;
        Ok(install::agents::named(&word).expect("one of the words"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Self::known()))
    }
}

/// Parses what people and JSON call a verdict.
pub(crate) fn verdict() -> impl TypedValueParser<Value = Verdict> {
    let value = |name, alias, help| PossibleValue::new(name).alias(alias).help(help);
    let names = PossibleValuesParser::new([
        value("sent", "inject", "A checkpoint was sent"),
        value("let-through", "pass", "The agent stopped normally"),
    ]);
    names.map(|name| match &*name {
        "sent" | "inject" => Verdict::Inject,
        _ => Verdict::Pass,
    })
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
