//! Plays one session as its agent would: each call at its time, and past a stop only if the reply
//! says so.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use journal::Timestamp;
use serde_json::{Value, json};

use super::project::write;
use super::recording::{Blocked, Call, Script};
use super::recordings::Recording;
use super::stage::Stage;
use crate::error::{Failure, Result};

/// A shorter turn gets no checkpoint: the demo's `min_turn` plus a margin.
const TURN_AT_LEAST: Duration = Duration::from_millis(1_300);
/// The longest time from spooling a call to journaling it.
const SPOOL_WAIT: Duration = Duration::from_secs(10);

/// A nonempty reply to a hook call.
pub(super) struct Reply {
    pub(super) agent: &'static str,
    pub(super) session: String,
    pub(super) event: String,
    pub(super) text: String,
}

impl Reply {
    /// Returns the message in the reply, in any agent's dialect.
    pub(super) fn message(&self) -> Option<String> {
        let reply: Value = serde_json::from_str(&self.text).ok()?;
        let message = reply
            .get("reason")
            .or_else(|| reply.pointer("/hookSpecificOutput/additionalContext"))
            .or_else(|| reply.pointer("/hookSpecificOutput/permissionDecisionReason"))?;
        Some(message.as_str()?.to_owned())
    }

    pub(super) fn to_json(&self) -> Value {
        let reply = serde_json::from_str(&self.text).unwrap_or(Value::from(self.text.as_str()));
        let message = self.message();
        json!({ "agent": self.agent, "session": self.session, "event": self.event, "message": message, "reply": reply })
    }
}

/// Data that all players share.
pub(super) struct Players<'a> {
    pub(super) stage: &'a Stage,
    /// The client's program and its first arguments.
    pub(super) client: (PathBuf, &'static [&'static str]),
    /// Hook calls made so far.
    pub(super) done: AtomicUsize,
}

impl Players<'_> {
    /// Plays a script from start to end and returns all replies. `tell` gets each call and its reply.
    pub(super) fn play(
        &self,
        recording: &Recording,
        script: &Script,
        mut tell: impl FnMut(&Call, Option<&Reply>) -> Result<()>,
    ) -> Result<Vec<Reply>> {
        let mut replies: Vec<Reply> = Vec::new();
        let (mut blocked, mut prompted, mut is_over) = (None::<Blocked>, Timestamp::now(), false);
        for call in &script.calls {
            self.done.fetch_add(1, Ordering::Relaxed);
            if is_over && !call.is_end() {
                continue;
            }
            let due = if call.is_stop() {
                call.due.max(prompted.plus(TURN_AT_LEAST))
            } else {
                call.due
            };
            self.stage.wait(due.since(Timestamp::now()))?;
            if let Some(text) = &call.writes {
                let folder = self.stage.project(recording.project);
                write(&folder.join(recording.project.written), text)?;
            }
            if call.is_stop() {
                if let Some(transcript) = &script.transcript {
                    let now = script.transcript_at(call.due, blocked.as_ref());
                    write(transcript, &now)?;
                }
                self.wait_for_spool()?;
            }
            if call.is_prompt() && blocked.is_none() {
                prompted = Timestamp::now();
            }
            let feedback = blocked.as_ref().map(|blocked| blocked.feedback.as_str());
            let payload = script.with_feedback(&call.payload, feedback);
            let text = self.call(recording, call, &payload)?;
            // The recorded agent went on because its stop was blocked; this one was not.
            is_over |= call.was_blocked && text.is_empty();
            let reply = (!text.is_empty()).then(|| Reply {
                agent: recording.agent,
                session: script.session.clone(),
                event: call.event.clone(),
                text,
            });
            if let Some(feedback) = reply.as_ref().and_then(Reply::message) {
                let late_micros = Timestamp::now().as_micros() - call.due.as_micros();
                blocked = Some(Blocked {
                    due: call.due,
                    late_micros,
                    feedback,
                });
            }
            tell(call, reply.as_ref())?;
            replies.extend(reply);
        }
        Ok(replies)
    }

    /// Runs the client for one call and returns what it prints.
    fn call(&self, recording: &Recording, call: &Call, payload: &str) -> Result<String> {
        let cannot =
            |error: std::io::Error| Failure::failed(format!("cannot run the hook client: {error}"));
        let (program, first) = &self.client;
        let mut command = self.stage.command(program);
        command
            .args(*first)
            .arg(recording.agent)
            .envs(call.env.iter().map(|(name, value)| (name, value)));
        command
            .env("CHECKPOINTD_STOP_WAIT_MS", "20000")
            .env("CHECKPOINTD_PLAIN_WAIT_MS", "20000");
        command.current_dir(self.stage.project(recording.project));
        command.stdout(Stdio::piped());
        // Codex passes its notification as the last argument.
        let is_notify = call.event == "notify";
        let mut child = if is_notify {
            command.arg(payload).spawn()
        } else {
            command.arg(&call.event).stdin(Stdio::piped()).spawn()
        }
        .map_err(cannot)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.as_bytes()).map_err(cannot)?;
        }
        let output = child.wait_with_output().map_err(cannot)?;
        if !output.status.success() {
            return Err(Failure::failed(format!(
                "the hook client ended with {}",
                output.status
            )));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// On a slow machine a call may have been spooled. It must be in the journal before the stop.
    fn wait_for_spool(&self) -> Result<()> {
        let began = Instant::now();
        let spool = self.stage.home().spool;
        while began.elapsed() < SPOOL_WAIT
            && actors::spool::list(&spool).is_ok_and(|calls| !calls.is_empty())
        {
            self.stage.wait(Duration::from_millis(20))?;
        }
        Ok(())
    }
}
