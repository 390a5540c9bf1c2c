//! Manifests in JSON, TOML and YAML: the values below certain keys.

use std::collections::BTreeSet;

use serde_json::Value;
use toml_edit::{Document, Item, TableLike};

pub(super) fn json(text: &str, parts: &[String]) -> Option<BTreeSet<String>> {
    // A file that was just made may be empty.
    if text.trim().is_empty() {
        return Some(BTreeSet::new());
    }
    Some(below(&serde_json::from_str(text).ok()?, parts))
}

pub(super) fn toml(text: &str, parts: &[String]) -> Option<BTreeSet<String>> {
    let document = Document::parse(text).ok()?;
    Some(below(&value(document.as_item()), parts))
}

pub(super) fn yaml(text: &str, parts: &[String]) -> Option<BTreeSet<String>> {
    if text.trim().is_empty() {
        return Some(BTreeSet::new());
    }
    Some(below(&serde_saphyr::from_str(text).ok()?, parts))
}

/// Returns a TOML value without its formatting.
fn value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return object(table);
    }
    if let Some(tables) = item.as_array_of_tables() {
        let values = tables.iter().map(|table| object(table));
        return Value::Array(values.collect());
    }
    if let Some(array) = item.as_array() {
        let values = array.iter().map(|it| value(&Item::Value(it.clone())));
        return Value::Array(values.collect());
    }
    let text = item.as_str().map(str::to_owned);
    text.or_else(|| item.as_integer().map(|number| number.to_string()))
        .or_else(|| item.as_float().map(|number| number.to_string()))
        .or_else(|| item.as_bool().map(|flag| flag.to_string()))
        .or_else(|| item.as_datetime().map(|time| format!("{time:?}")))
        .map_or(Value::Null, Value::String)
}

fn object(table: &dyn TableLike) -> Value {
    let entries = table.iter();
    Value::Object(
        entries
            .map(|(key, item)| (key.to_owned(), value(item)))
            .collect(),
    )
}

fn below(root: &Value, parts: &[String]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let at = &mut String::new();
    if parts.is_empty() {
        flatten(root, at, &mut lines);
    }
    for part in parts {
        let keys: Vec<&str> = part.split('/').collect();
        find(root, &keys, at, &mut lines);
    }
    lines
}

fn find(value: &Value, keys: &[&str], at: &mut String, lines: &mut BTreeSet<String>) {
    let Some((first, rest)) = keys.split_first() else {
        return flatten(value, at, lines);
    };
    for (key, inner) in value.as_object().into_iter().flatten() {
        if *first == "*" || key == first {
            let length = at.len();
            at.push('/');
            at.push_str(key);
            find(inner, rest, at, lines);
            at.truncate(length);
        }
    }
}

/// Adds one line for each value; empty tables and lists give none.
fn flatten(value: &Value, at: &mut String, lines: &mut BTreeSet<String>) {
    let length = at.len();
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries {
                at.push('/');
                at.push_str(key);
                flatten(inner, at, lines);
                at.truncate(length);
            }
        }
        Value::Array(values) => {
            // The order of dependencies means nothing.
            at.push_str("/[]");
            for inner in values {
                flatten(inner, at, lines);
            }
            at.truncate(length);
        }
        other => {
            lines.insert(format!("{at} = {other}"));
        }
    }
}
