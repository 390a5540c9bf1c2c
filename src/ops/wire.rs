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
    /// The agent's word.
    pub(crate) agent: String,
    /// Its JSON text.
    #[serde(borrow)]
    pub(crate) payload: &'a RawValue,
    /// The event's name, where the payload has none.
    #[serde(default)]
    pub(crate) event: Option<String>,
    /// When it happened.
    #[serde(default)]
    pub(crate) at: Option<Timestamp>,
    /// The call's id.
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

/// What became of a line of `journal append`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AppendedLine {
    /// Counts from 1.
    pub(crate) line: usize,
    #[serde(flatten)]
    pub(crate) outcome: AppendOutcome,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum AppendOutcome {
    Appended {
        seq: u64,
        /// It was in the journal before.
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

/// What a compaction is asked for with.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompactBody {
    /// Change nothing.
    pub(crate) dry_run: bool,
}

/// How the page is to be opened.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ask {
    /// The port; none is the configured one.
    pub(crate) port: Option<u16>,
}

/// Which token is asked about.
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
