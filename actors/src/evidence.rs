//! Looking things up for a decision: the project's policy, the escape-hatch marker, git, the transcript's tail.
//!
//! Runs on blocking threads, never on an actor's. Whatever cannot be had is noted and left out (001 inv 13): nothing
//! here fails.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::decide::Case;
use checkpoint::rules::packs::ProjectFacts;
use checkpoint::state::{SessionState, Stop};
use checkpoint::transcript;
use journal::{Agent, Evidence, Reason};

use crate::git;

/// A project's own settings.
pub const PROJECT_FILE: &str = ".checkpointd.yml";
/// The marker that lets the next stop pass (001 inv 9), in the agent's TMPDIR.
pub const ESCAPE_MARKER: &str = "teleclaude_checkpoint_clear";
/// A project file larger than this is not read.
const PROJECT_FILE_BYTES_MAX: u64 = 256 * 1024;
/// Names at a project's top that are looked at.
const PROJECT_NAMES_MAX: usize = 2_000;
/// A transcript in one JSON document has to be read whole; beyond this it is left alone.
const WHOLE_TRANSCRIPT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a decision needs besides the session's state.
pub struct Gathered {
    /// What was found.
    pub evidence: Evidence,
    /// The policy of the session's project.
    pub policy: Policy,
}

/// Gathers what the decision about `stop` needs, and no more: an exit that needs nothing looked up stops the looking.
pub fn gather(config: &Config, state: &SessionState, stop: &Stop) -> Gathered {
    let mut evidence = Evidence::default();
    let mut steps = Steps::default();
    let project = state.project().to_owned();
    let policy = steps.time("policy", || project_policy(config, &project, &mut evidence.notes));
    let exit = |evidence: &Evidence| Case { state, stop, evidence, policy: &policy, fingerprint: 0 }.early_exit();
    if !matches!(exit(&evidence), Some(Reason::ProjectOff | Reason::Muted)) && !stop.restart {
        evidence.escape_marker = steps.time("marker", || consume_marker(state));
    }
    if exit(&evidence).is_none() {
        look(config, state, stop, &policy, &mut evidence, &mut steps);
    }
    evidence.steps = steps.taken;
    Gathered { evidence, policy }
}

/// Returns the policy that holds where no project is known.
pub fn default_policy(config: &Config) -> Policy {
    let nowhere = ProjectFacts { path: String::new(), files: Vec::new() };
    config.policy_for(&nowhere, None).expect("settings that were loaded make a policy by themselves")
}

fn look(
    config: &Config,
    state: &SessionState,
    stop: &Stop,
    policy: &Policy,
    evidence: &mut Evidence,
    steps: &mut Steps,
) {
    let limits = &config.settings.evidence_limits;
    let start = state.turn_start(policy.timer);
    let cwd = PathBuf::from(if state.place.cwd.is_empty() { state.project() } else { &state.place.cwd });
    let mut tree = steps.time("git", || {
        let bounds = git::Bounds {
            within: std::time::Duration::from_millis(limits.git_timeout.as_millis()),
            files_max: limits.changed_files_max.get(),
        };
        git::inspect(&cwd, start, bounds)
    });
    evidence.changes = std::mem::take(&mut tree.changes);
    evidence.notes.append(&mut tree.notes);
    let facts = steps.time("transcript", || {
        let path = state.place.transcript.as_deref()?;
        read_transcript(state.stream.agent, path, limits.transcript_bytes.0, &policy.prefix, &mut evidence.notes)
    });
    if let Some(facts) = &facts {
        let is_own = |text: &str| checkpoint::prompts::is_own(text, &policy.prefix);
        evidence.own_prompt_last = facts.last_user.as_ref().is_some_and(|user| is_own(&user.text));
        evidence.last_prompt_at = facts.last_real_user.as_ref().map(|user| user.at);
        evidence.host_version.clone_from(&facts.host_version);
    }
    evidence.headless = is_headless(state);
    let branch = tree.branch.or_else(|| facts.as_ref().and_then(|facts| facts.branch.clone()));
    evidence.working_slug = policy.working_slug.clone().or_else(|| branch.filter(|_| policy.slug_from_branch));
    if let Some(slug) = &evidence.working_slug {
        evidence.plan_files = steps.time("plan", || plan_files(Path::new(state.project()), slug));
    }
    evidence.timeline = transcript::join(facts, &state.turn.calls);
    let _ = stop;
}

fn project_policy(config: &Config, project: &str, notes: &mut Vec<String>) -> Policy {
    let top = Path::new(project);
    let facts = ProjectFacts { path: project.to_owned(), files: names(top) };
    let file = top.join(PROJECT_FILE);
    let text = std::fs::metadata(&file)
        .ok()
        .filter(|meta| meta.is_file() && meta.len() <= PROJECT_FILE_BYTES_MAX)
        .and_then(|_| std::fs::read_to_string(&file).ok());
    let named = text.as_deref().map(|text| (PROJECT_FILE, text));
    config.policy_for(&facts, named).unwrap_or_else(|error| {
        notes.push(format!("{PROJECT_FILE} was not used: {error}"));
        config.policy_for(&facts, None).unwrap_or_else(|_| default_policy(config))
    })
}

/// Lists what a project contains at its top, folders with a `/` at the end.
pub fn names(top: &Path) -> Vec<String> {
    if top.as_os_str().is_empty() {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(top) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .take(PROJECT_NAMES_MAX)
        .map(|entry| {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_dir { name + "/" } else { name }
        })
        .collect();
    names.sort();
    names
}

/// Removes the escape-hatch marker, and tells whether it was there. Only its owner's own removal counts, so that two
/// stops at once use it once.
fn consume_marker(state: &SessionState) -> bool {
    let Some(folder) = state.place.env("TMPDIR") else { return false };
    let folder = Path::new(folder);
    folder.is_absolute() && std::fs::remove_file(folder.join(ESCAPE_MARKER)).is_ok()
}

/// Returns whether nobody sits in front of the agent, as far as its host tells (DESIGN 10).
fn is_headless(state: &SessionState) -> bool {
    match state.stream.agent {
        Agent::Claude => state.place.env("CLAUDE_CODE_ENTRYPOINT") == Some("sdk-cli"),
        Agent::Gemini => state.place.env("CHECKPOINTD_TTY").is_none() && state.place.env("TMUX").is_none(),
        Agent::Codex | Agent::Daemon => false,
    }
}

/// Reads the end of a transcript, or all of it where it is one JSON document.
fn read_transcript(
    agent: Agent,
    path: &str,
    tail_bytes: u64,
    prefix: &str,
    notes: &mut Vec<String>,
) -> Option<transcript::Facts> {
    let read = || -> std::io::Result<(Vec<u8>, bool)> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let whole = Path::new(path).extension().is_some_and(|ending| ending == "json");
        let bytes_max = if whole { WHOLE_TRANSCRIPT_BYTES_MAX } else { tail_bytes };
        let from = length.saturating_sub(bytes_max);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::with_capacity(length.min(bytes_max) as usize);
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok((bytes, from == 0))
    };
    let (bytes, from_start) = match read() {
        Ok(read) => read,
        Err(error) => {
            notes.push(format!("the transcript could not be read: {error}"));
            return None;
        }
    };
    let facts = transcript::read(agent, &bytes, from_start, prefix);
    if facts.is_none() {
        notes.push("the transcript is empty, or in a form that is not known".into());
    }
    facts
}

/// Returns the files that a work item's plan names (002 R7).
fn plan_files(project: &Path, slug: &str) -> Option<Vec<String>> {
    // A slug is one name; anything else could point out of the folder.
    if slug.contains(['/', '\\']) || slug.starts_with('.') {
        return None;
    }
    let plan = project.join("todos").join(slug).join("implementation-plan.md");
    checkpoint::findings::plan_files(&std::fs::read_to_string(plan).ok()?)
}

/// How long each step took.
#[derive(Default)]
struct Steps {
    taken: Vec<(String, u64)>,
}

impl Steps {
    fn time<T>(&mut self, name: &str, body: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let value = body();
        self.taken.push((name.to_owned(), u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)));
        value
    }
}
