//! Gemini CLI's hook calls.

use journal::{Event, Host};

use super::tools::TOOLS;
use crate::hooks::common;
use crate::hooks::payload::{Fields, Payload};

pub(super) const FIELDS: Fields = Fields {
    session: "session_id",
    turn: &[],
    hook: None,
    frequent: &[
        "BeforeTool",
        "AfterTool",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "PreCompress",
    ],
};

pub(super) fn event(hook: &str, host: Host, payload: &Payload<'_>) -> Event {
    match hook {
        "BeforeAgent" => payload.prompt(host),
        "BeforeTool" => Event::ToolStarted {
            host,
            call: payload.tool(&TOOLS),
        },
        "AfterTool" => Event::ToolFinished {
            host,
            call: payload.finished_tool(&TOOLS),
        },
        // The only sign of an interrupt; continuing the agent then would be against its user's will.
        "AfterAgent" if payload.text("prompt_response") == Some("[no response text]") => {
            Event::Interrupted {
                host,
                cause: "user".into(),
            }
        }
        "AfterAgent" => payload.stop(host, "prompt_response"),
        "Notification" => payload.notification(host),
        // The automatic one comes before every model call, whether it compresses or not.
        "PreCompress" if payload.text("trigger") == Some("manual") => Event::CompactionStarted {
            host,
            trigger: "manual".into(),
        },
        "BeforeModel" | "AfterModel" | "BeforeToolSelection" | "PreCompress" => {
            Event::ModelStepped { host }
        }
        "SessionStart" | "SessionEnd" => common::event(hook, host, payload, &TOOLS),
        _ => Event::OtherHook { host },
    }
}
