//! Reading phase records from requests and files. Every refusal names the field.

use journal::payload::{LEVELS_MAX, levels};
use journal::{Criterion, CriterionStatus, PhaseRecord};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use redact::Redactor;

/// The largest accepted file of a record, in bytes.
pub const BYTES_MAX: usize = 1024 * 1024;
/// The session id of a record made outside any session.
pub const NO_SESSION: &str = "none";

/// The content of a new record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPhase {
    /// The session by any of its names; `None` to find it by the caller.
    pub session: Option<String>,
    /// The phase's name.
    pub phase: String,
    /// The phase's number, 1 to 7.
    pub number: u8,
    /// The task and its state.
    pub summary: String,
    /// The criteria of the phase.
    pub criteria: Vec<Criterion>,
    /// A JSON object, as text.
    pub metadata: String,
}

/// The field names of a request, the same as in files.
const REQUEST_FIELDS: [&str; 6] = [
    "sessionId",
    "phase",
    "phaseNumber",
    "taskSummary",
    "iscCriteria",
    "metadata",
];

/// Reads a request. `sessionId`, `iscCriteria` and `metadata` may be missing.
///
/// # Errors
///
/// Returns a sentence that begins with the field.
pub fn request(value: &Value) -> Result<NewPhase, String> {
    let mut all = object(value, "the request")?.clone();
    if let Some(unknown) = all
        .keys()
        .find(|key| !REQUEST_FIELDS.contains(&key.as_str()))
    {
        return Err(format!(
            "{unknown}: unknown field; the fields are {}",
            REQUEST_FIELDS.join(", ")
        ));
    }
    for (name, empty) in [("iscCriteria", json!([])), ("metadata", json!({}))] {
        if all.get(name).is_none_or(Value::is_null) {
            all.insert(name.to_owned(), empty);
        }
    }
    let session = all.get("sessionId").is_some_and(|id| !id.is_null());
    let fields = Fields::new(&all, "");
    Ok(NewPhase {
        session: session.then(|| fields.filled("sessionId")).transpose()?,
        phase: fields.filled("phase")?,
        number: fields.number()?,
        summary: fields.text("taskSummary")?,
        criteria: fields.criteria()?,
        metadata: fields.metadata()?,
    })
}

/// Reads a file. All fields of spec PHASE-1 are required; unknown fields are ignored.
///
/// # Errors
///
/// Returns a sentence; it begins with the field if it is about one.
pub fn file(text_of_file: &[u8]) -> Result<PhaseRecord, String> {
    if text_of_file.len() > BYTES_MAX {
        return Err(format!(
            "has {} bytes; the limit is {BYTES_MAX}",
            text_of_file.len()
        ));
    }
    let value: Value =
        serde_json::from_slice(text_of_file).map_err(|error| format!("is not JSON: {error}"))?;
    let fields = Fields::new(object(&value, "the file")?, "");
    let completed = fields.read("completed", "true or false", Value::as_bool)?;
    fields.text("createdAt")?;
    let time = |value: &Value| value.as_str()?.parse().ok();
    fit(PhaseRecord {
        id: fields.filled("id")?,
        session: fields.filled("sessionId")?,
        phase: fields.filled("phase")?,
        number: fields.number()?,
        created_at: fields.read("createdAt", "a time such as 2026-02-01T10:30:00Z", time)?,
        completed,
        summary: fields.text("taskSummary")?,
        criteria: fields.criteria()?,
        metadata: fields.metadata()?,
    })
}

/// Returns the record without the secrets in its texts (spec JRNL-20).
pub fn redacted(record: PhaseRecord, redactor: &Redactor) -> PhaseRecord {
    let clean = |text: &str| redactor.text(text).into_owned();
    // Below a key of its own, since a payload has fields that are not searched.
    let raw = format!(r#"{{"metadata":{}}}"#, record.metadata);
    let metadata = serde_json::from_str(&raw).ok().and_then(|mut value| {
        let text = redactor.payload(&mut value, &raw)?;
        let clean: Value = serde_json::from_str(&text).ok()?;
        Some(clean.get("metadata")?.to_string())
    });
    PhaseRecord {
        phase: clean(&record.phase),
        summary: clean(&record.summary),
        criteria: record
            .criteria
            .into_iter()
            .map(|criterion| Criterion {
                subject: clean(&criterion.subject),
                ..criterion
            })
            .collect(),
        metadata: metadata.unwrap_or(record.metadata),
        ..record
    }
}

/// Returns the record if its file fits within [`BYTES_MAX`].
///
/// # Errors
///
/// Returns a sentence if the file would be too large.
pub fn fit(record: PhaseRecord) -> Result<PhaseRecord, String> {
    let bytes = super::file::text(&record).len();
    if bytes > BYTES_MAX {
        return Err(format!(
            "the record's file would have {bytes} bytes; the limit is {BYTES_MAX}"
        ));
    }
    Ok(record)
}

fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| wrong(path, "a JSON object", value))
}

fn wrong(path: &str, expected: &str, found: &Value) -> String {
    format!("{path}: expected {expected}, got {}", shown(found))
}

/// The fields of an object, and what names it before them.
struct Fields<'a> {
    fields: &'a Map<String, Value>,
    above: &'a str,
}

impl<'a> Fields<'a> {
    const fn new(fields: &'a Map<String, Value>, above: &'a str) -> Self {
        Self { fields, above }
    }

    fn read<T>(
        &self,
        name: &str,
        expected: &str,
        of: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, String> {
        let path = format!("{}{name}", self.above);
        let value = self.fields.get(name);
        let value = value.ok_or_else(|| format!("{path}: missing"))?;
        of(value).ok_or_else(|| wrong(&path, expected, value))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        self.read(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    fn filled(&self, name: &str) -> Result<String, String> {
        match self.text(name)? {
            text if text.is_empty() => Err(format!("{name}: must not be empty")),
            text => Ok(text),
        }
    }

    fn number(&self) -> Result<u8, String> {
        self.read("phaseNumber", "an integer from 1 to 7", |value| {
            let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
            number.filter(|number| (1..=7).contains(number))
        })
    }

    fn criteria(&self) -> Result<Vec<Criterion>, String> {
        let form = "a list of {id, subject, status}";
        let list = self.read("iscCriteria", form, Value::as_array)?.iter();
        let criterion = |(index, value): (usize, &Value)| {
            let path = format!("iscCriteria[{index}]");
            let fields = value.as_object();
            let fields = fields.ok_or_else(|| wrong(&path, "{id, subject, status}", value))?;
            let path = path + ".";
            let fields = Fields::new(fields, &path);
            let words = "pending, in_progress or completed";
            let status = |value| CriterionStatus::deserialize(value).ok();
            Ok(Criterion {
                status: fields.read("status", words, status)?,
                id: fields.text("id")?,
                subject: fields.text("subject")?,
            })
        };
        list.enumerate().map(criterion).collect()
    }

    fn metadata(&self) -> Result<String, String> {
        let is_object = |value: &'a Value| Some(value).filter(|value| value.is_object());
        let metadata = self.read("metadata", "a JSON object", is_object)?;
        if levels(metadata) > LEVELS_MAX {
            return Err(format!(
                "metadata: is nested deeper than {LEVELS_MAX} levels"
            ));
        }
        Ok(metadata.to_string())
    }
}

/// The longest piece of a wrong value that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 40;

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}
