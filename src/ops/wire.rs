//! Bodies of requests that a command sends and the daemon reads.

use actors::hook_headers::{HookHeaders, known_variables};
use journal::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
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

/// The result for a line of `journal append`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AppendedLine {
    /// The line's number, from 1.
    pub(crate) line: usize,
    #[serde(flatten)]
    pub(crate) outcome: AppendOutcome,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum AppendOutcome {
    Appended {
        seq: u64,
        /// Whether the journal already had the event.
        duplicate: bool,
    },
    Refused {
        error: String,
    },
}

/// Why a request was refused.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Refused {
    pub(crate) error: String,
}

/// The options of a compaction.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompactBody {
    /// Whether to change nothing.
    pub(crate) dry_run: bool,
}

/// How to open the page.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ask {
    /// The port; `None` for the configured one.
    pub(crate) port: Option<u16>,
}

/// The token of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    pub(crate) token: String,
}

/// Whether a token can still open the page.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waits {
    pub(crate) waits: bool,
}

/// Whether a page was open that is closed now.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Closed {
    pub(crate) closed: bool,
}

/// Where the page is, for `checkpointd web`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// The address with a token that opens it once.
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) port: u16,
}
