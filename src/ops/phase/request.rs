//! Requests about phase records.

use checkpoint::phase::Scope;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ops::refusal::{Refused, Result};

/// A request. The names of the variants are those of the commands and of the HTTP paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Make one (spec PHASE-3).
    Create {
        /// The project's folder; `None` for the session's.
        #[serde(default)]
        project: Option<String>,
        /// Where the caller is, for when neither project nor session is named.
        #[serde(default)]
        folder: Option<String>,
        /// Its fields, named as in its file (spec PHASE-1).
        checkpoint: Value,
    },
    /// Shows a record (spec PHASE-4).
    Show {
        /// Its id, the beginning of it, or its file's name.
        id: String,
    },
    /// List them, newest first (spec PHASE-4).
    List {
        /// Only completed records, or only incomplete ones.
        #[serde(default)]
        completed: Option<bool>,
        /// Where to search.
        #[serde(default)]
        scope: Scope,
    },
    /// Find the latest incomplete record (spec PHASE-5).
    Detect {
        /// Where to search.
        #[serde(default)]
        scope: Scope,
    },
    /// Mark the work of a record as completed (spec PHASE-6).
    Complete {
        /// As for `show`.
        id: String,
    },
    /// Delete old ones (spec PHASE-7).
    Cleanup {
        /// The minimum age; `None` for `phase.keep`.
        #[serde(default)]
        older_than: Option<String>,
        /// Whether to delete incomplete records too.
        #[serde(default)]
        incomplete: bool,
    },
    /// Write all files again that differ from the journal.
    Rebuild {},
}

impl Request {
    /// Reads a request from its word and its fields.
    ///
    /// # Errors
    ///
    /// When there is no such word, or the fields are not right.
    pub(crate) fn read(word: &str, fields: Value) -> Result<Self> {
        serde_json::from_value(json!({ word: fields }))
            .map_err(|error| (Refused::Request, error.to_string()))
    }

    /// Reads a request from its word and the body that came with it.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], and when the body is not JSON.
    pub(crate) fn parse(word: &str, body: &[u8]) -> Result<Self> {
        let fields = match body {
            [] => json!({}),
            body => serde_json::from_slice(body).map_err(|error| {
                let problem = format!("the body is not JSON: {error}");
                (Refused::Request, problem)
            })?,
        };
        Self::read(word, fields)
    }

    /// Returns whether it asks for records and changes none.
    pub(crate) const fn only_asks(&self) -> bool {
        matches!(
            self,
            Self::Show { .. } | Self::List { .. } | Self::Detect { .. }
        )
    }

    /// Returns the request's name and fields.
    pub(crate) fn parts(&self) -> (String, Value) {
        let tagged = serde_json::to_value(self).expect("plain data");
        let Value::Object(parts) = tagged else {
            unreachable!("a variant with fields is an object")
        };
        parts.into_iter().next().expect("it has one key")
    }
}
