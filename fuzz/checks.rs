//! What must hold of every parser here, whatever the bytes: it comes to an end, does not panic, and keeps what is said
//! at each check. libFuzzer calls these with inputs that it grows, `tests/it/formats/fuzzing.rs` with damaged recordings.

use std::io::Read;

use checkpoint::agents::{self, adapter::HeadlessSign};
use checkpoint::config::{Candidate, Config};
use checkpoint::hooks::{self, HookCall, Reading};
use checkpoint::redact::{self, Redactor};
use checkpoint::terminal::{self, View};
use checkpoint::{SessionState, shell, transcript};
use journal::frame::{self, Kind};
use journal::reply::Response;
use journal::request::Received;
use journal::{Agent, Envelope, Event, Payload, Place, Timestamp, codec};
use uuid::Uuid;

const AGENTS: [Agent; Agent::HOSTS.len()] = Agent::HOSTS;
const PREFIX: &str = "[TeleClaude Checkpoint] - ";
const PAYLOAD_BYTES_MAX: usize = 64 * 1024;

/// A check of some bytes.
pub type Check = fn(&[u8]);

/// All checks, by the names of their fuzz targets.
pub const CHECKS: [(&str, Check); 9] = [
    ("hook", hook),
    ("transcript", transcript),
    ("shell", shell),
    ("config", config),
    ("frames", frames),
    ("reply", reply),
    ("codec", codec),
    ("redaction", redaction),
    ("screen", screen),
];

/// A hook's payload: what becomes an event is stored and told again as it is, has no secret left, and folds.
pub fn hook(bytes: &[u8]) {
    for agent in AGENTS {
        let at = Timestamp::from_micros(1_795_295_936_177_105);
        let call = HookCall {
            agent,
            event: None,
            payload: bytes,
            at,
            id: Uuid::nil(),
            env: Vec::new(),
            truncated: false,
        };
        let reading = Reading {
            prefix: PREFIX,
            payload_bytes_max: PAYLOAD_BYTES_MAX,
            redactor: redact::built_in(),
            agents: checkpoint::config::DescribedAgents::NONE,
        };
        let Ok(normal) = hooks::normalize(&call, reading) else {
            continue;
        };
        assert_eq!(
            hooks::normalize(&call, reading).as_ref(),
            Ok(&normal),
            "{agent:?}: read twice"
        );
        let draft = normal.draft;
        let envelope = Envelope {
            seq: 1,
            stream: draft.stream,
            at: draft.at,
            recorded_at: at,
            id: draft.id,
            late: false,
            event: draft.event,
            origin: None,
        };
        let stored = codec::decode_event(&codec::encode_event(&envelope))
            .expect("what was encoded can be decoded");
        assert_eq!(stored, envelope, "{agent:?}: stored");
        let payload = codec::decode_payload(&codec::encode_payload(draft.payload.as_deref()))
            .expect("it was encoded");
        assert_eq!(
            payload.text(),
            draft.payload.as_deref(),
            "{agent:?}: its payload stored"
        );
        let (told, _) = codec::from_json(codec::to_json(&envelope, payload.text()))
            .expect("what is told can be read");
        assert_eq!(told, envelope, "{agent:?}: told and read");
        let text = draft.payload.expect("a hook has a payload");
        if text.len() < PAYLOAD_BYTES_MAX
            && let Ok(mut value) = serde_json::from_str(&text)
        {
            let again = redact::built_in().payload(&mut value, &text);
            assert!(
                again.as_ref().is_none_or(|again| *again == text),
                "{agent:?}: {text} redacted twice is {again:?}"
            );
        }
        fold(&envelope);
    }
}

/// The end of a transcript: its facts are within their bounds.
pub fn transcript(bytes: &[u8]) {
    for (agent, from_start) in AGENTS
        .into_iter()
        .flat_map(|agent| [(agent, true), (agent, false)])
    {
        let Some(facts) = transcript::read(agent, bytes, from_start, PREFIX, redact::built_in())
        else {
            continue;
        };
        let said = facts
            .last_user
            .iter()
            .chain(&facts.last_real_user)
            .map(|user| &user.text);
        for text in said.chain(&facts.last_assistant) {
            assert!(
                text.len() <= Event::TEXT_BYTES_MAX,
                "{agent:?}: {} bytes",
                text.len()
            );
        }
    }
    for agent in agents::ALL {
        if let HeadlessSign::Transcript(is_headless) = (agent.headless)(&Place::default()) {
            is_headless(bytes);
        }
    }
}

/// A command line.
pub fn shell(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    for command in &shell::read(&line).commands {
        shell::is_dry(command);
    }
}

/// A configuration: what is refused is refused with words.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for file in ["config.yml", ".checkpointd.yml"] {
        if let Err(error) = Candidate::read(file, &text) {
            assert!(
                !error.to_string().is_empty(),
                "{file}: refused without a word"
            );
        }
    }
    if let Ok(config) = Config::load(Some(("config.yml", &text))) {
        config.show();
    }
}

/// Frames of the intake log and the spool: every byte belongs to one frame or one damage, in order, and a frame is what
/// would be written again. What lies in them is read too.
pub fn frames(bytes: &[u8]) {
    let mut end = 0;
    for found in frame::Reader::new(bytes) {
        let (offset, length) = match found {
            Ok(frame) => {
                let mut again = Vec::new();
                frame::push(&mut again, frame.kind, frame.payload);
                assert_eq!(
                    again,
                    bytes[frame.offset..frame.end()],
                    "a frame that no writer wrote"
                );
                match frame.kind {
                    Kind::Request => request(frame.payload),
                    Kind::Envelope => codec(frame.payload),
                    Kind::Head => {}
                }
                (frame.offset, again.len())
            }
            Err(
                frame::Damage::Torn { offset, bytes } | frame::Damage::Corrupt { offset, bytes },
            ) => (offset, bytes),
            Err(frame::Damage::Newer { offset, .. }) => (offset, 1),
        };
        assert!(
            offset >= end && length > 0 && offset + length <= bytes.len(),
            "{offset}+{length} after {end}"
        );
        end = offset + length;
    }
    request(bytes);
}

fn request(bytes: &[u8]) {
    if let Ok(request) = Received::parse(bytes) {
        assert!(request.body.len() < bytes.len());
        request.header("Checkpointd-Event");
    }
}

/// A response as the hook client and the command line read it: it stays the same if it arrives in two pieces, and what an
/// agent gets to see is empty or one JSON object.
pub fn reply(bytes: &[u8]) {
    let kind = |error: std::io::Error| error.kind();
    let whole = received(bytes).map_err(kind);
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    let in_pieces = received(first.chain(rest)).map_err(kind);
    assert_eq!(in_pieces, whole, "the pieces in which it came changed it");
    if let Ok((_, body)) = whole
        && let Ok(shown) = journal::reply::object(body)
        && !shown.is_empty()
    {
        let value: serde_json::Value =
            serde_json::from_slice(&shown).expect("only JSON is passed on");
        assert!(value.is_object());
    }
}

fn received(stream: impl Read) -> std::io::Result<(u16, Vec<u8>)> {
    let mut response = Response::receive(stream)?;
    let mut body = Vec::new();
    response.read_to_end(&mut body)?;
    Ok((response.status(), body))
}

/// Stored events, payloads and snapshots, and lines of an export: what is read is written as it was.
pub fn codec(bytes: &[u8]) {
    if let Ok((event, payload)) = codec::split(bytes) {
        stored(event, payload);
    }
    stored(bytes, bytes);
    codec::unpack::<SessionState>(bytes);
    if let Ok(line) = serde_json::from_slice(bytes)
        && let Ok((envelope, _)) = codec::from_json(line)
    {
        assert_eq!(
            codec::decode_event(&codec::encode_event(&envelope))
                .ok()
                .as_ref(),
            Some(&envelope)
        );
        fold(&envelope);
    }
}

fn stored(event: &[u8], payload: &[u8]) {
    if let Ok(envelope) = codec::decode_event(event) {
        let again = codec::decode_event(&codec::encode_event(&envelope))
            .expect("what was decoded can be encoded");
        // Compared as text, since a number that is none equals nothing.
        assert_eq!(format!("{again:?}"), format!("{envelope:?}"));
        codec::to_json(&envelope, None);
        fold(&envelope);
    }
    if let Ok(Payload::Text(text)) = codec::decode_payload(payload) {
        let again =
            codec::decode_payload(&codec::encode_payload(Some(&text))).expect("it was encoded");
        assert_eq!(again.text(), Some(text.as_str()));
    }
}

fn fold(envelope: &Envelope) {
    let mut state = SessionState::new(envelope.stream.clone());
    state.apply(envelope);
    state.apply(envelope);
}

/// Redaction: to do it twice changes nothing, in text and in JSON.
pub fn redaction(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let extra = vec![redact::pattern("employee-[0-9]+").expect("a pattern")];
    for redactor in [redact::built_in(), &Redactor::new(true, extra)] {
        let once = redactor.text(&text);
        assert_eq!(redactor.text(&once), once, "redacted twice");
        if let Ok(mut value) = serde_json::from_str::<serde_json::Value>(&text)
            && let Some(once) = redactor.payload(&mut value, &text)
        {
            let mut value = serde_json::from_str(&once).expect("it stays JSON");
            let again = redactor.payload(&mut value, &once);
            assert!(
                again.as_ref().is_none_or(|again| *again == once),
                "{once} redacted twice is {again:?}"
            );
        }
    }
}

/// A terminal's screen below a line that places the cursor: column, row, and `shown` where it is.
pub fn screen(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (head, screen) = text.split_once('\n').unwrap_or(("", &text));
    let mut words = head.split(' ');
    let mut number = || {
        words
            .next()
            .and_then(|word| word.parse::<u16>().ok())
            .unwrap_or(0)
            .into()
    };
    let cursor = (number(), number());
    let view = View {
        screen: screen.to_owned(),
        cursor,
        cursor_shown: words.next() == Some("shown"),
    };
    for agent in AGENTS {
        terminal::read(agent, &view, PREFIX);
    }
    terminal::shows(&view, PREFIX);
}
