//! Which parts of an event leave the machine at each level: a list of what may be sent. A kind or a field that is not
//! on the list is not sent (spec FLEET-6).

use serde_json::{Value, json};

use Blank::{List, NotAsked, Nothing, Null, Text, Zero};
use Goes::{Keyed, Never, Plain, Word};
use Level::{Decisions, Skeleton};

/// How much a machine sends. The order is from less to more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Decisions and deliveries, without texts, commands and paths.
    Decisions,
    /// All kinds of events, without texts, commands and paths.
    Skeleton,
    /// All events with everything in them.
    All,
}

impl Level {
    /// All levels, the lowest first.
    pub(crate) const ALL: [Self; 3] = [Self::Decisions, Self::Skeleton, Self::All];

    /// Returns the level's name.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Decisions => "decisions",
            Self::Skeleton => "skeleton",
            Self::All => "all",
        }
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

/// How a field is sent below the level `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    /// As it is: numbers, times, and words of this program.
    Plain,
    /// As it is if it is one plain word. It is an agent's, so it may be anything.
    Word,
    Keyed,
    /// Not sent.
    Never,
}

/// The replacement for a field that is not sent. It never depends on the field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blank {
    Null,
    Text,
    Zero,
    List,
    /// An object without members.
    Nothing,
    /// The word for changed files that were not determined.
    NotAsked,
}

impl Blank {
    pub(super) fn value(self) -> Value {
        match self {
            Null => Value::Null,
            Text => "".into(),
            Zero => 0.into(),
            List => json!([]),
            Nothing => json!({}),
            NotAsked => "not_asked".into(),
        }
    }
}

/// One field of a kind: its path, where `[]` is every member of a list, how it is sent, and what replaces it.
pub(super) type Field = (&'static str, Goes, Blank);

/// A kind of event, the lowest level at which it is sent, and its fields.
struct Kind(&'static str, Level, &'static [&'static [Field]]);

const HOST: &[Field] = &[
    ("host.hook", Word, Text),
    ("host.turn", Word, Null),
    ("host.subagent", Word, Null),
    ("host.place.cwd", Keyed, Text),
    ("host.place.transcript", Never, Null),
    ("host.place.env", Never, List),
];
const CALL: &[Field] = &[
    ("call.id", Word, Null),
    ("call.tool", Word, Text),
    ("call.kind", Plain, Null),
    ("call.command", Never, Null),
    ("call.paths", Never, List),
    ("call.is_error", Plain, Null),
    ("call.refused", Plain, Null),
    ("call.finished", Plain, Null),
    ("call.output", Never, Text),
    ("call.at", Plain, Null),
    ("call.duration_ms", Plain, Null),
];
const PROMPT: &[Field] = &[
    ("origin", Plain, Null),
    ("text", Never, Text),
    ("digest", Never, Zero),
];
const DECISION: &[Field] = &[("decision", Plain, Null)];
const REASON: &[Field] = &[("reason", Word, Text)];

/// Every kind that is sent below the level `all`.
const KINDS: &[Kind] = &[
    Kind(
        "session_started",
        Decisions,
        &[HOST, &[("source", Word, Text)]],
    ),
    Kind("session_ended", Decisions, &[HOST, REASON]),
    Kind("prompt_submitted", Skeleton, &[HOST, PROMPT]),
    Kind("tool_started", Skeleton, &[HOST, CALL]),
    Kind("tool_finished", Skeleton, &[HOST, CALL]),
    Kind("tool_failed", Skeleton, &[HOST, CALL]),
    Kind("model_stepped", Skeleton, &[HOST]),
    Kind(
        "agent_stopped",
        Decisions,
        &[
            HOST,
            &[
                ("reentry", Plain, Null),
                ("background_tasks", Plain, Null),
                ("can_reply", Plain, Null),
                ("prompt_digest", Never, Null),
                ("last_message", Never, Null),
            ],
        ],
    ),
    Kind("interrupted", Skeleton, &[HOST, &[("cause", Word, Text)]]),
    Kind(
        "notified",
        Skeleton,
        &[
            HOST,
            &[("notification", Word, Text), ("message", Never, Text)],
        ],
    ),
    Kind("permission_asked", Skeleton, &[HOST, CALL]),
    Kind(
        "compaction_started",
        Skeleton,
        &[HOST, &[("trigger", Word, Text)]],
    ),
    Kind(
        "compaction_finished",
        Skeleton,
        &[HOST, &[("trigger", Word, Text)]],
    ),
    Kind(
        "subagent_started",
        Skeleton,
        &[HOST, &[("subagent_type", Never, Text)]],
    ),
    Kind(
        "subagent_stopped",
        Skeleton,
        &[HOST, &[("subagent_type", Never, Text)]],
    ),
    Kind("other_hook", Skeleton, &[HOST]),
    Kind(
        "evidence_gathered",
        Skeleton,
        &[&[
            ("trigger", Plain, Null),
            ("evidence.escape_marker", Plain, Null),
            ("evidence.changes", Never, NotAsked),
            ("evidence.timeline.source", Plain, Null),
            ("evidence.timeline.calls", Never, List),
            ("evidence.own_prompt_last", Plain, Null),
            ("evidence.last_prompt_at", Plain, Null),
            ("evidence.host_version", Word, Null),
            ("evidence.working_slug", Never, Null),
            ("evidence.plan_files", Never, Null),
            ("evidence.headless", Plain, Null),
            ("evidence.notes", Never, List),
            ("evidence.steps", Never, List),
        ]],
    ),
    Kind(
        "decided",
        Decisions,
        &[&[
            ("trigger", Plain, Null),
            ("basis", Plain, Null),
            ("turn", Plain, Null),
            ("verdict", Plain, Null),
            ("reason", Plain, Null),
            ("route", Plain, Null),
            ("form", Plain, Null),
            ("elapsed_ms", Plain, Null),
            ("categories", Never, List),
            ("actions[].text", Never, Text),
            ("actions[].category", Never, Text),
            ("actions[].step", Plain, Null),
            ("observations", Never, List),
            ("all_clear", Plain, Null),
            ("message", Never, Null),
            ("demand", Never, Null),
            ("policy", Plain, Null),
            ("version", Plain, Null),
        ]],
    ),
    Kind(
        "delivery_attempted",
        Decisions,
        &[
            DECISION,
            &[("route", Plain, Null), ("attempt", Plain, Null)],
        ],
    ),
    Kind(
        "delivery_confirmed",
        Decisions,
        &[DECISION, &[("by", Word, Text)]],
    ),
    Kind("delivery_failed", Decisions, &[DECISION, REASON]),
    Kind("delivery_expired", Decisions, &[DECISION, REASON]),
    Kind("restart_requested", Decisions, &[&[("due", Plain, Null)]]),
    Kind("escape_hatch_used", Decisions, &[&[("by", Word, Text)]]),
    Kind("checkpoint_cleared", Decisions, &[]),
    Kind("muted", Decisions, &[&[("until", Plain, Null)]]),
    Kind("unmuted", Decisions, &[]),
    Kind(
        "policy_adopted",
        Skeleton,
        &[&[("fingerprint", Plain, Null), ("text", Never, Text)]],
    ),
    Kind(
        "payload_rejected",
        Skeleton,
        &[&[
            ("claimed_agent", Never, Text),
            ("hook", Never, Null),
            ("problem", Never, Text),
        ]],
    ),
    Kind(
        "daemon_started",
        Decisions,
        &[&[("version", Word, Text), ("recovery", Never, List)]],
    ),
    Kind(
        "baseline_taken",
        Skeleton,
        &[&[("turn_at", Plain, Null), ("files", Never, List)]],
    ),
    Kind(
        "prompt_found",
        Skeleton,
        &[PROMPT, &[("transcript", Never, Text)]],
    ),
    Kind(
        "delivery_held",
        Decisions,
        &[DECISION, &[("obstacle", Word, Text)]],
    ),
    Kind(
        "delivery_pasted",
        Decisions,
        &[DECISION, &[("attempt", Plain, Null), ("pid", Plain, Null)]],
    ),
    Kind(
        "delivery_entered",
        Decisions,
        &[DECISION, &[("count", Plain, Null)]],
    ),
    Kind(
        "announced",
        Skeleton,
        &[&[
            ("about", Plain, Null),
            ("news", Plain, Null),
            ("output", Never, Null),
        ]],
    ),
    Kind("agent_restarted", Decisions, &[&[("due", Plain, Null)]]),
    Kind(
        "restart_closed",
        Decisions,
        &[&[("restart", Plain, Null)], REASON],
    ),
    Kind(
        "phase_created",
        Skeleton,
        &[&[
            ("checkpoint.id", Never, Text),
            ("checkpoint.session", Never, Text),
            ("checkpoint.phase", Never, Text),
            ("checkpoint.number", Plain, Null),
            ("checkpoint.created_at", Plain, Null),
            ("checkpoint.completed", Plain, Null),
            ("checkpoint.summary", Never, Text),
            ("checkpoint.criteria", Never, List),
            ("checkpoint.metadata", Never, Text),
            ("project", Keyed, Null),
            ("file", Never, Text),
            ("imported", Plain, Null),
        ]],
    ),
    Kind(
        "phase_completed",
        Skeleton,
        &[&[("checkpoint", Never, Text)]],
    ),
    Kind("phase_deleted", Skeleton, &[&[("checkpoint", Never, Text)]]),
    Kind(
        "progress_written",
        Skeleton,
        &[&[
            ("progress", Plain, Null),
            ("document", Never, Text),
            ("file", Never, Text),
        ]],
    ),
    Kind(
        "progress_validated",
        Skeleton,
        &[&[
            ("document", Plain, Null),
            ("holds", Plain, Null),
            ("report", Never, Text),
        ]],
    ),
    Kind(
        "resume_offered",
        Skeleton,
        &[&[
            ("start", Plain, Null),
            ("document", Plain, Null),
            ("text", Never, Text),
        ]],
    ),
    Kind(
        "facts_gathered",
        Skeleton,
        &[&[("trigger", Plain, Null), ("facts", Never, Nothing)]],
    ),
    Kind(
        "marked_wrong",
        Decisions,
        &[
            DECISION,
            &[
                ("item", Plain, Null),
                ("note", Never, Text),
                ("wrong", Plain, Null),
            ],
        ],
    ),
    Kind(
        "head_seen",
        Skeleton,
        &[&[
            ("turn_at", Plain, Null),
            ("top", Never, Text),
            ("commit", Never, Null),
            ("tips", Never, List),
        ]],
    ),
    Kind("turn_joined", Skeleton, &[&[("turn_at", Plain, Null)]]),
    Kind("forgotten", Decisions, &[]),
    Kind(
        "call_examined",
        Skeleton,
        &[&[
            ("call_id", Word, Null),
            ("call_at", Plain, Null),
            ("examined", Never, Nothing),
        ]],
    ),
];

/// Returns the fields of a kind if it is sent at a level below `all`.
pub(super) fn fields(kind: &str, level: Level) -> Option<&'static [&'static [Field]]> {
    let found = KINDS.iter().find(|known| known.0 == kind)?;
    (found.1 <= level).then_some(found.2)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The rows of a table in docs/journal.md: first column, and the names in the second.
    fn documented(mark: &str) -> Vec<(String, Vec<String>)> {
        let text = include_str!("../../../docs/journal.md");
        let mark = format!("<!-- {mark}: checked by journal/tests/schema -->\n");
        let (_, rest) = text.split_once(&mark).expect("a mark");
        let (_, rest) = rest.split_once("|---|---|\n").expect("a table");
        let (rows, _) = rest.split_once("<!-- end -->").expect("an end");
        let row = |line: &str| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let names = |cell: &str| {
                let parts = cell.split('`').skip(1).step_by(2);
                parts.map(str::to_owned).collect::<Vec<_>>()
            };
            let first = cells.next().expect("a cell").replace('`', "");
            (first, names(cells.next().expect("a cell")))
        };
        rows.lines().map(row).collect()
    }

    /// Every field of every kind in docs/journal.md, with the fields of their objects.
    fn every_field() -> BTreeSet<(String, String)> {
        let objects = documented("objects");
        let mut all = BTreeSet::new();
        for (kind, fields) in documented("kinds") {
            let mut open: Vec<_> = fields;
            while let Some(path) = open.pop() {
                // `files[]` and the call of a call are whole lists that never go.
                let inner = objects
                    .iter()
                    .find(|(name, _)| *name == path || *name == format!("{path}[]"));
                match inner {
                    Some((name, fields)) => {
                        open.extend(fields.iter().map(|field| format!("{name}.{field}")));
                    }
                    None => drop(all.insert((kind.clone(), path))),
                }
            }
        }
        all
    }

    #[test]
    fn every_field_of_every_kind_has_a_place_in_the_table() {
        // Only a collector has these, and what it has is not sent on.
        let own = ["run_received", "withheld"];
        let mut missing = Vec::new();
        for (kind, path) in every_field() {
            let Some(known) = KINDS.iter().find(|known| known.0 == kind) else {
                if !own.contains(&kind.as_str()) {
                    missing.push(kind);
                }
                continue;
            };
            let covers = |field: &Field| {
                // A field is covered by itself, by what it is a part of, or by all of its parts.
                let named = field.0;
                named == path
                    || path.starts_with(&format!("{named}."))
                    || named.starts_with(&format!("{path}."))
            };
            if !known.2.iter().copied().flatten().any(covers) {
                missing.push(format!("{kind}.{path}"));
            }
        }
        assert_eq!(missing, Vec::<String>::new(), "without a level");
        let kinds: BTreeSet<_> = documented("kinds")
            .into_iter()
            .map(|(kind, _)| kind)
            .collect();
        let unknown = KINDS.iter().filter(|known| !kinds.contains(known.0));
        assert_eq!(unknown.count(), 0, "kinds that do not exist");
    }

    #[test]
    fn the_levels_are_in_order() {
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(Level::of_word(level.word()), Some(level));
        }
        assert!(fields("tool_started", Decisions).is_none());
        assert!(fields("tool_started", Skeleton).is_some());
        assert!(fields("run_received", Skeleton).is_none());
    }
}
