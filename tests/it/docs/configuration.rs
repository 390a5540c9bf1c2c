//! The list of all settings, which is made of the schemas of the configuration files.
//! `CHECKPOINTD_RECORD=1 cargo test --test it docs::configuration::` writes it again.

use std::fmt::Write as _;

use serde_json::Value;

use super::shape::Shapes;
use super::{check_generated, read};
use crate::support::{Home, run};

const INTRODUCTION: &str = "\
<!-- Made of the schemas by tests/it/docs/configuration.rs. -->
# Configuration

`~/.config/checkpointd/config.yml` holds only the settings that you change. `checkpointd config show`
prints those that differ from the defaults in a project and where each comes from (`--all` prints all),
`checkpointd config explain` says what one does, `checkpointd config set` changes one, `checkpointd
config edit` opens the file, and `checkpointd config check` checks it. The daemon applies changes from
the next stop.

A project's `.checkpointd.yml` can override most settings, add rules, or turn the project off. Its
rules and most of its settings count after `checkpointd rules trust`, and again after each change of the
file. Your `max_blocks_per_turn` is the upper bound of the project's; `prefix` and `message` count in
`config.yml` only.

Durations are written as `500ms`, `30s`, `20m`, `2h`, or `1h30m`, sizes as `64KB` or `1MB` (powers of
1024).

Editors complete and check both files by their JSON schemas, [`config.schema.json`](config.schema.json)
and [`project.schema.json`](project.schema.json), which `checkpointd config schema` prints. The first
line of the file names the schema; `config set` and `config edit` begin a new file with it:

```yaml
# yaml-language-server: $schema=https://raw.githubusercontent.com/checkpointd/checkpointd/main/docs/config.schema.json
min_turn: 30s
```
";

const MAIN: &str = "
## Settings to know

All other settings are for special cases.
";

const PROJECT: &str = "
## Keys of a project's file only
";

const BOTH: &str = "
## Keys of both files
";

const CONFIG: &str = "
## Keys of config.yml only
";

fn printed(arguments: &[&str]) -> String {
    let home = Home::new();
    let mut command = home.command(
        env!("CARGO_BIN_EXE_checkpointd"),
        &[&["config", "schema"], arguments].concat(),
    );
    let output = run(&mut command, b"");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn schema(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).expect("JSON")
}

/// Reads YAML as editors do: only `true` and `false` are no words.
fn yaml(text: &str) -> Value {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options)
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the values that a key takes.
fn values(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        return words
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().map(values).collect::<Vec<_>>().join(", or ");
    }
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    match schema["type"].as_str().unwrap_or_default() {
        "string" if pattern.contains("forever") => "a duration, or `forever`".into(),
        "string" if pattern.contains("ms|us") => "a duration".into(),
        "string" if pattern.contains("GB") => "a size".into(),
        "string" => "a text".into(),
        "integer" if schema["minimum"] == 1 => "a number, at least 1".into(),
        "integer" => "a number".into(),
        "boolean" => "`true`, `false`".into(),
        "array" => format!("a list of: {}", values(&schema["items"])),
        _ if schema["properties"].is_object() => {
            let keys = schema["properties"].as_object().expect("keys").keys();
            let keys = keys.map(|key| format!("`{key}`")).collect::<Vec<_>>();
            format!("the keys {}", keys.join(", "))
        }
        _ if schema["additionalProperties"]["anyOf"].is_array() => {
            format!(
                "names, each with {}",
                values(&schema["additionalProperties"])
            )
        }
        _ => "names with values".into(),
    }
}

/// Returns the text of a comment as Markdown: indented lines are an example.
fn meaning(words: &str) -> String {
    let mut text = String::new();
    let mut example = String::new();
    for line in words.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with("  ") {
            let _ = writeln!(example, "{}", line.strip_prefix("  ").unwrap_or(line));
        } else {
            text.push_str(line.trim());
            text.push('\n');
        }
    }
    if !example.is_empty() {
        let _ = write!(text, "\n```text\n{example}```\n");
    }
    text
}

fn describe(key: &str, schema: &Value, level: usize, out: &mut String) {
    let marks = "#".repeat(level);
    let _ = write!(out, "\n{marks} `{key}`\n\n");
    let about = meaning(schema["description"].as_str().unwrap_or_default());
    if !about.is_empty() {
        let _ = writeln!(out, "{about}");
    }
    if let Some(below) = schema["properties"].as_object() {
        below_of(key, below, level, out);
        return;
    }
    let _ = write!(out, "*Value*: {}.", values(schema));
    match &schema["default"] {
        Value::Null => {}
        Value::String(text) => drop(write!(out, " *Default*: `{text}`.")),
        other => drop(write!(out, " *Default*: `{other}`.")),
    }
    out.push('\n');
    if let Some(below) = schema["items"]["properties"].as_object() {
        below_of(&format!("{key}[]"), below, level, out);
    }
    let forms = schema["additionalProperties"]["anyOf"]
        .as_array()
        .into_iter()
        .flatten();
    // The keys below a subcommand are the same again.
    for form in forms.filter(|_| !key.contains('.')) {
        if let Some(below) = form["properties"].as_object() {
            below_of(&format!("{key}.NAME"), below, level, out);
        }
    }
}

fn below_of(key: &str, below: &serde_json::Map<String, Value>, level: usize, out: &mut String) {
    for (name, schema) in below {
        describe(&format!("{key}.{name}"), schema, (level + 1).min(4), out);
    }
}

/// Returns the settings that `config show` names as those to know.
fn main_keys() -> Vec<String> {
    let home = Home::new();
    let output = run(
        &mut home.command(env!("CARGO_BIN_EXE_checkpointd"), &["config", "show"]),
        b"",
    );
    let text = String::from_utf8(output.stdout).expect("text");
    let (_, list) = text.split_once("settings to know: ").expect("the list");
    let list = list.split("`checkpointd").next().expect("its end");
    list.split(',').map(|key| key.trim().to_owned()).collect()
}

/// Takes a key out of the keys, with the group that it is in.
fn take(key: &str, keys: &mut serde_json::Map<String, Value>) -> Option<Value> {
    match key.split_once('.') {
        Some((group, key)) => take(key, keys.get_mut(group)?["properties"].as_object_mut()?),
        None => keys.remove(key),
    }
}

fn page() -> String {
    let (config, project) = (schema(&[]), schema(&["--project"]));
    let keys = |of: &Value| of["properties"].as_object().expect("keys").clone();
    let (mut config, mut project) = (keys(&config), keys(&project));
    let mut out = INTRODUCTION.to_owned();
    out.push_str(MAIN);
    for key in main_keys() {
        let of_project = take(&key, &mut project);
        let schema = take(&key, &mut config).or(of_project);
        describe(
            &key,
            &schema.unwrap_or_else(|| panic!("no key {key}")),
            3,
            &mut out,
        );
    }
    out.push_str(PROJECT);
    let only = project.iter().filter(|(key, _)| !config.contains_key(*key));
    only.for_each(|(key, schema)| describe(key, schema, 3, &mut out));
    out.push_str(BOTH);
    let both = config.iter().filter(|(key, _)| project.contains_key(*key));
    both.for_each(|(key, schema)| describe(key, schema, 3, &mut out));
    out.push_str(CONFIG);
    let only = config.iter().filter(|(key, _)| !project.contains_key(*key));
    only.for_each(|(key, schema)| describe(key, schema, 3, &mut out));
    out
}

#[test]
fn the_list_is_that_of_the_schemas() {
    check_generated("docs/configuration.md", &page());
}

#[test]
fn the_files_of_the_repository_have_the_shape_of_their_schemas() {
    for (path, arguments) in [
        ("config.yml", &[][..]),
        ("examples/config.yml", &[]),
        ("examples/agents/codebuddy.yml", &[]),
        ("examples/agents/goose.yml", &[]),
        ("examples/agents/vscode.yml", &[]),
        ("examples/project/.checkpointd.yml", &["--project"]),
    ] {
        let schema = schema(arguments);
        let value: Value = yaml(&read(path));
        let wrong = Shapes { root: &schema }.differences(&schema, &value);
        assert_eq!(wrong, Vec::<String>::new(), "{path}");
    }
}

#[test]
fn what_the_program_refuses_has_another_shape() {
    let schema = schema(&[]);
    for text in [
        "min_trun: 1s",
        "min_turn: 1 second",
        "max_blocks_per_turn: many",
        "daemon: {mailbox: 0}",
        "packs: none",
        "packs: [cobol]",
        "projects: some",
        "journal: {retention: {kinds: {odd: 1d}}}",
        "rules: [{include: ['**/*.rs']}]",
        "listeners: {agent_finished: [{run: x}]}",
        "agents: [{settings: ~/a}]",
        "agents: [{name: buddy, settings: ~/a, format: toml}]",
    ] {
        let value: Value = yaml(text);
        let found = Shapes { root: &schema }.differences(&schema, &value);
        assert!(!found.is_empty(), "{text}");
    }
}

#[test]
fn a_new_file_names_its_schema() {
    let home = Home::new();
    let arguments = ["config", "set", "min_turn", "45s"];
    let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments);
    let output = run(&mut command, b"");
    assert!(output.status.success(), "{output:?}");
    let written = std::fs::read_to_string(home.path().join("config.yml")).expect("reads");
    let address = schema(&[])["$id"].as_str().expect("an address").to_owned();
    let expected = format!("# yaml-language-server: $schema={address}\nmin_turn: 45s\n");
    assert_eq!(written, expected);
    assert!(INTRODUCTION.contains(&address));
}
