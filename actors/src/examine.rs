//! Examining a tool call that has ended: what it printed, and which contents of the changed files it ran on (spec
//! EVID-4). Runs on blocking threads; no hook call waits for it.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use checkpoint::agents;
use checkpoint::config::Config;
use checkpoint::hooks::printed::printed;
use checkpoint::judging::could_verify;
use checkpoint::policy::Policy;
use checkpoint::shell;
use checkpoint::state::{Ended, SessionState, Turn};
use journal::{Agent, Event, Examined, Timestamp, ToolCall, ToolKind};
use tokio::sync::Mutex;

use crate::digests;
use crate::draft::derived;
use crate::git::{self, Request};
use crate::project::Project;
use crate::shared::Shared;
use crate::whose;
use crate::work_tree::bounds;
use crate::work_tree_choice;

/// If a call is examined later than this after its end, files may have been put back since: a file that is not among the
/// changed ones may have had any content.
const PROMPTLY: Duration = Duration::from_secs(5);

/// A person's run has no turn. Files count that were committed this long before, besides those that are not committed.
const COMMITTED: Duration = Duration::from_secs(24 * 60 * 60);

/// The examinations of one session, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Examining {
    place: Mutex<()>,
    /// Sequence number of the last end of a call that was looked at.
    tried: AtomicU64,
}

impl Examining {
    /// Returns whether a call waits that was not looked at so far.
    pub(crate) fn has_next(&self, state: &SessionState) -> bool {
        self.next(&state.turn).is_some()
    }

    fn next(&self, turn: &Turn) -> Option<Ended> {
        let tried = self.tried.load(Ordering::Relaxed);
        turn.waiting.iter().find(|ended| ended.seq > tried).cloned()
    }

    /// Examines the calls that wait, journals what was read, and returns the state with it.
    pub(crate) async fn work(&self, shared: &Arc<Shared>, mut state: SessionState) -> SessionState {
        let _place = self.place.lock().await;
        shared.catch_up(&mut state);
        while let Some(ended) = self.next(&state.turn) {
            let call = call_of(&state.turn, &ended);
            let Some(call) = call
                .filter(|call| is_wanted(state.stream.agent, call))
                .cloned()
            else {
                self.tried.store(ended.seq, Ordering::Relaxed);
                continue;
            };
            let (seq, known, looked) = (ended.seq, state.clone(), ended.clone());
            let ran = call.clone();
            let look = move |shared: &Shared| {
                let payload = shared.journal.payload(seq).ok().flatten();
                examine(shared, &known, &call, &looked, payload.as_deref())
            };
            // A stop that waits no longer drops this here. The call is then examined after the stop.
            let examined = shared.look_at(state.project(), look).await.flatten();
            self.tried.store(ended.seq, Ordering::Relaxed);
            let Some(examined) = examined else {
                continue;
            };
            shared.others.ran(&state.stream, &ran, &examined);
            let event = Event::CallExamined {
                call_id: ended.id,
                call_at: ended.at,
                examined: Box::new(examined),
            };
            let draft = derived(&state.stream, Timestamp::now(), event, seq);
            shared.note(&mut state, vec![draft]).await;
        }
        state
    }

    /// Like [`Examining::work`], for a stop: it waits no longer than git may take.
    pub(crate) async fn work_in_time(
        &self,
        shared: &Arc<Shared>,
        state: SessionState,
    ) -> SessionState {
        if state.turn.waiting.is_empty() {
            return state;
        }
        let within = bounds(&shared.config()).within;
        let work = self.work(shared, state.clone());
        tokio::time::timeout(within, work).await.unwrap_or(state)
    }
}

fn call_of<'a>(turn: &'a Turn, ended: &Ended) -> Option<&'a ToolCall> {
    let same = |call: &&ToolCall| call.id == ended.id && call.at == ended.at;
    turn.calls.iter().find(same)
}

/// Returns whether a call could verify something: a command, or a tool that the agent does not have by itself.
fn is_wanted(agent: Agent, call: &ToolCall) -> bool {
    match call.kind {
        ToolKind::Shell => could_verify(&shell::read(call.command.as_deref().unwrap_or_default())),
        ToolKind::Other => agents::adapter(agent).is_some_and(|agent| !agent.tools.has(&call.tool)),
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => false,
    }
}

fn examine(
    shared: &Shared,
    state: &SessionState,
    call: &ToolCall,
    ended: &Ended,
    payload: Option<&str>,
) -> Option<Examined> {
    let config = shared.config();
    let project = work_tree_choice::project(&config, state);
    let policy = Project::look(&config, &shared.trust(), project).policy;
    if !policy.enabled || policy.is_letter() {
        return None;
    }
    let printed = payload
        .map(|payload| printed(state.stream.agent, &config.settings.agents, call, payload))
        .unwrap_or_default();
    let mut examined = contents(&config, &policy, state, ended.began()).unwrap_or_default();
    examined.is_cut |= Timestamp::now().since(ended.ended_at) > PROMPTLY;
    examined.summaries = printed.summaries;
    examined.ended = printed.ended;
    Some(examined)
}

/// Returns the contents of the changed files that were there at a time; `None` if git gives no answer.
pub fn contents(
    config: &Config,
    policy: &Policy,
    state: &SessionState,
    began: Timestamp,
) -> Option<Examined> {
    let mut bounds = bounds(config);
    bounds.files_max = digests::FILES_MAX;
    let deadline = Instant::now() + bounds.within;
    let is_agent = state.stream.agent.is_agent();
    let head = state.turn.head_before().cloned();
    let since = match head {
        _ if !is_agent => Some(began.minus(COMMITTED)),
        Some(_) => state.turn.started_at,
        None => state.turn_start(policy.timer),
    };
    let wanted = Request {
        since,
        head,
        ..Request::default()
    };
    let mut changed = git::changed(&work_tree_choice::of(state, policy).folder, &wanted, bounds)?;
    add_edited(&mut changed, state);
    let paths = changed.paths.iter().map(Vec::as_slice);
    let mut examined = digests::take(&changed.top, paths, Some(began), deadline);
    if is_agent {
        examined.hashes.clear();
    }
    examined.is_cut |= changed.is_cut;
    Some(examined)
}

/// Adds the files that the turn's calls edited, also those that git calls unchanged.
fn add_edited(changed: &mut git::Changed, state: &SessionState) {
    let edited = whose::named(&state.turn.calls, state.home()).edited;
    let within = edited
        .iter()
        .filter_map(|path| path.strip_prefix(&changed.top).ok());
    changed
        .paths
        .extend(within.map(|path| path.as_os_str().as_bytes().to_vec()));
    changed.paths.sort_unstable();
    changed.paths.dedup();
}
