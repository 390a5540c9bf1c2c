//! Decisions and the evidence they are based on.

use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::hook::ToolCall;
use crate::Timestamp;

/// The source of a turn's timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimelineSource {
    /// The agent's transcript, joined with the journaled tool events.
    Transcript,
    /// The journaled tool events alone.
    Journal,
    /// Neither had any tool calls.
    #[default]
    None,
}

/// The tool calls of the current turn, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The source of the calls.
    pub source: TimelineSource,
    /// The calls.
    pub calls: Vec<ToolCall>,
}

/// A file that differs from the last commit, is untracked, or was committed since the turn began (spec FILES-1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Path relative to the top of the work tree, lossy if it is not UTF-8.
    pub path: String,
    /// Hash of the content at the time of the stop; `None` if it was deleted or is too large to read.
    pub hash: Option<u64>,
}

/// The changed files of the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// Not examined, because an earlier check decided.
    #[default]
    NotAsked,
    /// The answer of git, sorted by path.
    Known(Vec<ChangedFile>),
    /// Git could not be asked; the reason is `git_missing`, `not_a_repository`, `timeout`, ..
    Unknown(String),
}

impl Changes {
    /// Returns the changed files, if they are known.
    pub fn files(&self) -> Option<&[ChangedFile]> {
        if let Self::Known(files) = self {
            Some(files)
        } else {
            None
        }
    }
}

/// Everything from outside the journal that a decision uses. A decision uses only this and the session's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The escape-hatch marker was found and removed (spec DECIDE-4).
    pub escape_marker: bool,
    /// The changed files.
    pub changes: Changes,
    /// The current turn's tool calls.
    pub timeline: Timeline,
    /// The transcript's last user message is this product's own text (spec DECIDE-9).
    pub own_prompt_last: bool,
    /// Time of the last real user message in the transcript.
    pub last_prompt_at: Option<Timestamp>,
    /// The agent's version, from its transcript.
    pub host_version: Option<String>,
    /// The active work item (spec HYG-7).
    pub working_slug: Option<String>,
    /// The files that the work item's plan names; `None` without a plan or a table in it.
    pub plan_files: Option<Vec<String>>,
    /// The agent runs without a user.
    pub headless: bool,
    /// Evidence that could not be gathered and the reason, one short line each, for `explain`.
    pub notes: Vec<String>,
    /// Duration of each step, in microseconds.
    pub steps: Vec<(String, u64)>,
    /// More facts; journaled in an event of their own, before the evidence.
    #[serde(skip)]
    pub facts: Facts,
}

crate::words! {
    /// The outcome of a decision.
    #[derive(Hash)]
    pub enum Verdict {
        /// A checkpoint is sent.
        Inject = "inject",
        /// The agent stops normally.
        Pass = "pass",
    }
}

/// What people read.
impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Inject => "sent",
            Self::Pass => "let through",
        })
    }
}

crate::words! {
    /// The way a checkpoint is delivered to its agent.
    #[derive(Hash)]
    pub enum Route {
        /// As the answer to the waiting hook call.
        HookReply = "hook_reply",
        /// Typed into the agent's terminal.
        Tmux = "tmux",
    }
}

/// The JSON form of a hook reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyForm {
    /// `{"decision":"block","reason":..}` (Claude, Codex).
    Block,
    /// `{"decision":"deny","reason":..}` (Gemini).
    Deny,
    /// `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":..}}` (Claude 2.1.163 and newer).
    Context,
    /// `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":..}}` (Kimi).
    Permission,
    /// `{"followup_message":..}` (Cursor).
    FollowUp,
    /// `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",..}}` (a tool call of Claude, Codex).
    Tool,
    /// `{"decision":"continue","reason":..}` (Antigravity).
    Continue,
}

crate::words! {
    /// The reason of a decision, and what it says in words for people.
    #[derive(Hash)]
    pub enum Reason {
        /// Pass: the session is muted.
        Muted = "muted", "the session is muted";
        /// Pass: checkpoints are disabled for the project.
        ProjectOff = "project_off", "off for this project";
        /// Pass: the escape hatch was used.
        EscapeHatch = "escape_hatch", "the agent said that it cannot";
        /// Pass: background tasks are still running, so another stop will follow.
        BackgroundTasks = "background_tasks", "background tasks still run";
        /// Pass: neither a user message nor a checkpoint is known, so no turn has started.
        NoTurnStart = "no_turn_start", "no turn had begun";
        /// Pass: the turn has used up its blocks.
        BlockBudget = "block_budget", "already asked in this turn";
        /// Pass: the turn was too short.
        BelowThreshold = "below_threshold", "the turn was short";
        /// Pass: the last prompt is a text of this product.
        OwnPrompt = "own_prompt", "the prompt was a checkpoint";
        /// Pass: the agent runs without a user and no action is due.
        Headless = "headless", "nothing to do, and no user waits";
        /// Pass: the same actions were demanded before and nothing has changed since.
        Repeated = "repeated", "asked before, nothing changed since";
        /// Pass: no action is due, and `all_clear` is silent.
        SilentAllClear = "silent_all_clear", "nothing is open";
        /// Pass: only documentation changed, and `docs_only` is silent.
        SilentDocsOnly = "silent_docs_only", "only documentation changed";
        /// Pass: no answer could be given in time.
        Overloaded = "overloaded", "no answer in time";
        /// Inject: actions are due.
        ActionsDue = "actions_due", "work is open";
        /// Inject: no action is due, but there are observations.
        ObservationsOnly = "observations_only", "something to look at";
        /// Inject: every expected action was seen.
        AllClear = "all_clear", "all is done";
        /// Inject: only documentation changed.
        DocsOnly = "docs_only", "only documentation changed";
        /// Inject: the changed files are unknown, so the message is the generic one.
        Generic = "generic", "what changed is not known";
        /// Inject: the agent was restarted (spec RESTART-2).
        Restart = "restart", "the agent was restarted";
        /// Pass: nothing changed in the turn and nothing failed, and `unchanged` is silent.
        SilentUnchanged = "silent_unchanged", "nothing changed or failed";
        /// Pass: no hook call waited for the answer, for example because the stop came through the spool.
        NobodyWaiting = "nobody_waiting", "no agent waited for an answer";
        /// Pass: the person wrote on before the stop was decided.
        Superseded = "superseded", "you wrote on before";
        /// Pass: something is due, and the turn is one of those without checkpoints, to measure what these do.
        HeldOut = "held_out", "held back, to measure the effect";
        /// Inject: a command by which work leaves is held, because some of that work is open (spec DECIDE-25).
        LeavesOpen = "leaves_open", "work that would leave is open";
        /// Pass: the person asked in this turn for a command by which work leaves.
        LeavesAsked = "leaves_asked", "you asked for it to leave";
        /// Pass: work may leave, since none of it is certainly open.
        LeavesClear = "leaves_clear", "nothing that would leave is open";
        /// Pass: work leaves although some of it is open, since the setting `exits` lets it.
        ExitsOff = "exits_off", "work that left was open";
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

/// An instruction to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// The text that the agent gets.
    pub text: String,
    /// The category of changed files that requires it.
    pub category: String,
    /// Its place in the order.
    pub step: Step,
}

/// A decision about one stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Sequence number of the stop or restart.
    pub trigger: u64,
    /// Sequence number of the session's last event that the decision took into account.
    pub basis: u64,
    /// The session's turn, counted from 1; 0 before the first user message.
    pub turn: u64,
    /// The outcome.
    pub verdict: Verdict,
    /// The reason of the verdict.
    pub reason: Reason,
    /// The route of the message; `None` for a pass.
    pub route: Option<Route>,
    /// The form of the hook reply; `None` for other routes.
    pub form: Option<ReplyForm>,
    /// Milliseconds from the start of the turn to the stop; `None` if no turn had started.
    pub elapsed_ms: Option<u64>,
    /// Categories of the changed files, in the order of the rules.
    pub categories: Vec<String>,
    /// The instructions to the agent, in order.
    pub actions: Vec<Action>,
    /// Observations, one sentence each.
    pub observations: Vec<String>,
    /// Every expected action was seen.
    pub all_clear: bool,
    /// The text that the agent gets.
    pub message: Option<String>,
    /// Hash of the actions and of the contents of the files that require them, for `repeat: once`.
    pub demand: Option<u64>,
    /// Fingerprint of the policy that decided; its text is in a [`crate::Event::PolicyAdopted`].
    pub policy: u64,
    /// Version of the deciding code ([`crate::DECISION_VERSION`]).
    pub version: u32,
}
