//! JSON with more levels of lists and objects than a parser takes, or so many values that they would fill the memory.

use std::mem;

use journal::payload::LEVELS_MAX;
use serde_json::Value;

/// The most values that are all kept: one takes up to a hundred times its text.
const VALUES_MAX: usize = 100_000;
/// The most values of one list or object if there are more in all.
const MEMBERS_MAX: usize = 1_000;

/// Parses JSON of any number of levels and values. What is deeper than [`LEVELS_MAX`] levels is a string with its JSON
/// text if the whole has more levels than the parser takes. Of more than [`VALUES_MAX`] values, each list
/// and object keeps at most [`MEMBERS_MAX`], and says how many it had (spec JRNL-26).
///
/// # Errors
///
/// The parser's error.
pub(super) fn parse(json: &[u8]) -> serde_json::Result<Value> {
    let thinned = (commas(json) > VALUES_MAX).then(|| thinned(json));
    let json = thinned.as_deref().unwrap_or(json);
    serde_json::from_slice(json).or_else(|error| match cut(json) {
        Some(cut) => serde_json::from_slice(&cut),
        None => Err(error),
    })
}

/// Returns how many commas a text has. Most are in texts or between values.
fn commas(json: &[u8]) -> usize {
    json.iter().filter(|byte| **byte == b',').count()
}

/// Leaves out what the limits do not allow. What is not JSON stays so.
fn thinned(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // The number of values in each list or object that is open, and whether it is an object.
    let mut open: Vec<(usize, bool)> = Vec::new();
    // How many values were kept of the one whose rest is left out, and the levels below it.
    let mut left_out: Option<(usize, usize)> = None;
    let (mut all, mut is_string, mut is_escape) = (0, false, false);
    for &byte in json {
        match byte {
            _ if is_escape => is_escape = false,
            b'\\' if is_string => is_escape = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'[' | b'{' => match &mut left_out {
                Some((_, below)) => *below += 1,
                None => open.push((0, byte == b'{')),
            },
            b']' | b'}' => match &mut left_out {
                Some((kept, 0)) => {
                    let (commas, is_object) = open.pop().unwrap_or_default();
                    let key = if is_object { "\"...\":" } else { "" };
                    let more = commas + 1 - *kept;
                    out.extend(format!(",{key}\"{more} more\"").into_bytes());
                    left_out = None;
                }
                Some((_, below)) => *below -= 1,
                None => drop(open.pop()),
            },
            b',' if left_out.is_none_or(|(_, below)| below == 0) => {
                let levels = open.len();
                if let Some((values, _)) = open.last_mut() {
                    *values += 1;
                    all += usize::from(left_out.is_none());
                    if *values >= MEMBERS_MAX || (all > VALUES_MAX && levels > 1) {
                        left_out.get_or_insert((*values, 0));
                    }
                }
            }
            _ => {}
        }
        if left_out.is_none() {
            out.push(byte);
        }
    }
    out
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
    fn of_very_many_values_each_list_keeps_a_thousand_and_says_so() {
        let zeros = vec!["0"; 300_000].join(",");
        let json = format!(
            r#"{{"a": "x,[", "big": [{zeros}], "rows": [{{"b": [1, "]"]}}, 2], "session_id": "s"}}"#
        );
        let parsed = parse(json.as_bytes()).expect("JSON");
        let big = parsed["big"].as_array().expect("a list");
        assert_eq!(big.len(), MEMBERS_MAX + 1);
        assert_eq!(big.last(), Some(&Value::from("299000 more")));
        assert_eq!(parsed["a"], "x,[");
        assert_eq!(parsed["session_id"], "s");
        let nested = format!("[{}]", vec![format!("[{zeros}]"); 3].join(","));
        let parsed = parse(nested.as_bytes()).expect("JSON");
        assert_eq!(parsed.as_array().map(Vec::len), Some(3));
        let members: Vec<_> = (0..200_000).map(|at| format!("\"k{at}\":{at}")).collect();
        let parsed = parse(format!("{{{}}}", members.join(",")).as_bytes()).expect("JSON");
        assert_eq!(parsed["..."], "199000 more");
        let few = format!("[{}]", vec!["0"; VALUES_MAX].join(","));
        let parsed = parse(few.as_bytes()).expect("JSON");
        assert_eq!(parsed.as_array().map(Vec::len), Some(VALUES_MAX));
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
