//! Everything that can have happened: the one vocabulary that every part of the product reads.
//!
//! Facts are in the past tense and hold what the rest of the product needs of a hook call in a normal form; the raw
//! payload of the host is kept beside the event, never inside it. Stored in bincode: a variant keeps its position for
//! ever, new ones are added at the end, and a changed field means a new format version with an upcaster (`codec.rs`).

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The agent a session belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Gemini CLI.
    Gemini,
    /// Codex CLI.
    Codex,
    /// The daemon itself: policies it adopted, payloads it could not read.
    Daemon,
}

impl Agent {
    /// The three agents that hooks come from.
    pub const HOSTS: [Self; 3] = [Self::Claude, Self::Gemini, Self::Codex];

    /// Returns the word used on command lines, in URLs and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Daemon => "daemon",
        }
    }

    /// Returns the host agent that `word` names.
    pub fn host(word: &str) -> Option<Self> {
        Self::HOSTS.into_iter().find(|agent| agent.word() == word)
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// What every hook call says about where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The host's own name of the event, for example `PostToolUse`.
    pub hook: String,
    /// The host's id of the turn (Claude `prompt_id`, Codex `turn_id`); Gemini has none.
    pub turn: Option<String>,
    /// The subagent that the call belongs to, when it is not the main agent's.
    pub subagent: Option<String>,
    /// Where the agent runs; only on the calls that begin or end something.
    pub place: Option<Place>,
}

/// Where an agent runs and how it can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Working directory of the agent.
    pub cwd: String,
    /// The agent's transcript file, as the host names it.
    pub transcript: Option<String>,
    /// Hook-relevant environment variables (TMUX, TMUX_PANE, TMPDIR, project and entrypoint variables), never secrets.
    pub env: Vec<(String, String)>,
}

impl Place {
    /// Returns the value of an environment variable of the hook call, when it was set and not empty.
    pub fn env(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Who a prompt came from. Only [`PromptOrigin::User`] begins a turn (001 inv 1-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    /// A person, or a script standing in for one.
    User,
    /// This product: the text carries the canonical prefix.
    Own,
    /// The host: task notifications, hook feedback, reminders, compaction summaries.
    Host,
    /// A subagent of the session.
    Subagent,
}

/// What a tool call does, whatever the host calls the tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Runs a shell command.
    Shell,
    /// Changes part of an existing file.
    Edit,
    /// Writes a whole file.
    Write,
    /// Reads a file.
    Read,
    /// Anything else.
    #[default]
    Other,
}

/// One tool call of an agent, in the normal form of all three hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The host's id of the call; Gemini's hooks have none.
    pub id: Option<String>,
    /// The host's name of the tool.
    pub tool: String,
    /// What the call does.
    pub kind: ToolKind,
    /// The command line of a shell call, at most [`ToolCall::COMMAND_BYTES_MAX`] bytes.
    pub command: Option<String>,
    /// The files it touches, as the agent gave them.
    pub paths: Vec<String>,
    /// Whether it failed: the host's flag, or an exit code in the result's text. A refused call is not an error.
    pub is_error: bool,
    /// Whether a person, a policy or a hook refused it, so that it never ran.
    pub refused: bool,
    /// Whether its result has been seen.
    pub finished: bool,
    /// The result's text of a failed call, at most [`ToolCall::OUTPUT_BYTES_MAX`] bytes; empty otherwise.
    pub output: String,
    /// When it began, as far as known.
    pub at: Timestamp,
    /// How long it took, in milliseconds, as far as known.
    pub duration_ms: Option<u64>,
}

impl ToolCall {
    /// The longest command line that is kept.
    pub const COMMAND_BYTES_MAX: usize = 8 * 1024;
    /// The longest result text that is kept.
    pub const OUTPUT_BYTES_MAX: usize = 4 * 1024;
    /// The most paths that are kept of one call.
    pub const PATHS_MAX: usize = 64;
}

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

/// A file that differs from the last commit, is untracked, or was committed since the turn began (002 R1).
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
        if let Self::Known(files) = self { Some(files) } else { None }
    }
}

/// All that was looked up outside the journal before a decision. A decision uses this and the session's state only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The escape-hatch marker was found, and consumed (001 inv 9).
    pub escape_marker: bool,
    /// The changed files.
    pub changes: Changes,
    /// The current turn's tool calls.
    pub timeline: Timeline,
    /// The transcript's last user message is this product's own text (001 inv 5).
    pub own_prompt_last: bool,
    /// When the last real user message was written, by the transcript.
    pub last_prompt_at: Option<Timestamp>,
    /// The agent's version, as its transcript says.
    pub host_version: Option<String>,
    /// The active work item (002 R7).
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

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(if *self == Self::Inject { "inject" } else { "pass" })
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
    /// Inject: the agent was restarted (001 inv 8).
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

/// The place of an action in the fixed order of a checkpoint (002 R9).
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
    /// Fingerprint of the policy that decided; its text is in a [`Event::PolicyAdopted`].
    pub policy: u64,
    /// Version of the deciding code ([`crate::DECISION_VERSION`]).
    pub version: u32,
}

/// How far a criterion of a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Met.
    Completed,
}

/// One criterion by which a phase of work is judged (003, `iscCriteria`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// The author's id of it.
    pub id: String,
    /// What is to be so.
    pub subject: String,
    /// How far it is.
    pub status: CriterionStatus,
}

/// The state of a task at the end of a phase of work, as 003 has it (`CheckpointState`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCheckpoint {
    /// Its id.
    pub id: String,
    /// The session that it was made in, as its host names it.
    pub session: String,
    /// The phase's name.
    pub phase: String,
    /// The phase's number, 1 to 7.
    pub number: u8,
    /// When it was made.
    pub created_at: Timestamp,
    /// Nothing of it is left to be resumed.
    pub completed: bool,
    /// What the task is and how it stands.
    pub summary: String,
    /// What the phase is judged by.
    pub criteria: Vec<Criterion>,
    /// Whatever else its author wanted to keep: a JSON object, as text, for the store knows no values without a type.
    pub metadata: String,
}

/// What people may want to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// The agent has stopped, and was not held back.
    AgentFinished,
    /// The agent cannot go on without a person.
    NeedsAttention,
    /// A checkpoint left for its agent.
    CheckpointSent,
}

impl News {
    /// Returns the machine word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AgentFinished => "agent_finished",
            Self::NeedsAttention => "needs_attention",
            Self::CheckpointSent => "checkpoint_sent",
        }
    }
}

/// The types of a progress document (004, "Checkpoint Types" and "When to Create Checkpoints").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgressKind {
    /// The whole state of the work.
    Full,
    /// What has changed since the last document that was not one of these.
    Incremental,
    /// The whole state, with notes for the session that goes on.
    Handoff,
    /// The whole state, before something complex begins.
    PreOperation,
    /// The whole state, before the agent's context is compacted.
    PreCompaction,
    /// The whole state, after an error.
    Error,
    /// The whole state, because somebody asked for it.
    Manual,
}

impl ProgressKind {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Full,
        Self::Incremental,
        Self::Handoff,
        Self::PreOperation,
        Self::PreCompaction,
        Self::Error,
        Self::Manual,
    ];

    /// Returns the word of the command line and of JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Incremental => "incremental",
            Self::Handoff => "handoff",
            Self::PreOperation => "pre-operation",
            Self::PreCompaction => "pre-compaction",
            Self::Error => "error",
            Self::Manual => "manual",
        }
    }

    /// Returns the type that a word names.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// One thing that has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A session began, was resumed, cleared or compacted (`source` is the host's word).
    SessionStarted {
        /// Where it came from.
        host: Host,
        /// `startup`, `resume`, `clear`, `compact`, ..
        source: String,
    },
    /// A session ended.
    SessionEnded {
        /// Where it came from.
        host: Host,
        /// The host's word.
        reason: String,
    },
    /// A prompt was submitted, by whomever.
    PromptSubmitted {
        /// Where it came from.
        host: Host,
        /// Who wrote it.
        origin: PromptOrigin,
        /// The text, cut to [`Event::TEXT_BYTES_MAX`].
        text: String,
        /// Hash of the whole text, trimmed.
        digest: u64,
    },
    /// A tool call began.
    ToolStarted {
        /// Where it came from.
        host: Host,
        /// The call.
        call: ToolCall,
    },
    /// A tool call returned a result.
    ToolFinished {
        /// Where it came from.
        host: Host,
        /// The call, with its outcome.
        call: ToolCall,
    },
    /// A tool call failed in the host's own words.
    ToolFailed {
        /// Where it came from.
        host: Host,
        /// The call, with its outcome.
        call: ToolCall,
    },
    /// The model took a step: text shown, request sent, response received.
    ModelStepped {
        /// Where it came from.
        host: Host,
    },
    /// The agent stopped and asks, or tells, that its turn is over.
    AgentStopped {
        /// Where it came from.
        host: Host,
        /// The host says that this stop follows a blocked one. Never trusted alone.
        reentry: bool,
        /// Background tasks that still run.
        background_tasks: u32,
        /// The caller can continue the agent by its reply.
        can_reply: bool,
        /// Hash of the prompt that the host says the turn began with (Gemini), or was given last (Codex `notify`).
        prompt_digest: Option<u64>,
        /// The agent's last words, cut to [`Event::TEXT_BYTES_MAX`].
        last_message: Option<String>,
    },
    /// The turn ended without a stop that could be answered.
    Interrupted {
        /// Where it came from.
        host: Host,
        /// `user` or `api_error`.
        cause: String,
    },
    /// The host told the person something.
    Notified {
        /// Where it came from.
        host: Host,
        /// The host's word, for example `idle_prompt`.
        notification: String,
        /// The text, cut to [`Event::TEXT_BYTES_MAX`].
        message: String,
    },
    /// The host asks the person whether a tool may run: a dialog is up.
    PermissionAsked {
        /// Where it came from.
        host: Host,
        /// The call that waits.
        call: ToolCall,
    },
    /// The host begins, or may begin, to compact its context.
    CompactionStarted {
        /// Where it came from.
        host: Host,
        /// `manual` or `auto`.
        trigger: String,
    },
    /// The host has compacted its context.
    CompactionFinished {
        /// Where it came from.
        host: Host,
        /// `manual` or `auto`.
        trigger: String,
    },
    /// A subagent began.
    SubagentStarted {
        /// Where it came from.
        host: Host,
        /// The host's word for its kind.
        subagent_type: String,
    },
    /// A subagent stopped.
    SubagentStopped {
        /// Where it came from.
        host: Host,
        /// The host's word for its kind.
        subagent_type: String,
    },
    /// Any other hook call: kept, and otherwise without effect.
    OtherHook {
        /// Where it came from.
        host: Host,
    },
    /// What was looked up before a decision.
    EvidenceGathered {
        /// Sequence number of the stop it was gathered for.
        trigger: u64,
        /// What was found.
        evidence: Box<Evidence>,
    },
    /// A stop was decided about.
    Decided(Box<Decision>),
    /// A checkpoint is about to leave for its agent.
    DeliveryAttempted {
        /// Sequence number of the decision.
        decision: u64,
        /// How it travels.
        route: Route,
        /// Counts from 1.
        attempt: u32,
    },
    /// The agent was seen to have the checkpoint.
    DeliveryConfirmed {
        /// Sequence number of the decision.
        decision: u64,
        /// What showed it: `prompt_hook`, `next_event`, `transcript`, `notify`.
        by: String,
    },
    /// The checkpoint did not reach the agent and will not be tried again.
    DeliveryFailed {
        /// Sequence number of the decision.
        decision: u64,
        /// One word.
        reason: String,
    },
    /// Nobody can tell any more whether the checkpoint arrived.
    DeliveryExpired {
        /// Sequence number of the decision.
        decision: u64,
        /// One word: `session_ended`, `confirm_timeout`, `superseded` by a newer checkpoint.
        reason: String,
    },
    /// An agent restart was asked for; the checkpoint after it is due at a fixed time (001 inv 8).
    RestartRequested {
        /// When the unconditional checkpoint is due.
        due: Timestamp,
    },
    /// The escape hatch let a stop pass (001 inv 9).
    EscapeHatchUsed {
        /// `marker` or `command`.
        by: String,
    },
    /// A person asked that the next stop pass.
    CheckpointCleared {},
    /// A person switched the session off.
    Muted {
        /// Until when; none is for good.
        until: Option<Timestamp>,
    },
    /// A person switched the session on again.
    Unmuted {},
    /// The daemon first decided under this policy.
    PolicyAdopted {
        /// Identifies the text.
        fingerprint: u64,
        /// The whole policy, as JSON.
        text: String,
    },
    /// A payload could not be read; it is kept raw.
    PayloadRejected {
        /// The word given as the agent.
        claimed_agent: String,
        /// The event name given, if any.
        hook: Option<String>,
        /// What was wrong with it.
        problem: String,
    },
    /// The daemon came up.
    DaemonStarted {
        /// Its version.
        version: String,
        /// What recovery found worth saying, one line each.
        recovery: Vec<String>,
    },
    /// What had changed already as a turn began, for `scope: turn`.
    BaselineTaken {
        /// When the turn began.
        turn_at: Timestamp,
        /// The changed files, as they were then.
        files: Vec<ChangedFile>,
    },
    /// A prompt was found in the transcript of an agent that tells of none (Codex with `notify` alone). It happened when
    /// the transcript says it did.
    PromptFound {
        /// The transcript.
        transcript: String,
        /// Who wrote it.
        origin: PromptOrigin,
        /// The text, cut to [`Event::TEXT_BYTES_MAX`].
        text: String,
        /// Hash of the text as it is here, trimmed.
        digest: u64,
    },
    /// A checkpoint that is to be typed waits for something. Said once for each thing.
    DeliveryHeld {
        /// Sequence number of the decision.
        decision: u64,
        /// One word, for example `dialog` or `draft_present`.
        obstacle: String,
    },
    /// A checkpoint was pasted into its agent's terminal; Enter is still to be pressed.
    DeliveryPasted {
        /// Sequence number of the decision.
        decision: u64,
        /// Which attempt it was.
        attempt: u32,
        /// The agent's process.
        pid: Option<u32>,
    },
    /// Enter is about to be pressed for a checkpoint that was pasted.
    DeliveryEntered {
        /// Sequence number of the decision.
        decision: u64,
        /// Counts from 1.
        count: u32,
    },
    /// The user's own commands are about to tell of something.
    Announced {
        /// Sequence number of the event that is told of.
        about: u64,
        /// What it is.
        news: News,
        /// Hash of the agent's last output, which is not told of twice (001 inv 6); none where it is not known.
        output: Option<u64>,
    },
    /// The agent was stopped, and its resume command was typed into its terminal.
    AgentRestarted {
        /// When the unconditional checkpoint is due (001 inv 8), in place of the time that was set at the request.
        due: Timestamp,
    },
    /// A restart that was asked for gets no checkpoint of its own.
    RestartClosed {
        /// Sequence number of the request.
        restart: u64,
        /// One word: why it was refused (`no_terminal`, `pane_gone`, ..), `superseded` by a newer request, or
        /// `at_next_stop` where the checkpoint went out as the answer to a stop.
        reason: String,
    },
    /// A phase checkpoint was made (003 FR-2), or found in its folder and taken over.
    PhaseCreated {
        /// The checkpoint.
        checkpoint: Box<PhaseCheckpoint>,
        /// The project that it belongs to; none where nobody can tell.
        project: Option<String>,
        /// The name of its file.
        file: String,
        /// It was made by another program.
        imported: bool,
    },
    /// Nothing of a phase checkpoint is left to be resumed (003 FR-5).
    PhaseCompleted {
        /// The checkpoint's id.
        checkpoint: String,
    },
    /// A phase checkpoint was cleaned up (003 FR-6); its file goes.
    PhaseDeleted {
        /// The checkpoint's id.
        checkpoint: String,
    },
    /// A progress document was written (004); its file is a projection of this.
    ProgressWritten {
        /// Its type.
        progress: ProgressKind,
        /// The whole document, as JSON.
        document: String,
        /// The file that it was, or is about to be, written to.
        file: String,
    },
    /// A progress document was compared with how things are (004, "Checkpoint Validation").
    ProgressValidated {
        /// Sequence number of the document's event.
        document: u64,
        /// All of it holds.
        holds: bool,
        /// What was found, line by line, as JSON.
        report: String,
    },
    /// A session that began is about to be told what there is to go on with.
    ResumeOffered {
        /// Sequence number of the session's start.
        start: u64,
        /// Sequence number of the progress document's event, where there is one.
        document: Option<u64>,
        /// The text as the agent gets it.
        text: String,
    },
}

impl Event {
    /// The longest prompt, message or last word that is kept in an event.
    pub const TEXT_BYTES_MAX: usize = 4 * 1024;

    /// Returns the host part of a hook event.
    pub fn host(&self) -> Option<&Host> {
        match self {
            Self::SessionStarted { host, .. }
            | Self::SessionEnded { host, .. }
            | Self::PromptSubmitted { host, .. }
            | Self::ToolStarted { host, .. }
            | Self::ToolFinished { host, .. }
            | Self::ToolFailed { host, .. }
            | Self::ModelStepped { host }
            | Self::AgentStopped { host, .. }
            | Self::Interrupted { host, .. }
            | Self::Notified { host, .. }
            | Self::PermissionAsked { host, .. }
            | Self::CompactionStarted { host, .. }
            | Self::CompactionFinished { host, .. }
            | Self::SubagentStarted { host, .. }
            | Self::SubagentStopped { host, .. }
            | Self::OtherHook { host } => Some(host),
            _ => None,
        }
    }

    /// Returns the machine word of the kind, as exports show it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "session_started",
            Self::SessionEnded { .. } => "session_ended",
            Self::PromptSubmitted { .. } => "prompt_submitted",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolFinished { .. } => "tool_finished",
            Self::ToolFailed { .. } => "tool_failed",
            Self::ModelStepped { .. } => "model_stepped",
            Self::AgentStopped { .. } => "agent_stopped",
            Self::Interrupted { .. } => "interrupted",
            Self::Notified { .. } => "notified",
            Self::PermissionAsked { .. } => "permission_asked",
            Self::CompactionStarted { .. } => "compaction_started",
            Self::CompactionFinished { .. } => "compaction_finished",
            Self::SubagentStarted { .. } => "subagent_started",
            Self::SubagentStopped { .. } => "subagent_stopped",
            Self::OtherHook { .. } => "other_hook",
            Self::EvidenceGathered { .. } => "evidence_gathered",
            Self::Decided(_) => "decided",
            Self::DeliveryAttempted { .. } => "delivery_attempted",
            Self::DeliveryConfirmed { .. } => "delivery_confirmed",
            Self::DeliveryFailed { .. } => "delivery_failed",
            Self::DeliveryExpired { .. } => "delivery_expired",
            Self::RestartRequested { .. } => "restart_requested",
            Self::EscapeHatchUsed { .. } => "escape_hatch_used",
            Self::CheckpointCleared {} => "checkpoint_cleared",
            Self::Muted { .. } => "muted",
            Self::Unmuted {} => "unmuted",
            Self::PolicyAdopted { .. } => "policy_adopted",
            Self::PayloadRejected { .. } => "payload_rejected",
            Self::DaemonStarted { .. } => "daemon_started",
            Self::BaselineTaken { .. } => "baseline_taken",
            Self::PromptFound { .. } => "prompt_found",
            Self::DeliveryHeld { .. } => "delivery_held",
            Self::DeliveryPasted { .. } => "delivery_pasted",
            Self::DeliveryEntered { .. } => "delivery_entered",
            Self::Announced { .. } => "announced",
            Self::AgentRestarted { .. } => "agent_restarted",
            Self::RestartClosed { .. } => "restart_closed",
            Self::PhaseCreated { .. } => "phase_created",
            Self::PhaseCompleted { .. } => "phase_completed",
            Self::PhaseDeleted { .. } => "phase_deleted",
            Self::ProgressWritten { .. } => "progress_written",
            Self::ProgressValidated { .. } => "progress_validated",
            Self::ResumeOffered { .. } => "resume_offered",
        }
    }

    /// Returns whether an ack of this event may come before its fsync (DESIGN: `journal.sync: mixed`).
    ///
    /// Tool and model events are many and each says little; all others wait for the disk.
    pub const fn may_be_batched(&self) -> bool {
        matches!(
            self,
            Self::ToolStarted { .. }
                | Self::ToolFinished { .. }
                | Self::ToolFailed { .. }
                | Self::ModelStepped { .. }
                | Self::OtherHook { .. }
        )
    }
}
