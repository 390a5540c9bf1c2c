//! JSON and YAML: what the readers of task files share.

use serde_json::Value;

/// Returns what an object within a value holds under a key; nothing if that is not an object.
pub(super) fn entries<'a>(
    value: &'a Value,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let object = value.get(key).and_then(Value::as_object);
    object.into_iter().flatten()
}

/// Returns the elements of a list, or the one value that stands instead of a list.
pub(super) fn list(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Array(values)) => values.iter().collect(),
        Some(value) => vec![value],
        None => Vec::new(),
    }
}
