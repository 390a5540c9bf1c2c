//! Forms of secrets, and ordinary texts about secrets, which others wrote than the rules.
//!
//! `forms/secrets*.jsonl` has `{"group", "text", "secrets"}` a line, `forms/ordinary*.jsonl` has `{"group", "text"}`.
//! A broken bar (`¦`) is taken out before a line is read: without it, scanners would take the lines for secrets. A form
//! leaks if one of its secrets is left in the text, or in the payload that has it; an ordinary text must stay as it is.
//! Other files are read, and what fails is shown, with
//! `FORMS_SECRETS=... FORMS_ORDINARY=... cargo test -p checkpointd-redact --lib forms -- --nocapture`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::built_in;

/// Of a hundred forms, how many may leak.
const LEAKS_PERCENT_MAX: usize = 2;

#[derive(Deserialize)]
struct Form {
    group: String,
    text: String,
    #[serde(default)]
    secrets: Vec<String>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test may be told of other tables"
)]
fn forms(variable: &str, built_in: &[&str]) -> Vec<Form> {
    let own = std::env::var(variable).map(|path| std::fs::read_to_string(path).expect("a table"));
    let table = own.unwrap_or_else(|_| built_in.concat());
    let lines = table.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(&line.replace('¦', "")).expect("a form"))
        .collect()
}

/// Returns what is stored of a text: alone, as output of a tool, as a prompt, and as a payload if it is one.
fn stored(text: &str) -> Vec<(Value, Value)> {
    let mut all = vec![(json!(text), json!(built_in().text(text)))];
    let own = serde_json::from_str(text).ok().filter(Value::is_object);
    let output = json!({ "tool_response": { "stdout": text } });
    for given in [json!({ "prompt": text }), output].into_iter().chain(own) {
        let mut payload = given.clone();
        if let Some(text) = built_in().payload(&mut payload, &given.to_string()) {
            assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), payload);
        }
        all.push((given, payload));
    }
    all
}

/// Prints the counts of each group, and returns how many failed.
fn judged(forms: &[Form], fails: impl Fn(&Form) -> Option<String>) -> usize {
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for form in forms {
        let group = groups.entry(&form.group).or_default();
        group.1 += 1;
        if let Some(stored) = fails(form) {
            group.0 += 1;
            println!("{}: {stored}", form.group);
        }
    }
    let count = groups.values().map(|(failed, _)| failed).sum();
    for (group, (failed, all)) in groups {
        println!("{failed:4} of {all:4}  {group}");
    }
    println!("{count:4} of {:4}", forms.len());
    count
}

#[test]
fn secrets_are_found_by_structure_and_context() {
    let forms = forms("FORMS_SECRETS", &[include_str!("forms/secrets.jsonl")]);
    let leaks = judged(&forms, |form| {
        let texts = stored(&form.text)
            .into_iter()
            .map(|(_, stored)| match stored {
                Value::String(text) => text,
                other => texts(&other).join("\n"),
            });
        let has = |text: &String| form.secrets.iter().any(|secret| text.contains(secret));
        texts.into_iter().find(has)
    });
    assert!(leaks * 100 <= forms.len() * LEAKS_PERCENT_MAX, "{leaks}");
}

/// Returns all strings of a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn ordinary_texts_about_secrets_stay() {
    let forms = forms("FORMS_ORDINARY", &[include_str!("forms/ordinary.jsonl")]);
    let changed = judged(&forms, |form| {
        let changed = stored(&form.text)
            .into_iter()
            .find(|(given, stored)| given != stored);
        changed.map(|(_, stored)| stored.to_string())
    });
    assert_eq!(changed, 0);
}
