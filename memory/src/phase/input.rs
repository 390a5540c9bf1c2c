//! Reading phase records from requests and files. Every refusal names the field.

use journal::payload::{LEVELS_MAX, levels};
use journal::{Criterion, CriterionStatus, PhaseRecord, Timestamp};
use serde_json::{Map, Value};

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
    let fields = object(value, "the request")?;
    if let Some(unknown) = fields
        .keys()
        .find(|key| !REQUEST_FIELDS.contains(&key.as_str()))
    {
        return Err(format!(
            "{unknown}: unknown field; the fields are {}",
            REQUEST_FIELDS.join(", ")
        ));
    }
    let or_empty = |name: &str, empty: Value| {
        fields
            .get(name)
            .filter(|value| !value.is_null())
            .cloned()
            .unwrap_or(empty)
    };
    let session = fields.get("sessionId").filter(|value| !value.is_null());
    Ok(NewPhase {
        session: session.map(|_| filled(fields, "sessionId")).transpose()?,
        phase: filled(fields, "phase")?,
        number: number(fields)?,
        summary: text(fields, "taskSummary", "taskSummary")?,
        criteria: criteria(&or_empty("iscCriteria", Value::Array(Vec::new())))?,
        metadata: metadata(&or_empty("metadata", Value::Object(Map::new())))?,
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
    let fields = object(&value, "the file")?;
    let completed = match field(fields, "completed")? {
        Value::Bool(completed) => *completed,
        other => {
            return Err(format!(
                "completed: expected true or false, got {}",
                shown(other)
            ));
        }
    };
    let created_at = text(fields, "createdAt", "createdAt")?;
    let created_at: Timestamp = created_at.parse().map_err(|_| {
        format!(
            "createdAt: expected a time such as 2026-02-01T10:30:00Z, got {}",
            shown(&created_at.into())
        )
    })?;
    fit(PhaseRecord {
        id: filled(fields, "id")?,
        session: filled(fields, "sessionId")?,
        phase: filled(fields, "phase")?,
        number: number(fields)?,
        created_at,
        completed,
        summary: text(fields, "taskSummary", "taskSummary")?,
        criteria: criteria(field(fields, "iscCriteria")?)?,
        metadata: metadata(field(fields, "metadata")?)?,
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

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("{what}: expected a JSON object, got {}", shown(value)))
}

fn field<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    fields.get(name).ok_or_else(|| format!("{name}: missing"))
}

/// Reads a text; `path` names the field in errors.
fn text(fields: &Map<String, Value>, name: &str, path: &str) -> Result<String, String> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("{path}: expected a string, got {}", shown(other))),
        None => Err(format!("{path}: missing")),
    }
}

fn filled(fields: &Map<String, Value>, name: &str) -> Result<String, String> {
    let text = text(fields, name, name)?;
    if text.is_empty() {
        Err(format!("{name}: must not be empty"))
    } else {
        Ok(text)
    }
}

fn number(fields: &Map<String, Value>) -> Result<u8, String> {
    let value = field(fields, "phaseNumber")?;
    let number = value
        .as_u64()
        .and_then(|number| u8::try_from(number).ok())
        .filter(|number| (1..=7).contains(number));
    number.ok_or_else(|| {
        format!(
            "phaseNumber: expected an integer from 1 to 7, got {}",
            shown(value)
        )
    })
}

fn criteria(value: &Value) -> Result<Vec<Criterion>, String> {
    let Value::Array(list) = value else {
        return Err(format!(
            "iscCriteria: expected a list of {{id, subject, status}}, got {}",
            shown(value)
        ));
    };
    list.iter()
        .enumerate()
        .map(|(index, value)| criterion(value, &format!("iscCriteria[{index}]")))
        .collect()
}

fn criterion(value: &Value, path: &str) -> Result<Criterion, String> {
    let Value::Object(fields) = value else {
        return Err(format!(
            "{path}: expected {{id, subject, status}}, got {}",
            shown(value)
        ));
    };
    let of = |name: &str| text(fields, name, &format!("{path}.{name}"));
    let status = match of("status")?.as_str() {
        "pending" => CriterionStatus::Pending,
        "in_progress" => CriterionStatus::InProgress,
        "completed" => CriterionStatus::Completed,
        other => {
            let other = shown(&other.into());
            return Err(format!(
                "{path}.status: expected pending, in_progress or completed, got {other}"
            ));
        }
    };
    Ok(Criterion {
        id: of("id")?,
        subject: of("subject")?,
        status,
    })
}

fn metadata(value: &Value) -> Result<String, String> {
    match value {
        Value::Object(_) if levels(value) > LEVELS_MAX => Err(format!(
            "metadata: is nested deeper than {LEVELS_MAX} levels"
        )),
        Value::Object(_) => Ok(value.to_string()),
        other => Err(format!(
            "metadata: expected a JSON object, got {}",
            shown(other)
        )),
    }
}

/// The longest piece of a wrong value that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 40;

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text;
    }
    text.chars()
        .take(SHOWN_CHARS_MAX)
        .chain("..".chars())
        .collect()
}
