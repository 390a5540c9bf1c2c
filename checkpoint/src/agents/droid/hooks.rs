//! Droid's hook calls: Claude Code's names.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::Payload;

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        "Notification" => payload.notification(host),
        _ => common::event(hook, host, payload, &TOOLS),
    }
}
