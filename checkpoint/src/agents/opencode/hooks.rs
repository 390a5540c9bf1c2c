//! What the plugin tells: Claude Code's names, with the id of a subagent's session as the subagent's.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::Payload;

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        // A subagent that fails leaves the agent at work.
        "Interrupt" if host.subagent.is_none() => {
            let by_user = payload.text("cause") == Some("user");
            Event::Interrupted {
                host,
                cause: if by_user { "user" } else { "api_error" }.into(),
            }
        }
        "Stop" if host.subagent.is_some() => Event::OtherHook { host },
        _ => common::event(hook, host, payload, &TOOLS),
    }
}
