//! The facts of a session's work from the journal: files, tool calls, failures and their
//! resolution, working time.

use journal::{Envelope, Event, Timestamp, ToolCall, ToolKind};
use serde::{Deserialize, Serialize};

use reading::text;

/// The most files that are kept, the last changed ones.
const FILES_MAX: usize = 300;
/// The most failures that are kept, the last ones.
const FAILURES_MAX: usize = 40;
/// The longest description of a call or its output, in bytes.
const WORDS_BYTES_MAX: usize = 200;
/// A longer pause within a turn counts as this: the agent waited for a person.
const PAUSE_MS_MAX: u64 = 10 * 60 * 1000;

/// The working time of an agent: from prompts to stops, with long pauses cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worked {
    /// The time, in milliseconds.
    pub ms: u64,
    last: Option<Timestamp>,
    is_working: bool,
}

impl Worked {
    /// Adds an event. Late events add nothing.
    pub fn see(&mut self, envelope: &Envelope) {
        if envelope.event.host().is_none() || self.last.is_some_and(|last| last > envelope.at) {
            return;
        }
        if let Some(last) = self.last.replace(envelope.at).filter(|_| self.is_working) {
            self.ms += envelope.at.millis_since(last).min(PAUSE_MS_MAX);
        }
        self.is_working = match envelope.event {
            Event::AgentStopped { .. } | Event::Interrupted { .. } | Event::SessionEnded { .. } => {
                false
            }
            Event::PromptSubmitted { .. }
            | Event::ToolStarted { .. }
            | Event::ToolFinished { .. } => true,
            _ => self.is_working,
        };
    }
}

/// The kind of change to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWork {
    /// The path, relative to the project if it is in the project.
    pub path: String,
    /// How often it was written as a whole.
    pub writes: u32,
    /// How often it was edited.
    pub edits: u32,
    /// It was written before it was read or edited, so it may be new.
    pub written_first: bool,
    /// When it was last changed.
    pub last_at: Timestamp,
    /// `created`, `modified` or `deleted`.
    pub status: String,
    /// Hash of its content; `None` when it does not exist.
    pub hash: Option<u64>,
}

/// A tool call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// When it happened.
    pub at: Timestamp,
    /// The host's name of the tool.
    pub tool: String,
    /// The command line or the file, cut.
    pub what: String,
    /// The last line of its output, cut.
    pub said: String,
    /// The later success that resolved it, with the files changed in between.
    pub resolved: Option<String>,
}

/// The facts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// When the first event happened.
    pub started_at: Option<Timestamp>,
    /// When the last event happened.
    pub last_at: Option<Timestamp>,
    /// Messages of the person.
    pub turns: u64,
    /// How long the agent worked, in milliseconds.
    pub worked_ms: u64,
    /// Tool calls that finished.
    pub tools: u64,
    /// Of these: shell commands.
    pub shell: u64,
    /// Of these: changes of files.
    pub changes: u64,
    /// Of these: reads.
    pub reads: u64,
    /// Of these: failed.
    pub failed: u64,
    /// The files that were changed, in the order of their last change.
    pub files: Vec<FileWork>,
    /// The number of files that are left out.
    pub files_left_out: u64,
    /// Failed calls, in order.
    pub failures: Vec<Failed>,
}

/// Folds a session's events. The caller, who can read the files, adds their status and hash.
pub fn facts(events: &[Envelope], project: &str) -> Facts {
    let mut facts = Facts::default();
    let mut worked = Worked::default();
    let mut read: Vec<String> = Vec::new();
    let mut cwd = project.to_owned();
    let mut open: Vec<(usize, Vec<String>)> = Vec::new();
    for envelope in events {
        worked.see(envelope);
        facts.started_at = Some(
            facts
                .started_at
                .map_or(envelope.at, |known| known.min(envelope.at)),
        );
        facts.last_at = facts.last_at.max(Some(envelope.at));
        if let Some(place) = envelope.event.host().and_then(|host| host.place.as_ref()) {
            cwd.clone_from(&place.cwd);
        }
        match &envelope.event {
            Event::PromptSubmitted {
                origin: journal::PromptOrigin::User,
                ..
            } => facts.turns += 1,
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } if !call.refused => {
                facts.count(call);
                let paths: Vec<String> = call
                    .paths
                    .iter()
                    .map(|path| within(path, &cwd, project))
                    .collect();
                if call.is_error {
                    facts.note_failure(call, &paths, envelope.at, &mut open);
                } else {
                    facts.note_success(call, &paths, envelope.at, &mut open);
                    match call.kind {
                        ToolKind::Read => read.extend(paths),
                        ToolKind::Edit | ToolKind::Write => {
                            paths
                                .into_iter()
                                .for_each(|path| facts.touch(path, call.kind, envelope.at, &read));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    facts.worked_ms = worked.ms;
    facts.files.sort_by_key(|file| file.last_at);
    let over = facts.files.len().saturating_sub(FILES_MAX);
    facts.files.drain(..over);
    facts.files_left_out = over as u64;
    let over = facts.failures.len().saturating_sub(FAILURES_MAX);
    facts.failures.drain(..over);
    facts
}

impl Facts {
    fn count(&mut self, call: &ToolCall) {
        self.tools += 1;
        self.failed += u64::from(call.is_error);
        match call.kind {
            ToolKind::Shell => self.shell += 1,
            ToolKind::Edit | ToolKind::Write => self.changes += 1,
            ToolKind::Read => self.reads += 1,
            ToolKind::Other => {}
        }
    }

    fn touch(&mut self, path: String, kind: ToolKind, at: Timestamp, read: &[String]) {
        let known = self.files.iter().position(|file| file.path == path);
        let index = known.unwrap_or_else(|| {
            let written_first = kind == ToolKind::Write && !read.contains(&path);
            self.files.push(FileWork {
                path,
                written_first,
                ..FileWork::default()
            });
            self.files.len() - 1
        });
        let file = &mut self.files[index];
        file.last_at = file.last_at.max(at);
        if kind == ToolKind::Write {
            file.writes += 1
        } else {
            file.edits += 1
        }
    }

    fn note_failure(
        &mut self,
        call: &ToolCall,
        paths: &[String],
        at: Timestamp,
        open: &mut Vec<(usize, Vec<String>)>,
    ) {
        let said = call
            .output
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or_default();
        let what = words_on(call, paths);
        // The same failure again says nothing new.
        open.retain(|(index, _)| {
            let again = self.failures[*index].what == what;
            if again {
                self.failures[*index].resolved = Some("failed again later".into());
            }
            !again
        });
        self.failures.push(Failed {
            at,
            tool: call.tool.clone(),
            what,
            said: text::head(said, WORDS_BYTES_MAX).to_owned(),
            resolved: None,
        });
        open.push((self.failures.len() - 1, Vec::new()));
    }

    /// Closes the failures that a success resolves: of the same command, of one with the same
    /// beginning, or on the same file.
    fn note_success(
        &mut self,
        call: &ToolCall,
        paths: &[String],
        at: Timestamp,
        open: &mut Vec<(usize, Vec<String>)>,
    ) {
        let what = words_on(call, paths);
        open.retain(|(index, changed)| {
            let failed = &mut self.failures[*index];
            if failed.tool != call.tool || beginning(&failed.what) != beginning(&what) {
                return true;
            }
            let after = if changed.is_empty() {
                String::new()
            } else {
                format!(", after changes to {}", changed.join(", "))
            };
            let how = if failed.what == what {
                "succeeded later".to_owned()
            } else {
                format!("`{}` succeeded", what.replace('`', "'"))
            };
            failed.resolved = Some(format!("{how} ({at}){after}"));
            false
        });
        if matches!(call.kind, ToolKind::Edit | ToolKind::Write) {
            for (_, changed) in open.iter_mut() {
                for path in paths.iter().filter(|path| !path.is_empty()) {
                    if changed.len() < 8 && !changed.contains(path) {
                        changed.push(path.clone());
                    }
                }
            }
        }
    }
}

fn words_on(call: &ToolCall, paths: &[String]) -> String {
    let words = call.command.clone().unwrap_or_else(|| paths.join(", "));
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    text::head(&line, WORDS_BYTES_MAX).to_owned()
}

/// The first two words of a command, which identify it: `cargo test`, `npm run`.
fn beginning(what: &str) -> (Option<&str>, Option<&str>) {
    let mut words = what.split(' ');
    (words.next(), words.next())
}

/// Returns a path as documents name it: relative to the project if it is in the project.
pub(super) fn within(path: &str, cwd: &str, project: &str) -> String {
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}/{path}", cwd.trim_end_matches('/'))
    };
    let inside = whole
        .strip_prefix(project.trim_end_matches('/'))
        .and_then(|rest| rest.strip_prefix('/'));
    inside.map_or_else(
        || whole.clone(),
        |rest| rest.trim_start_matches("./").to_owned(),
    )
}
