//! The answers for contents, from the stops of all sessions that judged them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use journal::{
    Agent, Envelope, Event, SummaryKind, SummaryVerdict, Timestamp, ToolCall, ToolKind, Verdict,
};
use serde::{Deserialize, Serialize};

use super::statement::{Demand, Digest, Found, Head, Run, Switch, Unit};
use super::switches::switches;
use crate::follow_up::{self, FollowUp, Judged, OwnRun};
use crate::judging::{Answer, Verified};
use crate::policy::Policy;

/// A changed file of a range, also one that is gone, or a submodule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Path, relative to the top.
    pub file: String,
    /// As [`Unit::content`].
    pub content: Digest,
    /// As [`Unit::was`].
    pub was: Option<Digest>,
    /// Hash of the content, as the journal has it; none if it is not a file, or too large to be read.
    pub hash: Option<u64>,
}

impl Content {
    /// Returns whether stops can have seen it: its content is known, or it was a file and nothing is there.
    fn is_known(&self) -> bool {
        let was_file = self.was.as_ref().is_some_and(|was| was.git_blob.is_some());
        self.hash.is_some() || was_file && self.content == Digest::default()
    }
}

/// What is later than something else: by its number. At a collector numbers say when events came from their machines, so
/// there its time is first.
type Place = (Option<Timestamp>, u64);

fn place(first: &Envelope, at: Timestamp, number: u64) -> Place {
    (first.origin.as_ref().map(|_| at), number)
}

/// What shows an answer.
struct Shown {
    answer: Answer,
    decision: u64,
    place: Place,
    run: Option<Run>,
}

impl Shown {
    /// Returns what puts it before another answer for the same content: that something ran, then the later decision.
    fn rank(&self) -> (bool, Place) {
        let settles = self.run.is_some() || self.answer.verified == Verified::Done;
        (settles, self.place)
    }
}

/// The answers for the contents of a range, as sessions are read.
pub struct Table<'a> {
    wanted: &'a [Content],
    by_content: HashMap<(&'a str, Option<u64>), usize>,
    shown: BTreeMap<usize, Shown>,
    /// Files that a stop looked at and that no rule asks for.
    unasked: BTreeMap<usize, u64>,
    demands: Vec<(Place, Demand)>,
    switches: BTreeSet<Switch>,
    /// Files that sessions wrote of which no stop judged one of the contents, and what was switched off in them.
    unjudged: Vec<(BTreeSet<usize>, Vec<Switch>)>,
}

impl<'a> Table<'a> {
    /// Begins a table of changed files.
    pub fn new(wanted: &'a [Content]) -> Self {
        let keys = wanted.iter().enumerate();
        Self {
            wanted,
            by_content: keys
                .filter(|(_, content)| content.is_known())
                .map(|(at, content)| ((content.file.as_str(), content.hash), at))
                .collect(),
            shown: BTreeMap::new(),
            unasked: BTreeMap::new(),
            demands: Vec::new(),
            switches: BTreeSet::new(),
            unjudged: Vec::new(),
        }
    }

    /// Takes in all events of a session, with what a person ran in its work tree, and what the daemon that saw it said of itself.
    pub fn take(
        &mut self,
        events: &[Envelope],
        policies: &HashMap<u64, Policy>,
        own: &[&OwnRun],
        daemons: &[Envelope],
    ) {
        let Some(first) = events.first() else { return };
        let stops = follow_up::judged(events, policies, own);
        let mut is_about = false;
        for stop in &stops {
            is_about |= self.stop(stop, first);
        }
        if is_about {
            self.demands(events, &stops, policies);
            self.switches.extend(switches(events, daemons));
        } else {
            let wrote = self.written(events);
            if !wrote.is_empty() {
                self.unjudged.push((wrote, switches(events, daemons)));
            }
        }
    }

    /// Returns the files that calls of a session wrote, whatever their contents are now.
    fn written(&self, events: &[Envelope]) -> BTreeSet<usize> {
        let calls = events.iter().filter_map(|one| match &one.event {
            Event::ToolFinished { call, .. } => Some(call),
            _ => None,
        });
        let edits = calls.filter(|call| matches!(call.kind, ToolKind::Edit | ToolKind::Write));
        let places = edits.flat_map(|call| &call.paths).flat_map(|path| {
            let is_it = move |one: &(usize, &Content)| Path::new(path).ends_with(&one.1.file);
            self.wanted.iter().enumerate().filter(is_it)
        });
        places.map(|(at, _)| at).collect()
    }

    /// Takes in a stop; returns whether it judged one of the contents.
    fn stop(&mut self, stop: &Judged, first: &Envelope) -> bool {
        let files = stop.evidence.changes.files().unwrap_or_default();
        let mut held = BTreeMap::new();
        for file in files {
            if let Some(at) = self.by_content.get(&(file.path.as_str(), file.hash)) {
                held.insert(file.path.as_str(), *at);
                self.unasked.insert(*at, stop.decision);
            }
        }
        let actions = stop.found.trace.iter().flat_map(|rule| &rule.actions);
        let answers = actions.flat_map(|action| &action.answers);
        for answer in answers.chain(&stop.removed) {
            let Some(&at) = held.get(answer.file.as_str()) else {
                continue;
            };
            let run = answer.call.and_then(|call| run(stop, call, answer, first));
            let shown = Shown {
                answer: answer.clone(),
                decision: stop.decision,
                place: place(first, stop.at, stop.decision),
                run,
            };
            let known = self.shown.get(&at);
            if known.is_none_or(|known| known.rank() <= shown.rank()) {
                self.shown.insert(at, shown);
            }
        }
        !held.is_empty()
    }

    /// Takes in the checkpoints of stops at which one of the files was changed.
    fn demands(&mut self, events: &[Envelope], stops: &[Judged], policies: &HashMap<u64, Policy>) {
        let paths: BTreeSet<&str> = self.wanted.iter().map(|one| one.file.as_str()).collect();
        let is_about = |decision: u64| {
            let stop = stops.iter().find(|stop| stop.decision == decision);
            let files = stop.and_then(|stop| stop.evidence.changes.files());
            files.is_some_and(|files| files.iter().any(|file| paths.contains(file.path.as_str())))
        };
        let followed = follow_up::of_session(events, policies);
        for envelope in events {
            let Event::Decided(decision) = &envelope.event else {
                continue;
            };
            if decision.verdict != Verdict::Inject || !is_about(envelope.seq) {
                continue;
            }
            let after = followed.iter().find(|one| one.decision == envelope.seq);
            let demand = Demand {
                decision: envelope.seq,
                at: envelope.at,
                agent: envelope.stream.agent.to_string(),
                end: end(after.and_then(|after| after.end.as_ref())).to_owned(),
                caught: after
                    .and_then(|after| after.first.as_ref())
                    .is_some_and(|first| first.failed),
                asked: decision
                    .actions
                    .iter()
                    .map(|action| action.text.clone())
                    .collect(),
            };
            let place = place(envelope, envelope.at, envelope.seq);
            self.demands.push((place, demand));
        }
    }

    /// Returns all that was found.
    pub fn finish(mut self, journal: Head) -> Found {
        let is_judged = |at: &usize| self.shown.contains_key(at) || self.unasked.contains_key(at);
        for (wrote, switches) in std::mem::take(&mut self.unjudged) {
            if !wrote.iter().all(is_judged) {
                self.switches.extend(switches);
            }
        }
        let mut runs: BTreeMap<Run, BTreeSet<String>> = BTreeMap::new();
        for (at, shown) in &self.shown {
            if let Some(run) = &shown.run {
                let contents = runs.entry(run.clone()).or_default();
                contents.extend(self.wanted[*at].content.git_blob.clone());
            }
        }
        let units = self.wanted.iter().enumerate();
        let mut units: Vec<Unit> = units
            .map(|(at, content)| self.unit(at, content, &runs))
            .collect();
        units.sort_by(|one, other| one.file.cmp(&other.file));
        self.demands.sort_by_key(|(place, _)| *place);
        Found {
            units,
            runs: runs
                .into_iter()
                .map(|(run, contents)| Run {
                    contents: contents.into_iter().collect(),
                    ..run
                })
                .collect(),
            demands: self.demands.into_iter().map(|(_, one)| one).collect(),
            switches: self.switches.into_iter().collect(),
            journal,
        }
    }

    fn unit(&self, at: usize, content: &Content, runs: &BTreeMap<Run, BTreeSet<String>>) -> Unit {
        let unit = Unit {
            file: Some(content.file.clone()),
            content: content.content.clone(),
            was: content.was.clone(),
            answer: Verified::Unknown,
            row: "no record".to_owned(),
            run: None,
            decision: None,
            doubts: Vec::new(),
            why: Some("no stop judged this content".to_owned()),
        };
        let Some(shown) = self.shown.get(&at) else {
            return match self.unasked.get(&at) {
                Some(decision) => Unit {
                    answer: Verified::Done,
                    row: "not asked".to_owned(),
                    decision: Some(*decision),
                    why: Some("no rule asks for a check of it".to_owned()),
                    ..unit
                },
                None => unit,
            };
        };
        let place = |run: &Run| runs.keys().position(|known| known == run);
        Unit {
            answer: shown.answer.verified,
            row: shown.answer.row.clone(),
            run: shown.run.as_ref().and_then(place),
            decision: Some(shown.decision),
            doubts: shown.answer.doubts.clone(),
            why: Some(shown.answer.why.clone()),
            ..unit
        }
    }
}

/// Returns the call that an answer names.
fn run(stop: &Judged, call: usize, answer: &Answer, first: &Envelope) -> Option<Run> {
    let made = stop.evidence.timeline.calls.get(call)?;
    let said = stop.evidence.facts.outcome(call);
    let has_passed = answer.verified == Verified::Done;
    // A line may run the tests of several languages, of which only one failed.
    let is_meant = |summary: &&journal::Summary| {
        let is_failed = summary.verdict == SummaryVerdict::Failed;
        summary.kind == SummaryKind::Tests && !(has_passed && is_failed)
    };
    let tests = said.iter().flat_map(|said| &said.summaries);
    let tests = tests.filter(is_meant);
    let count = |of: fn(&journal::Summary) -> Option<u64>| {
        let counts = tests.clone().filter_map(of);
        counts.fold(None, |sum: Option<u64>, count| {
            Some(sum.unwrap_or_default() + count)
        })
    };
    let ended = match (answer.verified, answer.call) {
        (Verified::Done, _) => "passed",
        (Verified::Open, Some(_)) => "failed",
        _ => "unknown",
    };
    let session = made.tool.strip_prefix(ToolCall::OF_SESSION);
    let own = first.stream.session.to_string();
    let is_own = made.tool == ToolCall::OF_PERSON;
    let agent = if is_own {
        Agent::person()
    } else {
        first.stream.agent
    };
    Some(Run {
        at: made.at,
        agent: agent.to_string(),
        session: (!is_own).then(|| session.map_or(own, str::to_owned)),
        command: Some(crate::judging::shorten(made)),
        ended: ended.to_owned(),
        passed: count(|summary| summary.passed),
        failed: count(|summary| summary.failed),
        skipped: count(|summary| summary.skipped),
        contents: Vec::new(),
    })
}

fn end(end: Option<&FollowUp>) -> &'static str {
    match end {
        Some(FollowUp::Fulfilled) => "met",
        Some(FollowUp::Unfulfilled(_)) => "not_met",
        Some(FollowUp::Open) => "open",
        Some(FollowUp::Unknown | FollowUp::Withheld) | None => "unknown",
    }
}
