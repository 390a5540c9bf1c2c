//! The file of a phase record: its name and its text. Both follow from the journal alone.

use journal::{PhaseRecord, Timestamp};
use serde::Serialize as _;
use serde_json::{Value, json};

/// The longest phase part of a file name, in bytes.
const PHASE_BYTES_MAX: usize = 40;

/// Returns whether this is the file name of a phase record.
pub fn is_name(name: &str) -> bool {
    name.starts_with("ckpt-") && name.ends_with(".json") && !name.contains('/')
}

/// Returns the file name of a record, `ckpt-<timestamp>-<phase>.json`. If it is taken, a number
/// follows the time, so that two records of one second have different names.
pub fn name(created_at: Timestamp, phase: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let time = created_at.to_string();
    // `2026-02-01T10:30:00.123456Z`: the seconds end where the fraction begins.
    let seconds = time
        .split(['.', 'Z'])
        .next()
        .unwrap_or_default()
        .replace(':', "-");
    let phase = slug(phase);
    let names = (1_u64..).map(|count| match count {
        1 => format!("ckpt-{seconds}-{phase}.json"),
        count => format!("ckpt-{seconds}-{count}-{phase}.json"),
    });
    names
        .into_iter()
        .find(|name| !is_taken(name))
        .expect("not all names are taken")
}

/// Returns the phase part of a file name: lower-case letters and digits, with one hyphen for any
/// other characters.
fn slug(phase: &str) -> String {
    let mut slug = String::new();
    for c in phase.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() && slug.len() + c.len_utf8() <= PHASE_BYTES_MAX {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') && slug.len() < PHASE_BYTES_MAX {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "phase".to_owned()
    } else {
        slug.to_owned()
    }
}

/// Returns the JSON of a record's file (spec PHASE-1).
pub fn json(checkpoint: &PhaseRecord) -> Value {
    let PhaseRecord {
        id,
        session,
        phase,
        number,
        created_at,
        completed,
        summary,
        criteria,
        metadata,
    } = checkpoint;
    let metadata: Value = serde_json::from_str(metadata).unwrap_or_else(|_| json!({}));
    json!({
        "id": id,
        "sessionId": session,
        "phase": phase,
        "phaseNumber": number,
        "createdAt": created_at,
        "completed": completed,
        "taskSummary": summary,
        "iscCriteria": criteria,
        "metadata": metadata,
    })
}

/// Returns the text of a record's file.
pub fn text(checkpoint: &PhaseRecord) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::pretty(&mut bytes);
    json(checkpoint)
        .serialize(&mut writer)
        .expect("a JSON value can be written");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("JSON is text")
}
