//! Agents' transcript files: finding them, reading their ends, and taking the prompts from them that no hook reported.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkpoint::agents::adapter;
use checkpoint::agents::adapter::{Adapter, TranscriptPlace};
use checkpoint::config::Config;
use checkpoint::digest;
use checkpoint::state::SessionState;
use checkpoint::transcript::{self, Facts, UserText};
use journal::{Agent, Draft, Event, PromptOrigin, Timestamp};

use crate::draft::derived;
use crate::named_file::Backward;
use crate::project::Project;
use crate::trust::Trust;

/// A transcript that is one JSON document has to be read whole; a larger one is not read.
const WHOLE_TRANSCRIPT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How many times as much is read in all each time that the beginning of a turn was not reached.
const FURTHER: u64 = 4;
/// The most day folders that are searched for a transcript, the latest first.
const DAYS_MAX: usize = 400;
/// The most files of one transcript that are read, the last first.
const FILES_MAX: usize = 8;
/// The most subagents of a turn whose transcripts are read.
const SUBAGENTS_MAX: usize = 32;
/// The most folders of projects that are searched for a session.
const FOLDERS_MAX: usize = 10_000;

/// Returns the session's transcript: the file or folder that its host named, or the file with the session's id in its name.
pub fn of(state: &SessionState) -> Option<PathBuf> {
    let named = state.place.transcript.as_deref().map(PathBuf::from);
    named.or_else(|| searched(adapter(state.stream.agent)?, state))
}

/// Searches the place where the agent keeps its transcripts.
fn searched(adapter: &Adapter, state: &SessionState) -> Option<PathBuf> {
    let (place, library) = (adapter.transcript_place?, adapter.library);
    let home = match state.place.env(library.home_variable) {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(std::env::var_os("HOME")?).join(library.home_default),
    };
    let session = state.stream.native();
    match place {
        TranscriptPlace::ByDay { folder, prefix } => by_day(&home.join(folder), prefix, &session),
        TranscriptPlace::InFolder { folder, file } => in_folder(&home.join(folder), &session, file),
    }
}

/// Looks for the session's folder in each folder. An id that is not a plain name belongs to no
/// session.
fn in_folder(folder: &Path, session: &str, file: &str) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if !session.chars().all(is_plain) {
        return None;
    }
    let projects = newest_first(folder).into_iter().take(FOLDERS_MAX);
    let mut files = projects.map(|project| project.join(session).join(file));
    files.find(|path| path.is_file())
}

/// Searches the folders of the days, the latest first.
fn by_day(folder: &Path, prefix: &str, session: &str) -> Option<PathBuf> {
    let ending = format!("-{session}.jsonl");
    let days = newest_first(folder)
        .into_iter()
        .flat_map(|year| newest_first(&year));
    let days = days.flat_map(|month| newest_first(&month)).take(DAYS_MAX);
    days.flat_map(|day| newest_first(&day)).find(|path| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        name.starts_with(prefix) && name.ends_with(&ending)
    })
}

fn newest_first(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// Returns the new prompts of a session whose host has no prompt hook: the message that began the turn, and our own text,
/// if it was the last message. Codex's hidden title threads have no transcript and thus no prompts.
pub fn prompts(config: &Config, trust: &Trust, state: &SessionState) -> Vec<Draft> {
    if state.prompts_by_hook {
        return Vec::new();
    }
    let Some((path, facts)) = facts(config, state) else {
        return Vec::new();
    };
    let newer = |user: &UserText| {
        state
            .turn
            .started_at
            .is_none_or(|started| user.at > started)
    };
    let joins = || {
        !Project::look(config, trust, state.project())
            .policy
            .is_letter()
    };
    let begun = facts.prompts.first().zip(facts.began);
    let begun = begun.map(|(text, at)| UserText {
        text: text.clone(),
        at,
        origin: PromptOrigin::User,
    });
    let real = match (facts.last_real_user, begun) {
        // What was added while the agent worked begins nothing (spec TURN-14).
        (Some(last), Some(begun)) if begun.at != last.at && joins() => Some(begun),
        (last, _) => last,
    };
    let real = real.filter(newer);
    let own = facts
        .last_user
        .filter(|user| user.origin == PromptOrigin::Own && newer(user));
    real.into_iter()
        .chain(own)
        .map(|user| prompt_found(state, &path, user))
        .collect()
}

/// Returns our own text as an event, if it is the transcript's last message and not older than `since`.
pub fn own_prompt(config: &Config, state: &SessionState, since: Timestamp) -> Option<Draft> {
    let (path, facts) = facts(config, state)?;
    let own = facts
        .last_user
        .filter(|user| user.origin == PromptOrigin::Own && user.at >= since)?;
    Some(prompt_found(state, &path, own))
}

fn facts(config: &Config, state: &SessionState) -> Option<(PathBuf, Facts)> {
    let path = of(state)?;
    let facts = read(
        config,
        state.stream.agent,
        &path,
        &config.settings.prefix.0,
        &mut Vec::new(),
    )?;
    Some((path, facts))
}

fn prompt_found(state: &SessionState, path: &Path, user: UserText) -> Draft {
    let digest = digest::of_prompt(&user.text);
    let transcript = path.to_string_lossy().into_owned();
    let event = Event::PromptFound {
        transcript,
        origin: user.origin,
        text: user.text,
        digest,
    };
    derived(
        &state.stream,
        user.at,
        event,
        format!("{}:{digest}", user.at.as_micros()),
    )
}

/// Reads the end of a transcript back to where the turn began, or all of it if it is one JSON document. Adds to `notes`
/// why it could not be read. `prefix` begins our own texts; a project's policy may have its own.
pub fn read(
    config: &Config,
    agent: Agent,
    path: &Path,
    prefix: &str,
    notes: &mut Vec<String>,
) -> Option<Facts> {
    let limits = &config.settings.evidence_limits;
    let deadline = Instant::now() + limits.transcript_timeout.0;
    let cannot = |error: std::io::Error| format!("cannot read the transcript: {error}");
    let mut file = match open(agent, path) {
        Ok(file) => file,
        Err(error) => {
            notes.push(cannot(error));
            return None;
        }
    };
    let (mut bytes_next, mut bytes_max) =
        (limits.transcript_bytes.0, limits.transcript_bytes_max.0);
    if is_document(path) {
        (bytes_next, bytes_max) = (WHOLE_TRANSCRIPT_BYTES_MAX, WHOLE_TRANSCRIPT_BYTES_MAX);
    }
    let mut failed = None;
    let mut before = || {
        let is_over = file.taken() > 0 && (file.taken() >= bytes_max || Instant::now() >= deadline);
        if is_over {
            return None;
        }
        let part = file.part(bytes_next);
        let bytes = file.taken().saturating_mul(FURTHER).min(bytes_max);
        bytes_next = bytes.saturating_sub(file.taken());
        part.unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    };
    let facts = transcript::read_back(agent, &mut before, prefix, &config.redactor);
    if let Some(error) = failed {
        notes.push(cannot(error));
        return None;
    }
    let is_whole = file.is_at_start() || facts.as_ref().is_some_and(|facts| facts.is_whole);
    notes.extend(match &facts {
        None => Some("the transcript is empty, or its format is unknown".into()),
        Some(_) if is_whole => None,
        Some(_) => Some(format!(
            "the turn began before the last {} bytes of the transcript: its first calls are not known",
            file.taken()
        )),
    });
    facts
}

/// Adds to the facts of a transcript what the turn's subagents did, by their own transcripts. What a subagent says of its
/// work is forgotten if its calls are known, from there or because hooks `reported` them.
pub fn add_subagents(
    config: &Config,
    agent: Agent,
    path: &Path,
    prefix: &str,
    reported: &[String],
    facts: &mut Facts,
) {
    let Some(known) = adapter(agent).and_then(|adapter| adapter.subagents) else {
        return;
    };
    let limits = &config.settings.evidence_limits;
    let deadline = Instant::now() + limits.transcript_timeout.0;
    let mut seen: Vec<String> = Vec::new();
    // A subagent may have started others.
    while let Some(id) = facts
        .subagents
        .iter()
        .map(|known| &known.id)
        .find(|id| !seen.contains(id))
    {
        let id = id.clone();
        if reported.contains(&id) {
            facts.forget_word(&id);
        }
        let is_read = seen.len() < SUBAGENTS_MAX && Instant::now() < deadline;
        let file = subagent_file(path, &id, known.files).filter(|_| is_read);
        let theirs = file.and_then(|file| {
            let mut end = Backward::open(&file)
                .ok()?
                .part(limits.transcript_bytes.0)
                .ok()?;
            transcript::read_subagent(agent, &mut || end.take(), prefix, &config.redactor)
        });
        if let Some(theirs) = theirs {
            facts.add_subagent(&id, theirs);
        }
        seen.push(id);
    }
}

/// Returns the transcript of a subagent. An id that is not a plain name has none.
fn subagent_file(path: &Path, id: &str, files: &[&str]) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let (folder, session) = (path.parent()?, path.file_stem()?.to_str()?);
    let is_name = !id.is_empty() && id.chars().all(is_plain);
    let mut files = files
        .iter()
        .filter(|_| is_name)
        .map(|file| folder.join(file.replace("SESSION", session).replace("ID", id)));
    files.find(|file| file.is_file())
}

/// Opens a transcript: one file, or the files in a folder that each continue the one before.
fn open(agent: Agent, path: &Path) -> std::io::Result<Backward> {
    let mut files = files(agent, path).into_iter();
    let last = files.next().unwrap_or_else(|| path.to_owned());
    let mut opened = Backward::open(&last)?;
    for file in files {
        opened.before(Backward::open(&file)?);
    }
    Ok(opened)
}

/// Returns the files that make up a transcript, the last first: only the one that is named, for most agents.
pub(crate) fn files(agent: Agent, path: &Path) -> Vec<PathBuf> {
    let folder = adapter(agent).and_then(|adapter| adapter.transcript_files);
    let Some(folder) = folder.filter(|_| path.is_dir()) else {
        return vec![path.to_owned()];
    };
    let mut files = newest_first(&path.join(folder));
    files.retain(|file| file.metadata().is_ok_and(|file| file.len() > 0));
    files.truncate(FILES_MAX);
    files
}

/// Returns whether a transcript is one JSON document, not a line for each record.
pub(crate) fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// Returns what the agent said last, by its transcript and by its hooks: either may lack it.
pub(crate) fn last_words(facts: Option<&Facts>, state: &SessionState) -> String {
    let said = facts.and_then(|facts| facts.last_assistant.as_deref());
    [said, state.last_output.as_deref()]
        .map(Option::unwrap_or_default)
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls, whether the beginning is known, and the number of notes, with these limits.
    fn reads(yaml: &str) -> (usize, bool, usize) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        let said = r#"{"type":"user","sessionId":"s","message":{"content":"go"}}"#;
        let mut text = format!("{said}\n");
        for number in 0..200 {
            text.push_str(&format!(
                r#"{{"type":"assistant","sessionId":"s","message":{{"content":[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{"command":"ls"}}}}]}}}}"#
            ));
            text.push('\n');
        }
        std::fs::write(&path, text).expect("a transcript");
        let config = Config::load(Some(("config.yml", yaml))).expect("settings");
        let mut notes = Vec::new();
        let facts = read(&config, Agent::Claude, &path, "", &mut notes).expect("facts");
        (facts.calls.len(), facts.began.is_some(), notes.len())
    }

    #[test]
    fn a_subagents_calls_are_read_where_its_host_keeps_them() {
        let result = |id: &str, agent: &str| {
            format!(
                r#"{{"type":"user","sessionId":"s","toolUseResult":{{"agentId":"{agent}"}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"All tests pass."}}]}}}}"#
            )
        };
        let call = |id: &str, tool: &str, side: bool| {
            format!(
                r#"{{"type":"assistant","sessionId":"s","isSidechain":{side},"message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{"command":"make"}}}}]}}}}"#
            )
        };
        let said = r#"{"type":"user","sessionId":"s","message":{"content":"go"}}"#;
        for (file, reported, expected) in [
            ("s/subagents/agent-a1.jsonl", "", (2, 0)),
            ("agent-a1.jsonl", "", (2, 0)),
            ("agent-other.jsonl", "", (1, 1)),
            ("agent-other.jsonl", "a1", (1, 0)),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("s.jsonl");
            let main = [
                said.to_owned(),
                call("t1", "Agent", false),
                result("t1", "a1"),
            ];
            std::fs::write(&path, main.join("\n")).expect("a transcript");
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(&file, call("u1", "Bash", true)).expect("a transcript");
            let config = Config::load(None).expect("settings");
            let facts = read(&config, Agent::Claude, &path, "", &mut Vec::new());
            let mut facts = facts.expect("facts");
            let reported = [reported.to_owned()];
            add_subagents(&config, Agent::Claude, &path, "", &reported, &mut facts);
            assert_eq!(
                (facts.calls.len(), facts.outcomes.len()),
                expected,
                "{file:?}"
            );
        }
    }

    #[test]
    fn a_turn_is_read_back_to_its_beginning_within_bounds() {
        let first = "transcript_bytes: 1KB";
        let far = "transcript_timeout: 1m";
        let all = reads(&format!("evidence_limits: {{{first}, {far}}}\n"));
        assert_eq!(all, (200, true, 0));
        let (calls, began, notes) = reads(&format!(
            "evidence_limits: {{{first}, {far}, transcript_bytes_max: 2KB}}\n"
        ));
        assert!(calls > 8 && calls < 200, "{calls}");
        assert_eq!((began, notes), (false, 1));
    }

    /// Factory droid may call its first tool before it writes the message down.
    #[test]
    fn a_turn_of_an_agent_without_a_prompt_hook_has_its_first_call() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        let line = |at: &str, role: &str, content: &str| {
            format!(
                r#"{{"type":"message","timestamp":"2026-01-01T00:00:{at}Z","message":{{"role":"{role}","content":[{content}]}}}}"#
            )
        };
        let text = [
            line(
                "00.678",
                "assistant",
                r#"{"type":"tool_use","id":"c","name":"Execute","input":{"command":"make"}}"#,
            ),
            line("00.737", "user", r#"{"type":"text","text":"go"}"#),
            line(
                "01.000",
                "user",
                r#"{"type":"tool_result","tool_use_id":"c","content":"ok"}"#,
            ),
        ];
        std::fs::write(&path, text.join("\n")).expect("a transcript");
        let mut state = SessionState::new(journal::Stream::of_native(Agent::Droid, "s"));
        state.place.transcript = Some(path.to_string_lossy().into_owned());
        let apply = |state: &mut SessionState, at: Timestamp, event: Event| {
            state.apply(&journal::Envelope {
                seq: state.last_seq + 1,
                stream: state.stream.clone(),
                at,
                recorded_at: at,
                id: uuid::Uuid::nil(),
                late: false,
                event,
                origin: None,
            });
        };
        let at = "2026-01-01T00:00:00.701Z".parse().expect("a time");
        let call = journal::ToolCall {
            tool: "Execute".into(),
            command: Some("make".into()),
            at,
            ..journal::ToolCall::default()
        };
        let host = journal::Host::default();
        apply(&mut state, at, Event::ToolStarted { host, call });
        let config = Config::load(None).expect("settings");
        let trust = Trust::of(&journal::Home::under(folder.path()));
        for count in [1, 0] {
            let found = prompts(&config, &trust, &state);
            assert_eq!(found.len(), count, "it is found once");
            for draft in found {
                apply(&mut state, draft.at, draft.event);
            }
            assert_eq!((state.turns, state.turn.calls.len()), (1, 1));
        }
    }
}
