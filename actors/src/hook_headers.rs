//! The headers of a hook call, read in the same way from the socket, from the spool and from recorded lines.

use checkpoint::config::DescribedAgents;
use checkpoint::hooks::HookCall;
use journal::{Timestamp, request};
use serde_json::{Map, Value};
use uuid::Uuid;

/// A hook call without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookHeaders {
    /// The agent's word from the URL, not checked yet.
    pub agent: String,
    /// The event's name, if the caller gave one.
    pub event: Option<String>,
    /// When the hook was called.
    pub at: Timestamp,
    /// The call's own id.
    pub id: Uuid,
    /// Hook-relevant environment variables.
    pub env: Vec<(String, String)>,
    /// Whether the client could not read all of the payload.
    pub truncated: bool,
}

/// The URL of a hook call names an agent that checkpointd does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent `{word}`: expected {known}")]
pub struct UnknownAgent {
    word: String,
    known: String,
}

impl HookHeaders {
    /// Reads the headers that [`journal::request::Head`] writes. `header` returns a header's value by its name. A call
    /// without a readable time or id gets the current time or a new id.
    pub fn read<'a>(agent: &str, header: impl Fn(&str) -> Option<&'a str>) -> Self {
        let env = header(request::ENV).and_then(|env| serde_json::from_str(env).ok());
        Self {
            agent: agent.to_owned(),
            event: header(request::EVENT).map(str::to_owned),
            at: header(request::AT)
                .and_then(|at| at.parse().ok())
                .unwrap_or_else(Timestamp::now),
            id: header(request::ID)
                .and_then(|id| id.parse().ok())
                .unwrap_or_else(Uuid::now_v7),
            env: env.map(known_variables).unwrap_or_default(),
            truncated: header(request::TRUNCATED).is_some(),
        }
    }

    /// Returns the hook call with these headers and this payload. `agents` are those that the configuration describes.
    ///
    /// # Errors
    ///
    /// [`UnknownAgent`], if the agent's name is neither one of theirs nor one of [`journal::Agent::HOSTS`].
    pub fn with_payload<'a>(
        &'a self,
        payload: &'a [u8],
        agents: &DescribedAgents,
    ) -> Result<HookCall<'a>, UnknownAgent> {
        let agent = agents.named(&self.agent).ok_or_else(|| UnknownAgent {
            word: self.agent.clone(),
            known: agents.words(),
        })?;
        Ok(HookCall {
            agent,
            event: self.event.as_deref(),
            payload,
            at: self.at,
            id: self.id,
            env: self.env.clone(),
            truncated: self.truncated,
        })
    }
}

/// Returns the hook-relevant environment variables among those of a call. Values that are not strings are left out.
pub fn known_variables(env: Map<String, Value>) -> Vec<(String, String)> {
    env.into_iter()
        .filter(|(name, _)| request::ENV_NAMES.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use journal::Agent;

    use super::*;

    #[test]
    fn headers_make_a_call() {
        let headers = HookHeaders::read("codex", |name| match name {
            request::EVENT => Some("Stop"),
            request::AT => Some("2026-11-21T21:18:56.177105Z"),
            request::ID => Some("01a1fffa-28d2-7052-8d5e-d33d1a413d46"),
            request::ENV => Some(r#"{"TMUX":"/tmp/t","CI":1,"SECRET":"x"}"#),
            _ => None,
        });
        let call = headers
            .with_payload(b"{}", DescribedAgents::NONE)
            .expect("a known agent");
        assert_eq!(call.agent, Agent::Codex);
        assert_eq!(call.event, Some("Stop"));
        assert_eq!(call.at.to_string(), "2026-11-21T21:18:56.177105Z");
        assert_eq!(call.id.to_string(), "01a1fffa-28d2-7052-8d5e-d33d1a413d46");
        assert_eq!(call.env, [("TMUX".to_owned(), "/tmp/t".to_owned())]);
        assert!(!call.truncated);
    }

    #[test]
    fn an_unknown_agent_is_an_error() {
        let headers = HookHeaders::read("daemon", |_| None);
        let error = headers
            .with_payload(b"{}", DescribedAgents::NONE)
            .expect_err("no agent");
        assert_eq!(
            error.to_string(),
            format!("unknown agent `daemon`: expected {}", Agent::words())
        );
    }

    #[test]
    fn unreadable_headers_get_defaults() {
        let headers = HookHeaders::read("claude", |_| Some("?"));
        assert!(headers.env.is_empty() && headers.truncated);
        assert_eq!(headers.id.get_version_num(), 7);
    }
}
