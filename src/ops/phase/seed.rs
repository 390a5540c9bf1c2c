//! `state.checkpointRef` in the user's `seed.json`: it names the open phase record. All else in
//! that file keeps every byte.

use std::path::Path;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use serde_json::json;

use crate::edit::files::{self, Text};
use crate::edit::json::{self, Container};

const STATE: &str = "state";
const REFERENCE: &str = "checkpointRef";

/// Makes the file name a checkpoint.
///
/// # Errors
///
/// A sentence; the file is then unchanged. A missing file is not created: only its owner knows what else belongs in it.
pub(crate) fn set(path: &Path, id: &str) -> Result<(), String> {
    change(path, |text| with_reference(text, id).map(Some)).and_then(|was_there| {
        if was_there {
            Ok(())
        } else {
            Err(format!("{} is not there", path.display()))
        }
    })
}

/// Takes the name of a checkpoint out, where the file names one of these.
///
/// # Errors
///
/// A sentence; then the file is as it was.
pub(crate) fn clear(path: &Path, ids: &[&str]) -> Result<(), String> {
    change(path, |text| without_reference(text, ids)).map(drop)
}

/// Replaces the text of the file by what `edit` makes of it, if anything. Returns whether there is such a file.
fn change(
    path: &Path,
    edit: impl FnOnce(&str) -> Result<Option<String>, String>,
) -> Result<bool, String> {
    let Some(bytes) = files::read(path)? else {
        return Ok(false);
    };
    let text = Text::of(Some(&bytes), path)?;
    let edited = edit(&text.text).map_err(|problem| format!("{}: {problem}", path.display()))?;
    if let Some(edited) = edited.filter(|edited| *edited != text.text) {
        files::write(path, &text.bytes(&edited))?;
    }
    Ok(true)
}

fn root(text: &str) -> Result<Object<'_>, String> {
    match json::parse(text)? {
        Some(Value::Object(root)) => Ok(root),
        _ => Err("the file holds no JSON object".into()),
    }
}

fn with_reference(text: &str, id: &str) -> Result<String, String> {
    let root = root(text)?;
    let Some(state) = root.get(STATE) else {
        return Ok(json::append(
            text,
            &Container::of_object(&root),
            Some(STATE),
            &json!({ REFERENCE: id }),
        ));
    };
    let Value::Object(state) = &state.value else {
        return Err(format!("`{STATE}` is no object"));
    };
    Ok(match state.get(REFERENCE) {
        Some(known) => json::replace(text, span(&known.value), &json!(id).to_string()),
        None => json::append(
            text,
            &Container::of_object(state),
            Some(REFERENCE),
            &json!(id),
        ),
    })
}

fn without_reference(text: &str, ids: &[&str]) -> Result<Option<String>, String> {
    let root = root(text)?;
    let Some(Value::Object(state)) = root.get(STATE).map(|state| &state.value) else {
        return Ok(None);
    };
    let index = state.properties.iter().position(|property| {
        property.name.as_str() == REFERENCE
            && matches!(&property.value, Value::StringLit(named) if ids.contains(&named.value.as_ref()))
    });
    Ok(index.map(|index| json::remove(text, &Container::of_object(state), index)))
}

fn span(value: &Value<'_>) -> std::ops::Range<usize> {
    let range = value.range();
    range.start..range.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_comes_and_goes_and_all_else_keeps_its_bytes() {
        let table = [
            (
                "{\n  \"state\": {\n    \"mood\": 1\n  }\n}\n",
                "{\n  \"state\": {\n    \"mood\": 1,\n    \"checkpointRef\": \"b\"\n  }\n}\n",
            ),
            (
                "{\"a\":[1,2],\"state\":{}}",
                "{\"a\":[1,2],\"state\":{\"checkpointRef\":\"b\"}}",
            ),
            (
                "{\t\"x\": 1.50 }",
                "{\t\"x\": 1.50, \"state\": {\"checkpointRef\":\"b\"} }",
            ),
        ];
        for (before, after) in table {
            assert_eq!(with_reference(before, "b").expect("JSON"), after);
            assert_eq!(
                without_reference(after, &["other"]).expect("JSON"),
                None,
                "it names another one"
            );
            let without = without_reference(after, &["a", "b"])
                .expect("JSON")
                .expect("it is there");
            let bare: serde_json::Value = serde_json::from_str(&without).expect("JSON");
            assert!(bare["state"].get(REFERENCE).is_none(), "{without}");
        }
        let old = "{\"state\": {\"checkpointRef\": null, \"mood\": 1}}";
        assert_eq!(
            with_reference(old, "b").expect("JSON"),
            "{\"state\": {\"checkpointRef\": \"b\", \"mood\": 1}}"
        );
        assert_eq!(without_reference(old, &["b"]).expect("JSON"), None);
    }

    #[test]
    fn what_is_no_seed_is_refused() {
        for text in ["", "[]", "{\"state\": 3}", "{\"state\": {}"] {
            assert!(with_reference(text, "b").is_err(), "{text}");
        }
    }
}
