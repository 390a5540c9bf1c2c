//! Filling the tables that a question reads.

use std::collections::{BTreeMap, HashMap};

use checkpoint::state::SessionState;
use journal::{Agent, Envelope, Event, Home, Timestamp, Verdict, codec};
use rusqlite::{Connection, Statement, params_from_iter};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::cli::commands::sql::tables::{self, Wanted};
use crate::cli::connection;
use crate::error::{Failure, Result};
use crate::ops::query::{Audit, Events, Query, Sessions};
use crate::ops::views::Source;

/// Columns of `events` that an event's line does not have by itself.
const MADE_HERE: [&str; 2] = ["turn", "fields"];

/// Fills what is wanted. `progress` gets the name of what is read with every line.
pub(super) fn fill(
    home: &Home,
    database: &Connection,
    (wanted, machine): (&Wanted, Option<&str>),
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let reads = |table: &str| wanted.iter().any(|(name, _)| name == table);
    let machine = || machine.map(str::to_owned);
    let audit = Audit {
        machine: machine(),
        ..Audit::default()
    };
    let sessions = Sessions {
        machine: machine(),
        ..Sessions::default()
    };
    let transaction = database.unchecked_transaction().map_err(Failure::failed)?;
    for (table, query) in [
        ("decisions", Query::Audit(audit)),
        ("sessions", Query::Sessions(sessions)),
    ] {
        if reads(table) {
            let mut insert = insert_into(database, table)?;
            ask(home, &query, |line| {
                progress(table);
                put(&mut insert, &line)
            })?;
        }
    }
    if ["events", "tools", "turns"].into_iter().any(reads) {
        let payloads = wanted
            .iter()
            .any(|(table, column)| table == "events" && column.starts_with("payload"));
        let mut history = History {
            events: reads("events")
                .then(|| insert_into(database, "events"))
                .transpose()?,
            tools: reads("tools")
                .then(|| insert_into(database, "tools"))
                .transpose()?,
            states: HashMap::new(),
            turns: BTreeMap::new(),
        };
        let query = Query::Events(Events {
            from: 1,
            payloads,
            machine: machine(),
            ..Events::default()
        });
        ask(home, &query, |line| {
            progress("events");
            history.take(line)
        })?;
        if reads("turns") {
            let mut insert = insert_into(database, "turns")?;
            history
                .turns
                .values()
                .try_for_each(|turn| put(&mut insert, turn))?;
        }
    }
    transaction.commit().map_err(Failure::failed)
}

/// Asks, and hands every line on until one fails.
fn ask(home: &Home, query: &Query, mut take: impl FnMut(Value) -> Result<()>) -> Result<()> {
    let mut failed = Ok(());
    connection::ask_json(home, query, |line| {
        if failed.is_ok() {
            failed = take(line);
        }
    })?;
    failed
}

/// An INSERT with the columns that it takes, in order.
struct Insert<'a> {
    statement: Statement<'a>,
    columns: Vec<&'static str>,
}

fn insert_into<'a>(database: &'a Connection, table: &str) -> Result<Insert<'a>> {
    let columns: Vec<_> = tables::columns_of(table).collect();
    let places = vec!["?"; columns.len()].join(",");
    let statement = database
        .prepare(&format!("INSERT INTO {table} VALUES ({places})"))
        .map_err(Failure::failed)?;
    Ok(Insert { statement, columns })
}

/// Inserts a row by its fields' names.
fn put(insert: &mut Insert<'_>, line: &impl Serialize) -> Result<()> {
    let line = serde_json::to_value(line).map_err(Failure::failed)?;
    let cell = |name: &&str| match line.get(name) {
        None | Some(Value::Null) => rusqlite::types::Value::Null,
        Some(Value::Bool(is)) => i64::from(*is).into(),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, real) => real.unwrap_or_default().into(),
        },
        Some(Value::String(text)) => text.clone().into(),
        Some(other) => other.to_string().into(),
    };
    let cells: Vec<_> = insert.columns.iter().map(cell).collect();
    insert
        .statement
        .execute(params_from_iter(cells))
        .map(drop)
        .map_err(Failure::failed)
}

/// Folds events as the daemon does, so that turns are counted as decisions count them.
struct History<'a> {
    events: Option<Insert<'a>>,
    tools: Option<Insert<'a>>,
    states: HashMap<Uuid, SessionState>,
    turns: BTreeMap<(Uuid, u64), TurnRow>,
}

impl History<'_> {
    fn take(&mut self, line: Value) -> Result<()> {
        let (envelope, _) = codec::from_json(line.clone()).map_err(Failure::failed)?;
        let session = envelope.stream.session;
        let state = self
            .states
            .entry(session)
            .or_insert_with(|| SessionState::new(envelope.stream.clone()));
        state.apply(&envelope);
        let turn = state.turns;
        self.count(&envelope, turn);
        let is_call = matches!(
            envelope.event,
            Event::ToolFinished { .. } | Event::ToolFailed { .. }
        );
        if let Some(tools) = self.tools.as_mut().filter(|_| is_call) {
            put(tools, &tool(&line, turn))?;
        }
        if let (Some(events), Value::Object(line)) = (&mut self.events, line) {
            put(events, &event(line, turn))?;
        }
        Ok(())
    }

    /// Adds an event to the counts of its turn.
    fn count(&mut self, envelope: &Envelope, number: u64) {
        let session = envelope.stream.session;
        // A turn that was taken back was a part of the one before.
        let gone: Vec<_> = self
            .turns
            .range((session, number + 1)..=(session, u64::MAX))
            .map(|(key, _)| *key)
            .collect();
        let gone: Vec<_> = gone
            .iter()
            .filter_map(|key| self.turns.remove(key))
            .collect();
        if number == 0 {
            return;
        }
        let turn = self
            .turns
            .entry((session, number))
            .or_insert_with(|| TurnRow::new(envelope, number));
        gone.iter().for_each(|other| turn.add(other));
        if envelope.event.host().is_some() {
            turn.lasts_until(envelope.at);
        }
        match &envelope.event {
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
                turn.tool_calls += 1;
                turn.tool_errors += u64::from(call.is_error);
            }
            Event::AgentStopped { .. } => turn.stops += 1,
            Event::Decided(decision) if decision.verdict == Verdict::Inject => turn.injected += 1,
            Event::Decided(_) => turn.passed += 1,
            _ => {}
        }
    }
}

/// Returns a row of `tools`: the fields of the call, and those of its event.
fn tool(line: &Value, turn: u64) -> Value {
    let mut row = line.clone();
    let own = line["call"].as_object().into_iter().flatten();
    for (name, value) in own.filter(|(name, _)| *name != "at") {
        row[name] = value.clone();
    }
    row["subagent"] = line["host"]["subagent"].clone();
    row["turn"] = turn.into();
    row
}

fn event(line: Map<String, Value>, turn: u64) -> Value {
    let is_column = |name: &str| {
        tables::columns_of("events").any(|column| column == name) && !MADE_HERE.contains(&name)
    };
    // Anything without a column of its own belongs to the kind.
    let (mut row, own): (Map<_, _>, Map<_, _>) =
        line.into_iter().partition(|(name, _)| is_column(name));
    let dropped = row.get("payload_dropped").is_some();
    row.insert("payload_dropped".into(), dropped.into());
    row.insert("fields".into(), Value::Object(own));
    row.insert("turn".into(), turn.into());
    Value::Object(row)
}

/// A row of `turns`, while its events are counted.
#[derive(Serialize)]
struct TurnRow {
    session: Uuid,
    native_session: String,
    agent: Agent,
    turn: u64,
    seq: u64,
    began_at: Timestamp,
    ended_at: Timestamp,
    duration_ms: u64,
    prompt: Option<String>,
    tool_calls: u64,
    tool_errors: u64,
    stops: u64,
    injected: u64,
    passed: u64,
    #[serde(flatten)]
    source: Option<Source>,
}

impl TurnRow {
    fn new(first: &Envelope, turn: u64) -> Self {
        let prompt = match &first.event {
            Event::PromptSubmitted { text, .. } | Event::PromptFound { text, .. } => Some(text),
            _ => None,
        };
        Self {
            session: first.stream.session,
            native_session: first.stream.native(),
            agent: first.stream.agent,
            turn,
            seq: first.seq,
            began_at: first.at,
            ended_at: first.at,
            duration_ms: 0,
            prompt: prompt.cloned(),
            tool_calls: 0,
            tool_errors: 0,
            stops: 0,
            injected: 0,
            passed: 0,
            source: Source::of(first),
        }
    }

    fn lasts_until(&mut self, at: Timestamp) {
        self.ended_at = self.ended_at.max(at);
        self.duration_ms = self.ended_at.millis_since(self.began_at);
    }

    fn add(&mut self, other: &Self) {
        self.lasts_until(other.ended_at);
        self.tool_calls += other.tool_calls;
        self.tool_errors += other.tool_errors;
        self.stops += other.stops;
        self.injected += other.injected;
        self.passed += other.passed;
    }
}
