//! Plays recorded sessions of agents as their hosts would: each call at its time, and past a stop only if the reply says so.

mod folders;
mod list;
mod script;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use journal::Timestamp;
use serde_json::Value;

use crate::daemon::Daemon;
use crate::{Home, git, run, wait_until};
pub use folders::Folders;
use list::{RECORDINGS, Recording};
use script::{Blocked, Script};

/// The configuration of a daemon that recordings are played to. The turns are short, and no person watches them.
pub const CONFIG: &str = "min_turn: 1s\nheadless: always\nhooks: {stop_wait: 20s}\n";
/// A shorter turn gets no checkpoint: `min_turn` plus a margin.
const TURN_AT_LEAST: Duration = Duration::from_millis(1_300);

/// A nonempty reply to a hook call.
pub struct Reply {
    pub agent: &'static str,
    pub session: String,
    pub text: String,
}

impl Reply {
    /// Returns the message in the reply, in any agent's dialect.
    pub fn message(&self) -> Option<String> {
        let reply: Value = serde_json::from_str(&self.text).ok()?;
        let message = reply
            .get("reason")
            .or_else(|| reply.pointer("/hookSpecificOutput/additionalContext"))
            .or_else(|| reply.pointer("/hookSpecificOutput/permissionDecisionReason"))?;
        Some(message.as_str()?.to_owned())
    }
}

impl Folders {
    /// Makes the agents' folders, and the projects of these agents, below a folder. Git and the agents use canonical paths.
    ///
    /// # Panics
    ///
    /// Where it fails.
    pub fn new(folder: &Path, agents: &[&str]) -> Self {
        let folders = Self::at(folder.canonicalize().expect("a folder"));
        for folder in [folders.home(), folders.tmp()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        for recording in recordings(agents) {
            let folder = folders.project(recording);
            for (name, text) in recording.project.files {
                write(&folder.join(name), text);
            }
            git::commit_all(&folder);
        }
        folders
    }

    /// Starts a daemon with the agents' environment.
    pub fn start(&self, daemon: &mut Daemon) {
        let variables = self.variables();
        let variables = variables.each_ref();
        daemon.start_with(&variables.map(|(name, path)| (*name, path.to_str().expect("text"))));
    }

    /// Plays one recorded session of each of these agents at the same time, and returns all replies.
    ///
    /// # Panics
    ///
    /// Where a call fails.
    pub fn play(&self, home: &Home, agents: &[&str]) -> Vec<Reply> {
        let from = Timestamp::now();
        let play = |recording| self.play_one(home, recording, from);
        thread::scope(|scope| {
            let threads = recordings(agents).map(|recording| scope.spawn(move || play(recording)));
            let threads = Vec::from_iter(threads);
            let replies = threads
                .into_iter()
                .map(|thread| thread.join().expect("plays"));
            replies.flatten().collect()
        })
    }

    fn play_one(&self, home: &Home, recording: &Recording, from: Timestamp) -> Vec<Reply> {
        let script = Script::new(recording, self, from);
        let mut replies: Vec<Reply> = Vec::new();
        let (mut blocked, mut prompted, mut is_over) = (None::<Blocked>, Timestamp::now(), false);
        for call in &script.calls {
            if is_over && !call.is_end() {
                continue;
            }
            let due = if call.is_stop() {
                call.due.max(prompted.plus(TURN_AT_LEAST))
            } else {
                call.due
            };
            thread::sleep(due.since(Timestamp::now()));
            if let Some(text) = &call.writes {
                let folder = self.project(recording);
                write(&folder.join(recording.project.written), text);
            }
            if call.is_stop() {
                if let Some(transcript) = &script.transcript {
                    write(
                        transcript,
                        &script.transcript_at(call.due, blocked.as_ref()),
                    );
                }
                // On a slow machine a call may have been spooled. It must be in the journal before the stop.
                wait_until(|| home.waiting() == 0);
            }
            if call.is_prompt() && blocked.is_none() {
                prompted = Timestamp::now();
            }
            let feedback = blocked.as_ref().map(|blocked| blocked.feedback.as_str());
            let payload = script.with_feedback(&call.payload, feedback);
            let text = self.call(home, recording, call, &payload);
            // The recorded agent went on because its stop was blocked; this one was not.
            is_over |= call.was_blocked && text.is_empty();
            let reply = (!text.is_empty()).then(|| Reply {
                agent: recording.agent,
                session: script.session.clone(),
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
            replies.extend(reply);
        }
        replies
    }

    /// Runs the client for one call and returns what it prints.
    fn call(
        &self,
        home: &Home,
        recording: &Recording,
        call: &script::Call,
        payload: &str,
    ) -> String {
        // Codex passes its notification as the last argument.
        let (argument, input) = match &*call.event {
            "notify" => (payload, ""),
            event => (event, payload),
        };
        let mut command = home.client(&[recording.agent, argument]);
        command
            .envs(call.env.iter().map(|(name, value)| (name, value)))
            .envs(self.variables())
            .current_dir(self.project(recording));
        let output = run(&mut command, input.as_bytes());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }
}

fn recordings(agents: &[&str]) -> impl Iterator<Item = &'static Recording> {
    RECORDINGS
        .iter()
        .filter(|recording| agents.contains(&recording.agent))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("writes");
}
