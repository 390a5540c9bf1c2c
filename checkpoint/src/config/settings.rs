//! The keys of the files. `config.yml` has their defaults and meanings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::endpoint::MaybeEndpoint;
use super::paths::{FileName, MaybePath, ProjectPath, Projects, UserPath};
use super::retention::Retention;
use super::rule_entry::RuleEntry;
use super::units::{Interval, Size, Span};
use super::values::{
    CodexDelivery, CompactWhen, Count, Fail, LogLevel, Packs, Pattern, Prefix, ProgressPlace,
    ResumeLine, Sync, UserCheck, UserCommand,
};
use crate::policy::{EvidenceRule, Headless, Quiet, Repeat, Reply, Scope, Timer};
use crate::redact::{self, Redactor};
use crate::terminal::typing::{Bounds, Draft};

/// Declares a group of keys twice: complete, and as a layer in which any key may be missing.
macro_rules! layered {
    ($(#[$meta:meta])* $name:ident, $layer:ident { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
     $(groups { $($(#[$group_meta:meta])* $group:ident: $group_type:ty, $group_layer:ty;)* })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$key_meta])* pub $key: $type,)*
            $($($(#[$group_meta])* pub $group: $group_type,)*)?
        }

        /// The same keys as one file has them.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct $layer {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $key: Option<$type>,)*
            $($(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $group: Option<$group_layer>,)*)?
        }

        impl $name {
            /// Lays one file over the values so far.
            pub(super) fn lay(&mut self, layer: &$layer) {
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
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(#[$key_meta])* pub $key: $type,)*
            /// The projects that take part.
            pub projects: Projects,
            $($(#[$group_meta])* pub $group: $group_type,)*
        }

        /// The user's file.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct UserLayer {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $key: Option<$type>,)*
            #[serde(skip_serializing_if = "Option::is_none")]
            pub(super) projects: Option<Projects>,
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(super) $group: Option<$group_layer>,)*
        }

        /// A project's `.checkpointd.yml`.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct ProjectLayer {
            /// Whether the project takes part.
            pub(super) enabled: Option<bool>,
            /// The active work item (spec HYG-7).
            pub(super) working_slug: Option<String>,
            $(pub(super) $key: Option<$type>,)*
        }

        impl Settings {
            /// Lays the user's file over the values so far.
            pub(super) fn lay(&mut self, layer: &UserLayer) {
                $(if let Some(value) = &layer.$key { self.$key.clone_from(value); })*
                if let Some(projects) = &layer.projects { self.projects.clone_from(projects); }
                $(if let Some(group) = &layer.$group { self.$group.lay(group); })*
            }

            /// Lays a project's file over the values so far.
            pub(super) fn lay_project(&mut self, layer: &ProjectLayer) {
                $(if let Some(value) = &layer.$key { self.$key.clone_from(value); })*
            }
        }
    };
}

layered! {
    /// How the journal stores.
    Journal, JournalLayer {
        /// When an ack waits for the disk.
        sync: Sync,
        /// The longest that a batched event waits for its fsync.
        batch_window: Span,
        /// The largest raw hook payload that is kept whole.
        payload_bytes_max: Size,
        /// How long payloads are kept.
        retention: Retention,
        /// Whether the daemon drops old payloads by itself.
        compact: CompactWhen,
    }
}

layered! {
    /// How hook calls are answered.
    Hooks, HooksLayer {
        /// The longest that a stop waits for its decision.
        stop_wait: Span,
        /// The file in an agent's TMPDIR that lets its next stop pass (spec DECIDE-4).
        escape_marker: FileName,
    }
}

layered! {
    /// The daemon's own limits.
    Daemon, DaemonLayer {
        /// The most messages that wait for one actor.
        mailbox: Count,
        /// The most sessions in memory.
        sessions_awake_max: Count,
        /// How long a quiet session stays in memory.
        session_idle: Span,
    }
}

layered! {
    /// The limits of looking things up before a decision.
    EvidenceLimits, EvidenceLimitsLayer {
        /// The longest that git may take.
        git_timeout: Span,
        /// How much of a transcript's end is read.
        transcript_bytes: Size,
        /// The most changed files that are looked at.
        changed_files_max: Count,
    }
}

layered! {
    /// How a checkpoint is typed into an agent's terminal.
    Tmux, TmuxLayer {
        /// From the paste to the Enter.
        settle: Span,
        /// The longest that one call of tmux may take.
        send_timeout: Span,
        /// From the Enter to giving up on a sign that the agent has the text.
        confirm_timeout: Span,
        /// What happens to a half-typed draft.
        draft: Draft,
        /// How long a draft, or another program in the pane, is waited for.
        draft_wait: Span,
        /// How long a dialog or copy mode is waited for.
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
    /// The user's own commands, and when they are run.
    Listeners, ListenersLayer {
        /// An agent has stopped and was not held back.
        agent_finished: Vec<UserCommand>,
        /// An agent cannot go on without a person.
        needs_attention: Vec<UserCommand>,
        /// A checkpoint left for its agent.
        checkpoint_sent: Vec<UserCommand>,
        /// The longest that a command may take.
        timeout: Span,
        /// The most commands at the same time.
        at_once: Count,
    }
}

layered! {
    /// How Codex CLI is reached when its hook cannot be answered.
    Codex, CodexLayer {
        /// By its terminal, or by its own queue.
        delivery: CodexDelivery,
    }
}

layered! {
    /// How agents are stopped and started again.
    Restart, RestartLayer {
        /// What is typed to take up a session of Claude Code.
        claude: ResumeLine,
        /// What is typed to take up a session of Gemini CLI.
        gemini: ResumeLine,
        /// What is typed to take up a session of Codex CLI.
        codex: ResumeLine,
        /// The longest that an agent may take to stop by itself.
        stop_within: Span,
    }
}

layered! {
    /// Phase checkpoints (spec PHASE-1).
    Phase, PhaseLayer {
        /// Where their files are (spec PHASE-2).
        folder: UserPath,
        /// The `seed.json` whose `state.checkpointRef` names the current one.
        seed: MaybePath,
        /// The age from which `cleanup` deletes them (spec PHASE-7).
        keep: Span,
    }
}

layered! {
    /// Taking secrets out of what agents tell.
    Redact, RedactLayer {
        /// Whether it is done.
        enabled: bool,
        /// What is taken out besides what is known.
        extra: Vec<Pattern>,
    }
}

impl Redact {
    /// Returns what takes secrets out as the settings say.
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
    /// When progress documents are written without being asked for (spec PROG-8).
    AutoProgress, AutoProgressLayer {
        /// Where they go.
        place: ProgressPlace,
        /// The work after which one is written; none at zero.
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
        /// Whether a session that begins is told what there is to go on with.
        resume: bool,
        /// An older document is not told of.
        resume_within: Span,
        /// The user's own checks before resuming, for what neither git nor the journal knows.
        checks: Vec<UserCheck>,
    }
    groups {
        /// When documents are written without being asked for.
        auto: AutoProgress, AutoProgressLayer;
    }
}

layered! {
    /// The web page.
    Web, WebLayer {
        /// The loopback port that it is served on; 0 for any that is free.
        port: u16,
    }
}

layered! {
    /// Figures for a monitoring system.
    Metrics, MetricsLayer {
        /// `GET /metrics` is answered.
        enabled: bool,
    }
}

layered! {
    /// Figures and decisions for an OpenTelemetry collector.
    Otlp, OtlpLayer {
        /// Where it listens.
        endpoint: MaybeEndpoint,
        /// From one export to the next.
        interval: Interval,
    }
}

layered! {
    /// The daemon's own log.
    Logs, LogsLayer {
        /// What is logged.
        level: LogLevel,
    }
}

files! {
    policy {
        /// The shortest turn that gets a checkpoint (spec DECIDE-8).
        min_turn: Span,
        /// What the turn's start is taken from.
        timer: Timer,
        /// How often one turn may be blocked (spec DECIDE-7).
        max_blocks_per_turn: u32,
        /// Which changed files count.
        scope: Scope,
        /// Whether a demand that was made before is made again.
        repeat: Repeat,
        /// What counts as having done an action.
        evidence: EvidenceRule,
        /// What happens when all that was expected has been seen.
        all_clear: Quiet,
        /// What happens when only documentation changed.
        docs_only: Quiet,
        /// The dialect in which Claude Code is answered.
        reply: Reply,
        /// What happens when nobody sits in front of the agent.
        headless: Headless,
        /// From an agent restart to its checkpoint (spec RESTART-2).
        restart_delay: Span,
        /// First words of every checkpoint.
        prefix: Prefix,
        /// What happens in any trouble.
        fail: Fail,
        /// From a sent hook reply to giving up on its confirmation.
        confirm_timeout: Span,
        /// The rule packs that are on.
        packs: Packs,
        /// Rules that are added, overridden or disabled.
        rules: Vec<RuleEntry>,
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
        /// The limits of looking things up before a decision.
        evidence_limits: EvidenceLimits, EvidenceLimitsLayer;
        /// How a checkpoint is typed into an agent's terminal.
        tmux: Tmux, TmuxLayer;
        /// How Codex CLI is reached when its hook cannot be answered.
        codex: Codex, CodexLayer;
        /// The user's own commands, and when they are run.
        listeners: Listeners, ListenersLayer;
        /// How agents are stopped and started again.
        restart: Restart, RestartLayer;
        /// Phase checkpoints.
        phase: Phase, PhaseLayer;
        /// Taking secrets out of what agents tell.
        redact: Redact, RedactLayer;
        /// Progress documents.
        progress: Progress, ProgressLayer;
        /// The web page.
        web: Web, WebLayer;
        /// Figures for a monitoring system.
        metrics: Metrics, MetricsLayer;
        /// Figures and decisions for an OpenTelemetry collector.
        otlp: Otlp, OtlpLayer;
        /// The daemon's own log.
        logs: Logs, LogsLayer;
    }
}
