//! What the plugin tells: Claude Code's names.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::Payload;

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        "Interrupt" => {
            let by_user = payload.text("cause") == Some("user");
            Event::Interrupted {
                host,
                cause: if by_user { "user" } else { "api_error" }.into(),
            }
        }
        _ => common::event(hook, host, payload, &TOOLS),
    }
}
