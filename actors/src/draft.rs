//! Events about to be appended, with ids made from their causes, so that each can be appended only once.

use std::fmt::Display;

use checkpoint::redact::Redactor;
use journal::{Draft, Event, Evidence, Journal, Stream, Timestamp};
use uuid::Uuid;

/// Returns an event of the daemon itself. Its id is made from the event's kind and `name`.
pub fn daemon_draft(event: Event, name: impl Display) -> Draft {
    derived(&Stream::daemon(), Timestamp::now(), event, name)
}

/// Returns an event that follows from `cause`. Its id is made from its kind and the cause, so a second append of it is
/// a duplicate.
pub fn derived(stream: &Stream, at: Timestamp, event: Event, cause: impl Display) -> Draft {
    let name = format!("{}:{cause}", event.kind());
    let id = Uuid::new_v5(&stream.session, name.as_bytes());
    Draft {
        stream: stream.clone(),
        at,
        id,
        event,
        payload: None,
    }
}

/// The fields of events that say where something is, by which it is found again: they are not redacted.
pub const PLACES: [&str; 7] = [
    "cwd",
    "transcript",
    "project",
    "top",
    "file",
    "place",
    "git_dir",
];

/// Has every event that is appended to a journal pass a redactor from now on (spec JRNL-20): daemon and commands do this
/// when they open one.
pub fn guard(journal: &Journal, redactor: &Redactor) {
    let redactor = redactor.clone();
    journal.clean_with(move |draft| clean(&redactor, draft));
}

/// Returns a draft without secrets in any text of its event, whatever the field, but for [`PLACES`].
///
/// Each text passes once. A hook call's payload was redacted as a whole before the event was made from it. What was
/// gathered for a stop passed [`gathered`], a decision is made from that, and a policy from the settings: all three are
/// proved by hashes, so they stay as they are.
fn clean(redactor: &Redactor, draft: Draft) -> Draft {
    let is_clean = match &draft.event {
        Event::Decided(_)
        | Event::PolicyAdopted { .. }
        | Event::FactsGathered { .. }
        | Event::EvidenceGathered { .. } => true,
        event => event.host().is_some() && draft.payload.is_some(),
    };
    match is_clean {
        true => draft,
        false => Draft {
            event: redactor.clean(draft.event, &PLACES),
            ..draft
        },
    }
}

/// Returns the evidence of a stop without secrets. Names of files and notes may hold one, and the message repeats them.
/// The calls, which are most of it, were redacted when they were read.
pub(crate) fn gathered(redactor: &Redactor, mut evidence: Evidence) -> Evidence {
    let timeline = std::mem::take(&mut evidence.timeline);
    let facts = redactor.clean(std::mem::take(&mut evidence.facts), &PLACES);
    Evidence {
        timeline,
        facts,
        ..redactor.clean(evidence, &PLACES)
    }
}

#[cfg(test)]
mod tests {
    use checkpoint::redact::built_in;
    use journal::codec;
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "hunter2-Zw41";

    /// An event of every kind: a variant's number followed by zeros decodes as one with empty fields.
    fn one_of_each() -> Vec<Event> {
        let decode = |number: u8| {
            let mut bytes = [0; 512];
            bytes[0] = number;
            codec::unpack::<Event>(&bytes)
        };
        (0..=250).map_while(decode).collect()
    }

    /// Values that fields of events can have, with a secret in each text.
    fn values() -> Vec<Value> {
        let text = format!("run DB_PASSWORD={SECRET} cargo test");
        let call = json!({"id": text, "tool": text, "kind": "shell", "command": text, "paths": [text], "is_error": false,
            "refused": false, "finished": true, "output": text, "at": "2026-11-20T09:00:00Z", "duration_ms": 1});
        vec![
            json!(text),
            json!([text]),
            json!([[text, text]]),
            json!([[text, [text]]]),
            json!([{"path": text, "hash": null}]),
            json!({"known": [{"path": text, "hash": null}]}),
            json!({"unknown": text}),
            json!([{"text": text, "category": text, "step": "observe"}]),
            json!([{"id": text, "subject": text, "status": "pending"}]),
            json!([call]),
            call,
            json!({"known_files": [text], "packages": [text], "prompts": [text], "last_message": text, "remote": text,
                "files": {"empty": [text]}, "workspace": {"covered": [[text, [text]]],
                "packages": [{"folder": text, "name": text, "member_of": text}],
                "tasks": [{"folder": text, "runner": text, "name": text, "text": text}]}}),
            json!({"notes": [text], "changes": {"known": [{"path": text, "hash": null}]}}),
        ]
    }

    /// Returns an event as it is journaled.
    fn passed(event: Event) -> Event {
        let event = match event {
            Event::FactsGathered { trigger, facts } => {
                let facts = Evidence {
                    facts: *facts,
                    ..Evidence::default()
                };
                let facts = Box::new(gathered(built_in(), facts).facts);
                Event::FactsGathered { trigger, facts }
            }
            Event::EvidenceGathered { trigger, evidence } => Event::EvidenceGathered {
                trigger,
                evidence: Box::new(gathered(built_in(), *evidence)),
            },
            other => other,
        };
        clean(built_in(), daemon_draft(event, "")).event
    }

    #[test]
    fn no_text_of_an_event_keeps_a_secret_whatever_its_field() {
        let mut planted = 0;
        for event in one_of_each() {
            let kind = event.kind();
            if matches!(kind, "decided" | "policy_adopted") {
                continue;
            }
            let whole = serde_json::to_value(&event).expect("plain data");
            let fields = whole[kind].as_object().cloned().unwrap_or_default();
            for (field, value) in fields.keys().flat_map(|field| {
                values()
                    .into_iter()
                    .map(move |value| (field.clone(), value))
            }) {
                let mut filled = whole.clone();
                filled[kind][&field] = value.clone();
                // A field of an object of the field's own: what it has now, and these.
                if let (Some(own), Some(more)) =
                    (whole[kind][&field].as_object(), value.as_object())
                {
                    let members = own.clone().into_iter().chain(more.clone());
                    filled[kind][&field] = Value::Object(members.collect());
                }
                let Ok(event) = serde_json::from_value::<Event>(filled) else {
                    continue;
                };
                let has = |event: &Event| {
                    serde_json::to_string(event).is_ok_and(|text| text.contains(SECRET))
                };
                if !has(&event) || PLACES.contains(&field.as_str()) {
                    continue;
                }
                planted += 1;
                let clean = passed(event);
                assert!(!has(&clean), "{kind}.{field}: {clean:?}");
                assert_eq!(clean.kind(), kind);
            }
        }
        assert!(planted >= 40, "{planted}");
    }

    #[test]
    fn an_order_has_a_payload_and_passes_all_the_same() {
        let event = Event::MarkedWrong {
            decision: 1,
            item: None,
            note: format!("the password is {SECRET}"),
            wrong: true,
        };
        let order = Draft {
            payload: Some("{}".into()),
            ..daemon_draft(event, "")
        };
        let stored = serde_json::to_string(&clean(built_in(), order).event).expect("plain data");
        assert!(!stored.contains(SECRET), "{stored}");
    }
}
