//! What a collector's copy in Postgres holds: rows made of events, and the SQL that stores them.
//!
//! What agents wrote is only ever data of `copy`, one line for each row. Statements have numbers and ids of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use actors::session_state;
use journal::{Agent, Envelope, Event, Journal, Outcome, Stream};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::problem::Result;

/// The statements that create the tables.
pub(crate) const TABLES: &str = include_str!("postgres.sql");
/// Changes with the tables. Another version's are dropped and filled again.
const VERSION: u32 = 1;
/// The text that shows another writer's work; it is in the error of [`Batch::script`].
pub(crate) const MOVED: &str = "checkpointd: the position has moved";
/// Asks for the position: version, journal and last event.
pub(crate) const POSITION: &str = "select version, collector, last from checkpointd.position;\n";

/// How much the tables contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) last: u64,
}

impl Position {
    /// Parses the answer to [`POSITION`]. `None` if the tables are not of this journal and this version.
    pub(crate) fn read(answer: &str, journal: Uuid, end: u64) -> Option<Self> {
        let mut parts = answer.trim().split('|');
        let version: u32 = parts.next()?.parse().ok()?;
        let own = parts.next()?.parse() == Ok(journal);
        let last = parts.next()?.parse().ok()?;
        (version == VERSION && own && last <= end).then_some(Self { last })
    }
}

/// Returns the statements that empty the tables, for this journal from its beginning. `answer` is that to [`POSITION`]:
/// tables of another version are created again. Rights on the others, and views of them, stay.
pub(crate) fn empty(journal: Uuid, answer: &str) -> String {
    let version = answer.trim().split('|').next().unwrap_or_default();
    let all =
        "checkpointd.sessions, checkpointd.decisions, checkpointd.tools, checkpointd.position";
    let begin = if version.is_empty() || version == VERSION.to_string() {
        format!("truncate {all};\n")
    } else {
        format!("drop table {all};\n{TABLES}")
    };
    format!(
        "begin;\n{begin}insert into checkpointd.position (version, collector, last) values ({VERSION}, '{journal}', 0);\ncommit;\n"
    )
}

/// The rows of consecutive events.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    first: u64,
    /// The last event of the batch.
    pub(crate) last: u64,
    sessions: String,
    decisions: String,
    tools: String,
}

/// A row in the text format of `copy`.
#[derive(Default)]
struct Row(String);

impl Row {
    fn text(mut self, value: Option<&str>) -> Self {
        if !self.0.is_empty() {
            self.0.push('\t');
        }
        let Some(value) = value else {
            self.0.push_str("\\N");
            return self;
        };
        for char in value.chars() {
            match char {
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                '\r' => self.0.push_str("\\r"),
                '\t' => self.0.push_str("\\t"),
                // Postgres has no text with it.
                '\0' => self.0.push('\u{fffd}'),
                char => self.0.push(char),
            }
        }
        self
    }

    fn shown(self, value: Option<impl ToString>) -> Self {
        self.text(value.map(|value| value.to_string()).as_deref())
    }

    /// A value as this program writes it in JSON: a word without its quotes.
    fn word(self, value: &impl Serialize) -> Self {
        match serde_json::to_value(value).unwrap_or_default() {
            Value::String(word) => self.text(Some(&word)),
            Value::Null => self.text(None),
            other => self.text(Some(&other.to_string())),
        }
    }

    fn json(self, value: &impl Serialize) -> Self {
        let value = serde_json::to_string(value).unwrap_or_default();
        // JSON in Postgres has no such character either.
        self.text(Some(&value.replace("\\u0000", "\u{fffd}")))
    }

    fn source(self, envelope: &Envelope) -> Self {
        let origin = envelope.origin.as_deref();
        self.text(origin.map(|origin| origin.machine.as_str()))
            .shown(origin.map(|origin| origin.journal))
            .shown(origin.map(|origin| origin.seq))
    }

    fn withheld(self, envelope: &Envelope) -> Self {
        let none = Vec::new();
        let origin = envelope.origin.as_deref();
        self.json(origin.map_or(&none, |origin| &origin.withheld))
    }

    fn end(self, table: &mut String) {
        table.push_str(&self.0);
        table.push('\n');
    }
}

impl Batch {
    /// Makes the rows of at most `most` events after one. `None` if there are none.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub(crate) fn after(journal: &Journal, last: u64, most: u64) -> Result<Option<Self>> {
        let mut batch = Self {
            first: last + 1,
            last,
            ..Self::default()
        };
        let mut sessions = BTreeMap::<Uuid, Stream>::new();
        let mut decisions = BTreeSet::new();
        for envelope in journal.events_from(last + 1) {
            let envelope = envelope?;
            if envelope.seq > last + most {
                break;
            }
            batch.last = envelope.seq;
            if envelope.stream.agent != Agent::Daemon {
                let session = envelope.stream.session;
                sessions
                    .entry(session)
                    .or_insert_with(|| envelope.stream.clone());
            }
            // A delivery says how a decision ended.
            decisions.extend(match &envelope.event {
                Event::Decided(_) => Some(envelope.seq),
                Event::DeliveryAttempted { decision, .. }
                | Event::DeliveryConfirmed { decision, .. }
                | Event::DeliveryFailed { decision, .. }
                | Event::DeliveryExpired { decision, .. } => Some(*decision),
                _ => None,
            });
            batch.tool(&envelope);
        }
        for seq in decisions {
            batch.decision(journal, seq)?;
        }
        for stream in sessions.values() {
            batch.session(journal, stream)?;
        }
        Ok((batch.last > last).then_some(batch))
    }

    fn tool(&mut self, envelope: &Envelope) {
        let (Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. }) = &envelope.event
        else {
            return;
        };
        Row::default()
            .shown(Some(envelope.seq))
            .shown(Some(envelope.at))
            .shown(Some(envelope.stream.session))
            .source(envelope)
            .text(Some(envelope.stream.agent.word()))
            .text(Some(&call.tool))
            .word(&call.kind)
            .text(call.command.as_deref())
            .shown(Some(call.is_error))
            .shown(Some(call.refused))
            .shown(call.duration_ms)
            .withheld(envelope)
            .end(&mut self.tools);
    }

    fn decision(&mut self, journal: &Journal, seq: u64) -> Result<()> {
        let Some(envelope) = journal.event(seq)? else {
            return Ok(());
        };
        let Event::Decided(decision) = &envelope.event else {
            return Ok(());
        };
        let delivery = journal.outcome(seq)?.unwrap_or(Outcome::None);
        Row::default()
            .shown(Some(seq))
            .shown(Some(envelope.at))
            .shown(Some(envelope.stream.session))
            .source(&envelope)
            .text(Some(envelope.stream.agent.word()))
            .shown(Some(decision.turn))
            .text(Some(decision.verdict.word()))
            .text(Some(decision.reason.word()))
            .word(&decision.route)
            .shown(decision.elapsed_ms)
            .word(&delivery)
            .json(&decision.categories)
            .json(&decision.actions)
            .text(decision.message.as_deref())
            .withheld(&envelope)
            .end(&mut self.decisions);
        Ok(())
    }

    fn session(&mut self, journal: &Journal, stream: &Stream) -> Result<()> {
        let Some(entry) = journal.session(stream.session) else {
            return Ok(());
        };
        let state = session_state::load(journal, stream)?;
        if state.is_empty() {
            return Ok(());
        }
        let first = journal.event(entry.first_seq)?;
        let origin = first.and_then(|first| first.origin);
        Row::default()
            .shown(Some(stream.session))
            .text(origin.as_ref().map(|origin| origin.machine.as_str()))
            .shown(origin.as_ref().map(|origin| origin.journal))
            .text(Some(&stream.native()))
            .text(Some(stream.agent.word()))
            .text(Some(state.project()))
            .text(state.remote.as_deref())
            .text(state.title.as_deref())
            .shown(Some(entry.first_at))
            .shown(Some(entry.last_at))
            .shown(Some(state.turns))
            .shown(Some(state.counts.injected))
            .shown(Some(state.counts.passed))
            .shown(Some(state.ended_at.is_some()))
            .end(&mut self.sessions);
        Ok(())
    }

    /// Returns the statements that store the rows and move the position, all or nothing.
    pub(crate) fn script(&self, journal: Uuid) -> String {
        let mut sql = format!(
            "begin;\ndo $$ begin\n\
             perform 1 from checkpointd.position where version = {VERSION} and collector = '{journal}' and last = {} for update;\n\
             if not found then raise exception '{MOVED}'; end if;\nend $$;\n",
            self.first - 1
        );
        let tables = [
            ("sessions", &self.sessions, "session", SESSION_CHANGES),
            (
                "decisions",
                &self.decisions,
                "seq",
                "update set delivery = excluded.delivery",
            ),
            ("tools", &self.tools, "seq", "nothing"),
        ];
        for (table, rows, key, change) in tables {
            if rows.is_empty() {
                continue;
            }
            let _ = write!(
                sql,
                "create temp table new_{table} (like checkpointd.{table}) on commit drop;\n\
                 copy new_{table} from stdin;\n{rows}\\.\n\
                 insert into checkpointd.{table} select * from new_{table} on conflict ({key}) do {change};\n"
            );
        }
        let _ = write!(
            sql,
            "update checkpointd.position set last = {}, written_at = now();\ncommit;\n",
            self.last
        );
        sql
    }
}

const SESSION_CHANGES: &str = "update set project = excluded.project, remote = excluded.remote, title = excluded.title, \
     first_at = excluded.first_at, last_at = excluded.last_at, turns = excluded.turns, injected = excluded.injected, \
     passed = excluded.passed, ended = excluded.ended";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_wrote_ends_no_line_and_no_data() {
        let row = Row::default()
            .text(Some("\\.\n\\.\r\ndrop table x;\t\0"))
            .text(None)
            .json(&"\\.\n\0");
        assert!(!row.0.contains(['\n', '\r', '\0']), "{:?}", row.0);
        assert_eq!(
            row.0,
            "\\\\.\\n\\\\.\\r\\ndrop table x;\\t\u{fffd}\t\\N\t\"\\\\\\\\.\\\\n\u{fffd}\""
        );
    }

    #[test]
    fn tables_of_another_journal_or_version_are_not_gone_on_with() {
        let journal = Uuid::from_u128(7);
        let read = |answer: &str| Position::read(answer, journal, 50);
        assert_eq!(
            read(&format!("1|{journal}|50\n")),
            Some(Position { last: 50 })
        );
        assert_eq!(
            read(&format!("1|{journal}|51\n")),
            None,
            "the journal was set back"
        );
        assert_eq!(read(&format!("2|{journal}|50\n")), None);
        assert_eq!(read(&format!("1|{}|50\n", Uuid::from_u128(8))), None);
        assert_eq!(read(""), None);
    }
}
