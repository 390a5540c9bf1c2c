//! Gathering the evidence for a decision: the project's policy, the escape-hatch marker, git, the end of the transcript.
//!
//! Runs on blocking threads, never on an actor's. Nothing here fails: evidence that is not available is left out, with a
//! note that says why (spec DECIDE-14).

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkpoint::Policy;
use checkpoint::agents::{self, adapter::HeadlessSign};
use checkpoint::config::Config;
use checkpoint::decide::Case;
use checkpoint::policy::Scope;
use checkpoint::rules::pack_names::ProjectFacts;
use checkpoint::state::{SessionState, Stop};
use checkpoint::transcript::{self, Facts};
use journal::{Agent, Evidence, Reason, Timestamp};

use crate::git::Within;
use crate::others::Others;
use crate::project::{self, Project};
use crate::subject::Of;
use crate::trust::Trust;
use crate::work_tree::{self, Looked};
use crate::{draft, git, named_file, seen, transcripts, whose, work_tree_choice};

/// The variable in an agent's environment that names the work item of its session.
const WORKING_SLUG: &str = "CHECKPOINTD_WORKING_SLUG";
/// How much of a transcript's beginning is read to tell whether a person is present. Codex writes its long base
/// instructions into the first line.
const BEGINNING_BYTES_MAX: u64 = 256 * 1024;

/// The inputs of a decision besides the session's state.
pub struct Gathered {
    /// The evidence, with a note for each part that is not available.
    pub evidence: Evidence,
    /// The policy of the session's project.
    pub policy: Policy,
}

/// What the journal does not say of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'a> {
    /// The payload of the stop's hook call, if there is one.
    pub(crate) payload: Option<&'a str>,
    /// What other sessions wrote and ran.
    pub(crate) others: &'a Others,
}

/// Options of a preview.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The active work item, in place of the one that evidence names.
    pub slug: Option<String>,
}

/// Gathers what the decision about `stop` needs, and no more: an early exit ends the gathering. Consumes the escape-hatch
/// marker.
pub(crate) fn gather(
    config: &Config,
    trust: &Trust,
    state: &SessionState,
    stop: &Stop,
    beside: Beside<'_>,
) -> Gathered {
    let mut evidence = Evidence::default();
    evidence.facts.returning_tasks = returning_tasks(state.stream.agent, beside.payload);
    let others = beside.others;
    gather_with(config, trust, state, (stop, others), None, evidence)
}

/// Gathers what `gather` would, without side effects. It continues after an early exit, to show which checkpoint the
/// exit prevents; only a project that is switched off is left alone.
pub fn gather_for_preview(
    config: &Config,
    trust: &Trust,
    state: &SessionState,
    stop: &Stop,
    preview: &Preview,
) -> Gathered {
    gather_with(
        config,
        trust,
        state,
        (stop, &Others::default()),
        Some(preview),
        Evidence::default(),
    )
}

/// Returns how many running background tasks bring another stop, by the stop's payload.
fn returning_tasks(agent: Agent, payload: Option<&str>) -> Option<u32> {
    let payload = serde_json::from_str(payload?).ok()?;
    agents::adapter(agent)?.returning_tasks(&payload)
}

fn gather_with(
    config: &Config,
    trust: &Trust,
    state: &SessionState,
    (stop, others): (&Stop, &Others),
    preview: Option<&Preview>,
    mut evidence: Evidence,
) -> Gathered {
    let mut steps = Steps::default();
    let mut project = work_tree_choice::project(config, state).to_owned();
    let mut looked = steps.time("policy", || Project::look(config, trust, &project));
    evidence.notes.append(&mut looked.notes);
    let exit = |evidence: &Evidence| {
        Case {
            state,
            stop,
            evidence,
            policy: &looked.policy,
            fingerprint: 0,
        }
        .early_exit()
    };
    if !matches!(exit(&evidence), Some(Reason::ProjectOff | Reason::Muted)) && !stop.restart {
        let consume = preview.is_none();
        evidence.escape_marker = steps.time("marker", || marker(state, &looked.policy, consume));
    }
    let mut wanted =
        exit(&evidence).is_none_or(|exit| preview.is_some() && exit != Reason::ProjectOff);
    let judged = wanted.then(|| work_tree_choice::of(state, &looked.policy));
    if let Some(judged) = judged.as_ref().filter(|judged| judged.is_elsewhere) {
        project = judged.folder.to_string_lossy().into_owned();
        looked = Project::look(config, trust, &project);
        evidence.notes.append(&mut looked.notes);
        let note = format!("the turn edited only {project}: its files and its settings count");
        evidence.notes.push(note);
        wanted = looked.policy.enabled;
    }
    if let Some(judged) = judged.filter(|_| wanted) {
        let named = whose::named(&state.turn.calls, state.home());
        let of = Of {
            config,
            state,
            policy: &looked.policy,
            judged: &judged,
            stopped: stop.at,
            leaves: stop
                .leaves
                .as_ref()
                .and_then(|leaving| leaving.command.as_deref()),
            named: &named,
            others,
        };
        let top = gather_rest(of, preview, &mut evidence, &mut steps);
        let changed = evidence.changes.files();
        let is_searched = !looked.policy.is_letter();
        if let (Some(top), Some(files), true) = (top, changed, is_searched) {
            steps.time("packs", || {
                looked.add_files(config, project::touched(&top, files));
            });
        }
    }
    evidence.steps = steps.taken;
    Gathered {
        evidence: draft::gathered(&config.redactor, evidence),
        policy: looked.policy,
    }
}

/// Returns when the current turn began, according to a transcript: at the last real user message, or at the first call,
/// if that message lies before the part that is read.
pub fn turn_start(
    config: &Config,
    agent: Agent,
    transcript: &str,
    prefix: &str,
) -> Option<Timestamp> {
    let facts = transcripts::read(
        config,
        agent,
        Path::new(transcript),
        prefix,
        &mut Vec::new(),
    )?;
    let known = |at: &Timestamp| *at != Timestamp::default();
    facts
        .began
        .filter(known)
        .or_else(|| facts.calls.iter().map(|call| call.at).filter(known).min())
}

/// Returns the policy for a session without a project.
pub fn default_policy(config: &Config) -> Policy {
    let nowhere = ProjectFacts {
        path: String::new(),
        files: Vec::new(),
    };
    let policy = config.policy_for(&nowhere, None);
    Policy {
        // It is for no session of this machine.
        clear_folder: None,
        ..policy.expect("settings that were loaded make a policy by themselves")
    }
}

/// Gathers the evidence that only decisions without an early exit need. Returns the top of the work tree, if it is
/// known.
fn gather_rest(
    of: Of<'_>,
    preview: Option<&Preview>,
    evidence: &mut Evidence,
    steps: &mut Steps,
) -> Option<PathBuf> {
    let Of { state, policy, .. } = of;
    let transcript = transcripts::of(state);
    let (looked, read) = look(of, transcript.as_deref(), steps);
    let Looked {
        mut tree,
        workspace,
        taken,
    } = looked;
    evidence.facts.files = std::mem::take(&mut tree.files);
    evidence.facts.remote = tree.remote.take();
    evidence.facts.git_dir = tree.git_dir.take();
    if let (Some(line), Some(git_dir)) = (of.leaves, &evidence.facts.git_dir) {
        evidence.facts.leaves_elsewhere =
            work_tree_choice::leaves_elsewhere(state, policy, line, git_dir);
    }
    evidence.facts.workspace = workspace;
    steps.note("project", taken);
    let Read {
        mut facts,
        mut notes,
        taken,
    } = read;
    evidence.notes.append(&mut notes);
    steps.note("transcript", taken);
    if let Some(facts) = &facts {
        note_prompts(facts, policy, evidence);
    }
    evidence.headless = is_headless(state);
    let branch = tree
        .branch
        .take()
        .or_else(|| facts.as_ref().and_then(|facts| facts.branch.clone()));
    evidence.working_slug = working_slug(state, policy, preview, branch);
    if let Some(slug) = &evidence.working_slug {
        evidence.plan_files = steps.time("plan", || plan_files(Path::new(state.project()), slug));
    }
    let words = transcripts::last_words(facts.as_ref(), state);
    evidence.facts.prompts.clone_from(&state.turn.prompts);
    if let (Some(facts), true) = (&mut facts, state.turn.prompts.is_empty()) {
        evidence.facts.prompts = facts
            .prompts
            .split_off(facts.prompts.len().saturating_sub(1));
    }
    let joined = transcript::join(facts, &state.turn.calls);
    evidence.timeline = joined.timeline;
    let named = whose::named(&evidence.timeline.calls, state.home());
    let named = git::Within::new(&named, tree.top.as_deref().unwrap_or(&of.judged.folder));
    evidence.changes = whose::of_turn(of, &mut tree, &evidence.timeline, &named);
    evidence.notes.append(&mut tree.notes);
    evidence.facts.untouched = is_untouched(of, &tree, evidence, &named);
    evidence.facts.outcomes = joined.outcomes;
    evidence.facts.last_message = words;
    steps.time("contents", || {
        let within = work_tree::bounds(of.config).within;
        seen::note(evidence, (state, of.others), tree.top.as_deref(), within);
    });
    tree.top
}

/// Asks git and reads the transcript; neither waits for the other.
fn look(of: Of<'_>, transcript: Option<&Path>, steps: &mut Steps) -> (Looked, Read) {
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_transcript(of, transcript));
        let looked = steps.time("git", || work_tree::look(of));
        (looked, reading.join().unwrap_or_default())
    })
}

/// What the transcript says, with notes, and how long it took to read.
#[derive(Default)]
struct Read {
    facts: Option<Facts>,
    notes: Vec<String>,
    taken: Duration,
}

fn read_transcript(of: Of<'_>, transcript: Option<&Path>) -> Read {
    let (began, mut notes) = (Instant::now(), Vec::new());
    let (agent, prefix) = (of.state.stream.agent, &of.policy.prefix);
    let mut facts =
        transcript.and_then(|path| transcripts::read(of.config, agent, path, prefix, &mut notes));
    if let (Some(facts), Some(path)) = (&mut facts, transcript) {
        let reported = &of.state.subagents;
        transcripts::add_subagents(of.config, agent, path, prefix, reported, facts);
    }
    Read {
        facts,
        notes,
        taken: began.elapsed(),
    }
}

/// Notes what the transcript says of the last prompts, and of the agent.
fn note_prompts(facts: &Facts, policy: &Policy, evidence: &mut Evidence) {
    let authors = agents::authors(&policy.prefix);
    evidence.own_prompt_last = facts
        .last_user
        .as_ref()
        .is_some_and(|user| authors.is_own(&user.text));
    evidence.last_prompt_at = facts.last_real_user.as_ref().map(|user| user.at);
    evidence.host_version.clone_from(&facts.host_version);
}

/// Returns the active work item. The most specific source wins: preview, session, project, branch (spec HYG-7).
fn working_slug(
    state: &SessionState,
    policy: &Policy,
    preview: Option<&Preview>,
    branch: Option<String>,
) -> Option<String> {
    preview
        .and_then(|preview| preview.slug.clone())
        .or_else(|| state.place.env(WORKING_SLUG).map(str::to_owned))
        .or_else(|| policy.working_slug.clone())
        .or_else(|| branch.filter(|_| policy.slug_from_branch))
}

/// Returns whether no changed file was written since the person's message. What a call names as written was, whatever
/// the times of files say: a clock may step back.
fn is_untouched(of: Of<'_>, tree: &git::Tree, evidence: &Evidence, named: &Within) -> bool {
    let (Some(files), Some(since)) = (evidence.changes.files(), whose::began(of)) else {
        return false;
    };
    let is_later = |path: &str| {
        let times = tree.times.get(path);
        times.is_none_or(|times| times.changed.plus(times.tick) >= since)
    };
    let mut paths = files.iter().map(|file| file.path.as_str());
    let is_committed = tree.committed && of.policy.scope == Scope::Worktree;
    !is_committed
        && !paths.any(|path| named.has(path) || tree.left.contains(path) || is_later(path))
}

/// Returns whether a file asks that this stop passes, and removes it if `consume` is set: the session's own, or the marker
/// in the agent's `TMPDIR` (spec DECIDE-4). Only the stop that removed it counts it, so two stops at once use it once.
fn marker(state: &SessionState, policy: &Policy, consume: bool) -> bool {
    let own = policy.clear_file(state.session()).map(PathBuf::from);
    let shared = shared_marker(state, &policy.escape_marker);
    // Both are checked: a file that is used up must not let a later stop pass.
    own.into_iter()
        .chain(shared)
        .filter(|path| asks_to_pass(path, state, consume))
        .count()
        > 0
}

/// Returns the path of the marker in the agent's `TMPDIR`, if that is a folder of the user. In another user's folder,
/// others could create it.
fn shared_marker(state: &SessionState, name: &str) -> Option<PathBuf> {
    let folder = Path::new(state.place.env("TMPDIR")?);
    let is_own = folder.metadata().is_ok_and(|meta| is_users(&meta));
    (folder.is_absolute() && is_own).then(|| folder.join(name))
}

fn is_users(meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw()
}

/// Returns whether a file of the user is there that is not older than the turn: a real user message revokes it.
fn asks_to_pass(path: &Path, state: &SessionState, consume: bool) -> bool {
    let Ok(meta) = std::fs::symlink_metadata(path) else {
        return false;
    };
    if !is_users(&meta) {
        return false;
    }
    // File times are taken from the kernel's tick, which may lie a little before the actual time.
    let made = git::written_at(&meta).plus(git::FILE_TICK);
    let counts = state.turn.started_at.is_none_or(|began| made >= began);
    (!consume || std::fs::remove_file(path).is_ok()) && counts
}

/// Returns whether the agent runs without a person at its terminal, according to its host (spec DECIDE-10).
fn is_headless(state: &SessionState) -> bool {
    match agents::adapter(state.stream.agent).map(|agent| (agent.headless)(&state.place)) {
        None => false,
        Some(HeadlessSign::Known(is_headless)) => is_headless,
        Some(HeadlessSign::Transcript(is_headless)) => {
            let path = state.place.transcript.as_deref().map(Path::new);
            let files = path.map(|path| transcripts::files(state.stream.agent, path));
            files
                .and_then(|files| named_file::beginning(files.first()?, BEGINNING_BYTES_MAX).ok())
                .is_some_and(|bytes| is_headless(&bytes))
        }
    }
}

/// Returns the files that the work item's plan names (spec HYG-8).
fn plan_files(project: &Path, slug: &str) -> Option<Vec<String>> {
    // A slug is a single name: a path could lead out of the folder.
    if slug.contains(['/', '\\']) || slug.starts_with('.') {
        return None;
    }
    let plan = project
        .join("todos")
        .join(slug)
        .join("implementation-plan.md");
    let text = named_file::text(&plan, project::FILE_BYTES_MAX).ok()?;
    checkpoint::judging::plan_files(&text)
}

/// Durations of the steps, in microseconds.
#[derive(Default)]
struct Steps {
    taken: Vec<(String, u64)>,
}

impl Steps {
    fn time<T>(&mut self, name: &str, body: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let value = body();
        self.note(name, began.elapsed());
        value
    }

    fn note(&mut self, name: &str, taken: Duration) {
        let micros = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX);
        self.taken.push((name.to_owned(), micros));
    }
}
