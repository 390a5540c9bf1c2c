//! Offers unfinished work to a session that begins.

use std::sync::Arc;
use std::time::Duration;

use checkpoint::agents::adapter;
use checkpoint::agents::adapter::IgnoredStart;
use checkpoint::phase::Scope;
use checkpoint::progress::{self, Document, Report};
use checkpoint::reply;
use journal::{Event, PromptOrigin, Stream, Timestamp};

use super::documents::{Error, TURN, project_root, read, sessions_of};
use super::validate;
use super::write::open_phase;
use crate::draft::derived;
use crate::shared::Shared;

/// The longest delay of a session's start; the hook client waits only a little longer.
const OFFER_WITHIN: Duration = Duration::from_millis(800);
/// The part of [`OFFER_WITHIN`] that git and file reads may take.
const LOOK_WITHIN: Duration = Duration::from_millis(500);
/// A session with an event this recent may still be working, so its document is not offered to another session.
const AT_WORK_WITHIN: Duration = Duration::from_secs(30 * 60);

/// A hook call whose reply can offer unfinished work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The session starts; holds the host's `source`, such as `resume` or `clear`.
    Start(String),
    /// A user prompt, for agents that ignore the reply to a session start: Gemini CLI after `/clear`.
    Prompt,
}

impl Beginning {
    /// Returns the beginning that an event reports, or `None` for other events and for subagents.
    pub fn of(stream: &Stream, event: &Event) -> Option<Self> {
        match event {
            Event::SessionStarted { source, host } if host.subagent.is_none() => {
                Some(Self::Start(source.clone()))
            }
            Event::PromptSubmitted {
                host,
                origin: PromptOrigin::User,
                ..
            } if host.subagent.is_none() => ignored_start(stream).map(|_| Self::Prompt),
            _ => None,
        }
    }
}

/// Journals an offer of unfinished work and returns the hook reply that carries it, or `None` if nothing can be
/// resumed or time runs out. `seq` is the event that is replied to. The reply has the same shape for all hosts and
/// uses only fields that all of them know.
pub async fn greet(
    shared: &Arc<Shared>,
    stream: &Stream,
    beginning: &Beginning,
    seq: u64,
) -> Option<String> {
    let (hook, text) = match beginning {
        Beginning::Start(_) if !adapter(stream.agent)?.hears_start => return None,
        Beginning::Start(source) => {
            let text = offer(shared, stream, source, seq).await?;
            if is_unheard(stream, source) {
                return None;
            }
            ("SessionStart", text)
        }
        Beginning::Prompt => {
            let hook = ignored_start(stream)?.prompt_hook;
            (hook, withheld(shared, stream).await?)
        }
    };
    Some(reply::with_context(hook, &text))
}

fn is_unheard(stream: &Stream, source: &str) -> bool {
    ignored_start(stream).is_some_and(|start| start.source == source)
}

fn ignored_start(stream: &Stream) -> Option<IgnoredStart> {
    adapter(stream.agent)?.ignored_start
}

/// Returns the offer that the host ignored at the session's start, if this is the session's first prompt.
async fn withheld(shared: &Arc<Shared>, stream: &Stream) -> Option<String> {
    shared.settle().await.ok()?;
    if shared.load(stream).ok()?.turns != 1 {
        return None;
    }
    let events = shared.journal.stream(stream.session, 0, usize::MAX).ok()?;
    let was_unheard = |seq: u64| {
        let start = events
            .iter()
            .find(|envelope| envelope.seq == seq)
            .map(|envelope| &envelope.event);
        matches!(start, Some(Event::SessionStarted { source, .. }) if is_unheard(stream, source))
    };
    events
        .iter()
        .rev()
        .find_map(|envelope| match &envelope.event {
            Event::ResumeOffered { start, text, .. } if was_unheard(*start) => Some(text.clone()),
            _ => None,
        })
}

/// Journals and returns the text of the offer for a session that has just started.
async fn offer(shared: &Arc<Shared>, stream: &Stream, source: &str, seq: u64) -> Option<String> {
    // A resumed or forked session already has the context.
    if !shared.config().settings.progress.resume || matches!(source, "resume" | "fork") {
        return None;
    }
    let work = async {
        shared.settle().await.ok()?;
        let (looker, of, source) = (Arc::clone(shared), stream.clone(), source.to_owned());
        let found = tokio::task::spawn_blocking(move || find(&looker, &of, &source))
            .await
            .ok()?;
        let (document, text) = found
            .inspect_err(
                |error| tracing::warn!(session = %stream.session, %error, "cannot look for work to resume"),
            )
            .ok()??;
        let event = Event::ResumeOffered {
            start: seq,
            document,
            text: text.clone(),
        };
        let draft = derived(stream, Timestamp::now(), event, seq);
        shared.append(vec![draft]).await.ok().map(|_| text)
    };
    tokio::time::timeout(OFFER_WITHIN, work)
        .await
        .ok()
        .flatten()
}

fn find(
    shared: &Shared,
    stream: &Stream,
    source: &str,
) -> Result<Option<(Option<u64>, String)>, Error> {
    let (journal, config) = (&shared.journal, shared.config());
    if matches!(source, "clear" | "compact") {
        // Wait for a document that is being written: it is the one needed here.
        drop(TURN.lock());
        journal.settle()?;
    }
    let state = shared.load(stream)?;
    let is_off = || {
        shared
            .project_in_time(state.project())
            .is_none_or(|it| !it.policy.enabled)
    };
    if state.project().is_empty() || state.is_muted(Timestamp::now()) || is_off() {
        return Ok(None);
    }
    let project = project_root(state.project());
    let phase = open_phase(
        journal,
        Scope {
            project: Some(project.clone()),
            session: None,
        },
    )?;
    let chosen = choose(shared, stream, source, &project)?;
    let mut checked: Option<(u64, Document, String, Report)> = None;
    if let Some((seq, file, document)) = chosen {
        let report = validate::compare(
            journal,
            &shared.home,
            &config,
            (seq, &document),
            LOOK_WITHIN,
        )?;
        checked = Some((seq, document, file, report));
    }
    let about = checked
        .as_ref()
        .map(|(_, document, file, report)| (document, file.as_str(), report));
    let text = progress::offer(phase.as_ref(), about);
    Ok(text.map(|text| (checked.as_ref().map(|(seq, ..)| *seq), text)))
}

/// Chooses the project's newest document that records work, if any of that work is unfinished.
fn choose(
    shared: &Shared,
    stream: &Stream,
    source: &str,
    project: &str,
) -> Result<Option<(u64, String, Document)>, Error> {
    let journal = &shared.journal;
    let now = Timestamp::now();
    let within = shared.config().settings.progress.resume_within.0;
    let mut written = Vec::new();
    for state in sessions_of(journal, project, now.minus(within))? {
        let is_own = state.session() == stream.session;
        // After a compaction only the session's own document applies.
        if (source == "compact") != is_own && source != "clear" {
            continue;
        }
        let may_work =
            !is_own && state.ended_at.is_none() && state.last_at >= Some(now.minus(AT_WORK_WITHIN));
        written.extend(state.progress.map(|progress| (progress, may_work)));
    }
    written.sort_by_key(|(written, _)| std::cmp::Reverse(written.seq));
    for (written, may_work) in written
        .iter()
        .filter(|(written, _)| written.at >= now.minus(within))
    {
        let Some((file, document)) = journal.event(written.seq)?.as_ref().and_then(read) else {
            continue;
        };
        if may_work.to_owned() && document.cause != "command" {
            continue;
        }
        if document.facts.files.is_empty() && document.stated.now.is_empty() {
            continue;
        }
        let full = match written.full {
            Some(full) if full != written.seq => journal
                .event(full)?
                .as_ref()
                .and_then(read)
                .map(|(file, _)| file),
            _ => None,
        };
        let file = full.map_or(file.clone(), |full| format!("{full} and, newer, {file}"));
        return Ok(document.has_more().then_some((written.seq, file, document)));
    }
    Ok(None)
}
