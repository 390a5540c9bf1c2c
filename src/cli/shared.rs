//! Arguments that several commands take.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use journal::{Event, Reason};

/// How an answer is printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Output {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The agents' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    /// Claude Code
    Claude,
    /// Gemini CLI
    Gemini,
    /// Codex CLI
    Codex,
}

impl From<AgentName> for journal::Agent {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::Claude => Self::Claude,
            AgentName::Gemini => Self::Gemini,
            AgentName::Codex => Self::Codex,
        }
    }
}

/// The verdicts' names.
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

/// Takes the machine words of reasons; a word that is none of them is answered with the nearest.
pub(crate) fn reason() -> impl TypedValueParser<Value = Reason> {
    let words = PossibleValuesParser::new(Reason::ALL.map(Reason::word));
    words.map(|word| {
        Reason::ALL
            .into_iter()
            .find(|reason| reason.word() == word)
            .expect("one of the words")
    })
}

/// Takes the machine words of kinds of events, likewise.
pub(crate) fn kind() -> PossibleValuesParser {
    PossibleValuesParser::new(Event::KINDS)
}
