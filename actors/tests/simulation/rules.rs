//! Invariants that hold after every event. Each rule is computed here independently of the code that it checks; only
//! folding and deciding again use the program.

use std::collections::{BTreeMap, HashMap, HashSet};

use checkpoint::replay::{self, Replayer};
use checkpoint::state::SessionState;
use journal::{Agent, Decision, Envelope, Event, Reason, Stream, Timestamp, Verdict};
use serde_json::Value;
use uuid::Uuid;

use crate::agents::PERSON;

/// Says that a rule was broken.
pub(crate) type Broken = String;

/// One session as the rules see it.
struct Track {
    state: SessionState,
    /// Messages of persons, and when the latest was sent.
    persons: u64,
    latest: Option<Timestamp>,
    /// Checkpoints but those after restarts: the times of their stops.
    sent: Vec<Timestamp>,
    /// What may be decided about.
    triggers: HashSet<u64>,
    /// Decisions by what they are about.
    decisions: HashMap<u64, (u64, Decision)>,
    /// Attempts at a delivery by its decision.
    attempts: HashMap<u64, u32>,
}

/// The rules, and the events so far.
pub(crate) struct Rules {
    budget: usize,
    last_seq: u64,
    ids: HashSet<Uuid>,
    tracks: BTreeMap<Uuid, Track>,
    replayer: Replayer,
    /// All events, in order.
    pub(crate) events: Vec<Envelope>,
}

impl Rules {
    /// Begins after the event `last_seq`, with one who has seen all events before it.
    pub(crate) fn new(budget: usize, last_seq: u64, replayer: Replayer) -> Self {
        Self {
            budget,
            last_seq,
            ids: HashSet::new(),
            tracks: BTreeMap::new(),
            replayer,
            events: Vec::new(),
        }
    }

    /// Returns the events, and who has seen them.
    pub(crate) fn end(self) -> (Vec<Envelope>, Replayer) {
        (self.events, self.replayer)
    }

    /// Returns the last event's place.
    pub(crate) const fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Returns the sessions, folded from their events.
    pub(crate) fn states(&self) -> impl Iterator<Item = &SessionState> {
        self.tracks.values().map(|track| &track.state)
    }

    /// Takes the next event.
    pub(crate) fn feed(&mut self, envelope: Envelope) -> Result<(), Broken> {
        let Envelope { seq, id, .. } = envelope;
        if seq != self.last_seq + 1 {
            return Err(format!("event {seq} follows event {}", self.last_seq));
        }
        self.last_seq = seq;
        if !self.ids.insert(id) {
            return Err(format!("event {seq} has the id of an earlier one"));
        }
        self.events.push(envelope.clone());
        self.judge_again(&envelope)?;
        if envelope.stream.agent == Agent::Daemon {
            return Ok(());
        }
        let new = || Track::new(envelope.stream.clone());
        let track = self
            .tracks
            .entry(envelope.stream.session)
            .or_insert_with(new);
        track
            .take(&envelope, self.budget)
            .map_err(|broken| format!("{broken} (event {seq}, {})", envelope.event.kind()))
    }

    /// `replay --verify`: every decision is made again, from the same state, and is the same.
    fn judge_again(&mut self, envelope: &Envelope) -> Result<(), Broken> {
        let mut verdict = match &envelope.event {
            Event::Decided(_) => Err("it is about no stop that waits".to_owned()),
            _ => Ok(()),
        };
        self.replayer.feed(envelope.clone(), |past| {
            verdict =
                past.again()
                    .and_then(|again| match replay::differences(past.decision, &again) {
                        fields if fields.is_empty() => Ok(()),
                        fields => Err(format!("it would differ in {}", fields.join(", "))),
                    });
        });
        verdict
            .map_err(|problem| format!("decision {} cannot be made again: {problem}", envelope.seq))
    }

    /// A reply says what its journaled decision says, after an attempt that is journaled.
    pub(crate) fn may_be_sent(
        &self,
        session: Uuid,
        stop: u64,
        reply: &str,
        times: u32,
    ) -> Result<(), Broken> {
        let track = self.tracks.get(&session);
        let decided = track.and_then(|track| track.decisions.get(&stop));
        let Some((seq, decision)) = decided else {
            return Err(format!("stop {stop} was answered before it was decided"));
        };
        let reply: Value =
            serde_json::from_str(reply).map_err(|error| format!("a reply is not JSON: {error}"))?;
        let text = reply["reason"]
            .as_str()
            .or_else(|| reply["hookSpecificOutput"]["additionalContext"].as_str());
        if text != decision.message.as_deref() {
            return Err(format!("stop {stop} was answered otherwise than decided"));
        }
        let attempts = track
            .and_then(|track| track.attempts.get(seq))
            .copied()
            .unwrap_or(0);
        if times > attempts {
            return Err(format!(
                "stop {stop} was answered {times} times, of which {attempts} are journaled"
            ));
        }
        Ok(())
    }
}

impl Track {
    fn new(stream: Stream) -> Self {
        Self {
            state: SessionState::new(stream),
            persons: 0,
            latest: None,
            sent: Vec::new(),
            triggers: HashSet::new(),
            decisions: HashMap::new(),
            attempts: HashMap::new(),
        }
    }

    fn take(&mut self, envelope: &Envelope, budget: usize) -> Result<(), Broken> {
        let (seq, at) = (envelope.seq, envelope.at);
        let flag = self.state.notification.clone();
        self.state.apply(envelope);
        let is_person = matches!(&envelope.event, Event::PromptSubmitted { text, .. } if text.starts_with(PERSON));
        if is_person {
            self.persons += 1;
            self.latest = self.latest.max(Some(at));
        }
        match &envelope.event {
            Event::AgentStopped { .. } | Event::RestartRequested { .. } => {
                self.triggers.insert(seq);
            }
            Event::Decided(decision) => self.decided(envelope, decision, budget)?,
            Event::DeliveryAttempted { decision, .. } => {
                let known = self.decisions.values().find(|(known, _)| known == decision);
                if known.is_none_or(|(_, decided)| decided.verdict != Verdict::Inject) {
                    return Err("a delivery without a decision".into());
                }
                *self.attempts.entry(*decision).or_default() += 1;
            }
            _ => {}
        }
        self.turn_is_a_persons()?;
        self.flag_went(flag.as_deref(), envelope, is_person)
    }

    fn decided(
        &mut self,
        envelope: &Envelope,
        decision: &Decision,
        budget: usize,
    ) -> Result<(), Broken> {
        if !self.triggers.contains(&decision.trigger) {
            return Err(format!("{} is no stop of this session", decision.trigger));
        }
        if let Some((earlier, _)) = self
            .decisions
            .insert(decision.trigger, (envelope.seq, decision.clone()))
        {
            return Err(format!(
                "stop {} was decided already, by {earlier}",
                decision.trigger
            ));
        }
        if decision.basis < decision.trigger || decision.basis >= envelope.seq {
            return Err(format!("its basis is {}", decision.basis));
        }
        if decision.verdict == Verdict::Inject && decision.reason != Reason::Restart {
            let in_turn = self
                .sent
                .iter()
                .filter(|at| self.latest.is_some_and(|latest| **at >= latest))
                .count();
            // A message that came while it was decided about the stop before it has begun another turn.
            if in_turn >= budget && self.latest.is_none_or(|latest| latest <= envelope.at) {
                return Err(format!(
                    "{in_turn} checkpoints of {budget} were sent in the turn already"
                ));
            }
            self.sent.push(envelope.at);
        }
        Ok(())
    }

    /// Only a person's message begins a turn, and the latest one does.
    fn turn_is_a_persons(&self) -> Result<(), Broken> {
        let (turns, started) = (self.state.turns, self.state.turn.started_at);
        if (turns, started) == (self.persons, self.latest) {
            return Ok(());
        }
        Err(format!(
            "turn {turns} since {started:?}, but there were {} messages until {:?}",
            self.persons, self.latest
        ))
    }

    /// Only a person's message clears the flag; a stop that was held back does not set it.
    fn flag_went(
        &self,
        before: Option<&str>,
        envelope: &Envelope,
        is_person: bool,
    ) -> Result<(), Broken> {
        let after = self.state.notification.as_deref();
        if is_person && self.latest == Some(envelope.at) && after.is_some() {
            return Err("a person's message left the notification flag up".into());
        }
        if before == after {
            return Ok(());
        }
        let may_set = match &envelope.event {
            Event::Decided(decision) => {
                decision.verdict == Verdict::Pass && decision.reason != Reason::BackgroundTasks
            }
            Event::Notified { .. }
            | Event::PermissionAsked { .. }
            | Event::Interrupted { .. }
            | Event::DeliveryFailed { .. }
            | Event::DeliveryExpired { .. } => true,
            _ => false,
        };
        match after {
            None if is_person => Ok(()),
            Some(_) if may_set => Ok(()),
            _ => Err(format!(
                "the notification flag went from {before:?} to {after:?}"
            )),
        }
    }
}
