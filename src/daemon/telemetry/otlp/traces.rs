//! Traces every stop: received, evaluated, decided and delivered, with the duration of each step.
//!
//! Pure: events in, finished spans out. Only an event's kind, times and numbers are kept.

use std::collections::VecDeque;

use journal::{Decision, Envelope, Event, Timestamp, Verdict};
use uuid::Uuid;

use super::messages::{KeyValue, Span, failed, id, number, span, word};
use crate::daemon::telemetry::figures;
use crate::ops::query::{self, HookTime};

/// The most open stops; beyond that the oldest is dropped.
const OPEN_MAX: usize = 256;
/// The most finished spans that wait for the collector; beyond that the oldest are dropped.
const SPANS_MAX: usize = 4_096;

/// Open stops, and finished spans to send.
#[derive(Default)]
pub(super) struct Traces {
    open: VecDeque<Stop>,
    finished: VecDeque<Span>,
}

/// A stop whose trace is incomplete.
struct Stop {
    /// The trace's id: that of its first event.
    trace: Uuid,
    seq: u64,
    began: Timestamp,
    /// The end of the last step.
    reached: Timestamp,
    decision: Option<u64>,
    attributes: Vec<KeyValue>,
    steps: Vec<Span>,
}

impl Traces {
    /// Processes an event.
    pub(super) fn note(&mut self, envelope: &Envelope) {
        let at = envelope.recorded_at;
        match &envelope.event {
            Event::AgentStopped { .. } => self.open(Stop::new(envelope, envelope.seq)),
            Event::EvidenceGathered { trigger, .. } => {
                if let Some(stop) = self.open.iter_mut().find(|stop| stop.seq == *trigger) {
                    stop.step("gather", envelope.seq, at);
                }
            }
            Event::Decided(decision) => {
                let mut stop = self
                    .take(|stop| stop.seq == decision.trigger)
                    .unwrap_or_else(|| {
                        // An agent's restart, or a stop from the daemon's last run.
                        Stop::new(envelope, decision.trigger)
                    });
                stop.decided(envelope.seq, at, decision);
                match decision.verdict {
                    Verdict::Inject => self.open(stop),
                    Verdict::Pass => self.finish(stop),
                }
            }
            Event::DeliveryConfirmed { decision, .. }
            | Event::DeliveryFailed { decision, .. }
            | Event::DeliveryExpired { decision, .. } => {
                if let (Some(mut stop), Some(outcome)) = (
                    self.take(|stop| stop.decision == Some(*decision)),
                    figures::outcome(&envelope.event),
                ) {
                    stop.step("deliver", envelope.seq, at);
                    if matches!(envelope.event, Event::DeliveryFailed { .. }) {
                        stop.steps.last_mut().into_iter().for_each(failed);
                    }
                    stop.attributes.push(word("outcome", outcome));
                    self.finish(stop);
                }
            }
            _ => {}
        }
    }

    pub(super) fn take_finished(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.finished).into()
    }

    /// Puts back spans that could not be sent, as far as there is room.
    pub(super) fn put_back(&mut self, spans: Vec<Span>) {
        let newer = std::mem::replace(&mut self.finished, spans.into());
        self.keep(newer);
    }

    fn open(&mut self, stop: Stop) {
        if self.open.len() == OPEN_MAX {
            self.open.pop_front();
        }
        self.open.push_back(stop);
    }

    fn take(&mut self, is_meant: impl Fn(&Stop) -> bool) -> Option<Stop> {
        self.open
            .iter()
            .position(is_meant)
            .and_then(|place| self.open.remove(place))
    }

    fn finish(&mut self, stop: Stop) {
        self.keep(stop.into_spans());
    }

    fn keep(&mut self, spans: impl IntoIterator<Item = Span>) {
        self.finished.extend(spans);
        let surplus = self.finished.len().saturating_sub(SPANS_MAX);
        self.finished.drain(..surplus);
    }
}

impl Stop {
    fn new(first: &Envelope, seq: u64) -> Self {
        let mut stop = Self {
            trace: first.id,
            seq,
            began: first.recorded_at,
            reached: first.recorded_at,
            decision: None,
            attributes: vec![
                id("session.id", first.stream.session),
                word("agent", first.stream.agent.label()),
            ],
            steps: Vec::new(),
        };
        // By the hook's own clock. A spooled call was waiting, not under way.
        if let Some(HookTime::Answered(time)) = query::hook_time(first) {
            stop.began = first.recorded_at.minus(time);
            stop.reached = stop.began;
            stop.step("receive", first.seq, first.recorded_at);
        }
        stop
    }

    /// Ends a step that took from the last one's end until now; `seq` is the event that ended it.
    fn step(&mut self, name: &'static str, seq: u64, at: Timestamp) {
        let ids = (seq, self.root());
        self.steps
            .push(span(self.trace, ids, name, (self.reached, at), Vec::new()));
        self.reached = at;
    }

    fn decided(&mut self, seq: u64, at: Timestamp, decision: &Decision) {
        self.step("decide", seq, at);
        self.decision = Some(seq);
        let words = [
            ("verdict", decision.verdict.word()),
            ("reason", decision.reason.word()),
        ];
        let route = decision.route.map(|route| ("route", route.word()));
        self.attributes.extend(
            words
                .into_iter()
                .chain(route)
                .map(|(key, value)| word(key, value)),
        );
        let numbers = [
            ("decision", Some(seq)),
            ("turn", Some(decision.turn)),
            ("turn_ms", decision.elapsed_ms),
        ];
        self.attributes.extend(
            numbers
                .into_iter()
                .filter_map(|(key, value)| Some(number(key, value?))),
        );
    }

    /// The id of the whole stop. A trace's id has bits set in its second half, so it differs from the ids of the steps.
    fn root(&self) -> u64 {
        self.trace.as_u64_pair().1
    }

    fn into_spans(self) -> Vec<Span> {
        let ids = (self.root(), 0);
        let times = (self.began, self.reached);
        let mut spans = vec![span(self.trace, ids, "stop", times, self.attributes)];
        spans.extend(self.steps);
        spans
    }
}

#[cfg(test)]
mod tests {
    use journal::{Agent, Host, Stream};

    use super::*;

    fn envelope(seq: u64, event: Event) -> Envelope {
        let at = Timestamp::from_micros(i64::try_from(seq).expect("small"));
        let stream = Stream::of_native(Agent::Codex, "s");
        Envelope {
            seq,
            stream,
            at,
            recorded_at: at,
            id: Uuid::now_v7(),
            late: false,
            event,
            origin: None,
        }
    }

    fn stop(seq: u64) -> Envelope {
        let event = Event::AgentStopped {
            host: Host::default(),
            reentry: false,
            background_tasks: 0,
            can_reply: true,
            prompt_digest: None,
            last_message: None,
        };
        envelope(seq, event)
    }

    #[test]
    fn what_waits_is_bounded_and_the_newest_of_it() {
        let mut traces = Traces::default();
        (1..=1_000).for_each(|seq| traces.note(&stop(seq)));
        assert_eq!(
            (traces.open.len(), traces.open[0].seq),
            (OPEN_MAX, 1_000 - OPEN_MAX as u64 + 1)
        );
        let now = Timestamp::now();
        let span = |id: u64| span(Uuid::nil(), (id, 0), "stop", (now, now), Vec::new());
        traces.keep((0..5_000).map(span));
        traces.put_back((0..5_000).map(span).collect());
        let kept = traces.take_finished();
        assert_eq!((kept.len(), kept.last()), (SPANS_MAX, Some(&span(4_999))));
        assert!(traces.take_finished().is_empty());
    }

    #[test]
    fn a_delivery_of_no_known_decision_is_no_trace() {
        let mut traces = Traces::default();
        traces.note(&stop(1));
        traces.note(&envelope(
            2,
            Event::DeliveryConfirmed {
                decision: 7,
                by: "next_event".into(),
            },
        ));
        assert_eq!((traces.open.len(), traces.take_finished()), (1, vec![]));
    }
}
