//! The substitutions that make a recording playable now: paths, session ids, times, and the name of the file that the agent
//! worked on. Nothing else changes.

use std::path::PathBuf;

use journal::Timestamp;
use serde_json::Value;

use super::folders::Folders;
use super::list::{Recording, SESSION};

/// The project's folder and the home folder in the recordings.
const RECORDED_PROJECT: &str = "/home/user/project";
const RECORDED_HOME: &str = "/home/user";
/// Tools that change files, in small letters.
const EDITS: [&str; 8] = [
    "write",
    "edit",
    "apply_patch",
    "write_file",
    "replace",
    "search_replace",
    "create",
    "file_editor",
];

/// A recording adapted to be played now.
pub(super) struct Script {
    /// The agent's session id, a new one.
    pub(super) session: String,
    /// Where the agent keeps its transcript; none if it is not read.
    pub(super) transcript: Option<PathBuf>,
    /// The hook calls in order.
    pub(super) calls: Vec<Call>,
    /// The message that blocked the recorded agent; empty if the script has none.
    feedback: &'static str,
    /// The transcript's lines, each with the time at which it appears.
    lines: Vec<(Timestamp, String)>,
}

/// One recorded hook call.
pub(super) struct Call {
    pub(super) event: String,
    pub(super) due: Timestamp,
    /// The variables of the agent's environment that hooks read.
    pub(super) env: Vec<(String, String)>,
    pub(super) payload: String,
    /// Empty if the call does not say.
    pub(super) transcript: String,
    /// The reply to this call blocked the recorded agent's stop.
    pub(super) was_blocked: bool,
    /// What the agent has just written to its file.
    pub(super) writes: Option<String>,
}

impl Script {
    /// Adapts a recording.
    pub(super) fn new(recording: &Recording, folders: &Folders, from: Timestamp) -> Self {
        let first = recording.calls.lines().next().expect("a call");
        let first: Value = serde_json::from_str(first).expect("JSON");
        let recorded_from: Timestamp = text(&first["at"]).parse().expect("a time");
        let recorded_session = field(&first["payload"], ["session_id", "sessionId"]).to_owned();
        let session = uuid::Uuid::new_v4().to_string();
        let project = folders.project(recording);
        let here = |recorded: &str| {
            let moved = recorded
                .replace(RECORDED_PROJECT, &in_json(&project.to_string_lossy()))
                .replace(RECORDED_HOME, &in_json(&folders.home().to_string_lossy()))
                .replace(&recorded_session, &session)
                .replace(recording.file, recording.project.written);
            let by_micros = from.as_micros() - recorded_from.as_micros();
            let moved = shift(&moved, by_micros);
            shift_millis(&moved, recorded_from.as_micros() / 1_000, by_micros / 1_000)
        };
        let read = |line: &str| Call::read(line, folders).expect("a call");
        let mut calls: Vec<_> = here(recording.calls).lines().map(read).collect();
        let writes = calls.iter_mut().filter_map(|call| call.writes.as_mut());
        for (text, number) in writes.zip(1..) {
            written_after(number).clone_into(text);
        }
        let named = calls
            .iter()
            .map(|call| call.transcript.as_str())
            .find(|path| !path.is_empty());
        let place = recording
            .transcript_place
            .map(|place| here(place).replace(SESSION, &session));
        let transcript = place.or(named.map(str::to_owned)).map(PathBuf::from);
        let lines = timed_lines(&here(recording.transcript), from);
        Self {
            session,
            transcript,
            calls,
            feedback: recording.feedback,
            lines,
        }
    }

    /// Replaces the recorded message by the one that the agent really got.
    pub(super) fn with_feedback(&self, json: &str, feedback: Option<&str>) -> String {
        match feedback {
            Some(feedback) if !self.feedback.is_empty() => {
                json.replace(&in_json(self.feedback), &in_json(feedback))
            }
            _ => json.to_owned(),
        }
    }

    /// Returns the transcript as of a time, with the message that the agent really got.
    ///
    /// What follows the stop that this message blocked moves by as much as that stop was late.
    pub(super) fn transcript_at(&self, at: Timestamp, blocked: Option<&Blocked>) -> String {
        let lines = self.lines.iter().take_while(|(written, _)| *written <= at);
        let line = |(written, line): &(Timestamp, String)| {
            let line = self.with_feedback(line, blocked.map(|blocked| blocked.feedback.as_str()));
            match blocked.filter(|blocked| *written > blocked.due) {
                Some(blocked) => shift(&line, blocked.late_micros) + "\n",
                None => line + "\n",
            }
        };
        lines.map(line).collect()
    }
}

/// A stop that was blocked.
pub(super) struct Blocked {
    pub(super) due: Timestamp,
    pub(super) late_micros: i64,
    pub(super) feedback: String,
}

impl Call {
    fn read(line: &str, folders: &Folders) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let env = line["env"]
            .as_object()?
            .iter()
            .map(|(name, value)| (name.clone(), text(value).to_owned()));
        // Not the real folder: the user's own agents keep files there.
        let ours = |(name, value): (String, String)| match name.as_str() {
            "TMPDIR" => (name, folders.tmp().to_string_lossy().into_owned()),
            _ => (name, value),
        };
        let event = text(&line["event"]).to_owned();
        let payload = &line["payload"];
        let tool = field(payload, ["tool_name", "toolName"]).to_lowercase();
        // Vibe names a group before the tool.
        let tool = tool.rsplit('.').next().unwrap_or_default();
        let is_after =
            ["posttooluse", "aftertool", "post_tool"].contains(&event.to_lowercase().as_str());
        Some(Self {
            writes: (is_after && EDITS.contains(&tool)).then(String::new),
            due: text(&line["at"]).parse().ok()?,
            env: env.map(ours).collect(),
            transcript: field(payload, ["transcript_path", "transcriptPath"]).to_owned(),
            payload: payload.to_string(),
            was_blocked: line.get("hook_replied").is_some_and(Value::is_object),
            event,
        })
    }

    /// Returns whether the agent stops here and acts on the reply.
    pub(super) fn is_stop(&self) -> bool {
        ["Stop", "AfterAgent", "agentStop", "post_agent"].contains(&self.event.as_str())
    }

    /// Returns whether a prompt starts here, from a person or from a blocked stop.
    pub(super) fn is_prompt(&self) -> bool {
        ["UserPromptSubmit", "BeforeAgent", "userPromptSubmitted"].contains(&self.event.as_str())
    }

    pub(super) fn is_end(&self) -> bool {
        self.event.eq_ignore_ascii_case("SessionEnd")
    }
}

/// Returns the content of the agent's file after `edits` changes.
pub(super) const fn written_after(edits: usize) -> &'static str {
    if edits == 1 {
        "alpha\nbeta\n"
    } else {
        "alpha\ngamma\n"
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a payload's field, which is called differently by some agents.
fn field<'v>(payload: &'v Value, names: [&str; 2]) -> &'v str {
    let present = names.iter().find_map(|name| payload.get(*name));
    present.map(text).unwrap_or_default()
}

/// Escapes a text for a JSON string.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Gives each line the time that it contains, or that of the next line with one: it was not written before the lines above
/// it, and maybe not long before the next one.
fn timed_lines(transcript: &str, from: Timestamp) -> Vec<(Timestamp, String)> {
    let own = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        let of_grok = || value["params"]["_meta"]["agentTimestampMs"].as_i64();
        let millis = || {
            value["time"]
                .as_i64()
                .or_else(of_grok)
                .or_else(|| created_at(line))
        };
        let millis = || Some(Timestamp::from_micros(millis()? * 1_000));
        text(&value["timestamp"]).parse().ok().or_else(millis)
    };
    let times: Vec<Option<Timestamp>> = transcript.lines().map(own).collect();
    let mut at = from;
    let timed = |(number, line): (usize, &str)| {
        let next = times[number..].iter().find_map(|time| *time);
        at = next.unwrap_or(at).max(at);
        (at, line.to_owned())
    };
    transcript.lines().enumerate().map(timed).collect()
}

/// Returns the first time in a line of Vibe's, in milliseconds: older ones follow.
fn created_at(line: &str) -> Option<i64> {
    let (_, rest) = line.split_once("\"createdAt\":")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// Shifts every RFC 3339 time in a text.
fn shift(recorded: &str, by_micros: i64) -> String {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = |window: &[u8]| {
        window.iter().zip(SHAPE).all(|(byte, shape)| {
            if *shape == b'd' {
                byte.is_ascii_digit()
            } else {
                byte == shape
            }
        })
    };
    let bytes = recorded.as_bytes();
    let mut out = String::with_capacity(recorded.len());
    let mut copied = 0;
    let mut at = 0;
    while at + SHAPE.len() < bytes.len() {
        let is_fraction = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let end = at
            + SHAPE.len()
            + bytes[at + SHAPE.len()..]
                .iter()
                .take_while(is_fraction)
                .count();
        let is_time = fits(&bytes[at..at + SHAPE.len()]) && bytes.get(end) == Some(&b'Z');
        match is_time.then(|| recorded[at..=end].parse::<Timestamp>()) {
            Some(Ok(time)) => {
                out.push_str(&recorded[copied..at]);
                out.push_str(&Timestamp::from_micros(time.as_micros() + by_micros).to_string());
                at = end + 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.push_str(&recorded[copied..]);
    out
}

/// Shifts every time in a text that is a number of milliseconds: 13 digits, within a day of the recording.
fn shift_millis(recorded: &str, recorded_from: i64, by: i64) -> String {
    const DAY: u64 = 86_400_000;
    let mut out = String::with_capacity(recorded.len());
    let mut rest = recorded;
    while let Some(begin) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from) = rest.split_at(begin);
        let end = from.find(|letter: char| !letter.is_ascii_digit());
        let (digits, after) = from.split_at(end.unwrap_or(from.len()));
        out.push_str(before);
        match digits.parse::<i64>() {
            Ok(time) if digits.len() == 13 && time.abs_diff(recorded_from) < DAY => {
                out.push_str(&(time + by).to_string());
            }
            _ => out.push_str(digits),
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_and_nothing_else_does() {
        let before = r#"{"a":"2026-11-21T21:19:09.002Z","b":"x 2026-11-21T21:19:09Z, é 2026-11-21T21-19-08","c":"2026-11-21T21:19:09.002"}"#;
        let after = r#"{"a":"2026-11-21T21:19:10.502000Z","b":"x 2026-11-21T21:19:10.500000Z, é 2026-11-21T21-19-08","c":"2026-11-21T21:19:09.002"}"#;
        assert_eq!(shift(before, 1_500_000), after);
    }

    #[test]
    fn milliseconds_of_the_recording_move_too() {
        let before = r#"{"time":1795372089172,"id":"call_11795372089172","old":1695372089172,"n":[1795372089173]}"#;
        let after = r#"{"time":1795372090172,"id":"call_11795372089172","old":1695372089172,"n":[1795372090173]}"#;
        assert_eq!(shift_millis(before, 1_795_372_089_000, 1_000), after);
    }
}
