//! Replay: repeats the decisions of a journal, or plays recorded hook calls through fold and
//! decide.
//!
//! Replay never acts. It holds a session's events back from a stop until its decision, because a
//! decision was made on the state at its `basis` and not on events that arrived meanwhile.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use journal::{
    Changes, Decision, Draft, Envelope, Event, Evidence, Stream, Timeline, TimelineSource,
    Timestamp, Verdict,
};
use serde_json::json;
use uuid::Uuid;

use crate::config::DescribedAgents;
use crate::decide::{self, Case};
use crate::gathered::Gathered;
use crate::hooks::{self, HookCall, Reading};
use crate::policy::Policy;
use crate::redact;
use crate::state::{SessionState, Stop};

/// What is said of a decision that is not made again because an earlier version made it.
pub const EARLIER: &str = "it was decided by an earlier version of checkpointd";

/// A decision of the journal with its input.
pub struct Past<'a> {
    /// The decision's own event.
    pub envelope: &'a Envelope,
    /// The journaled decision.
    pub decision: &'a Decision,
    /// The session's state at that time.
    pub state: &'a SessionState,
    /// The stop.
    pub stop: &'a Stop,
    /// The evidence at that time.
    pub evidence: &'a Evidence,
    /// The policy at that time; `None` when the journal does not have it.
    pub policy: Option<&'a Policy>,
}

impl Past<'_> {
    /// Returns whether the decision's machine withholds a part of what it was based on, or of itself, so that nothing
    /// can be proved here.
    pub fn is_withheld(&self) -> bool {
        self.state.withheld || self.envelope.is_withheld()
    }

    /// Returns whether an earlier version of the deciding code made it, which this one need not repeat.
    pub fn is_earlier(&self) -> bool {
        self.decision.version < journal::DECISION_VERSION
    }

    /// Repeats the decision with its own policy.
    ///
    /// # Errors
    ///
    /// Returns the reason when another version decided it or the journal lacks the input.
    pub fn again(&self) -> Result<Decision, String> {
        if self.is_earlier() {
            return Err(EARLIER.into());
        }
        if self.decision.version > journal::DECISION_VERSION {
            return Err("it was decided by a later version of checkpointd".into());
        }
        let policy = self
            .policy
            .ok_or_else(|| format!("policy {:016x} is not in the journal", self.decision.policy))?;
        Ok(self.under(policy, self.decision.policy))
    }

    /// Repeats the decision with another policy.
    pub fn under(&self, policy: &Policy, fingerprint: u64) -> Decision {
        let case = Case {
            state: self.state,
            stop: self.stop,
            evidence: self.evidence,
            policy,
            fingerprint,
        };
        // The caller got no answer: no policy changes that.
        if decide::is_unanswered(self.decision.reason) {
            decide::pass_unanswered(&case, self.decision.reason)
        } else {
            decide::decide(&case)
        }
    }
}

/// Names the fields in which two decisions differ.
pub fn differences(was: &Decision, now: &Decision) -> Vec<String> {
    let [was, now] = [was, now].map(|decision| json!(decision));
    let fields = now.as_object().into_iter().flatten();
    let differing = fields.filter(|(name, value)| was.get(*name) != Some(value));
    differing.map(|(name, _)| name.clone()).collect()
}

/// The replay of one session.
struct Track {
    state: SessionState,
    /// Events since a stop that waits for its decision.
    held: VecDeque<Envelope>,
    evidence: Gathered,
}

impl Track {
    fn new(stream: &Stream) -> Self {
        Self {
            state: SessionState::new(stream.clone()),
            held: VecDeque::new(),
            evidence: Gathered::default(),
        }
    }

    fn waits(&self) -> bool {
        !self.state.pending.is_empty() || self.state.restart.is_some()
    }

    /// Folds the held events up to `seq`.
    fn fold_up_to(&mut self, seq: u64) {
        while let Some(envelope) = self.held.pop_front_if(|envelope| envelope.seq <= seq) {
            self.state.apply(&envelope);
        }
    }
}

/// Folds a journal's events in order and gives every decision with its input.
#[derive(Default)]
pub struct Replayer {
    tracks: HashMap<Uuid, Track>,
    policies: HashMap<u64, Policy>,
}

impl Replayer {
    /// Applies the next event and calls `judge` when it is a decision.
    pub fn feed(&mut self, mut envelope: Envelope, judge: impl FnOnce(Past<'_>)) {
        if let Event::PolicyAdopted { fingerprint, text } = &envelope.event {
            if let Ok(policy) = Policy::from_text(text) {
                self.policies.insert(*fingerprint, policy);
            }
            return;
        }
        let track = self
            .tracks
            .entry(envelope.stream.session)
            .or_insert_with(|| Track::new(&envelope.stream));
        if !track.waits() && track.held.is_empty() {
            track.state.apply(&envelope);
            return;
        }
        // The fold ignores it.
        track.evidence.feed(&mut envelope.event);
        if let Event::Decided(decision) = &envelope.event {
            track.fold_up_to(decision.basis);
            let evidence = track.evidence.take(decision.trigger).unwrap_or_default();
            if let Some(stop) = stop_of(&track.state, decision.trigger) {
                let policy = self.policies.get(&decision.policy);
                let state = &track.state;
                judge(Past {
                    envelope: &envelope,
                    decision,
                    state,
                    stop: &stop,
                    evidence: &evidence,
                    policy,
                });
            }
            track.fold_up_to(envelope.seq);
            track.state.apply(&envelope);
            return;
        }
        track.held.push_back(envelope);
    }

    /// Returns the state of each session after the last event.
    pub fn finish(mut self) -> Vec<SessionState> {
        self.tracks
            .values_mut()
            .for_each(|track| track.fold_up_to(u64::MAX));
        let mut states: Vec<_> = self.tracks.into_values().map(|track| track.state).collect();
        states.sort_by_key(|state| (state.started_at, state.session()));
        states
    }
}

/// Returns the stop that a decision was about.
fn stop_of(state: &SessionState, trigger: u64) -> Option<Stop> {
    state
        .pending
        .iter()
        .find(|stop| stop.seq == trigger)
        .cloned()
        .or_else(|| state.restart_stop(trigger))
}

/// Plays hook calls through fold and decide, in memory and by their own clock. No other evidence is
/// gathered: the timeline consists of the calls, and the changed files are unknown.
pub struct Player<'a> {
    policy: &'a Policy,
    agents: &'a DescribedAgents,
    fingerprint: u64,
    next_seq: u64,
    states: HashMap<Uuid, SessionState>,
    known: std::collections::HashSet<Uuid>,
}

/// The events of a played hook call, in order: deliveries whose time was over, its own event, and those that followed from
/// it.
pub struct Played {
    /// The events, at least one.
    pub events: Vec<Envelope>,
    /// The position of the call's own event.
    own: usize,
}

impl Played {
    /// Returns the hook call's own event.
    pub fn envelope(&self) -> &Envelope {
        &self.events[self.own]
    }

    /// Returns the decision's event if the call was a stop.
    pub fn decided(&self) -> Option<&Envelope> {
        self.events
            .iter()
            .find(|envelope| matches!(envelope.event, Event::Decided(_)))
    }
}

impl<'a> Player<'a> {
    /// Begins with an empty journal. The configuration describes `agents`.
    pub fn new(policy: &'a Policy, agents: &'a DescribedAgents) -> Self {
        let fingerprint = policy.to_text().0;
        Self {
            policy,
            agents,
            fingerprint,
            next_seq: 1,
            states: HashMap::new(),
            known: std::collections::HashSet::new(),
        }
    }

    /// Plays one call; `None` for a duplicate.
    ///
    /// # Errors
    ///
    /// As [`hooks::normalize`].
    pub fn play(&mut self, call: &HookCall<'_>) -> Result<Option<Played>, String> {
        let reading = Reading {
            prefix: &self.policy.prefix,
            payload_bytes_max: usize::MAX,
            redactor: redact::built_in(),
            agents: self.agents,
        };
        let draft = hooks::normalize(call, reading)?.draft;
        if !self.known.insert(draft.id) {
            return Ok(None);
        }
        let session = draft.stream.session;
        let mut events = self.expire(Some(draft.at));
        let own = events.len();
        let envelope = self.append(draft);
        events.push(envelope.clone());
        let state = &self.states[&session];
        if let Some(open) = &state.delivery {
            let decision = open.decision;
            if let Some(by) = open.seen_by.clone() {
                events.push(self.derive(&envelope, Event::DeliveryConfirmed { decision, by }));
            } else if state.ended_at.is_some() {
                let reason = "session_ended".into();
                events.push(self.derive(&envelope, Event::DeliveryExpired { decision, reason }));
            }
        }
        let stop = self.states[&session]
            .pending
            .iter()
            .find(|stop| stop.seq == envelope.seq)
            .cloned();
        if let Some(stop) = stop {
            self.decide(&envelope, &stop, &mut events);
        }
        Ok(Some(Played { events, own }))
    }

    /// Gives up the deliveries that nothing has confirmed; returns the events. Call it after the last hook call.
    pub fn finish(&mut self) -> Vec<Envelope> {
        self.expire(None)
    }

    /// Expires the open deliveries whose time is over at `now`, or all of them.
    fn expire(&mut self, now: Option<Timestamp>) -> Vec<Envelope> {
        let within = Duration::from_millis(self.policy.confirm_timeout_ms);
        let open = self.states.values().filter_map(|state| {
            let delivery = state.delivery.as_ref()?;
            let end = delivery.at.plus(within);
            now.is_none_or(|now| now > end)
                .then(|| (delivery.decision, state.stream.clone(), end))
        });
        let mut open: Vec<_> = open.collect();
        open.sort_unstable_by_key(|(decision, ..)| *decision);
        let expired = |(decision, stream, at): (u64, Stream, Timestamp)| {
            let id = Uuid::new_v5(&stream.session, format!("expired:{decision}").as_bytes());
            let reason = "confirm_timeout".into();
            let event = Event::DeliveryExpired { decision, reason };
            self.append(Draft {
                stream,
                at,
                id,
                event,
                payload: None,
            })
        };
        open.into_iter().map(expired).collect()
    }

    fn decide(&mut self, cause: &Envelope, stop: &Stop, events: &mut Vec<Envelope>) {
        let state = &self.states[&cause.stream.session];
        let calls = state.turn.calls.clone();
        let source = if calls.is_empty() {
            TimelineSource::None
        } else {
            TimelineSource::Journal
        };
        let evidence = Evidence {
            changes: Changes::Unknown("not_looked_up".into()),
            timeline: Timeline { source, calls },
            ..Evidence::default()
        };
        let case = Case {
            state,
            stop,
            evidence: &evidence,
            policy: self.policy,
            fingerprint: self.fingerprint,
        };
        let decision = decide::decide(&case);
        let verdict = decision.verdict;
        let route = decision.route;
        if let Some(open) = state.delivery.as_ref().filter(|_| route.is_some()) {
            let event = Event::DeliveryExpired {
                decision: open.decision,
                reason: "superseded".into(),
            };
            events.push(self.derive(cause, event));
        }
        let decided = self.derive(cause, Event::Decided(Box::new(decision)));
        let decision = decided.seq;
        events.push(decided);
        if let (Verdict::Inject, Some(route)) = (verdict, route) {
            events.push(self.derive(
                cause,
                Event::DeliveryAttempted {
                    decision,
                    route,
                    attempt: 1,
                },
            ));
        }
    }

    fn derive(&mut self, cause: &Envelope, event: Event) -> Envelope {
        let id = Uuid::new_v5(&cause.id, event.kind().as_bytes());
        self.append(Draft {
            stream: cause.stream.clone(),
            at: cause.at,
            id,
            event,
            payload: None,
        })
    }

    fn append(&mut self, draft: Draft) -> Envelope {
        let Draft {
            stream,
            at,
            id,
            event,
            ..
        } = draft;
        let state = self
            .states
            .entry(stream.session)
            .or_insert_with(|| SessionState::new(stream.clone()));
        let late = event.host().is_some() && state.last_at.is_some_and(|last| at < last);
        let envelope = Envelope {
            seq: self.next_seq,
            stream,
            at,
            recorded_at: state.last_at.max(Some(at)).unwrap_or(at),
            id,
            late,
            event,
            origin: None,
        };
        self.next_seq += 1;
        state.apply(&envelope);
        envelope
    }

    /// Returns the state of each session, in order of their first events.
    pub fn states(&self) -> Vec<&SessionState> {
        let mut states: Vec<_> = self.states.values().collect();
        states.sort_by_key(|state| (state.started_at, state.session()));
        states
    }
}

/// Returns the state of a session after the events that `upto` accepts.
pub fn fold<'a>(stream: &Stream, events: impl IntoIterator<Item = &'a Envelope>) -> SessionState {
    let mut state = SessionState::new(stream.clone());
    events
        .into_iter()
        .for_each(|envelope| state.apply(envelope));
    state
}
