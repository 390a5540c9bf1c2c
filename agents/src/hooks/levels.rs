//! JSON with more levels of lists and objects than a parser takes.

use std::mem;

use journal::payload::LEVELS_MAX;
use serde_json::Value;

/// Parses JSON of any number of levels. What is deeper than [`LEVELS_MAX`] levels is a string with its JSON text if the
/// whole has more levels than the parser takes (spec JRNL-26).
///
/// # Errors
///
/// The parser's error.
pub(super) fn parse(json: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(json).or_else(|error| match cut(json) {
        Some(cut) => serde_json::from_slice(&cut),
        None => Err(error),
    })
}

/// Replaces each list and object that is too deep by a string; `None` if there is none, or its end is missing.
fn cut(json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(json.len());
    let mut inner = Vec::new();
    let (mut depth, mut any) = (0usize, false);
    let (mut is_string, mut is_escape) = (false, false);
    for &byte in json {
        let mut is_end = false;
        match byte {
            _ if is_escape => is_escape = false,
            b'\\' if is_string => is_escape = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => depth += 1,
            b']' | b'}' if !is_string => {
                is_end = depth == LEVELS_MAX + 1;
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
        if depth > LEVELS_MAX || is_end {
            inner.push(byte);
        } else {
            out.push(byte);
        }
        if is_end {
            any = true;
            let text = Value::from(String::from_utf8_lossy(&mem::take(&mut inner)));
            out.extend(text.to_string().into_bytes());
        }
    }
    (any && inner.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize, inside: &str) -> String {
        let (open, close) = (r#"{"a]":["#.repeat(levels / 2), "]}".repeat(levels / 2));
        format!("{open}{inside}{close}")
    }

    fn innermost(mut value: &Value) -> &Value {
        while let Some(next) = value.get("a]").or_else(|| value.get(0)) {
            value = next;
        }
        value
    }

    #[test]
    fn what_is_too_deep_is_text() {
        for (levels, inside, expected) in [
            (100, r#""[{""#, Value::from("[{")),
            (126, "[1]", Value::from(1)),
            (128, "[1]", nested(28, "[1]").into()),
            (200, r#""\"[é""#, nested(100, r#""\"[é""#).into()),
            (100_000, "", nested(99_900, "").into()),
        ] {
            let parsed = parse(nested(levels, inside).as_bytes()).expect("JSON");
            assert_eq!(innermost(&parsed), &expected, "{levels}");
        }
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for json in [
            "[".repeat(200),
            "]".repeat(200),
            nested(200, "")[1..].into(),
        ] {
            assert!(parse(json.as_bytes()).is_err(), "{json}");
        }
    }
}
