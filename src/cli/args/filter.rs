//! Which decisions, agents and verdicts are meant.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;
use journal::{Event, Reason};

use crate::cli::complete;

/// Which decisions.
#[derive(Args, Debug, Default)]
pub(crate) struct AuditFilter {
    /// Of this session: id, beginning of one, or `last`
    #[arg(long, add = ArgValueCompleter::new(complete::sessions))]
    pub(crate) session: Option<String>,
    /// Of this agent
    #[arg(long)]
    pub(crate) agent: Option<AgentName>,
    /// With this verdict
    #[arg(long)]
    pub(crate) verdict: Option<VerdictName>,
    /// With this reason, for example below_threshold
    #[arg(long, value_parser = reason(), hide_possible_values = true)]
    pub(crate) reason: Option<Reason>,
    /// Of sessions in this folder or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Not before: 2h, yesterday, monday, 14:30, 2026-11-20, RFC 3339
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Not after, in the same forms; a day counts to its end
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// With this in the message, an action or an observation
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// At most so many, the newest
    #[arg(long)]
    pub(crate) limit: Option<u64>,
    /// Print CSV with a head line
    #[arg(long, conflicts_with_all = ["json", "summary"])]
    pub(crate) csv: bool,
    /// Show what they come to, in all and for each agent in each project
    #[arg(long)]
    pub(crate) summary: bool,
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
fn reason() -> impl TypedValueParser<Value = Reason> {
    let words = PossibleValuesParser::new(Reason::ALL.map(Reason::word));
    words.map(|word| {
        Reason::ALL
            .into_iter()
            .find(|reason| reason.word() == word)
            .expect("one of the words")
    })
}

/// Takes the machine words of kinds of events, likewise.
pub(super) fn kind() -> PossibleValuesParser {
    PossibleValuesParser::new(Event::KINDS)
}
