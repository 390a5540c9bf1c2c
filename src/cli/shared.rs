//! Arguments that several commands take.

use std::io::Write as _;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use journal::{Agent, Event, Reason};

use crate::error::Result;

/// Asks on the terminal. Anything but `y` or `yes` is a no.
pub(crate) fn ask_yes(question: &str) -> Result<bool> {
    print!("{question} [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentName(Agent);

static AGENT_NAMES: LazyLock<Vec<AgentName>> =
    LazyLock::new(|| Agent::HOSTS.map(AgentName).to_vec());

impl ValueEnum for AgentName {
    fn value_variants<'a>() -> &'a [Self] {
        &AGENT_NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()).help(self.0.name()))
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
    Inject,
    /// The agent stopped normally
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

/// Parses reason words. The error for an unknown word suggests the nearest.
pub(crate) fn reason() -> impl TypedValueParser<Value = Reason> {
    let words = PossibleValuesParser::new(Reason::ALL.map(Reason::word));
    words.map(|word| {
        Reason::ALL
            .into_iter()
            .find(|reason| reason.word() == word)
            .expect("one of the words")
    })
}

/// Parses the words of event kinds, likewise.
pub(crate) fn kind() -> PossibleValuesParser {
    PossibleValuesParser::new(Event::KINDS)
}
