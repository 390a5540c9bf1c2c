//! Events as they leave the machine: cut to a level, in runs, each with a hash over all that was sent so far.

use journal::{Envelope, Event, Identity, Journal, Payload, Timestamp, codec, hex};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::levels::{self, Blank, Field, Goes, Level};

/// Version of the lines of a run.
pub(crate) const FORMAT: u32 = 1;
/// The most events of a run.
pub(crate) const RUN_EVENTS: u64 = 1_000;
/// The longest text of an agent that goes as a word.
const WORD_BYTES_MAX: usize = 64;

/// The line before the events of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunLine {
    pub(crate) run: RunHead,
}

/// The properties of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunHead {
    /// Version of the lines.
    pub(crate) format: u32,
    pub(crate) machine: String,
    /// Id of the machine's journal.
    pub(crate) journal: Uuid,
    pub(crate) level: String,
    /// Sequence number of the first event.
    pub(crate) first: u64,
    /// Sequence number of the last event.
    pub(crate) last: u64,
    /// Number of lines that follow.
    pub(crate) lines: u64,
    /// The chain of the run before; empty for the first.
    pub(crate) previous: String,
    /// Hash over `previous` and the lines.
    pub(crate) chain: String,
}

/// Returns the chain of a run: a hash over the chain of the run before and the run's lines.
pub(crate) fn chain<'a>(previous: &str, lines: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new().chain_update(previous.as_bytes());
    for line in lines {
        hash.update(b"\n");
        hash.update(line.as_bytes());
    }
    hex(&hash.finalize())
}

/// Returns whether a text can name a machine: one token of a subject, which tells nothing but itself.
pub(crate) fn is_machine(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&name.len()) && name.bytes().all(plain)
}

/// Reduces events to a level.
pub(crate) struct Cut<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) level: Level,
}

impl Cut<'_> {
    /// Returns an event's line, or `None` if it is withheld as a whole.
    pub(crate) fn line(&self, envelope: &Envelope, payload: &Payload) -> Option<Value> {
        if self.level == Level::All {
            return Some(codec::to_export(envelope, payload));
        }
        let fields = levels::fields(envelope.event.kind(), self.level)?;
        let mut withheld = Vec::new();
        let whole = codec::to_json(envelope, None);
        let Value::Object(whole) = whole else {
            return None;
        };
        let mut line = Map::new();
        for (name, value) in whole {
            let value = match name.as_str() {
                "seq" | "at" | "recorded_at" | "session" | "agent" | "late" | "kind" => value,
                "id" => self.id(envelope.id).to_string().into(),
                "native_session" => self.native(envelope).into(),
                "payload" => Value::Null,
                own => self.cut(fields, own, value, &mut withheld),
            };
            line.insert(name, value);
        }
        if envelope.event.host().is_some() {
            withheld.push("payload".to_owned());
        }
        withheld.dedup();
        line.insert("withheld".into(), withheld.into());
        Some(line.into())
    }

    /// Returns the line for events that are withheld as a whole, `first` being the first of `count`.
    fn withheld(&self, first: &Envelope, count: u64) -> Value {
        let mut envelope = first.clone();
        envelope.event = Event::Withheld { count };
        envelope.id = self.id(first.id);
        envelope.stream.native = envelope.stream.native.as_ref().map(|_| self.native(first));
        codec::to_json(&envelope, None)
    }

    fn cut(&self, fields: &[Field], path: &str, value: Value, withheld: &mut Vec<String>) -> Value {
        let known = fields.iter().find(|field| field.0 == path);
        if let Some((_, goes, blank)) = known {
            return self.goes(*goes, *blank, path, value, withheld);
        }
        let below = |path: &str| fields.iter().any(|field| field.0.starts_with(path));
        match value {
            Value::Object(members) if below(&format!("{path}.")) => members
                .into_iter()
                .map(|(name, value)| {
                    let value = self.cut(fields, &format!("{path}.{name}"), value, withheld);
                    (name, value)
                })
                .collect(),
            Value::Array(items) if below(&format!("{path}[].")) => {
                let path = format!("{path}[]");
                let items = items.into_iter();
                items
                    .map(|item| self.cut(fields, &path, item, withheld))
                    .collect()
            }
            // The object is absent.
            Value::Null if below(&format!("{path}.")) => Value::Null,
            // Not on the list, so it stays at home; the reader fills it in.
            unknown => {
                withheld.push(path.to_owned());
                blank_like(&unknown)
            }
        }
    }

    fn goes(
        &self,
        goes: Goes,
        blank: Blank,
        path: &str,
        value: Value,
        withheld: &mut Vec<String>,
    ) -> Value {
        let kept = match (goes, value) {
            (Goes::Never, _) => None,
            (Goes::Plain, value) => Some(value),
            (Goes::Word | Goes::Keyed, Value::Null) => Some(Value::Null),
            (Goes::Word, Value::String(text)) if is_word(&text) => Some(text.into()),
            (Goes::Word, _) => None,
            (Goes::Keyed, value) => {
                withheld.push(path.to_owned());
                let text = value.as_str().unwrap_or_default();
                return self.keyed(text).into();
            }
        };
        kept.unwrap_or_else(|| {
            withheld.push(path.to_owned());
            blank.value()
        })
    }

    /// Returns the replacement for a text: equal for equal texts of this journal, empty for an
    /// empty text.
    fn keyed(&self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        format!("keyed:{:016x}", self.identity.keyed(text.as_bytes()))
    }

    fn native(&self, envelope: &Envelope) -> String {
        match &envelope.stream.native {
            Some(native) => self.keyed(native),
            None => envelope.stream.native(),
        }
    }

    /// Returns an id in place of an event's own, which may be made of the event's content.
    fn id(&self, own: Uuid) -> Uuid {
        if self.level == Level::All {
            return own;
        }
        let half = |which: u8| {
            let bytes = [&[which], own.as_bytes().as_slice()].concat();
            self.identity.keyed(&bytes)
        };
        Uuid::from_u64_pair(half(1), half(2))
    }
}

/// Returns whether a text is one word that an agent could have for a thing, and not a name that a user chose.
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    text.len() <= WORD_BYTES_MAX && text.bytes().all(plain) && !text.contains("__")
}

/// Returns an empty value of the same type.
fn blank_like(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) => false.into(),
        Value::Number(_) => 0.into(),
        Value::String(_) => "".into(),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
    }
}

/// Gathers lines into runs.
pub(crate) struct Sender<'a> {
    cut: Cut<'a>,
    machine: String,
    previous: String,
    lines: Vec<String>,
    first: u64,
    last: u64,
    /// Events of one session that are withheld as a whole: the first and how many.
    hidden: Option<(Envelope, u64)>,
}

/// What runs as messages need.
impl<'a> Sender<'a> {
    /// Begins after the event `last`, whose run has the chain `previous`.
    pub(crate) fn after(cut: Cut<'a>, machine: &str, last: u64, previous: &str) -> Self {
        Self {
            first: last + 1,
            last,
            previous: previous.to_owned(),
            ..Self::new(cut, machine)
        }
    }

    /// Returns the chain of the last run that was completed.
    pub(crate) fn previous(&self) -> &str {
        &self.previous
    }

    /// Returns how large the lines so far are.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.iter().map(String::len).sum()
    }

    /// Takes the next event, and withholds it as a whole.
    pub(crate) fn withhold(&mut self, envelope: &Envelope) {
        self.last = envelope.seq;
        self.show_hidden();
        self.hidden = Some((envelope.clone(), 1));
    }
}

impl<'a> Sender<'a> {
    /// Begins with the first run of a journal.
    pub(crate) fn new(cut: Cut<'a>, machine: &str) -> Self {
        Self {
            cut,
            machine: machine.to_owned(),
            previous: String::new(),
            lines: Vec::new(),
            first: 1,
            last: 0,
            hidden: None,
        }
    }

    /// Takes the next event; returns a run that it completes.
    pub(crate) fn take(&mut self, envelope: &Envelope, payload: &Payload) -> Option<Vec<String>> {
        self.last = envelope.seq;
        match self.cut.line(envelope, payload) {
            Some(line) => {
                self.show_hidden();
                self.lines.push(line.to_string());
            }
            None => match &mut self.hidden {
                Some((first, count)) if first.stream == envelope.stream => *count += 1,
                _ => {
                    self.show_hidden();
                    self.hidden = Some((envelope.clone(), 1));
                }
            },
        }
        // Boundaries depend on numbers alone, so a later export has the same runs and more.
        (envelope.seq.is_multiple_of(RUN_EVENTS)).then(|| self.run())
    }

    fn show_hidden(&mut self) {
        if let Some((first, count)) = self.hidden.take() {
            self.lines
                .push(self.cut.withheld(&first, count).to_string());
        }
    }

    /// Returns the run so far, its head first; empty without events.
    pub(crate) fn run(&mut self) -> Vec<String> {
        self.show_hidden();
        if self.lines.is_empty() {
            return Vec::new();
        }
        let chain = chain(&self.previous, self.lines.iter().map(String::as_str));
        let head = RunLine {
            run: RunHead {
                format: FORMAT,
                machine: self.machine.clone(),
                journal: self.cut.identity.journal,
                level: self.cut.level.word().to_owned(),
                first: self.first,
                last: self.last,
                lines: self.lines.len() as u64,
                previous: std::mem::replace(&mut self.previous, chain.clone()),
                chain,
            },
        };
        self.first = self.last + 1;
        let head = serde_json::to_string(&head).expect("plain data");
        let mut run = vec![head];
        run.append(&mut self.lines);
        run
    }
}

/// Hands the lines of a journal's runs to `each`, until it returns false.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn export(
    journal: &Journal,
    level: Level,
    machine: &str,
    each: &mut dyn FnMut(String) -> bool,
) -> journal::Result<()> {
    let events = journal.history(1..=u64::MAX, |_| true)?;
    runs(journal, (level, machine), events, &mut |run| {
        run.into_iter().all(&mut *each)
    })
}

/// Hands the lines of the events that were recorded since a time to `each`, until it returns false.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn preview(
    journal: &Journal,
    level: Level,
    since: Timestamp,
    each: &mut dyn FnMut(String) -> bool,
) -> journal::Result<()> {
    let events = journal.events_from(first_since(journal, since)?);
    runs(journal, (level, ""), events, &mut |run| {
        run.into_iter().skip(1).all(&mut *each)
    })
}

/// Hands each run of events to `take`, until it returns false.
fn runs(
    journal: &Journal,
    (level, machine): (Level, &str),
    events: impl Iterator<Item = journal::Result<Envelope>>,
    take: &mut dyn FnMut(Vec<String>) -> bool,
) -> journal::Result<()> {
    let identity = journal.identity()?;
    let cut = Cut {
        identity: &identity,
        level,
    };
    let mut sender = Sender::new(cut, machine);
    for envelope in events {
        let envelope = envelope?;
        let payload = match level {
            Level::All => journal.kept_payload(envelope.seq)?,
            Level::Decisions | Level::Skeleton => Payload::None,
        };
        let run = sender.take(&envelope, &payload).unwrap_or_default();
        if !take(run) {
            return Ok(());
        }
    }
    take(sender.run());
    Ok(())
}

/// Returns the number of the first event that was recorded since a time.
fn first_since(journal: &Journal, since: Timestamp) -> journal::Result<u64> {
    let (mut from, mut to) = (1, journal.last_seq() + 1);
    while from < to {
        let middle = from.midpoint(to);
        let event = journal.event(middle)?;
        if event.is_some_and(|event| event.recorded_at < since) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    Ok(from)
}
