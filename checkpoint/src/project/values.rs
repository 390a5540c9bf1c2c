//! Task files and manifests of JSON, YAML and TOML as values of one kind. A file that is none of these is a null.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::config::yaml;

pub(super) fn of_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

pub(super) fn of_yaml(text: &str) -> Value {
    yaml::value(text).unwrap_or_default()
}

pub(super) fn of_toml(text: &str) -> Value {
    let file: DocumentMut = text.parse().unwrap_or_default();
    of_item(file.as_item())
}

fn of_item(item: &Item) -> Value {
    match item.as_table_like() {
        Some(table) => of_table(table),
        None => item.as_value().map(of_value).unwrap_or_default(),
    }
}

fn of_table(table: &dyn TableLike) -> Value {
    let entries = table.iter();
    entries
        .map(|(key, item)| (key.to_owned(), of_item(item)))
        .collect()
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Array(list) => list.iter().map(of_value).collect(),
        toml_edit::Value::InlineTable(table) => of_table(table),
        _ => Value::Null,
    }
}

/// Returns what objects within each other hold under keys.
pub(super) fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

/// Returns the entries of such an object; none if that is not one.
pub(super) fn entries<'a>(
    value: &'a Value,
    keys: &[&str],
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let object = at(value, keys).and_then(Value::as_object);
    object.into_iter().flatten()
}

/// Returns the elements of a list, or the one value that stands instead of a list.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(values)) => values,
        Some(value) => std::slice::from_ref(value),
        None => &[],
    }
}

/// Returns the texts among these.
pub(super) fn texts(value: Option<&Value>) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}
