//! The keys of the files. `config.yml` has their defaults and meanings.

use std::collections::BTreeMap;
use std::time::Duration;

use journal::Agent;
use serde::{Deserialize, Serialize};

use super::agents::DescribedAgents;
use super::endpoint::MaybeEndpoint;
use super::fleet::{FleetLevel, MaybeName, MaybeServers};
use super::paths::{AutoPath, FileName, MaybePath, ProjectPath, Projects, UserPath};
use super::retention::Retention;
use super::rule_entry::RuleEntry;
use super::units::{Interval, Size, Span};
use super::values::{
    CodexDelivery, CompactWhen, Count, Fail, LogLevel, Packs, Pattern, Percent, Prefix,
    ProgressPlace, ResumeLine, Sync, Template, UserCheck, UserCommand, VariableName,
};
use crate::catalogue::Row;
use crate::policy::{
    Ask, Background, Comments, Edition, EvidenceRule, Exits, Headless, Quiet, Repeat, Reply, Scope,
    Timer, Uncovered,
};
use crate::redact::{self, Redactor};
use crate::terminal::{Bounds, Draft};

/// Declares a group of keys twice: complete, and as a layer in which any key may be missing.
macro_rules! layered {
    ($(#[$meta:meta])* $name:ident, $layer:ident { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
     $(groups { $($(#[$group_meta:meta])* $group:ident: $group_type:ty, $group_layer:ty;)* })?) => {
        #[derive(Clone, Debug, PartialEq, Serialize)]
        $(#[$meta])*
        pub struct $name {
            $($(#[$key_meta])* pub $key: $type,)*
            $($($(#[$group_meta])* pub $group: $group_type,)*)?
        }

        /// The same keys, as one file sets them.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct $layer {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(crate) $key: Option<$type>,)*
            $($(#[serde(skip_serializing_if = "Option::is_none")] pub(crate) $group: Option<$group_layer>,)*)?
        }

        impl $layer {
            /// Returns all keys, or the name of one that the file lacks.
            pub(crate) fn complete(self) -> Result<$name, &'static str> {
                Ok($name {
                    $($key: self.$key.ok_or(stringify!($key))?,)*
                    $($($group: self.$group.ok_or(stringify!($group))?.complete()?,)*)?
                })
            }
        }

        impl $name {
            /// Lays one file over the values so far.
            pub(crate) fn lay(&mut self, layer: &$layer) {
                $(if let Some(value) = &layer.$key { self.$key.clone_from(value); })*
                $($(if let Some(group) = &layer.$group { self.$group.lay(group); })*)?
            }
        }
    };
}

/// Declares the files: the user's, with policy keys and groups; and the project's, with policy keys.
macro_rules! files {
    (policy { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
     groups { $($(#[$group_meta:meta])* $group:ident: $group_type:ty, $group_layer:ty;)* }) => {
        /// All settings, resolved.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Settings {
            $($(#[$key_meta])* pub $key: $type,)*
            /// The projects that take part.
            pub projects: Projects,
            /// Agents that are described here.
            pub agents: DescribedAgents,
            $($(#[$group_meta])* pub $group: $group_type,)*
        }

        /// The user's file.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct UserLayer {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $key: Option<$type>,)*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub(super) projects: Option<Projects>,
            #[serde(skip_serializing_if = "Option::is_none")]
            pub(super) agents: Option<DescribedAgents>,
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $group: Option<$group_layer>,)*
        }

        /// A project's `.checkpointd.yml`.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct ProjectLayer {
            /// Whether the project takes part.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub(super) enabled: Option<bool>,
            /// The active work item (spec HYG-7).
            #[serde(skip_serializing_if = "Option::is_none")]
            pub(super) working_slug: Option<String>,
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $key: Option<$type>,)*
        }

        impl UserLayer {
            /// Returns all settings, or the name of one that the file lacks.
            pub(super) fn complete(self) -> Result<Settings, &'static str> {
                Ok(Settings {
                    $($key: self.$key.ok_or(stringify!($key))?,)*
                    projects: self.projects.ok_or("projects")?,
                    agents: self.agents.ok_or("agents")?,
                    $($group: self.$group.ok_or(stringify!($group))?.complete()?,)*
                })
            }
        }

        impl ProjectLayer {
            /// Returns the names of the keys that the file has.
            pub(super) fn keys(&self) -> Vec<&'static str> {
                let own = [
                    ("enabled", self.enabled.is_some()),
                    ("working_slug", self.working_slug.is_some()),
                    $((stringify!($key), self.$key.is_some()),)*
                ];
                own.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key).collect()
            }
        }

        impl Settings {
            /// Lays the user's file over the values so far.
            pub(super) fn lay(&mut self, layer: &UserLayer) {
                $(if let Some(value) = &layer.$key { self.$key.clone_from(value); })*
                if let Some(projects) = &layer.projects { self.projects.clone_from(projects); }
                if let Some(agents) = &layer.agents { self.agents.clone_from(agents); }
                $(if let Some(group) = &layer.$group { self.$group.lay(group); })*
            }

            /// Lays a project's file over the values so far, within the user's budget (spec RULE-16).
            pub(super) fn lay_project(&mut self, layer: &ProjectLayer) {
                let blocks_max = self.max_blocks_per_turn;
                $(if let Some(value) = &layer.$key { self.$key.clone_from(value); })*
                self.max_blocks_per_turn = self.max_blocks_per_turn.min(blocks_max);
            }
        }
    };
}

layered! {
    /// How the journal stores.
    Journal, JournalLayer {
        /// When an ack waits for the disk.
        sync: Sync,
        /// The longest wait of a batched event for its fsync.
        batch_window: Span,
        /// The largest raw hook payload that is stored without cuts.
        payload_bytes_max: Size,
        /// How long payloads are kept.
        retention: Retention,
        /// Whether the daemon drops old payloads without an order.
        compact: CompactWhen,
    }
}

layered! {
    /// How hook calls are answered.
    Hooks, HooksLayer {
        /// The longest wait of a stop hook for its decision.
        stop_wait: Span,
        /// Name of the file in an agent's TMPDIR that lets its next stop pass (spec DECIDE-4).
        escape_marker: FileName,
        /// What happens to a command by which work leaves (spec DECIDE-25).
        exits: Exits,
    }
}

layered! {
    /// The daemon's own limits.
    Daemon, DaemonLayer {
        /// The most messages that wait for one actor.
        mailbox: Count,
        /// The most sessions in memory.
        sessions_awake_max: Count,
        /// How long an idle session stays in memory.
        session_idle: Span,
        /// Folders that are searched for programs first (spec ENV-1).
        path: Vec<UserPath>,
    }
}

layered! {
    /// Limits of gathering evidence before a decision.
    EvidenceLimits, EvidenceLimitsLayer {
        /// The timeout of git.
        git_timeout: Span,
        /// How much of a transcript's end is read at first.
        transcript_bytes: Size,
        /// How much of it is read if the turn began before that.
        transcript_bytes_max: Size,
        /// Time limit for reading further back.
        transcript_timeout: Span,
        /// Maximum number of changed files that are examined.
        changed_files_max: Count,
    }
}

layered! {
    /// How a checkpoint is typed into an agent's terminal.
    Tmux, TmuxLayer {
        /// From the paste to the Enter.
        settle: Span,
        /// The timeout of one call of tmux.
        send_timeout: Span,
        /// From Enter until the delivery fails without a sign that the agent has the text.
        confirm_timeout: Span,
        /// What happens to a half-typed draft.
        draft: Draft,
        /// How long delivery waits for a draft, or for another program in the pane, to end.
        draft_wait: Span,
        /// How long delivery waits for a dialog or copy mode to end.
        hold_for: Span,
        /// The most pastes, and the most Enters.
        attempts: Count,
    }
}

impl Tmux {
    /// Returns the bounds of one delivery.
    pub fn bounds(&self) -> Bounds {
        let span = |span: Span| Duration::from_millis(span.as_millis());
        Bounds {
            settle: span(self.settle),
            confirm_timeout: span(self.confirm_timeout),
            draft: self.draft,
            draft_wait: span(self.draft_wait),
            hold_for: span(self.hold_for),
            attempts: self.attempts.0,
        }
    }
}

layered! {
    /// The user's own commands, run on three occasions.
    Listeners, ListenersLayer {
        /// Whether the desktop shows that an agent finished or needs a person.
        desktop: bool,
        /// An agent has stopped without a checkpoint.
        agent_finished: Vec<UserCommand>,
        /// An agent waits for a person.
        needs_attention: Vec<UserCommand>,
        /// A checkpoint was sent.
        checkpoint_sent: Vec<UserCommand>,
        /// The timeout of a command.
        timeout: Span,
        /// The most commands that run concurrently.
        at_once: Count,
        /// Variables that the daemon keeps for these commands (spec ENV-2).
        env: Vec<VariableName>,
    }
}

layered! {
    /// Delivery to Codex CLI when its hook cannot be answered.
    Codex, CodexLayer {
        /// By its terminal, or by its own queue.
        delivery: CodexDelivery,
    }
}

macro_rules! restart {
    (first { $($first:ident, $first_word:ident, $first_name:literal, $_first:tt;)* }
     later { $($later:ident, $later_word:ident, $later_name:literal, $_later:tt;)* }
     latest { $($latest:ident, $latest_word:ident, $latest_name:literal, $_latest:tt;)* }) => {
        layered! {
            /// How agents are restarted.
            Restart, RestartLayer {
                $(#[doc = concat!("The command that resumes a session of ", $first_name, ".")]
                $first_word: ResumeLine,)*
                $(#[doc = concat!("The command that resumes a session of ", $later_name, ".")]
                $later_word: ResumeLine,)*
                $(#[doc = concat!("The command that resumes a session of ", $latest_name, ".")]
                $latest_word: ResumeLine,)*
                /// How long a restart waits for the agent to exit.
                stop_within: Span,
            }
        }

        impl Restart {
            /// Returns the line that resumes a session of an agent with a room of its own.
            const fn line(&self, agent: Agent) -> Option<&ResumeLine> {
                match agent {
                    $(Agent::$first => Some(&self.$first_word),)*
                    $(Agent::$later => Some(&self.$later_word),)*
                    $(Agent::$latest => Some(&self.$latest_word),)*
                    Agent::Daemon | Agent::Configured(_) => None,
                }
            }
        }
    };
}

journal::agents!(restart);

impl Settings {
    /// Returns the line that resumes a session of an agent, if there is one.
    pub fn resume_line(&self, agent: Agent) -> Option<&ResumeLine> {
        match self.agents.of(agent) {
            Some(described) => described.resume.as_ref(),
            None => self.restart.line(agent),
        }
    }
}

layered! {
    /// Phase records (spec PHASE-1).
    Phase, PhaseLayer {
        /// The folder of their files (spec PHASE-2).
        folder: AutoPath,
        /// The `seed.json` whose `state.checkpointRef` names the current record.
        seed: MaybePath,
        /// The age at which `cleanup` deletes them (spec PHASE-7).
        keep: Span,
    }
}

layered! {
    /// Measuring what checkpoints do.
    Experiment, ExperimentLayer {
        /// Of 100 turns in which something is due, those without a checkpoint (spec DECIDE-24).
        holdout: Percent,
    }
}

layered! {
    /// Redaction of secrets.
    Redact, RedactLayer {
        /// Whether secrets are redacted.
        enabled: bool,
        /// Patterns besides the built-in ones.
        extra: Vec<Pattern>,
    }
}

impl Redact {
    /// Returns the redactor of these settings.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(
            self.enabled,
            self.extra
                .iter()
                .filter_map(|extra| redact::pattern(&extra.0).ok())
                .collect(),
        )
    }
}

layered! {
    /// When the daemon writes progress documents (spec PROG-8).
    AutoProgress, AutoProgressLayer {
        /// Where they are written.
        place: ProgressPlace,
        /// The working time between two documents; zero turns this off.
        interval: Span,
        /// When a work phase is begun or completed.
        phase: bool,
        /// Before an agent's context is compacted.
        compaction: bool,
        /// Before and after a subagent.
        subagent: bool,
        /// When a turn ends with an error.
        error: bool,
        /// At a session's end.
        session_end: bool,
    }
}

layered! {
    /// Progress documents (spec PROG-1).
    Progress, ProgressLayer {
        /// The shared latest document of a project, relative to the project.
        path: ProjectPath,
        /// Whether a new session gets a summary of unfinished work.
        resume: bool,
        /// The age up to which a document is offered.
        resume_within: Span,
        /// The user's own checks before resuming, for state outside git and the journal.
        checks: Vec<UserCheck>,
    }
    groups {
        /// When the daemon writes documents.
        auto: AutoProgress, AutoProgressLayer;
    }
}

layered! {
    /// The web page.
    Web, WebLayer {
        /// The loopback port; 0 for any free port.
        port: u16,
    }
}

layered! {
    /// Prometheus metrics.
    Metrics, MetricsLayer {
        /// Whether `GET /metrics` is answered.
        enabled: bool,
    }
}

layered! {
    /// Metrics and traces for an OpenTelemetry collector.
    Otlp, OtlpLayer {
        /// The address of the collector.
        endpoint: MaybeEndpoint,
        /// The time between two exports.
        interval: Interval,
    }
}

layered! {
    /// A fleet of machines whose events are collected in one place (spec FLEET-11).
    Fleet, FleetLayer {
        /// The broker's servers.
        url: MaybeServers,
        /// This machine's name in the fleet.
        machine: MaybeName,
        /// The file with what is shown to the broker.
        credentials: MaybePath,
        /// How much of each event is sent.
        level: FleetLevel,
        /// At the collector: how long what it has stays in the broker too.
        keep: Span,
    }
}

layered! {
    /// The daemon's own log.
    Logs, LogsLayer {
        /// The least severe level that is logged.
        level: LogLevel,
    }
}

files! {
    policy {
        /// The shortest turn that gets a checkpoint (spec DECIDE-8).
        min_turn: Span,
        /// How work is judged.
        judgment: Edition,
        /// What is demanded of code of which it is not known whether it was verified.
        ask: Ask,
        /// What is enough for code that no test covers.
        uncovered: Uncovered,
        /// Whether a change of comments counts (spec RULE-23).
        comments: Comments,
        /// What starts the timer of a turn.
        timer: Timer,
        /// How often one turn may be blocked (spec DECIDE-7).
        max_blocks_per_turn: u32,
        /// Which changed files count.
        scope: Scope,
        /// Whether an earlier demand is repeated.
        repeat: Repeat,
        /// What counts as having done an action.
        evidence: EvidenceRule,
        /// What happens when all expected actions were observed.
        all_clear: Quiet,
        /// What happens when only documentation changed.
        docs_only: Quiet,
        /// What happens when nothing changed and nothing failed.
        unchanged: Quiet,
        /// Which running background tasks let a stop pass.
        background: Background,
        /// The reply form for Claude Code.
        reply: Reply,
        /// What happens in a headless session.
        headless: Headless,
        /// From an agent restart to its checkpoint (spec RESTART-2).
        restart_delay: Span,
        /// The beginning of every checkpoint.
        prefix: Prefix,
        /// The words of a checkpoint below its first line; empty for our own (spec MSG-3).
        message: Template,
        /// What happens on any failure; `open` is the only value.
        fail: Fail,
        /// From a hook reply until its delivery expires without a confirmation.
        confirm_timeout: Span,
        /// The rule packs that are on.
        packs: Packs,
        /// Rules that are added, overridden or disabled.
        rules: Vec<RuleEntry>,
        /// Programs that are added to the catalogue, or described otherwise.
        programs: BTreeMap<String, Row>,
        /// Whether the work item may be read from the branch name (spec HYG-7).
        slug_from_branch: bool,
    }
    groups {
        /// How the journal stores.
        journal: Journal, JournalLayer;
        /// How hook calls are answered.
        hooks: Hooks, HooksLayer;
        /// The daemon's own limits.
        daemon: Daemon, DaemonLayer;
        /// Limits of gathering evidence before a decision.
        evidence_limits: EvidenceLimits, EvidenceLimitsLayer;
        /// How a checkpoint is typed into an agent's terminal.
        tmux: Tmux, TmuxLayer;
        /// Delivery to Codex CLI when its hook cannot be answered.
        codex: Codex, CodexLayer;
        /// The user's own commands, run on three occasions.
        listeners: Listeners, ListenersLayer;
        /// How agents are restarted.
        restart: Restart, RestartLayer;
        /// Phase records.
        phase: Phase, PhaseLayer;
        /// Measuring what checkpoints do.
        experiment: Experiment, ExperimentLayer;
        /// Redaction of secrets.
        redact: Redact, RedactLayer;
        /// Progress documents.
        progress: Progress, ProgressLayer;
        /// The web page.
        web: Web, WebLayer;
        /// Prometheus metrics.
        metrics: Metrics, MetricsLayer;
        /// Metrics and traces for an OpenTelemetry collector.
        otlp: Otlp, OtlpLayer;
        /// A fleet of machines that is asked in one place.
        fleet: Fleet, FleetLayer;
        /// The daemon's own log.
        logs: Logs, LogsLayer;
    }
}
