//! The input of agents: JSON by field, or Markdown by headings.

use serde_json::Value;

use super::markdown;
use super::stated::{Judgments, PHASES, STATUSES};

/// The longest input in bytes.
pub const INPUT_BYTES_MAX: usize = 256 * 1024;

/// Reads the statements of an agent: a JSON object with the fields of [`Judgments`], or Markdown.
///
/// Markdown is never refused: text under unknown headings becomes notes. JSON is exact, so a
/// mistake is reported with its field.
///
/// # Errors
///
/// Returns the problem in one sentence.
pub fn read(text: &str) -> Result<Judgments, String> {
    if text.len() > INPUT_BYTES_MAX {
        return Err(format!(
            "the text has {} bytes; the limit is {INPUT_BYTES_MAX}",
            text.len()
        ));
    }
    if !text.trim_start().starts_with('{') {
        return Ok(markdown::read(text));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))?;
    let mut judgments = Judgments::default();
    for (name, value) in value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
    {
        judgments.read_field(name, value.clone())?;
    }
    one_of("phase", judgments.phase.as_deref(), &PHASES)?;
    one_of("status", judgments.status.as_deref(), &STATUSES)?;
    Ok(judgments)
}

fn one_of(field: &str, value: Option<&str>, words: &[&str]) -> Result<(), String> {
    match value {
        Some(value) if !words.contains(&value) => Err(format!(
            "`{field}`: `{value}` is not one of {}",
            words.join(", ")
        )),
        _ => Ok(()),
    }
}
