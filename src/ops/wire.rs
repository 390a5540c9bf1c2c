//! Bodies of requests that a command sends and the daemon reads.

use actors::hook_headers::{HookHeaders, known_variables};
use journal::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::Uuid;

/// One line of `journal append`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookLine<'a> {
    /// The agent's name.
    pub(crate) agent: String,
    /// The payload, as JSON text.
    #[serde(borrow)]
    pub(crate) payload: &'a RawValue,
    /// The event's name, where the payload has none.
    #[serde(default)]
    pub(crate) event: Option<String>,
    #[serde(default)]
    pub(crate) at: Option<Timestamp>,
    /// The id of the call.
    #[serde(default)]
    pub(crate) id: Option<Uuid>,
    /// Hook-relevant environment variables.
    #[serde(default)]
    pub(crate) env: serde_json::Map<String, Value>,
    /// What a recording hook answered; of no use here.
    #[serde(default, rename = "hook_replied")]
    _hook_replied: Option<Value>,
}

impl<'a> HookLine<'a> {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("not a line of hook calls: {error}"))
    }

    /// Returns the line's headers. A line without a time or an id gets the time `now` or a new id.
    pub(crate) fn headers(&self, now: Timestamp) -> HookHeaders {
        HookHeaders {
            agent: self.agent.clone(),
            event: self.event.clone(),
            at: self.at.unwrap_or(now),
            id: self.id.unwrap_or_else(Uuid::now_v7),
            env: known_variables(self.env.clone()),
            truncated: false,
        }
    }
}

/// Returns the answer for a line of `journal append`: the event's number and whether the journal already had it, or why
/// the line was refused.
pub(crate) fn appended(line: usize, end: Result<(u64, bool), String>) -> Value {
    match end {
        Ok((seq, duplicate)) => json!({ "line": line, "seq": seq, "duplicate": duplicate }),
        Err(error) => json!({ "line": line, "error": error }),
    }
}

/// The options of a compaction.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompactBody {
    /// Whether to change nothing.
    pub(crate) dry_run: bool,
}

/// How to open the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ask {
    /// The port; `None` for the configured one.
    pub(crate) port: Option<u16>,
}

/// The token of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    pub(crate) token: String,
}

/// Where the page is, for `checkpointd web`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// The address with a token that opens it once.
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) port: u16,
}
