//! The follow-up of checkpoints: whether their demands were fulfilled, by evidence in the journal.

use std::collections::HashMap;

use journal::{
    Action, CallOutcome, ChangedFile, Decision, Envelope, Event, Evidence, Examined, PromptOrigin,
    Seen, TimelineSource, Timestamp, ToolCall, ToolKind, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::gathered::Gathered;
use crate::judging::{self, Answer, Findings, OpenItem, Outcome, TracedCall};
use crate::lookback::IMPORTED;
use crate::policy::Policy;
use crate::state::SessionState;

/// The follow-up of one demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// The period of the demand has not ended.
    Open,
    /// Every action was done.
    Fulfilled,
    /// These actions were not done.
    Unfulfilled(Vec<Action>),
    /// The journal lacks the evidence or the policy of the demand.
    Unknown,
    /// The machine withholds what would show it (spec FLEET-4).
    Withheld,
}

/// What followed a checkpoint, up to the next decision, the next message of a person, or the end of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Sequence number of its decision.
    pub decision: u64,
    /// The outcome of the demand; `None` if it asked for no action.
    pub end: Option<FollowUp>,
    /// From the decision to the last thing that the agent did for it.
    pub ms: u64,
    /// Tool calls.
    pub calls: u64,
    /// The first check that the checkpoint asked for and the agent then ran.
    pub first: Option<FirstCheck>,
    /// The calls that show that something was done, in their order.
    pub done_by: Vec<DoneBy>,
}

/// The first check after a checkpoint that asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstCheck {
    /// The command line, shortened.
    pub command: String,
    /// Whether it failed: the mistake would have been handed over.
    pub failed: bool,
}

/// A call that shows that an action was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneBy {
    /// The purpose of the action.
    pub purpose: String,
    /// The command line, shortened.
    pub command: String,
    /// When it began.
    pub at: Timestamp,
}

/// A demand whose period has not ended.
struct Demand<'a> {
    seq: u64,
    decision: &'a Decision,
    evidence: Option<Evidence>,
    project: String,
    at: Timestamp,
    /// When the agent did something last.
    last_at: Timestamp,
    /// Calls that ended after the stop, the oldest first.
    later: Vec<ToolCall>,
    /// What was read of such calls.
    examined: Vec<(Option<&'a str>, Timestamp, &'a Examined)>,
    /// What a person ran in the work tree.
    own: &'a [&'a OwnRun],
}

/// Returns what followed each checkpoint of one session, whether it asked for actions or not. `events` are all events of
/// the session, in order; `policies` are those of the journal, by fingerprint. Decisions about sessions of the past sent
/// nothing, so nothing follows them.
///
/// The period of a demand ends with the session's next decision, with the next message of a person,
/// or with the session, whichever is first. An action counts as fulfilled if the rules, applied
/// again with the same policy to the same changed files, no longer demand it when the calls of that
/// period are added to the evidence. So the proof is the same as in a decision: the command was
/// run, did not fail, and came after the last edit that it covers. The added calls are those in the
/// evidence of the next decision, or else the journaled ones.
pub fn of_session(events: &[Envelope], policies: &HashMap<u64, Policy>) -> Vec<Followed> {
    let (mut ended, open) = walk(events, policies);
    ended.extend(open.map(|demand| {
        let end = demand.asks().then_some(FollowUp::Open);
        demand.followed(end, None)
    }));
    if events.iter().any(Envelope::is_withheld) {
        for followed in &mut ended {
            followed.end = followed.end.take().map(|_| FollowUp::Withheld);
        }
    }
    ended
}

/// What a session has left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWork {
    /// Sequence number of the decision whose evidence shows it.
    pub decision: u64,
    /// What is open, in the order of the message.
    pub items: Vec<OpenItem>,
    /// The answer for each changed unit of code.
    pub answers: Vec<Answer>,
}

/// Returns what a session has left open: what the rules find now in the evidence of its last stop that was judged, with
/// the calls that followed. `None` if that is unknown. The events may begin at that stop.
///
/// `own` is what a person ran in its work tree.
pub fn open_work(
    events: &[Envelope],
    policies: &HashMap<u64, Policy>,
    own: &[&OwnRun],
) -> Option<OpenWork> {
    if events.iter().any(Envelope::is_withheld) {
        return None;
    }
    let mut demand = judged_demands(events).pop()?;
    demand.own = own;
    let (found, _) = demand.now(policies, None)?;
    let actions = found.trace.iter().flat_map(|rule| &rule.actions);
    Some(OpenWork {
        decision: demand.seq,
        items: found.open(),
        answers: actions.flat_map(|action| action.answers.clone()).collect(),
    })
}

/// A stop that was judged, with the calls that followed it up to the next edit or stop.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Sequence number of the decision.
    pub decision: u64,
    /// When it was made.
    pub at: Timestamp,
    /// What the rules find in the evidence.
    pub found: Findings,
    /// The answers for code that is gone, and for tests that are empty, of which no stop asks for a check.
    pub removed: Vec<Answer>,
    /// The evidence.
    pub evidence: Evidence,
}

/// Returns the stops of a session whose work was looked at, in order. `events` are all events of the session. A stop of
/// which the journal lacks the policy is left out.
/// `own` is what a person ran in its work tree.
pub fn judged(
    events: &[Envelope],
    policies: &HashMap<u64, Policy>,
    own: &[&OwnRun],
) -> Vec<Judged> {
    let demands = judged_demands(events).into_iter();
    let judged = demands.filter_map(|mut demand| {
        demand.own = own;
        let ran = demand.later.iter().position(is_edit);
        demand.later.truncate(ran.unwrap_or(usize::MAX));
        let mut evidence = demand.evidence.take()?;
        demand.add_later(&mut evidence);
        let policy = policies.get(&demand.decision.policy)?;
        let elapsed = demand.decision.elapsed_ms;
        Some(Judged {
            decision: demand.seq,
            at: demand.at,
            found: judging::find(&evidence, elapsed, &demand.project, policy),
            removed: judging::removed(&evidence, &demand.project, policy),
            evidence,
        })
    });
    judged.collect()
}

fn is_edit(call: &ToolCall) -> bool {
    matches!(call.kind, ToolKind::Edit | ToolKind::Write)
}

/// A person's own run that ended well, and what it ran on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRun {
    /// The call.
    pub call: ToolCall,
    /// What was read.
    pub examined: Examined,
}

impl OwnRun {
    /// Returns the runs of a person's stream.
    pub fn all(events: &[Envelope]) -> Vec<Self> {
        let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
        let mut all = Vec::new();
        for envelope in events {
            match &envelope.event {
                Event::ToolFinished { call, .. } => {
                    calls.extend(call.id.as_deref().map(|id| (id, call)));
                }
                Event::CallExamined {
                    call_id: Some(id),
                    examined,
                    ..
                } => {
                    let call = calls.get(id.as_str());
                    if let Some(call) = call.filter(|call| examined.ended_well(call)) {
                        let call = ToolCall {
                            id: None,
                            tool: ToolCall::OF_PERSON.to_owned(),
                            ..(*call).clone()
                        };
                        all.push(Self {
                            call,
                            examined: Examined::clone(examined),
                        });
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// Returns whether it ran on a changed file as it was.
    fn held(&self, file: &ChangedFile) -> bool {
        let Examined {
            contents, hashes, ..
        } = &self.examined;
        let at = contents.binary_search_by(|(path, _)| path.as_str().cmp(&file.path));
        let hash = at.ok().and_then(|at| hashes.get(at));
        // A file that is gone has no hash at a stop, and 0 in a run.
        hash.is_some_and(|hash| *hash == file.hash.unwrap_or_default())
    }
}

/// Returns whether the work of a stop was looked at, so that its evidence can be judged.
pub fn is_judged(evidence: &Evidence) -> bool {
    evidence.changes.files().is_some()
}

/// Returns the decisions that have evidence, whatever they were, each with the calls that ended after it.
fn judged_demands(events: &[Envelope]) -> Vec<Demand<'_>> {
    let Some(first) = events.first() else {
        return Vec::new();
    };
    let mut state = SessionState::new(first.stream.clone());
    let mut gathered = Gathered::default();
    let mut all: Vec<Demand<'_>> = Vec::new();
    for envelope in events {
        match &envelope.event {
            event @ (Event::EvidenceGathered { .. } | Event::FactsGathered { .. }) => {
                gathered.feed(&mut event.clone());
            }
            Event::Decided(decision) => {
                let evidence = gathered.take(decision.trigger).filter(is_judged);
                if evidence.is_some() {
                    all.push(Demand::new(envelope, decision, evidence, &state));
                }
            }
            _ => all
                .last_mut()
                .into_iter()
                .for_each(|demand| demand.follow(envelope)),
        }
        state.apply(envelope);
    }
    all
}

/// Returns the checkpoints whose period has ended, and the one whose period has not.
fn walk<'a>(
    events: &'a [Envelope],
    policies: &HashMap<u64, Policy>,
) -> (Vec<Followed>, Option<Demand<'a>>) {
    let Some(first) = events.first() else {
        return (Vec::new(), None);
    };
    let mut state = SessionState::new(first.stream.clone());
    let mut gathered = Gathered::default();
    let mut open: Option<Demand<'_>> = None;
    let mut ended: Vec<_> = Vec::new();
    let mut end = |demand: Option<Demand<'_>>, seen: Option<&Evidence>| {
        ended.extend(demand.map(|demand| demand.judge(policies, seen)));
    };
    for envelope in events {
        match &envelope.event {
            event @ (Event::EvidenceGathered { .. } | Event::FactsGathered { .. }) => {
                gathered.feed(&mut event.clone());
            }
            Event::DeliveryExpired { decision, reason } if reason == IMPORTED => {
                open.take_if(|demand| demand.seq == *decision);
            }
            Event::PromptSubmitted {
                origin: PromptOrigin::User,
                ..
            }
            | Event::SessionEnded { .. } => {
                end(open.take(), None);
            }
            Event::Decided(decision) => {
                let own = gathered.take(decision.trigger);
                let seen = own
                    .as_ref()
                    .filter(|own| own.timeline.source != TimelineSource::None);
                end(open.take(), seen);
                if decision.verdict == Verdict::Inject {
                    open = Some(Demand::new(envelope, decision, own, &state));
                }
            }
            _ => open.iter_mut().for_each(|demand| demand.follow(envelope)),
        }
        state.apply(envelope);
    }
    (ended, open)
}

/// Returns whether two actions are the same one. Their texts also say why they are due, which may have changed.
fn is_same(left: &Action, right: &Action) -> bool {
    left.category == right.category && left.step == right.step
}

impl<'a> Demand<'a> {
    fn new(
        envelope: &'a Envelope,
        decision: &'a Decision,
        evidence: Option<Evidence>,
        state: &SessionState,
    ) -> Self {
        Self {
            seq: envelope.seq,
            decision,
            evidence,
            project: state.project().to_owned(),
            at: envelope.at,
            last_at: envelope.at,
            later: Vec::new(),
            examined: Vec::new(),
            own: &[],
        }
    }

    /// Takes in an event after the stop.
    fn follow(&mut self, envelope: &'a Envelope) {
        match &envelope.event {
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => {
                self.later.push(call.clone());
                self.last_at = self.last_at.max(envelope.at);
            }
            Event::CallExamined {
                call_id,
                call_at,
                examined,
            } => self.examined.push((call_id.as_deref(), *call_at, examined)),
            Event::AgentStopped { .. } => self.last_at = self.last_at.max(envelope.at),
            _ => {}
        }
    }

    /// Adds the calls that followed, and what they printed, to the evidence of the stop.
    fn add_later(&self, evidence: &mut Evidence) {
        let timeline = &mut evidence.timeline;
        for call in &self.later {
            let known = |known: &ToolCall| call.id.is_some() && known.id == call.id;
            let place = timeline.calls.iter().position(known);
            let place = place.unwrap_or(timeline.calls.len());
            match timeline.calls.get_mut(place) {
                Some(known) => known.clone_from(call),
                None => timeline.calls.push(call.clone()),
            }
            let read = self.examined.iter().find(|(id, at, _)| match id {
                Some(id) => call.id.as_deref() == Some(id),
                None => call.at == *at,
            });
            if let Some((_, _, examined)) = read {
                let outcomes = &mut evidence.facts.outcomes;
                outcomes.retain(|outcome| outcome.call != place);
                outcomes.push(CallOutcome {
                    call: place,
                    summaries: examined.summaries.clone(),
                    ended: examined.ended,
                });
                outcomes.sort_by_key(|outcome| outcome.call);
            }
        }
        if timeline.source == TimelineSource::None && !self.later.is_empty() {
            timeline.source = TimelineSource::Journal;
        }
        if timeline.source != TimelineSource::None && !self.later.iter().any(is_edit) {
            self.own.iter().for_each(|run| add_own(evidence, run));
        }
    }

    fn asks(&self) -> bool {
        !self.decision.actions.is_empty()
    }

    /// Counts what followed. `now` is what the rules find with the calls that followed.
    fn followed(&self, end: Option<FollowUp>, now: Option<(&Findings, &[ToolCall])>) -> Followed {
        let since = |calls: &[ToolCall]| calls.iter().filter(|call| call.at > self.at).count();
        let actions = now.iter().flat_map(|(found, _)| &found.trace);
        let actions = actions.flat_map(|rule| &rule.actions);
        let is_later = |run: &&TracedCall| {
            let call = now.and_then(|(_, calls)| calls.get(run.call));
            run.outcome != Outcome::NotRun && call.is_some_and(|call| call.at > self.at)
        };
        let ran = actions.flat_map(|action| &action.found).filter(is_later);
        let first = ran.min_by_key(|run| run.call).map(|run| FirstCheck {
            command: run.command.clone(),
            failed: run.outcome == Outcome::Failed,
        });
        Followed {
            decision: self.seq,
            end,
            ms: self.last_at.millis_since(self.at),
            calls: now.map_or(self.later.len(), |(_, calls)| since(calls)) as u64,
            first: first.filter(|_| self.asks()),
            done_by: now.map_or_else(Vec::new, |(found, calls)| self.done_by(found, calls)),
        }
    }

    /// Returns the calls after the checkpoint that count for an action.
    fn done_by(&self, found: &Findings, calls: &[ToolCall]) -> Vec<DoneBy> {
        let actions = found.trace.iter().flat_map(|rule| &rule.actions);
        let mut done: Vec<DoneBy> = Vec::new();
        for action in actions.filter(|action| !action.stands) {
            let counts = action.found.iter().rev();
            let counts = counts.filter(|run| run.outcome == Outcome::Counts);
            let mut later = counts.filter_map(|run| Some((run, calls.get(run.call)?)));
            if let Some((run, call)) = later.find(|(_, call)| call.at > self.at)
                && !done.iter().any(|known| known.at == call.at)
            {
                done.push(DoneBy {
                    purpose: action.purpose.clone(),
                    command: run.command.clone(),
                    at: call.at,
                });
            }
        }
        done.sort_by_key(|done| done.at);
        done
    }

    fn judge(mut self, policies: &HashMap<u64, Policy>, seen: Option<&Evidence>) -> Followed {
        let Some((now, calls)) = self.now(policies, seen) else {
            let end = self.asks().then_some(FollowUp::Unknown);
            return self.followed(end, None);
        };
        let left: Vec<_> = self
            .decision
            .actions
            .iter()
            .filter(|action| now.actions.iter().any(|left| is_same(left, action)))
            .cloned()
            .collect();
        let end = if left.is_empty() {
            FollowUp::Fulfilled
        } else {
            FollowUp::Unfulfilled(left)
        };
        let end = self.asks().then_some(end);
        self.followed(end, Some((&now, &calls)))
    }

    /// Returns what the rules find with the calls that followed, and all calls; `None` without evidence or policy. `seen`
    /// is the evidence of the next decision.
    fn now(
        &mut self,
        policies: &HashMap<u64, Policy>,
        seen: Option<&Evidence>,
    ) -> Option<(Findings, Vec<ToolCall>)> {
        let mut evidence = self.evidence.take()?;
        let policy = policies.get(&self.decision.policy)?;
        let timeline = &mut evidence.timeline;
        match seen {
            Some(seen) => {
                *timeline = seen.timeline.clone();
                evidence.facts = seen.facts.clone();
            }
            None => self.add_later(&mut evidence),
        }
        let now = judging::find(&evidence, self.decision.elapsed_ms, &self.project, policy);
        Some((now, evidence.timeline.calls))
    }
}

/// Adds a person's own run to the evidence of a stop, if it ran on all that the stop left (spec EVID-22).
fn add_own(evidence: &mut Evidence, run: &OwnRun) {
    let files = evidence.changes.files().unwrap_or_default();
    let timeline = &mut evidence.timeline;
    let is_known = |call: &ToolCall| call.tool == run.call.tool && call.at == run.call.at;
    if files.is_empty()
        || !files.iter().all(|file| run.held(file))
        || timeline.calls.iter().any(is_known)
    {
        return;
    }
    let call = timeline.calls.len();
    timeline.calls.push(run.call.clone());
    evidence.facts.seen.push(Seen {
        call,
        same: files.iter().map(|file| file.path.clone()).collect(),
        other: Vec::new(),
    });
}

#[cfg(test)]
mod tests {
    use journal::{Agent, ChangedFile, Changes, Host, Reason, Stream, Timeline};
    use uuid::Uuid;

    use super::*;
    use crate::config::Config;
    use crate::decide::{Case, decide};
    use crate::rules::pack_names::ProjectFacts;

    /// A session in which a Python file was changed and the tests are demanded.
    struct Scenario {
        events: Vec<Envelope>,
        policies: HashMap<u64, Policy>,
    }

    impl Scenario {
        fn new() -> Self {
            let facts = ProjectFacts {
                path: "/p".into(),
                files: vec!["pyproject.toml".into()],
            };
            let policy = Config::default()
                .policy_for(&facts, None)
                .expect("a policy");
            let mut scenario = Self {
                events: Vec::new(),
                policies: HashMap::from([(1, policy)]),
            };
            scenario.prompt();
            scenario.stop(Some(&[call(ToolKind::Edit, "a.py", false)]));
            scenario
        }

        fn push(&mut self, event: Event) -> u64 {
            let seq = self.events.len() as u64 + 1;
            let at = Timestamp::from_micros(seq as i64 * 60_000_000);
            let stream = Stream::of_native(Agent::Claude, "s");
            self.events.push(Envelope {
                seq,
                stream,
                at,
                recorded_at: at,
                id: Uuid::nil(),
                late: false,
                event,
                origin: None,
            });
            seq
        }

        fn prompt(&mut self) {
            let origin = PromptOrigin::User;
            let text = String::new();
            self.push(Event::PromptSubmitted {
                host: Host::default(),
                origin,
                text,
                digest: 1,
            });
        }

        fn call(&mut self, call: ToolCall) {
            self.push(Event::ToolFinished {
                host: Host::default(),
                call,
            });
        }

        /// A stop and its decision; `None` means no evidence.
        fn stop(&mut self, seen: Option<&[ToolCall]>) {
            let trigger = self.push(Event::AgentStopped {
                host: Host::default(),
                reentry: false,
                background_tasks: 0,
                can_reply: true,
                prompt_digest: None,
                last_message: None,
            });
            let mut evidence = Evidence::default();
            if let Some(calls) = seen {
                let changed = ChangedFile {
                    path: "a.py".into(),
                    hash: Some(1),
                };
                evidence.changes = Changes::Known(vec![changed]);
                evidence.timeline = Timeline {
                    source: TimelineSource::Transcript,
                    calls: calls.to_vec(),
                };
            }
            let state = crate::replay::fold(&self.events[0].stream, &self.events);
            let stop = state.pending[0].clone();
            let policy = &self.policies[&1];
            let decision = decide(&Case {
                state: &state,
                stop: &stop,
                evidence: &evidence,
                policy,
                fingerprint: 1,
            });
            self.push(Event::EvidenceGathered {
                trigger,
                evidence: Box::new(evidence),
            });
            self.push(Event::Decided(Box::new(decision)));
        }

        fn ends(&self) -> Vec<FollowUp> {
            of_session(&self.events, &self.policies)
                .into_iter()
                .filter_map(|followed| followed.end)
                .collect()
        }
    }

    fn call(kind: ToolKind, what: &str, is_error: bool) -> ToolCall {
        let shell = kind == ToolKind::Shell;
        let (command, paths) = if shell {
            (Some(what.into()), vec![])
        } else {
            (None, vec![what.into()])
        };
        ToolCall {
            kind,
            command,
            paths,
            is_error,
            finished: true,
            ..ToolCall::default()
        }
    }

    #[test]
    fn a_demand_is_met_by_what_would_have_kept_it_from_being_made() {
        let (pytest, failed) = (
            call(ToolKind::Shell, "pytest", false),
            call(ToolKind::Shell, "pytest", true),
        );
        let edit = call(ToolKind::Edit, "a.py", false);
        let rows: [(&str, &[&ToolCall], bool); 6] = [
            ("nothing was done", &[], false),
            ("the tests were run", &[&pytest], true),
            ("they failed", &[&failed], false),
            ("they failed, and ran again", &[&failed, &pytest], true),
            ("the file was edited after them", &[&pytest, &edit], false),
            (
                "something else was run",
                &[&call(ToolKind::Shell, "ls", false)],
                false,
            ),
        ];
        for (name, calls, met) in rows {
            let mut scenario = Scenario::new();
            assert_eq!(
                scenario.ends(),
                [FollowUp::Open],
                "{name}: nothing came after it"
            );
            calls.iter().for_each(|call| scenario.call((*call).clone()));
            let left = open_work(&scenario.events, &scenario.policies, &[]).expect("known");
            assert_eq!(left.items.is_empty(), met, "{name}: {left:?}");
            if let [item] = &left.items[..] {
                let failed = calls.last().is_some_and(|call| call.is_error);
                let what = if failed {
                    "tests failed"
                } else {
                    "tests not run"
                };
                assert_eq!(item.line(), format!("{what}: a.py"), "{name}");
            }
            // The block budget lets this stop pass before evidence is gathered.
            scenario.stop(None);
            let ends = scenario.ends();
            assert_eq!(ends.len(), 1, "{name}: a pass demands nothing");
            assert_eq!(ends[0] == FollowUp::Fulfilled, met, "{name}: {ends:?}");
            if let FollowUp::Unfulfilled(left) = &ends[0] {
                assert!(left[0].text.contains("pytest"), "{left:?}");
            }
        }
    }

    #[test]
    fn a_demand_ends_with_the_next_message_of_a_person() {
        let mut scenario = Scenario::new();
        scenario.prompt();
        scenario.call(call(ToolKind::Shell, "pytest", false));
        scenario.stop(None);
        assert!(matches!(scenario.ends()[0], FollowUp::Unfulfilled(_)));
    }

    #[test]
    fn what_the_next_decision_saw_is_believed_before_the_journal() {
        let mut scenario = Scenario::new();
        scenario
            .policies
            .get_mut(&1)
            .expect("the policy")
            .max_blocks_per_turn = 2;
        // No hook reported the call, only the transcript.
        scenario.stop(Some(&[
            call(ToolKind::Edit, "a.py", false),
            call(ToolKind::Shell, "pytest", false),
        ]));
        assert_eq!(scenario.ends()[0], FollowUp::Fulfilled);
    }

    #[test]
    fn without_evidence_or_policy_nothing_is_claimed() {
        let mut scenario = Scenario::new();
        scenario.stop(None);
        scenario.policies.clear();
        assert_eq!(scenario.ends(), [FollowUp::Unknown]);
        let reasons = scenario
            .events
            .iter()
            .filter_map(|envelope| match &envelope.event {
                Event::Decided(decision) => Some(decision.reason),
                _ => None,
            });
        assert_eq!(
            reasons.collect::<Vec<_>>(),
            [Reason::ActionsDue, Reason::BlockBudget]
        );
    }
}
