//! The part of JSON Schema that the project's own schemas use.

use regex::Regex;
use serde_json::Value;

/// Compares values with schemas. References begin at `root`.
pub(super) struct Shapes<'a> {
    pub(super) root: &'a Value,
}

impl Shapes<'_> {
    /// Returns where a value differs from its schema.
    pub(super) fn differences(&self, schema: &Value, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.compare(schema, value, "", &mut found);
        found
    }

    fn compare(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.root.pointer(reference.trim_start_matches('#'));
            let target = target.unwrap_or_else(|| panic!("{reference} leads nowhere"));
            return self.compare(target, value, at, found);
        }
        for forms in ["anyOf", "oneOf"] {
            if let Some(forms) = schema[forms].as_array() {
                let tried: Vec<_> = forms
                    .iter()
                    .map(|form| self.differences(form, value))
                    .collect();
                if !tried.iter().any(Vec::is_empty) {
                    found.push(format!("{at}: {value} has none of the forms: {tried:?}"));
                }
            }
        }
        if !fits(&schema["type"], value) {
            found.push(format!("{at}: {value} is not of type {}", schema["type"]));
            return;
        }
        let unequal = |wanted: &Value| !wanted.is_null() && wanted != value;
        let words = schema["enum"].as_array();
        if unequal(&schema["const"]) || words.is_some_and(|words| !words.contains(value)) {
            found.push(format!("{at}: {value} is not one of the words"));
        }
        self.text_and_number(schema, value, at, found);
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            let at = format!("{at}[{number}]");
            self.compare(&schema["items"], item, &at, found);
        }
        if let Some(object) = value.as_object() {
            self.object(schema, object, at, found);
        }
    }

    fn text_and_number(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str())
            && !Regex::new(pattern).expect("a pattern").is_match(text)
        {
            found.push(format!("{at}: {text:?} does not match {pattern}"));
        }
        if let (Some(least), Some(number)) = (schema["minimum"].as_i64(), value.as_i64())
            && number < least
        {
            found.push(format!("{at}: {number} is below {least}"));
        }
    }

    fn object(
        &self,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        at: &str,
        found: &mut Vec<String>,
    ) {
        for key in schema["required"].as_array().into_iter().flatten() {
            let key = key.as_str().expect("a key");
            if !object.contains_key(key) {
                found.push(format!("{at}.{key} is missing"));
            }
        }
        for (key, value) in object {
            let at = format!("{at}.{key}");
            let name = Value::String(key.clone());
            self.compare(&schema["propertyNames"], &name, &at, found);
            match (&schema["properties"][key], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => found.push(format!("{at} is not described")),
                (Value::Null, more) => self.compare(more, value, &at, found),
                (known, _) => self.compare(known, value, &at, found),
            }
        }
    }
}

fn fits(types: &Value, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is not a type"),
    };
    match types {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}

#[test]
fn values_of_another_shape_are_found() {
    let root = serde_json::json!({ "words": { "type": "string", "enum": ["a"] } });
    let schema = serde_json::json!({ "type": "object", "required": ["n"], "additionalProperties": false, "properties": {
        "n": { "type": "integer", "minimum": 1 }, "w": { "$ref": "#/words" },
        "d": { "type": ["string", "null"], "pattern": "^[0-9]+s$" }, "l": { "type": "array", "items": { "anyOf": [
            { "type": "string" }, { "type": "boolean" }] } } } });
    let differences = |text: &str| {
        let value = serde_json::from_str(text).expect("JSON");
        Shapes { root: &root }.differences(&schema, &value).len()
    };
    for (text, expected) in [
        (r#"{"n":1,"w":"a","d":null,"l":["x",true]}"#, 0),
        (r#"{"n":1,"d":"20s"}"#, 0),
        (r#"{"w":"a"}"#, 1),
        (r#"{"n":0,"w":"b","d":"20","l":[1],"more":1}"#, 5),
        ("[]", 1),
    ] {
        assert_eq!(differences(text), expected, "{text}");
    }
}
