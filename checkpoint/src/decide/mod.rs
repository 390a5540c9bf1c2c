//! The decision about a stop, inject or pass, from the session's state, the evidence and the
//! policy.
//!
//! Pure, so that deciding again from the journal gives the same bytes. The order of the exits is spec DECIDE-2.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use journal::{DECISION_VERSION, Decision, Evidence, Reason, ReplyForm, Route, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

use crate::agents;
use crate::catalogue::Catalogue;
use crate::digest;
use crate::judging::{self, Findings};
use crate::message;
use crate::policy::{Background, Exits, Headless, Policy, Quiet, Repeat};
use crate::state::{Mute, SessionState, Stop, Turn};

/// The input of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The session's state up to and including the stop.
    pub state: &'a SessionState,
    /// The stop.
    pub stop: &'a Stop,
    /// The evidence that was gathered.
    pub evidence: &'a Evidence,
    /// The policy of the session's project.
    pub policy: &'a Policy,
    /// Fingerprint of the policy's journaled text.
    pub fingerprint: u64,
}

/// One exit that was considered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Considered {
    /// The reason it would give.
    pub reason: Reason,
    /// Whether it was taken.
    pub taken: bool,
    /// The values that it compared.
    pub why: String,
}

type Exit = (Reason, fn(&Case<'_>) -> (bool, String));

/// The exits at the beginning of [`EARLY`] that are switches of a person.
const SWITCHES: usize = 2;

/// The exits that need nothing from outside the journal, in order (spec DECIDE-2). The last is for work that leaves.
const EARLY: [Exit; 10] = [
    (Reason::ProjectOff, |case| {
        let enabled = case.policy.enabled;
        (!enabled, format!("enabled: {enabled}"))
    }),
    (Reason::Muted, |case| {
        (
            case.state.is_muted(case.stop.at),
            muted_words(case.state.muted),
        )
    }),
    (Reason::EscapeHatch, |case| {
        let cleared = case.state.cleared;
        let marker = case.evidence.escape_marker;
        (
            cleared || marker,
            format!("cleared by command: {cleared}, marker file: {marker}"),
        )
    }),
    (Reason::Superseded, |case| {
        let later = case.state.turn.started_at.filter(|_| case.is_superseded());
        let next = later.map_or("none".into(), |at| at.to_string());
        (later.is_some(), format!("prompt after this stop: {next}"))
    }),
    (Reason::BackgroundTasks, |case| {
        let running = case.stop.background_tasks;
        let returning = case.evidence.facts.returning_tasks;
        match (case.policy.background, returning) {
            (Background::Returning, Some(returning)) => (
                returning > 0,
                format!(
                    "background tasks running: {running}, of which bring another stop: {returning}"
                ),
            ),
            _ => (running > 0, format!("background tasks running: {running}")),
        }
    }),
    (Reason::NoTurnStart, |case| {
        let start = case.turn_start();
        (
            start.is_none(),
            format!(
                "turn start: {}",
                start.map_or("none".into(), |start| start.to_string())
            ),
        )
    }),
    (Reason::BlockBudget, |case| {
        let blocks = case.state.blocks_this_turn();
        let budget = match case.stop.leaves {
            // Nothing is held twice, whatever stops may be.
            Some(_) => case.policy.max_blocks_per_turn.min(1),
            None => case.policy.max_blocks_per_turn,
        };
        (
            blocks >= budget,
            format!("checkpoints this turn: {blocks} of {budget}"),
        )
    }),
    (Reason::BelowThreshold, |case| {
        let elapsed = case.elapsed_ms();
        let least = case.policy.min_turn_ms;
        let words = elapsed.map_or("not known, the clock went back".into(), |ms| {
            format!("{ms} ms")
        });
        (
            elapsed.is_some_and(|elapsed| elapsed < least),
            format!("elapsed: {words}, threshold: {least} ms"),
        )
    }),
    (Reason::OwnPrompt, |case| {
        let hook = case.state.own_prompt_last;
        let transcript = case.own_prompt_in_transcript();
        (
            hook || transcript,
            format!("last prompt is ours: by hook {hook}, by transcript {transcript}"),
        )
    }),
    (Reason::LeavesAsked, |case| {
        let catalogue = Catalogue::with(&case.policy.programs);
        let mut prompts = case.turn().prompts.iter();
        let is_command = case
            .stop
            .leaves
            .as_ref()
            .is_some_and(|leaving| leaving.command.is_some());
        let asked = is_command && prompts.any(|prompt| catalogue.asks_to_leave(prompt));
        (asked, format!("the turn's prompt speaks of it: {asked}"))
    }),
];

impl Case<'_> {
    /// Returns the turn that the stop ended: not one that a later prompt began.
    fn turn(&self) -> &Turn {
        let previous = self.state.previous.as_deref();
        let own = previous.filter(|_| self.is_superseded());
        own.unwrap_or(&self.state.turn)
    }

    /// Returns whether a person has begun another turn since the stop.
    fn is_superseded(&self) -> bool {
        let turn = &self.state.turn;
        turn.seq > self.stop.seq && turn.started_at.is_some_and(|began| began > self.stop.at)
    }

    fn turn_start(&self) -> Option<Timestamp> {
        self.turn().start(self.policy.timer)
    }

    /// Returns the milliseconds from the turn's start to the stop; `None` if the clock went back meanwhile.
    pub fn elapsed_ms(&self) -> Option<u64> {
        let start = self.turn_start()?;
        let host_turn = &self.turn().host_turn;
        let is_own = host_turn.is_some() && *host_turn == self.stop.host_turn;
        let is_back = self.stop.at < start && is_own;
        (!is_back).then(|| self.stop.at.millis_since(start))
    }

    /// The budget already counts hook replies, and a host may write those into its transcript as
    /// plain prompts (Gemini), so the transcript counts only in turns without one.
    fn own_prompt_in_transcript(&self) -> bool {
        self.evidence.own_prompt_last && self.state.turn.blocks.is_empty()
    }

    fn route(&self) -> Route {
        if self.stop.can_reply {
            Route::HookReply
        } else {
            Route::Tmux
        }
    }

    fn form(&self) -> ReplyForm {
        let version = self.evidence.host_version.as_deref();
        agents::adapter(self.state.stream.agent).map_or(ReplyForm::Block, |adapter| {
            let of_stop = || adapter.reply_form(self.policy.reply, version);
            let of_call = self
                .stop
                .leaves
                .as_ref()
                .and_then(|leaving| match leaving.command {
                    Some(_) => adapter.tool_form,
                    None => Some(ReplyForm::Block),
                });
            of_call.unwrap_or_else(of_stop)
        })
    }

    /// Returns whether the decision is about the checkpoint after a restart: at its time, or if it
    /// could not be typed, at the next stop that can be answered (spec RESTART-3).
    fn is_restart(&self) -> bool {
        let is_stop = self.stop.leaves.is_none();
        self.stop.restart
            || (is_stop && self.stop.can_reply && self.state.restart_due(self.stop.at).is_some())
    }

    /// The exits that need no evidence. A restart is answered regardless of the clock and the
    /// budget, but not when the project or the session is off.
    fn early_exits(&self) -> &'static [Exit] {
        if self.is_restart() {
            &EARLY[..SWITCHES]
        } else if self.stop.leaves.is_some() {
            &EARLY
        } else {
            &EARLY[..EARLY.len() - 1]
        }
    }

    /// Returns the exit that is taken without evidence, if any.
    pub fn early_exit(&self) -> Option<Reason> {
        self.early_exits()
            .iter()
            .find(|(_, exit)| exit(self).0)
            .map(|(reason, _)| *reason)
    }

    /// Returns every exit up to the one that was taken, for `explain`.
    pub fn considered(&self) -> Vec<Considered> {
        let mut all = Vec::new();
        for (reason, exit) in self.early_exits() {
            let (taken, why) = exit(self);
            all.push(Considered {
                reason: *reason,
                taken,
                why,
            });
            if taken {
                return all;
            }
        }
        if self.is_restart() {
            all.push(Considered {
                reason: Reason::Restart,
                taken: true,
                why: "the agent was restarted".into(),
            });
            return all;
        }
        let findings = self.find();
        for (reason, taken, why) in self.late_exits(&findings) {
            all.push(Considered { reason, taken, why });
            if taken {
                return all;
            }
        }
        all.push(Considered {
            reason: self.inject_reason(&findings),
            taken: true,
            why: "nothing let it through".into(),
        });
        all
    }

    /// Returns the findings of the rules. A panic in a rule costs the findings, not the agent
    /// (spec DECIDE-14).
    pub fn find(&self) -> Findings {
        let evidence = self.evidence;
        let policy = self.policy;
        let mut findings =
            or_generic(|| judging::find(evidence, self.elapsed_ms(), self.state.project(), policy));
        if let Some(leaving) = &self.stop.leaves {
            let parts = &self.turn().parts;
            findings.keep_open(|file| match &leaving.subagent {
                Some(id) => parts
                    .iter()
                    .any(|(of, path)| of == id && Path::new(path).ends_with(file)),
                None => true,
            });
        }
        findings
    }

    fn inject_reason(&self, findings: &Findings) -> Reason {
        match self.stop.leaves {
            Some(_) => Reason::LeavesOpen,
            None => inject_reason(findings),
        }
    }

    /// Returns whether a demand was made at an earlier stop of this turn: the budget allows to ask for it again
    /// (spec DECIDE-7).
    fn is_recheck(&self, demand: Option<u64>) -> bool {
        let mut blocks = self.state.turn.blocks.iter();
        demand.is_some() && blocks.any(|block| block.demand == demand)
    }

    /// Returns whether something prevents that a stop is treated as one about documentation. What a rule asks for at
    /// every stop does not (spec DECIDE-20).
    fn is_due_for_docs(&self, findings: &Findings, due: bool) -> bool {
        if self.policy.docs_only == Quiet::Silent {
            findings.due_by_turn
        } else {
            due
        }
    }

    /// Returns whether the turn gets no checkpoint, to measure what they do (spec DECIDE-24). Which ones is chosen by a
    /// hash, so that a replay on any machine chooses the same.
    fn is_held_out(&self) -> bool {
        let began = self.turn().started_at.unwrap_or_default();
        let turn = format!("{} {began}", self.state.stream.own_session());
        digest::of_text(&turn) % 10_000 < u64::from(self.policy.holdout) * 100
    }

    /// The exits that depend on what the rules found, in order.
    fn late_exits(&self, findings: &Findings) -> Vec<(Reason, bool, String)> {
        match self.stop.leaves {
            Some(_) => self.late_exits_of_leaving(findings).into(),
            None => self.late_exits_of_stop(findings).into(),
        }
    }

    /// A command by which work leaves is held only for what is certainly open, and never twice for the same contents.
    fn late_exits_of_leaving(&self, findings: &Findings) -> [(Reason, bool, String); 5] {
        let count = findings.actions.len();
        let elsewhere = self.evidence.facts.leaves_elsewhere;
        let never = self.policy.headless == Headless::Never && self.evidence.headless;
        let mut demands = self.state.demands.iter();
        let known = demands.any(|known| Some(*known) == findings.demand);
        [
            (
                Reason::LeavesClear,
                count == 0 || elsewhere,
                if elsewhere {
                    "what leaves is of another repository".to_owned()
                } else {
                    format!("demands for what is certainly open: {count}")
                },
            ),
            (
                Reason::Headless,
                never,
                format!("headless: {}", self.evidence.headless),
            ),
            (
                Reason::Repeated,
                known,
                format!("the same demand was made before: {known}"),
            ),
            (
                Reason::ExitsOff,
                self.policy.exits < self.exits_needed(),
                format!("exits: {}", self.policy.exits.word()),
            ),
            self.held_out(count > 0),
        ]
    }

    /// Returns the least value of the setting with which this would be held.
    fn exits_needed(&self) -> Exits {
        let leaving = self.stop.leaves.as_ref();
        match leaving.is_some_and(|leaving| leaving.command.is_some()) {
            true => Exits::Hold,
            false => Exits::Parts,
        }
    }

    fn held_out(&self, is_asked: bool) -> (Reason, bool, String) {
        let share = self.policy.holdout;
        let why = format!("of 100 turns with something due, held back: {share}");
        (Reason::HeldOut, is_asked && self.is_held_out(), why)
    }

    fn late_exits_of_stop(&self, findings: &Findings) -> [(Reason, bool, String); 6] {
        let quiet_when_unchanged = self.policy.unchanged == Quiet::Silent;
        let due = if quiet_when_unchanged {
            findings.due_by_turn
        } else {
            !findings.actions.is_empty() || !findings.observations.is_empty()
        };
        let headless = self.evidence.headless;
        let quiet = match self.policy.headless {
            Headless::Always => false,
            Headless::Never => headless,
            Headless::WhenNeeded => headless && !due,
        };
        let known = findings
            .demand
            .is_some_and(|demand| self.state.demands.contains(&demand));
        let is_repeated = known && !findings.unresolved && !self.is_recheck(findings.demand);
        let is_asked = !findings.actions.is_empty() || !findings.observations.is_empty();
        let docs = findings.docs_only && !self.is_due_for_docs(findings, due);
        [
            (
                Reason::Headless,
                quiet,
                format!("headless: {headless}, something is due: {due}"),
            ),
            (
                Reason::SilentUnchanged,
                findings.unchanged && quiet_when_unchanged,
                format!(
                    "nothing changed and nothing failed: {}, unchanged: {}",
                    findings.unchanged,
                    self.policy.unchanged.word()
                ),
            ),
            (
                Reason::Repeated,
                is_repeated && self.policy.repeat == Repeat::Once,
                format!(
                    "the same demand was made before: {known}, new errors: {}",
                    findings.unresolved
                ),
            ),
            (
                Reason::SilentDocsOnly,
                docs && self.policy.docs_only == Quiet::Silent,
                format!(
                    "only documentation: {docs}, docs_only: {}",
                    self.policy.docs_only.word()
                ),
            ),
            (
                Reason::SilentAllClear,
                findings.all_clear
                    && !docs
                    && (findings.unknown || self.policy.all_clear == Quiet::Silent),
                format!(
                    "nothing is due: {}, not known of all code: {}, all_clear: {}",
                    findings.all_clear,
                    findings.unknown,
                    self.policy.all_clear.word()
                ),
            ),
            self.held_out(is_asked),
        ]
    }
}

fn muted_words(mute: Mute) -> String {
    match mute {
        Mute::Off => "muted: no".to_owned(),
        Mute::ForGood => "muted: until it is unmuted".to_owned(),
        Mute::Until(until) => format!("muted: until {until}"),
    }
}

/// Decides about a stop.
pub fn decide(case: &Case<'_>) -> Decision {
    if let Some(reason) = case.early_exit() {
        return pass(case, reason, &Findings::default());
    }
    let findings = case.find();
    if !case.is_restart()
        && let Some((reason, ..)) = case
            .late_exits(&findings)
            .into_iter()
            .find(|(_, taken, _)| *taken)
    {
        return pass(case, reason, &findings);
    }
    let text = catch_unwind(AssertUnwindSafe(|| {
        let leaves = case.stop.leaves.as_ref();
        message::compose(
            &findings,
            case.policy,
            case.state.stream.own_session(),
            leaves,
        )
    }));
    let generic = Findings {
        generic: true,
        ..Findings::default()
    };
    let text = text.unwrap_or_else(|_| {
        message::compose(&generic, case.policy, case.state.stream.own_session(), None)
    });
    let reason = if case.is_restart() {
        Reason::Restart
    } else {
        case.inject_reason(&findings)
    };
    let route = case.route();
    Decision {
        verdict: Verdict::Inject,
        route: Some(route),
        form: (route == Route::HookReply).then(|| case.form()),
        message: Some(text),
        demand: findings.demand,
        ..pass(case, reason, &findings)
    }
}

/// Returns whether a reason is given to stops whose caller gets no answer, whatever the policy is (spec DECIDE-15).
pub fn is_unanswered(reason: Reason) -> bool {
    matches!(reason, Reason::NobodyWaiting | Reason::Overloaded)
}

/// Lets a stop pass whose caller gets no answer: the agent has stopped normally (spec DECIDE-15).
pub fn pass_unanswered(case: &Case<'_>, reason: Reason) -> Decision {
    pass(case, reason, &Findings::default())
}

fn pass(case: &Case<'_>, reason: Reason, findings: &Findings) -> Decision {
    Decision {
        trigger: case.stop.seq,
        basis: case.state.last_seq,
        turn: case.state.turns,
        verdict: Verdict::Pass,
        reason,
        route: None,
        form: None,
        elapsed_ms: case.elapsed_ms(),
        categories: findings.categories.clone(),
        actions: findings.actions.clone(),
        observations: findings.observations.clone(),
        all_clear: findings.all_clear,
        message: None,
        demand: None,
        policy: case.fingerprint,
        version: DECISION_VERSION,
    }
}

fn inject_reason(findings: &Findings) -> Reason {
    if findings.generic {
        Reason::Generic
    } else if !findings.actions.is_empty() {
        Reason::ActionsDue
    } else if !findings.observations.is_empty() {
        Reason::ObservationsOnly
    } else if findings.docs_only {
        Reason::DocsOnly
    } else {
        Reason::AllClear
    }
}

/// Runs the rules; a panic gives the general message.
fn or_generic(rules: impl FnOnce() -> Findings) -> Findings {
    catch_unwind(AssertUnwindSafe(rules)).unwrap_or_else(|_| Findings {
        generic: true,
        ..Findings::default()
    })
}

#[cfg(test)]
mod tests;
