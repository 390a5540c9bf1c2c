//! Decisions and what they were made from.

use serde::{Deserialize, Serialize};

use super::hook::ToolCall;
use crate::Timestamp;

/// Where the timeline of a turn was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimelineSource {
    /// The agent's transcript, joined with the journaled tool events.
    Transcript,
    /// The journaled tool events alone.
    Journal,
    /// Neither had anything.
    #[default]
    None,
}

/// What an agent did in its current turn, oldest call first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Where the calls come from.
    pub source: TimelineSource,
    /// The calls.
    pub calls: Vec<ToolCall>,
}

/// A file that differs from the last commit, is untracked, or was committed since the turn began (spec FILES-1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Path relative to the top of the work tree, lossy where it is not UTF-8.
    pub path: String,
    /// Hash of the content at the time of the stop; none where it was deleted or is too large to read.
    pub hash: Option<u64>,
}

/// What the working tree said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// Nobody looked: an earlier exit decided.
    #[default]
    NotAsked,
    /// Git answered; sorted by path.
    Known(Vec<ChangedFile>),
    /// Git could not be asked; the word says why (`git_missing`, `not_a_repository`, `timeout`, ..).
    Unknown(String),
}

impl Changes {
    /// Returns the changed files, or none where git could not be asked.
    pub fn files(&self) -> Option<&[ChangedFile]> {
        if let Self::Known(files) = self {
            Some(files)
        } else {
            None
        }
    }
}

/// All that was looked up outside the journal before a decision. A decision uses this and the session's state only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The escape-hatch marker was found, and consumed (spec DECIDE-4).
    pub escape_marker: bool,
    /// The changed files.
    pub changes: Changes,
    /// The current turn's tool calls.
    pub timeline: Timeline,
    /// The transcript's last user message is this product's own text (spec DECIDE-9).
    pub own_prompt_last: bool,
    /// When the last real user message was written, by the transcript.
    pub last_prompt_at: Option<Timestamp>,
    /// The agent's version, as its transcript says.
    pub host_version: Option<String>,
    /// The active work item (spec HYG-7).
    pub working_slug: Option<String>,
    /// The files that the work item's plan names; none where there is no plan or no table in it.
    pub plan_files: Option<Vec<String>>,
    /// The agent has no person in front of it.
    pub headless: bool,
    /// What could not be had and why, one short line each, for `explain`.
    pub notes: Vec<String>,
    /// How long each step took, in microseconds.
    pub steps: Vec<(String, u64)>,
}

/// Inject or pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A checkpoint is sent.
    Inject,
    /// The agent stops normally.
    Pass,
}

impl Verdict {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Inject => "inject",
            Self::Pass => "pass",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// How a checkpoint reaches its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// As the answer to the waiting hook call.
    HookReply,
    /// Typed into the agent's terminal.
    Tmux,
}

impl Route {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::HookReply => "hook_reply",
            Self::Tmux => "tmux",
        }
    }
}

/// The dialect of a hook reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyForm {
    /// `{"decision":"block","reason":..}` (Claude, Codex).
    Block,
    /// `{"decision":"deny","reason":..}` (Gemini).
    Deny,
    /// `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":..}}` (Claude 2.1.163 and newer).
    Context,
}

/// Why a decision came out as it did: one machine word each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Pass: the session is muted.
    Muted,
    /// Pass: the project is switched off.
    ProjectOff,
    /// Pass: the escape hatch was used.
    EscapeHatch,
    /// Pass: background tasks still run, so another stop will come.
    BackgroundTasks,
    /// Pass: no user message and no checkpoint is known, so no turn has begun.
    NoTurnStart,
    /// Pass: this turn was blocked as often as it may be.
    BlockBudget,
    /// Pass: the turn was too short.
    BelowThreshold,
    /// Pass: the last prompt is our own text.
    OwnPrompt,
    /// Pass: nobody sits in front of the agent and nothing is due.
    Headless,
    /// Pass: the same demand was made before and nothing has happened since.
    Repeated,
    /// Pass: nothing is due, and `all_clear` is silent.
    SilentAllClear,
    /// Pass: only documentation changed, and `docs_only` is silent.
    SilentDocsOnly,
    /// Pass: no answer could be given in time.
    Overloaded,
    /// Inject: actions are due.
    ActionsDue,
    /// Inject: no action, but something was observed.
    ObservationsOnly,
    /// Inject: all that was expected has been seen.
    AllClear,
    /// Inject: only documentation changed.
    DocsOnly,
    /// Inject: the changes are not known, so the message is the general one.
    Generic,
    /// Inject: the agent was restarted (spec RESTART-2).
    Restart,
}

impl Reason {
    /// Every reason, passes first.
    pub const ALL: [Self; 19] = [
        Self::Muted,
        Self::ProjectOff,
        Self::EscapeHatch,
        Self::BackgroundTasks,
        Self::NoTurnStart,
        Self::BlockBudget,
        Self::BelowThreshold,
        Self::OwnPrompt,
        Self::Headless,
        Self::Repeated,
        Self::SilentAllClear,
        Self::SilentDocsOnly,
        Self::Overloaded,
        Self::ActionsDue,
        Self::ObservationsOnly,
        Self::AllClear,
        Self::DocsOnly,
        Self::Generic,
        Self::Restart,
    ];

    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Muted => "muted",
            Self::ProjectOff => "project_off",
            Self::EscapeHatch => "escape_hatch",
            Self::BackgroundTasks => "background_tasks",
            Self::NoTurnStart => "no_turn_start",
            Self::BlockBudget => "block_budget",
            Self::BelowThreshold => "below_threshold",
            Self::OwnPrompt => "own_prompt",
            Self::Headless => "headless",
            Self::Repeated => "repeated",
            Self::SilentAllClear => "silent_all_clear",
            Self::SilentDocsOnly => "silent_docs_only",
            Self::Overloaded => "overloaded",
            Self::ActionsDue => "actions_due",
            Self::ObservationsOnly => "observations_only",
            Self::AllClear => "all_clear",
            Self::DocsOnly => "docs_only",
            Self::Generic => "generic",
            Self::Restart => "restart",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// The place of an action in the fixed order of a checkpoint (spec RULE-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Setup, dependencies, restarts and reloads.
    Runtime,
    /// Looking at the logs.
    Observe,
    /// Tests.
    Validate,
}

/// One thing that the agent is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The instruction as the agent reads it.
    pub text: String,
    /// The category of changed files that asks for it.
    pub category: String,
    /// Its place in the order.
    pub step: Step,
}

/// A decision about one stop, with all that it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Sequence number of the stop (or restart) that was decided about.
    pub trigger: u64,
    /// Sequence number of the session's last event that the decision took into account.
    pub basis: u64,
    /// The session's turn, counted from 1; 0 before the first user message.
    pub turn: u64,
    /// Inject or pass.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// How the message travels; none for a pass.
    pub route: Option<Route>,
    /// The dialect of the hook reply; none for other routes.
    pub form: Option<ReplyForm>,
    /// From the turn's start to the stop, in milliseconds; none where no turn had begun.
    pub elapsed_ms: Option<u64>,
    /// Categories of the changed files, in the order of the rules.
    pub categories: Vec<String>,
    /// What the agent is asked to do, in order.
    pub actions: Vec<Action>,
    /// What was noticed, one sentence each.
    pub observations: Vec<String>,
    /// All that was expected has been seen.
    pub all_clear: bool,
    /// The text as the agent gets it.
    pub message: Option<String>,
    /// Identifies the demand (actions and the contents of the files behind them), for `repeat: once`.
    pub demand: Option<u64>,
    /// Fingerprint of the policy that decided; its text is in a [`crate::Event::PolicyAdopted`].
    pub policy: u64,
    /// Version of the deciding code ([`crate::DECISION_VERSION`]).
    pub version: u32,
}
