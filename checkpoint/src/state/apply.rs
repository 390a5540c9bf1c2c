//! The fold: applies one event to the state of its session.

use journal::{Envelope, Event, ProgressKind, PromptOrigin, Timestamp};

use super::ended::ExaminedCall;
use super::model::{Head, Leaving, Mute, SUBAGENTS_MAX, SessionState, Stop, Written};
use crate::agents;

impl SessionState {
    /// Applies one event. Never fails, and depends on nothing but the state and the event.
    pub fn apply(&mut self, envelope: &Envelope) {
        self.withheld |= envelope.is_withheld();
        let newest = self.keep_clock_and_place(envelope);
        self.see_clock(envelope);
        self.keep_home(&envelope.event);
        self.keep_subagent(&envelope.event);
        self.see_turn(&envelope.event);
        self.see_delivery(&envelope.event, envelope.at);
        self.worked.see(envelope);
        self.apply_report(envelope, newest);
        self.apply_own(envelope);
    }

    /// Keeps the times and the place of an event; returns whether it is the latest hook call so
    /// far.
    fn keep_clock_and_place(&mut self, envelope: &Envelope) -> bool {
        let at = envelope.at;
        self.last_seq = envelope.seq;
        self.counts.events += 1;
        self.started_at = Some(self.started_at.map_or(at, |known| known.min(at)));
        self.last_at = self.last_at.max(Some(at));
        let host = envelope.event.host();
        let newest = self.heard_at.is_none_or(|heard| heard <= at);
        self.heard_at = self.heard_at.max(host.map(|_| at));
        let place = host.and_then(|host| host.place.as_ref());
        if let Some(place) = place.filter(|_| newest || self.place.cwd.is_empty()) {
            let known = self.place.transcript.take();
            self.place = place.clone();
            // Codex's `notify` does not say where the transcript is.
            self.place.transcript = self.place.transcript.take().or(known);
        }
        newest
    }

    /// Keeps the subagent that a hook names: all its calls are reported too.
    fn keep_subagent(&mut self, event: &Event) {
        let id = event.host().and_then(|host| host.subagent.as_ref());
        if let Some(id) = id.filter(|id| !self.subagents.contains(id)) {
            if self.subagents.len() >= SUBAGENTS_MAX {
                self.subagents.remove(0);
            }
            self.subagents.push(id.clone());
        }
    }

    /// Keeps where the session began. After `clear` and `compact` the agent may be anywhere.
    fn keep_home(&mut self, event: &Event) {
        let starts = matches!(event, Event::SessionStarted { source, .. } if !matches!(source.as_str(), "clear" | "compact"));
        let place = event.host().and_then(|host| host.place.as_ref());
        if let Some(place) = place.filter(|place| starts && !place.cwd.is_empty()) {
            self.home.clone_from(&place.cwd);
        } else if self.home.is_empty() {
            self.home = self.project().to_owned();
        }
    }

    /// Applies what an agent's hooks or its transcript report.
    fn apply_report(&mut self, envelope: &Envelope, newest: bool) {
        let at = envelope.at;
        self.opened |= envelope.event.host().is_some()
            && !matches!(
                envelope.event,
                Event::OtherHook { .. } | Event::AgentStopped { .. } | Event::SessionEnded { .. }
            );
        match &envelope.event {
            Event::SessionStarted { .. } => self.ended_at = None,
            Event::SessionEnded { .. } if newest => {
                self.ended_at = Some(at);
                self.running = false;
                self.dialog_up = false;
            }
            Event::PromptSubmitted {
                host,
                origin,
                digest,
                text,
            } => {
                self.prompts_by_hook = true;
                match origin {
                    PromptOrigin::User => {
                        self.take_title(text);
                        self.begin_turn(*digest, at, host.turn.as_deref());
                        self.note_prompt(at, text);
                    }
                    PromptOrigin::Own => self.own_prompt(),
                    PromptOrigin::Host | PromptOrigin::Subagent => {}
                }
            }
            Event::PromptFound {
                transcript,
                origin,
                digest,
                text,
            } => {
                let is_users = *origin == PromptOrigin::User;
                is_users.then(|| self.take_title(text));
                self.found_prompt(transcript, *origin, *digest, at);
                is_users.then(|| self.note_prompt(at, text));
            }
            Event::ToolStarted { host, call } => self.tool_started(host, call),
            Event::ToolFinished { host, call } | Event::ToolFailed { host, call } => {
                self.tool_finished(host, call);
                self.call_ended(envelope.seq, host, call);
            }
            Event::AgentStopped { .. } => self.stopped(envelope),
            Event::Interrupted { cause, .. } => {
                self.running = false;
                self.dialog_up = false;
                if cause != "user" {
                    self.call_person(at, "api_error");
                }
            }
            Event::Notified {
                notification: kind, ..
            } => {
                let known = agents::adapter(self.stream.agent).map(|agent| agent.notifications);
                self.dialog_up |= known.is_some_and(|known| known.dialog == Some(kind));
                self.call_person(at, kind);
            }
            Event::PermissionAsked { .. } => {
                self.dialog_up = true;
                self.call_person(at, "permission");
            }
            _ => {}
        }
    }

    fn progressed(&mut self, seq: u64, at: Timestamp, progress: ProgressKind) {
        let known = self.progress.as_ref().and_then(|written| written.full);
        let is_part = progress == ProgressKind::Incremental;
        self.progress = Some(Written {
            seq,
            at,
            full: if is_part { known } else { Some(seq) },
            worked_ms: self.worked.ms,
            counts: self.counts,
            turns: self.turns,
        });
    }

    /// Applies what the daemon decided and did, and what people ordered.
    fn apply_own(&mut self, envelope: &Envelope) {
        let at = envelope.at;
        let seq = envelope.seq;
        match &envelope.event {
            Event::EvidenceGathered { evidence, .. } => self.open.see(&evidence.changes),
            Event::Decided(decision) => self.decided(seq, at, decision),
            Event::DeliveryAttempted { .. }
            | Event::DeliveryHeld { .. }
            | Event::DeliveryPasted { .. }
            | Event::DeliveryEntered { .. }
            | Event::DeliveryConfirmed { .. }
            | Event::DeliveryFailed { .. }
            | Event::DeliveryExpired { .. } => self.delivery_went_on(&envelope.event, at),
            Event::RestartRequested { due } => self.restart = Some((seq, *due)),
            Event::AgentRestarted { due } => {
                self.restart = self.restart.map(|(restart, _)| (restart, *due))
            }
            Event::RestartClosed { restart, .. } => {
                self.restart.take_if(|(known, _)| known == restart);
            }
            Event::Announced { news, output, .. } => self.announced(*news, *output),
            Event::EscapeHatchUsed { .. } => self.cleared = false,
            Event::CheckpointCleared {} => self.cleared = true,
            Event::Muted { until } => self.muted = until.map_or(Mute::ForGood, Mute::Until),
            Event::Unmuted {} => self.muted = Mute::Off,
            Event::ProgressWritten { progress, .. } => self.progressed(seq, at, *progress),
            Event::BaselineTaken { turn_at, files } => self.take_baseline(*turn_at, files, at),
            Event::HeadSeen {
                turn_at,
                top,
                commit,
                tips,
            } if self.turn.started_at == Some(*turn_at) => {
                self.turn.head = Some(Head {
                    at,
                    top: top.clone(),
                    commit: commit.clone(),
                    tips: tips.clone(),
                });
            }
            Event::TurnJoined { turn_at } => self.join_turns(*turn_at),
            Event::WorkLeaves {
                command,
                subagent,
                host_turn,
            } => {
                let leaving = Leaving {
                    command: command.clone(),
                    subagent: subagent.clone(),
                };
                self.waits(Stop {
                    seq: envelope.seq,
                    at: envelope.at,
                    host_turn: host_turn.clone(),
                    can_reply: true,
                    background_tasks: 0,
                    restart: false,
                    leaves: Some(leaving),
                });
            }
            Event::CallExamined {
                call_id,
                call_at,
                examined,
            } => self.call_examined(ExaminedCall {
                id: call_id.clone(),
                at: *call_at,
                examined: examined.clone(),
            }),
            Event::FactsGathered { facts, .. } if facts.remote.is_some() => {
                self.remote.clone_from(&facts.remote);
            }
            _ => {}
        }
    }
}
