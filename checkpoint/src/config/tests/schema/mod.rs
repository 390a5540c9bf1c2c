//! The JSON schemas of `config.yml` and `.checkpointd.yml`, for editors and for the list of all settings. They are files
//! in `docs/`, which the program has inside; `CHECKPOINTD_RECORD=1` writes them again.
//!
//! No type describes itself a second time. [`probe`] deserializes the types of the two files and records what each key
//! asks for, so a schema allows what the reader of the files allows. Explanations and defaults come from the
//! compiled-in `config.yml`.

mod probe;
mod words;

use std::path::Path;

use journal::Event;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::config::layers::{DEFAULTS, to_json};
use crate::config::retention::EVENT_KIND;
use crate::config::settings::{ProjectLayer, UserLayer};
use crate::config::units::{DURATION, DURATION_OR_FOREVER, SIZE};
use crate::config::values::PACK_NAME;
use crate::config::{Config, Shown, parse_duration};
use crate::rules::pack_names;
use probe::{Asked, Part, Probe, Stop, probe};

/// Where the schemas are published.
const PUBLISHED: &str = "https://raw.githubusercontent.com/checkpointd/checkpointd/main/docs";

/// Returns the schema of `config.yml`.
fn of_config() -> Value {
    schema(
        "config",
        "config.yml of checkpointd",
        Schema::of::<UserLayer>(),
    )
}

/// Returns the schema of a project's `.checkpointd.yml`.
fn of_project() -> Value {
    schema("project", ".checkpointd.yml", Schema::of::<ProjectLayer>())
}

fn schema(name: &str, title: &str, body: Object) -> Value {
    let mut whole = Map::new();
    whole.insert(
        "$schema".into(),
        "http://json-schema.org/draft-07/schema#".into(),
    );
    whole.insert(
        "$id".into(),
        format!("{PUBLISHED}/{name}.schema.json").into(),
    );
    whole.insert("title".into(), title.into());
    whole.extend(body);
    whole.into()
}

type Object = Map<String, Value>;

struct Schema {
    probe: fn(&Probe<'_>) -> Result<(), Stop>,
    defaults: Value,
}

impl Schema {
    fn of<T: DeserializeOwned>() -> Object {
        let schema = Self {
            probe: probe::<T>,
            defaults: to_json(&*DEFAULTS),
        };
        schema.build(&mut Vec::new())
    }

    fn ask(&self, path: &[Part], probe: Asked) -> (Asked, Result<(), Stop>) {
        Probe::ask(self.probe, path, probe)
    }

    /// Returns the schema of the value at a path.
    fn build(&self, path: &mut Vec<Part>) -> Object {
        let (asked, _) = self.ask(path, Asked::Unknown);
        let mut object = match asked {
            _ if is_within_itself(path) => typed("object", []),
            Asked::Struct(fields) => self.structure(path, fields),
            Asked::Any(expected) => self.alternatives(path, &expected),
            Asked::List => typed("array", [("items", self.below(path, Part::Item))]),
            Asked::Map => self.map(path),
            Asked::Text(expected) => text(&expected),
            Asked::Number(most) => {
                let least = i32::from(self.refuses(path, Asked::Zero));
                let bounds = [("minimum", least.into()), ("maximum", most.into())];
                typed("integer", bounds)
            }
            Asked::Switch => typed("boolean", []),
            Asked::Words(words) => typed("string", [("enum", json!(words))]),
            Asked::Unknown | Asked::Zero | Asked::Sample | Asked::Filled(_) => Object::new(),
        };
        let key = dotted(path);
        if let Some(words) = words::about(&key)
            && path.last().is_some_and(|part| part.is_key())
        {
            object.insert("description".into(), words.into());
        }
        if let Some(default) = default(&self.defaults, &key, path) {
            object.insert("default".into(), default.clone());
        }
        object
    }

    fn below(&self, path: &mut Vec<Part>, part: Part) -> Value {
        path.push(part);
        let below = self.build(path);
        path.pop();
        below.into()
    }

    fn structure(&self, path: &mut Vec<Part>, fields: &'static [&'static str]) -> Object {
        let properties: Object = fields
            .iter()
            .map(|field| ((*field).to_owned(), self.below(path, Part::Field(field))))
            .collect();
        let mut object = typed(
            "object",
            [
                ("properties", properties.into()),
                ("additionalProperties", false.into()),
            ],
        );
        let required = self.required(path, fields);
        if !required.is_empty() {
            object.insert("required".into(), json!(required));
        }
        object
    }

    /// Returns the keys without which a structure is refused, by giving it one after the other.
    fn required(&self, path: &[Part], fields: &[&str]) -> Vec<&'static str> {
        let mut given = Vec::new();
        while let (_, Err(Stop::Missing(key))) = self.ask(path, Asked::Filled(given.clone())) {
            // A missing key of the surrounding structure does not belong here.
            if given.contains(&key) || !fields.contains(&key) {
                break;
            }
            given.push(key);
        }
        given
    }

    fn map(&self, path: &mut Vec<Part>) -> Object {
        let names = self.below(path, Part::Key);
        let sample = names["enum"][0].as_str().and_then(|name| {
            let kinds = Event::KINDS.iter().copied();
            kinds
                .chain(pack_names::NAMES.iter().copied())
                .find(|known| *known == name)
        });
        let values = self.below(path, Part::Value(sample.unwrap_or("name")));
        typed(
            "object",
            [("propertyNames", names), ("additionalProperties", values)],
        )
    }

    /// Returns the schema of a value that has several forms.
    fn alternatives(&self, path: &mut Vec<Part>, expected: &str) -> Object {
        let mut forms = Vec::new();
        match self.ask(path, Asked::Sample).1 {
            Err(Stop::Type) => {}
            Err(Stop::Words(words)) => {
                forms.push(typed("string", [("enum", json!(words))]).into());
            }
            // A word that is not one of the known ones.
            Err(Stop::Value) => forms.push(self.only_default(path)),
            _ => forms.push(typed("string", []).into()),
        }
        if self.ask(path, Asked::List).1 != Err(Stop::Type) {
            forms.push(typed("array", [("items", self.below(path, Part::Item))]).into());
        }
        if let Err(Stop::Keys(keys)) = self.ask(path, Asked::Map).1 {
            forms.push(self.structure(path, keys).into());
        }
        let mut object = Object::new();
        object.insert("anyOf".into(), forms.into());
        object.insert("description".into(), expected.into());
        object
    }

    fn only_default(&self, path: &[Part]) -> Value {
        let default = default(&self.defaults, &dotted(path), path);
        json!({ "const": default })
    }

    fn refuses(&self, path: &[Part], value: Asked) -> bool {
        self.ask(path, value).1 == Err(Stop::Value)
    }
}

fn typed<const N: usize>(name: &str, rest: [(&str, Value); N]) -> Object {
    let mut object = Object::new();
    object.insert("type".into(), name.into());
    let rest = rest.into_iter().map(|(key, value)| (key.to_owned(), value));
    object.extend(rest);
    object
}

/// Returns the schema of a text, by the words with which its type asks for it.
fn text(expected: &str) -> Object {
    const DURATION_FORM: &str = r"([0-9]+(\.[0-9]+)?(d|h|m|s|ms|us))+";
    match expected {
        DURATION => typed("string", [("pattern", format!("^{DURATION_FORM}$").into())]),
        DURATION_OR_FOREVER => {
            let form = format!("^({DURATION_FORM}|forever)$");
            typed("string", [("pattern", form.into())])
        }
        SIZE => typed("string", [("pattern", "^[0-9]+(B|KB|MB|GB)$".into())]),
        PACK_NAME => typed("string", [("enum", json!(*pack_names::NAMES))]),
        EVENT_KIND => typed("string", [("enum", json!(&Event::KINDS[..]))]),
        _ => typed("string", []),
    }
}

/// Returns whether the last key of a path is also one before it: subcommands of a program have subcommands.
fn is_within_itself(path: &[Part]) -> bool {
    path.split_last()
        .is_some_and(|(last, above)| last.is_key() && above.contains(last))
}

/// Returns a path's keys, joined by dots.
fn dotted(path: &[Part]) -> String {
    let keys = path.iter().filter_map(|part| match part {
        Part::Field(key) => Some(*key),
        Part::Item | Part::Key | Part::Value(_) => None,
    });
    keys.collect::<Vec<_>>().join(".")
}

/// Returns the default of a key that is not a group and not part of a list.
fn default<'a>(defaults: &'a Value, key: &str, path: &[Part]) -> Option<&'a Value> {
    let plain = !path.is_empty() && path.iter().all(|part| part.is_key());
    let pointer = format!("/{}", key.replace('.', "/"));
    let value = defaults.pointer(&pointer).filter(|_| plain)?;
    let empty = value.as_object().is_some_and(Object::is_empty);
    (empty || !value.is_object()).then_some(value)
}

#[test]
fn the_published_files_are_those_of_the_types() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (name, schema) in [("config", of_config()), ("project", of_project())] {
        let (path, now) = (
            docs.join(format!("{name}.schema.json")),
            format!("{schema:#}\n"),
        );
        if std::env::var_os("CHECKPOINTD_RECORD").is_some() {
            std::fs::write(&path, &now).expect("writes");
        }
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            before == now,
            "{} is not up to date: CHECKPOINTD_RECORD=1 cargo test -p checkpointd-checkpoint --lib schema::",
            path.display()
        );
    }
}

/// Walks over all keys of a schema.
fn keys(schema: &Value, above: &str, found: &mut Vec<(String, Value)>) {
    let lower = |found: &mut Vec<(String, Value)>, schema: &Value| keys(schema, above, found);
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        let key = format!("{above}{key}");
        found.push((key.clone(), below.clone()));
        keys(below, &format!("{key}."), found);
    }
    if schema["items"].is_object() {
        lower(found, &schema["items"]);
    }
    if schema["additionalProperties"].is_object() {
        lower(found, &schema["additionalProperties"]);
    }
    let forms = schema["anyOf"].as_array().into_iter().flatten();
    forms.for_each(|form| lower(found, form));
}

fn all(schema: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    keys(schema, "", &mut found);
    found
}

#[test]
fn every_key_is_found_and_explained() {
    let config = all(&of_config());
    for (key, schema) in config.iter().chain(&all(&of_project())) {
        let words = schema["description"].as_str().unwrap_or_default();
        let is_group = schema["properties"].is_object();
        assert!(is_group || !words.is_empty(), "{key} has no description");
        let said = ["type", "anyOf"].iter().any(|word| !schema[word].is_null());
        assert!(said, "{key}: {schema}");
    }
    for Shown { key, .. } in Config::default().show() {
        assert!(config.iter().any(|(found, _)| *found == key), "{key}");
    }
}

#[test]
fn values_have_the_forms_that_their_types_read() {
    let config = of_config();
    let project = of_project();
    let rule = &project["properties"]["rules"]["items"];
    let of = |path: &str| &config["properties"][path];
    insta::assert_snapshot!(
        [
            of("min_turn"),
            of("max_blocks_per_turn"),
            &of("daemon")["properties"]["mailbox"],
            of("all_clear"),
            &of("packs")["anyOf"],
            &of("projects")["anyOf"],
            &of("journal")["properties"]["retention"]["properties"]["payloads"],
            &of("listeners")["properties"]["agent_finished"]["items"],
            &rule["required"],
            &rule["properties"]["actions"]["items"]["required"],
            &of("progress")["properties"]["checks"]["items"]["required"],
            &project["properties"]["enabled"]["type"],
        ]
        .map(Value::to_string)
        .join("\n"),
        @r#"
    {"type":"string","pattern":"^([0-9]+(\\.[0-9]+)?(d|h|m|s|ms|us))+$","description":"Shorter turns pass: a quick answer needs no debrief.","default":"30s"}
    {"type":"integer","minimum":0,"maximum":4294967295,"description":"How many stops of one turn may get a checkpoint. With 1, the stop after a checkpoint passes; 2 allows one more check.","default":1}
    {"type":"integer","minimum":1,"maximum":4294967295,"description":"Maximum number of waiting messages of a session or another part of the daemon. When it is reached, hook calls go to the\nspool.","default":256}
    {"type":"string","enum":["message","silent"],"description":"If every expected action was seen: silent (let the agent stop) or message (a short confirmation).","default":"silent"}
    [{"const":"auto"},{"type":"array","items":{"type":"string","enum":["teleclaude","beam","clojure","dart","gleam","go","haskell","javascript","julia","jvm","native","ocaml","php","python","r","ruby","rust","solidity","swift","zig","generic"]}}]
    [{"const":"all"},{"type":"object","properties":{"include":{"type":"array","items":{"type":"string"},"description":"Globs of the folders of projects that take part; empty means all."},"exclude":{"type":"array","items":{"type":"string"},"description":"Globs of the folders of projects that do not take part. They win over `include`."}},"additionalProperties":false}]
    {"type":"string","pattern":"^(([0-9]+(\\.[0-9]+)?(d|h|m|s|ms|us))+|forever)$","description":"The age at which payloads are dropped.","default":"30d"}
    {"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],"description":"a line for the shell, or `[program, argument]`"}
    ["name"]
    ["text"]
    ["name","run"]
    "boolean"
    "#
    );
}

#[test]
fn the_pattern_of_durations_takes_what_the_reader_takes() {
    let pattern = text(DURATION)["pattern"].as_str().expect("text").to_owned();
    let pattern = regex::Regex::new(&pattern).expect("a pattern");
    for form in [
        "500ms", "30s", "180.2s", "1h30m", "0s", "", "30", "s", "30 s", "-3s", "3w", "1.2.3s",
        ".5s", "5.s",
    ] {
        let reads = parse_duration(form).is_ok();
        assert_eq!(pattern.is_match(form), reads, "{form}");
    }
}
