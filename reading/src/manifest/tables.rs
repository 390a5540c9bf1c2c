//! Manifests in JSON, TOML and YAML: the values below certain keys.

use std::collections::BTreeSet;

use serde_json::Value;
use toml_edit::{Document, Item};

/// Paths of keys; `*` matches any key.
type Keys = &'static [&'static [&'static str]];

pub(super) const ALL: Keys = &[&[]];
pub(super) const NPM: Keys = &[
    &["dependencies"],
    &["devDependencies"],
    &["peerDependencies"],
    &["peerDependenciesMeta"],
    &["optionalDependencies"],
    &["bundleDependencies"],
    &["bundledDependencies"],
    &["overrides"],
    &["resolutions"],
    &["pnpm"],
    &["catalog"],
    &["catalogs"],
    &["workspaces"],
];
pub(super) const COMPOSER: Keys = &[
    &["require"],
    &["require-dev"],
    &["replace"],
    &["provide"],
    &["conflict"],
    &["repositories"],
];
pub(super) const CARGO: Keys = &[
    &["dependencies"],
    &["dev-dependencies"],
    &["dev_dependencies"],
    &["build-dependencies"],
    &["build_dependencies"],
    &["workspace", "dependencies"],
    &["workspace", "members"],
    &["target", "*", "dependencies"],
    &["target", "*", "dev-dependencies"],
    &["target", "*", "build-dependencies"],
    &["patch"],
    &["replace"],
];
pub(super) const PYPROJECT: Keys = &[
    &["project", "dependencies"],
    &["project", "optional-dependencies"],
    &["dependency-groups"],
    &["build-system"],
    &["tool", "poetry", "dependencies"],
    &["tool", "poetry", "dev-dependencies"],
    &["tool", "poetry", "group", "*", "dependencies"],
    &["tool", "poetry", "extras"],
    &["tool", "pdm", "dev-dependencies"],
    &["tool", "uv", "dev-dependencies"],
    &["tool", "uv", "sources"],
    &["tool", "uv", "override-dependencies"],
    &["tool", "uv", "constraint-dependencies"],
    &["tool", "hatch", "envs", "*", "dependencies"],
    &["tool", "pixi", "dependencies"],
];
pub(super) const PIPFILE: Keys = &[&["packages"], &["dev-packages"], &["source"]];
pub(super) const PUBSPEC: Keys = &[
    &["dependencies"],
    &["dev_dependencies"],
    &["dependency_overrides"],
];
pub(super) const CONDA: Keys = &[&["dependencies"], &["channels"]];

pub(super) fn json(text: &str, keys: Keys) -> Option<BTreeSet<String>> {
    // A file that was just made may be empty.
    if text.trim().is_empty() {
        return Some(BTreeSet::new());
    }
    Some(below(&serde_json::from_str(text).ok()?, keys))
}

pub(super) fn toml(text: &str, keys: Keys) -> Option<BTreeSet<String>> {
    let document = Document::parse(text).ok()?;
    Some(below(&value(document.as_item()), keys))
}

pub(super) fn yaml(text: &str, keys: Keys) -> Option<BTreeSet<String>> {
    if text.trim().is_empty() {
        return Some(BTreeSet::new());
    }
    Some(below(&serde_saphyr::from_str(text).ok()?, keys))
}

/// Returns a TOML value without its formatting.
fn value(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(
            table
                .iter()
                .map(|(key, item)| (key.to_owned(), value(item)))
                .collect(),
        );
    }
    if let Some(tables) = item.as_array_of_tables() {
        let values = tables.iter().map(|table| {
            let entries = table
                .iter()
                .map(|(key, item)| (key.to_owned(), value(item)));
            Value::Object(entries.collect())
        });
        return Value::Array(values.collect());
    }
    if let Some(array) = item.as_array() {
        return Value::Array(
            array
                .iter()
                .map(|it| value(&Item::Value(it.clone())))
                .collect(),
        );
    }
    let text = item.as_str().map(str::to_owned);
    text.or_else(|| item.as_integer().map(|number| number.to_string()))
        .or_else(|| item.as_float().map(|number| number.to_string()))
        .or_else(|| item.as_bool().map(|flag| flag.to_string()))
        .or_else(|| item.as_datetime().map(|time| format!("{time:?}")))
        .map_or(Value::Null, Value::String)
}

fn below(root: &Value, keys: Keys) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for keys in keys {
        find(root, keys, &mut String::new(), &mut lines);
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
