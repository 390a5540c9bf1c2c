//! Every key with the value that holds, and the file that it comes from.

use serde::Serialize;
use serde_json::{Map, Value};

use super::layers::{Config, DEFAULTS, to_json};
use super::project_file::ProjectFile;
use super::settings::{ProjectLayer, Settings};
use super::yaml::is_group;
use crate::policy::Edition;
use crate::rules::pack_names::ProjectFacts;

/// A key with its value and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The key, with its group before a dot.
    pub key: String,
    /// The value as text.
    pub value: String,
    /// The name of a file, `pack NAME`, `judgment: letter` or `default`.
    pub source: String,
}

/// A project, and what of its own file counts.
#[derive(Clone, Copy, Debug)]
pub struct InProject<'a> {
    /// What the packs depend on.
    pub facts: &'a ProjectFacts,
    /// Name and content of its own file, and whether all of it counts.
    pub file: Option<(&'a str, &'a ProjectFile, bool)>,
}

/// The source of values that a judgment brings which a person wrote, and of those that the pack brings.
const WRITTEN: &str = "judgment: letter";
const BY_PACK: &str = "pack teleclaude";

/// A source and the keys that it sets, as JSON.
type Layer = (String, Value);

impl Config {
    /// Returns every key with its value and the file it came from, or `default`.
    pub fn show(&self) -> Vec<Shown> {
        let mut rows = Vec::new();
        let mut layers: Vec<_> = self.user_layer().into_iter().collect();
        layers.push(by_judgment(self.settings.judgment, WRITTEN));
        show_level(&to_json(&self.settings), &layers, "", &mut rows);
        rows
    }

    /// Returns every key as it holds in a project.
    pub fn show_in(&self, project: &InProject<'_>) -> Vec<Shown> {
        let layer = project
            .file
            .map_or_else(ProjectLayer::default, |(_, file, is_trusted)| {
                file.counting(is_trusted)
            });
        let packs = self.packs_of(project.facts, &layer);
        let resolved = self.settings_with(&packs, &layer);
        let settings = to_json(&resolved);
        let mut layers = Vec::new();
        if let Some((name, ..)) = project.file {
            let mut own = to_json(&layer);
            if let Value::Object(keys) = &mut own {
                // What the file asks for may not count (spec RULE-16).
                keys.retain(|key, value| {
                    key != "max_blocks_per_turn" || settings.get(key) == Some(value)
                });
            }
            layers.push((name.to_owned(), own));
        }
        layers.extend(self.user_layer());
        let source = match self.written_judgment(&layer) {
            Some(_) => WRITTEN,
            None => BY_PACK,
        };
        layers.push(by_judgment(resolved.judgment, source));
        let mut rows = Vec::new();
        show_level(&settings, &layers, "", &mut rows);
        let own = [
            ("enabled", layer.enabled.map(|enabled| enabled.to_string())),
            ("working_slug", layer.working_slug),
        ];
        for (key, value) in own {
            if let (Some(value), Some((file, ..))) = (value, project.file) {
                rows.push(Shown {
                    key: key.to_owned(),
                    value,
                    source: file.to_owned(),
                });
            }
        }
        rows
    }

    fn user_layer(&self) -> Option<Layer> {
        let (file, layer) = self.user.as_ref()?;
        Some((file.clone(), to_json(layer)))
    }
}

/// Returns the values that a judgment has instead of the defaults.
fn by_judgment(judgment: Edition, source: &str) -> Layer {
    let (was, now) = (
        to_json(&*DEFAULTS),
        to_json(&Settings::judging_by(judgment)),
    );
    (source.to_owned(), differing(&was, &now))
}

/// Returns the parts of a value that are different in another.
fn differing(was: &Value, now: &Value) -> Value {
    let (Value::Object(was), Value::Object(now)) = (was, now) else {
        return now.clone();
    };
    let parts = now
        .iter()
        .filter(|(key, value)| was.get(*key) != Some(value));
    let parts = parts.map(|(key, value)| {
        let before = was.get(key).unwrap_or(&Value::Null);
        (key.clone(), differing(before, value))
    });
    Value::Object(parts.collect::<Map<_, _>>())
}

/// Adds a row for each key. The first layer that sets a key is its source.
fn show_level(values: &Value, layers: &[Layer], above: &str, rows: &mut Vec<Shown>) {
    for (key, value) in values.as_object().into_iter().flatten() {
        if above.is_empty() && is_group(key) {
            let layers: Vec<_> = layers
                .iter()
                .filter_map(|(source, layer)| Some((source.clone(), layer.get(key)?.clone())))
                .collect();
            show_level(value, &layers, &format!("{key}."), rows);
            continue;
        }
        let text = match (key.as_str(), value) {
            ("rules" | "agents", Value::Array(entries)) => {
                let names: Vec<_> = entries
                    .iter()
                    .filter_map(|entry| entry["name"].as_str())
                    .collect();
                format!("[{}]", names.join(", "))
            }
            (_, Value::String(text)) => text.clone(),
            (_, value) => value.to_string(),
        };
        let source = layers.iter().find(|(_, layer)| layer.get(key).is_some());
        rows.push(Shown {
            key: format!("{above}{key}"),
            value: text,
            source: source.map_or("default", |(source, _)| source).to_owned(),
        });
    }
}
