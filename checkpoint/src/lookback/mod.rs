//! Sessions of the past, judged by rules of today: turns of transcripts become the events that hooks would have given,
//! and each turn's end is decided on (spec LOOK-1 to LOOK-6).
//!
//! Pure. The caller says what to do with the events: keep them in the journal, or only count them.

mod changes;
#[cfg(test)]
mod tests;

use journal::{
    ChangedFile, Changes, Decision, Draft, Envelope, Event, Evidence, Host, Place, PromptOrigin,
    Stream, Timeline, TimelineSource, Timestamp, ToolCall, Verdict, Workspace,
};
use uuid::Uuid;

use crate::decide::{self, Case};
use crate::digest;
use crate::judging::{self, Ending};
use crate::policy::Policy;
use crate::state::{SessionState, Stop};
use crate::text;
use crate::transcript::turns::PastTurn;

pub use changes::{Commit, Repository, changed};

/// The reason of deliveries that never were: their decision is about the past.
pub const IMPORTED: &str = "imported";
/// The word for how a session began, and the reason of its end, that was read from a transcript.
const SOURCE: &str = "imported";
/// What is said with the evidence of each decision.
const NOTE: &str = "looked back: of the changed files, those of the turn's edits, shell writes and commits are known";

/// What a turn is judged by besides its transcript.
#[derive(Clone, Debug)]
pub struct Ground<'a> {
    /// The top of the work tree, or the agent's folder.
    pub top: &'a str,
    /// Path of the transcript.
    pub transcript: &'a str,
    /// The files that the turn changed.
    pub files: Vec<String>,
    /// What the project's files say about verifying them.
    pub workspace: Option<Workspace>,
    /// The policy of the project.
    pub policy: &'a Policy,
    /// The fingerprint of the policy. The journal has the event that adopts it.
    pub fingerprint: u64,
}

/// The outcome of a turn.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The facts about it.
    pub evidence: Evidence,
    /// How it ended.
    pub ending: Ending,
    /// The verdict of a stop at its end; `None` if a person stopped the agent.
    pub decision: Option<Decision>,
    /// Whether any of its events was new.
    pub is_new: bool,
}

/// A session of the past, while its turns are judged one after the other.
#[derive(Debug)]
pub struct PastSession {
    state: SessionState,
    last: Timestamp,
    /// The sequence number before the current turn.
    before: u64,
}

impl PastSession {
    /// Begins a session.
    pub fn new(stream: Stream) -> Self {
        Self {
            state: SessionState::new(stream),
            last: Timestamp::default(),
            before: 0,
        }
    }

    /// Continues a session of which some turns were kept before.
    pub fn resume(state: SessionState) -> Self {
        Self {
            last: state.last_at.unwrap_or_default(),
            before: state.last_seq,
            state,
        }
    }

    /// Returns whether a turn may still have to be kept: it is the last one that is known, or a later one.
    pub fn wants(&self, turn: &PastTurn) -> bool {
        self.state
            .turn
            .started_at
            .is_none_or(|began| began <= turn.began)
    }

    /// Judges the next turn. `append` takes events and returns their sequence numbers.
    ///
    /// # Errors
    ///
    /// Those of `append`.
    pub fn judge<E>(
        &mut self,
        turn: PastTurn,
        ground: Ground<'_>,
        append: &mut impl FnMut(Vec<Draft>) -> Result<Vec<u64>, E>,
    ) -> Result<Judged, E> {
        let key = turn.began.as_micros();
        self.last = turn.ended;
        self.before = self.state.last_seq;
        let stop = self.append(self.hook_drafts(&turn, &ground), append)?;
        let evidence = self.evidence(turn, &ground);
        let ending = judging::ending(&evidence, ground.top, ground.policy);
        let waiting = self
            .state
            .pending
            .iter()
            .find(|pending| pending.seq == stop);
        let Some(stop) = waiting.cloned() else {
            return Ok(Judged {
                evidence,
                ending,
                decision: None,
                is_new: self.state.last_seq > self.before,
            });
        };
        let case = Case {
            state: &self.state,
            stop: &stop,
            evidence: &evidence,
            policy: ground.policy,
            fingerprint: ground.fingerprint,
        };
        let decision = decide::decide(&case);
        let drafts = self.decision_drafts(key, &stop, &decision, &evidence);
        let decided = self.append(drafts, append)?;
        if decision.verdict == Verdict::Inject {
            // Nothing was sent, so nothing is under way.
            let event = Event::DeliveryExpired {
                decision: decided,
                reason: IMPORTED.to_owned(),
            };
            let draft = self.draft(key, stop.at, event);
            self.append(vec![draft], append)?;
        }
        Ok(Judged {
            evidence,
            ending,
            decision: Some(decision),
            is_new: self.state.last_seq > self.before,
        })
    }

    /// Ends the session with its last turn.
    ///
    /// # Errors
    ///
    /// Those of `append`.
    pub fn end<E>(
        &mut self,
        append: &mut impl FnMut(Vec<Draft>) -> Result<Vec<u64>, E>,
    ) -> Result<(), E> {
        let event = Event::SessionEnded {
            host: host(None),
            reason: SOURCE.to_owned(),
        };
        let draft = self.draft(self.last.as_micros(), self.last, event);
        self.append(vec![draft], append).map(drop)
    }

    /// Appends events and applies them; returns the number of the last one.
    fn append<E>(
        &mut self,
        drafts: Vec<Draft>,
        append: &mut impl FnMut(Vec<Draft>) -> Result<Vec<u64>, E>,
    ) -> Result<u64, E> {
        let seqs = append(drafts.clone())?;
        let own = self.state.session();
        let known = self.state.last_seq;
        for (draft, seq) in drafts.into_iter().zip(&seqs) {
            // What was kept before is part of the state already.
            if draft.stream.session == own && *seq > known {
                self.state.apply(&Envelope {
                    seq: *seq,
                    stream: draft.stream,
                    at: draft.at,
                    recorded_at: draft.at,
                    id: draft.id,
                    late: false,
                    event: draft.event,
                    origin: None,
                });
            }
        }
        Ok(seqs.last().copied().unwrap_or_default())
    }

    /// The id comes from the turn and the kind, so reading a transcript again gives the same events.
    fn draft(&self, key: i64, at: Timestamp, event: Event) -> Draft {
        let name = format!("lookback:{}:{key}", event.kind());
        self.named(&name, at, event)
    }

    fn named(&self, name: &str, at: Timestamp, event: Event) -> Draft {
        Draft {
            stream: self.state.stream.clone(),
            at,
            id: Uuid::new_v5(&self.state.session(), name.as_bytes()),
            event,
            payload: None,
        }
    }

    /// Returns the events that hooks would have given: the prompt, the calls, and the stop last.
    fn hook_drafts(&self, turn: &PastTurn, ground: &Ground<'_>) -> Vec<Draft> {
        let key = turn.began.as_micros();
        let place = Place {
            cwd: ground.top.to_owned(),
            transcript: Some(ground.transcript.to_owned()),
            env: Vec::new(),
        };
        let mut drafts = Vec::new();
        if self.state.started_at.is_none() {
            let event = Event::SessionStarted {
                host: host(Some(place.clone())),
                source: SOURCE.to_owned(),
            };
            drafts.push(self.named("lookback:session_started", turn.began, event));
        }
        let prompt = turn.prompt();
        let event = Event::PromptSubmitted {
            host: host(Some(place)),
            origin: PromptOrigin::User,
            text: text::head(prompt, Event::TEXT_BYTES_MAX).to_owned(),
            digest: digest::of_prompt(prompt),
        };
        drafts.push(self.draft(key, turn.began, event));
        let mut calls: Vec<(Timestamp, usize, &ToolCall)> = Vec::new();
        for (number, call) in turn.facts.calls.iter().enumerate() {
            let took = std::time::Duration::from_millis(call.duration_ms.unwrap_or(0));
            let at = call.at.plus(took).clamp(turn.began, turn.ended);
            calls.push((at, number, call));
        }
        calls.sort_by_key(|(at, number, _)| (*at, *number));
        for (at, number, call) in calls {
            let (host, mut call) = (host(None), call.clone());
            call.at = call.at.max(turn.began);
            let event = if call.is_error {
                Event::ToolFailed { host, call }
            } else {
                Event::ToolFinished { host, call }
            };
            let name = format!("lookback:{}:{key}:{number}", event.kind());
            drafts.push(self.named(&name, at, event));
        }
        let event = if turn.interrupted {
            Event::Interrupted {
                host: host(None),
                cause: "user".to_owned(),
            }
        } else {
            Event::AgentStopped {
                host: host(None),
                reentry: false,
                background_tasks: 0,
                can_reply: true,
                prompt_digest: None,
                last_message: turn.facts.last_assistant.clone(),
            }
        };
        drafts.push(self.draft(key, turn.ended, event));
        drafts
    }

    /// Returns the evidence of a turn, and remembers the paths that its calls named.
    fn evidence(&mut self, turn: PastTurn, ground: &Ground<'_>) -> Evidence {
        let began = turn.began.as_micros();
        let mut facts = turn.facts;
        // What a file held is not known; a later edit of it is another content.
        let changed = ground.files.iter().map(|path| ChangedFile {
            hash: Some(digest::of_text(&format!("{began}\0{path}"))),
            path: path.clone(),
        });
        let own = facts.last_user.as_ref();
        let mut evidence = Evidence {
            changes: Changes::Known(changed.collect()),
            timeline: Timeline {
                source: TimelineSource::Transcript,
                calls: std::mem::take(&mut facts.calls),
            },
            own_prompt_last: own.is_some_and(|user| user.origin == PromptOrigin::Own),
            last_prompt_at: facts.last_real_user.as_ref().map(|user| user.at),
            host_version: facts.host_version.take(),
            headless: facts.headless,
            notes: vec![NOTE.to_owned()],
            ..Evidence::default()
        };
        evidence.facts.workspace.clone_from(&ground.workspace);
        let said = facts.last_assistant.as_deref().unwrap_or_default();
        evidence.facts.last_message = said.to_owned();
        evidence.facts.prompts = facts
            .prompts
            .split_off(facts.prompts.len().saturating_sub(1));
        evidence.facts.outcomes = std::mem::take(&mut facts.outcomes);
        evidence
    }

    /// Returns the events of a decision, the decision itself last.
    fn decision_drafts(
        &self,
        key: i64,
        stop: &Stop,
        decision: &Decision,
        evidence: &Evidence,
    ) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let mut evidence = evidence.clone();
        let facts = std::mem::take(&mut evidence.facts);
        let event = Event::FactsGathered {
            trigger: stop.seq,
            facts: Box::new(facts),
        };
        drafts.push(self.draft(key, stop.at, event));
        let event = Event::EvidenceGathered {
            trigger: stop.seq,
            evidence: Box::new(evidence),
        };
        drafts.push(self.draft(key, stop.at, event));
        let event = Event::Decided(Box::new(decision.clone()));
        drafts.push(self.draft(key, stop.at, event));
        drafts
    }
}

fn host(place: Option<Place>) -> Host {
    Host {
        hook: Host::FROM_TRANSCRIPT.to_owned(),
        place,
        ..Host::default()
    }
}
