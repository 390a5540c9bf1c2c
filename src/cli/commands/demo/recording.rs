//! The recordings, and the substitutions that make them playable now: paths, session ids, times,
//! and the name of the file that the agent worked on. Nothing else changes.

use std::path::PathBuf;

use journal::Timestamp;
use serde_json::Value;

use super::project::Project;
use super::stage::Stage;
use crate::error::{Failure, Result};

/// One recorded session of an agent, with one blocked stop.
pub(super) struct Recording {
    /// The agent's word, also the name of the folder with its recordings.
    pub(super) agent: &'static str,
    /// The agent's name and version.
    pub(super) name: &'static str,
    /// The project in which it is played.
    pub(super) project: &'static Project,
    calls: &'static str,
    transcript: &'static str,
}

/// The folder, home and file in the recordings, and the message that blocked the recorded agents.
const RECORDED_PROJECT: &str = "/home/user/project";
const RECORDED_HOME: &str = "/home/user";
const RECORDED_FILE: &str = "notes.txt";
const RECORDED_FEEDBACK: &str = "DEBRIEF: say what you did.\nSecond line.";

/// The recordings to play, one for each agent.
pub(super) const RECORDINGS: [Recording; 3] = [
    Recording {
        agent: "claude",
        name: "Claude Code 2.1.330",
        project: &Project {
            name: "inventory",
            files: &[
                ("pyproject.toml", "[project]\nname = \"inventory\"\n"),
                ("stock/__init__.py", ""),
            ],
            written: "stock/reorder.py",
        },
        calls: include_str!("../../../../tests/data/fixtures/claude/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/claude/h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl"
        ),
    },
    Recording {
        agent: "gemini",
        name: "Gemini CLI 0.61.0",
        project: &Project {
            name: "webshop",
            files: &[
                ("package.json", "{ \"name\": \"webshop\" }\n"),
                ("src/index.js", ""),
            ],
            written: "src/cart.js",
        },
        calls: include_str!("../../../../tests/data/fixtures/gemini/h-stop-deny-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/gemini/h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl"
        ),
    },
    Recording {
        agent: "codex",
        name: "Codex CLI 0.169.0",
        project: &Project {
            name: "parser",
            files: &[
                ("Cargo.toml", "[package]\nname = \"parser\"\n"),
                ("src/lib.rs", ""),
            ],
            written: "src/tokens.rs",
        },
        calls: include_str!("../../../../tests/data/fixtures/codex/h-stop-block-once.ndjson"),
        transcript: include_str!(
            "../../../../tests/data/fixtures/codex/h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl"
        ),
    },
];

/// A recording adapted to be played now.
pub(super) struct Script {
    /// The agent's session id, a new one.
    pub(super) session: String,
    pub(super) transcript: PathBuf,
    /// The hook calls in order.
    pub(super) calls: Vec<Call>,
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
    /// The reply to this call blocked the recorded agent's stop.
    pub(super) was_blocked: bool,
    /// The agent has just changed its file.
    pub(super) edited: bool,
}

impl Script {
    /// Adapts a recording.
    pub(super) fn new(recording: &Recording, stage: &Stage, from: Timestamp) -> Result<Self> {
        let damaged = || {
            Failure::failed(format!(
                "the recording of {} cannot be read",
                recording.name
            ))
        };
        let first = recording.calls.lines().next().ok_or_else(damaged)?;
        let first: Value = serde_json::from_str(first).map_err(Failure::failed)?;
        let recorded_from: Timestamp = text(&first["at"]).parse().map_err(|_| damaged())?;
        let recorded_session = text(&first["payload"]["session_id"]).to_owned();
        let session = uuid::Uuid::new_v4().to_string();
        let project = stage.project(recording.project);
        let here = |recorded: &str| {
            let moved = recorded
                .replace(RECORDED_PROJECT, &in_json(&project.to_string_lossy()))
                .replace(
                    RECORDED_HOME,
                    &in_json(&stage.agents_home().to_string_lossy()),
                )
                .replace(&recorded_session, &session)
                .replace(RECORDED_FILE, recording.project.written);
            shift(&moved, from.as_micros() - recorded_from.as_micros())
        };
        let read = |line: &str| Call::read(line, stage).ok_or_else(damaged);
        let calls = here(recording.calls)
            .lines()
            .map(read)
            .collect::<Result<Vec<_>>>()?;
        let payload: Value = serde_json::from_str(&calls[0].payload).map_err(Failure::failed)?;
        let transcript = PathBuf::from(text(&payload["transcript_path"]));
        let lines = timed_lines(&here(recording.transcript), from);
        Ok(Self {
            session,
            transcript,
            calls,
            lines,
        })
    }

    /// Returns the transcript as of a time, with the message that the agent really got.
    pub(super) fn transcript_at(&self, at: Timestamp, feedback: Option<&str>) -> String {
        let lines = self.lines.iter().take_while(|(written, _)| *written <= at);
        lines
            .map(|(_, line)| with_feedback(line, feedback) + "\n")
            .collect()
    }
}

impl Call {
    fn read(line: &str, stage: &Stage) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let env = line["env"]
            .as_object()?
            .iter()
            .map(|(name, value)| (name.clone(), text(value).to_owned()));
        // Not the real folder: the user's own agents keep files there.
        let ours = |(name, value): (String, String)| match name.as_str() {
            "TMPDIR" => (name, stage.agents_tmp().to_string_lossy().into_owned()),
            _ => (name, value),
        };
        let event = text(&line["event"]).to_owned();
        let edits = ["Write", "Edit", "apply_patch", "write_file", "replace"];
        Some(Self {
            edited: ["PostToolUse", "AfterTool"].contains(&event.as_str())
                && edits.contains(&text(&line["payload"]["tool_name"])),
            due: text(&line["at"]).parse().ok()?,
            env: env.map(ours).collect(),
            payload: line["payload"].to_string(),
            was_blocked: line.get("hook_replied").is_some_and(Value::is_object),
            event,
        })
    }

    /// Returns whether the agent stops here and acts on the reply.
    pub(super) fn is_stop(&self) -> bool {
        self.event == "Stop" || self.event == "AfterAgent"
    }

    /// Returns whether a prompt starts here, from a person or from a blocked stop.
    pub(super) fn is_prompt(&self) -> bool {
        self.event == "UserPromptSubmit" || self.event == "BeforeAgent"
    }
}

/// Replaces the recorded message by the one that the agent really got.
pub(super) fn with_feedback(json: &str, feedback: Option<&str>) -> String {
    match feedback {
        Some(feedback) => json.replace(&in_json(RECORDED_FEEDBACK), &in_json(feedback)),
        None => json.to_owned(),
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

/// Escapes a text for a JSON string.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Gives each line the time that it contains, or that of the line before it.
fn timed_lines(transcript: &str, from: Timestamp) -> Vec<(Timestamp, String)> {
    let mut at = from;
    let timed = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        at = text(&value["timestamp"]).parse().unwrap_or(at).max(at);
        (at, line.to_owned())
    };
    transcript.lines().map(timed).collect()
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
    fn feedback_is_replaced_within_json() {
        let line = r#"{"prompt":"DEBRIEF: say what you did.\nSecond line."}"#;
        assert_eq!(
            with_feedback(line, Some("a \"b\"\n")),
            r#"{"prompt":"a \"b\"\n"}"#
        );
        assert_eq!(with_feedback(line, None), line);
    }
}
