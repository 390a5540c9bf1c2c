//! Values of rollouts in the form that the rest of the product reads.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::transcript::json::{self as read_json, Scalar};

/// Writes the headers of a patch that makes these changes.
pub(super) fn patch_of(changes: Option<&RawValue>) -> String {
    let changes: serde_json::Map<String, Value> = read_json::part(changes).unwrap_or_default();
    let headers = changes.iter().map(|(path, change)| {
        let adds =
            change.get("type").is_some_and(|kind| kind == "add") || change.get("add").is_some();
        format!("*** {} File: {path}\n", if adds { "Add" } else { "Update" })
    });
    headers.collect()
}

pub(super) fn milliseconds(duration: Option<&RawValue>) -> Option<u64> {
    #[derive(Deserialize)]
    struct Parts {
        secs: u64,
        nanos: u64,
    }
    let Parts { secs, nanos } = read_json::part(duration)?;
    Some(secs.saturating_mul(1_000).saturating_add(nanos / 1_000_000))
}

pub(super) fn text(scalar: Scalar<'_>) -> Cow<'_, str> {
    if let Scalar::Text(text) = scalar {
        text
    } else {
        Cow::Borrowed("")
    }
}
