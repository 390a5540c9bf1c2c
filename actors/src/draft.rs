//! Events about to be appended, with ids made from their causes, so that each can be appended only once.

use journal::{Draft, Event, Stream, Timestamp};
use uuid::Uuid;

/// Returns an event of the daemon itself. Its id is made from the event's kind and `name`.
pub fn daemon_draft(event: Event, name: &str) -> Draft {
    let stream = Stream::daemon();
    let id = Uuid::new_v5(
        &stream.session,
        format!("{}:{name}", event.kind()).as_bytes(),
    );
    Draft {
        stream,
        at: Timestamp::now(),
        id,
        event,
        payload: None,
    }
}

/// Returns an event that follows from `cause`. Its id is made from its kind and the cause, so a second append of it is
/// a duplicate.
pub fn derived(stream: &Stream, at: Timestamp, event: Event, cause: &str) -> Draft {
    let id = Uuid::new_v5(
        &stream.session,
        format!("{}:{cause}", event.kind()).as_bytes(),
    );
    Draft {
        stream: stream.clone(),
        at,
        id,
        event,
        payload: None,
    }
}
