//! The acts of a plan: hook calls, orders and the passing of time.

use std::time::Duration;

use actors::hook_headers::HookHeaders;
use actors::ingest::{self, AcceptHook};
use checkpoint::hooks::{self, Reading};
use journal::{Draft, Event};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{Daemon, STOP_WAIT, World};
use crate::agents::Call;
use crate::plan::{Act, Hook, Order};
use crate::rules::Broken;

impl World<'_> {
    /// A call finds no daemon, or a busy one.
    pub(super) fn spool(&self, number: usize) {
        let call = &self.calls[number];
        let session = &self.sessions[call.session];
        self.place.spool(
            session.agent,
            call.id,
            call.at,
            &session.env(self.setup.dead_terminals),
            &call.payload,
        );
    }

    /// What the agents do while there is no daemon.
    pub(super) fn perform_alone(&mut self, act: Act) {
        match act {
            Act::Call {
                session,
                hook,
                late,
                ..
            } => {
                let number = self.make_call(session, hook, late);
                self.spool(number);
            }
            Act::Twin => {
                if let Some(number) = self.make_twin() {
                    self.spool(number);
                }
            }
            Act::Again { back } => {
                if let Some(number) = self.calls.len().checked_sub(back + 1) {
                    self.spool(number);
                }
            }
            Act::Wait { seconds } => self.now += Duration::from_secs(seconds.into()),
            Act::GiveUp { .. }
            | Act::Order { .. }
            | Act::Run { .. }
            | Act::Rest
            | Act::Crash { .. } => {}
        }
    }

    pub(super) async fn perform(&mut self, daemon: &Daemon, act: Act) -> Result<(), Broken> {
        match act {
            Act::Call {
                session,
                hook,
                late,
                waits,
            } => {
                let number = self.make_call(session, hook, late);
                self.send(daemon, number, waits).await
            }
            Act::Twin => match self.make_twin() {
                Some(number) => self.send(daemon, number, true).await,
                None => Ok(()),
            },
            Act::Again { back } => match self.calls.len().checked_sub(back + 1) {
                Some(number) => self.send(daemon, number, true).await,
                None => Ok(()),
            },
            Act::GiveUp { back } => {
                if let Some(call) = self.calls.iter_mut().rev().nth(back) {
                    (call.outcome, call.until) = (None, None);
                }
                Ok(())
            }
            Act::Order { session, order } => self.order(session, order),
            Act::Run { rounds } => {
                for _ in 0..rounds {
                    self.round(daemon).await?;
                }
                Ok(())
            }
            Act::Rest => self.rest(daemon).await,
            Act::Wait { seconds } => self.wait(daemon, Duration::from_secs(seconds.into())).await,
            Act::Crash { .. } => Ok(()),
        }
    }

    pub(super) fn blank(&self, number: usize) -> Call {
        let id = Uuid::from_u64_pair(self.seed, number as u64);
        Call {
            session: 0,
            hook: Hook::Unknown,
            payload: String::new(),
            at: self.began,
            id,
            outcome: None,
            until: None,
            seq: None,
        }
    }

    pub(super) fn make_call(&mut self, session: usize, hook: Hook, late: u32) -> usize {
        let number = self.calls.len();
        let payload =
            self.sessions[session].payload(hook, number as u64, &self.config.settings.prefix.0);
        // No two at the same moment: which of them was first would be open.
        self.now += Duration::from_millis(1);
        let at = self
            .began
            .plus(self.now)
            .minus(Duration::from_secs(late.into()));
        self.calls.push(Call {
            session,
            hook,
            payload,
            at,
            ..self.blank(number)
        });
        number
    }

    pub(super) fn make_twin(&mut self) -> Option<usize> {
        let number = self.calls.len();
        let last = self.calls.last()?;
        let twin = Call {
            session: last.session,
            hook: last.hook,
            payload: last.payload.clone(),
            at: last.at,
            ..self.blank(number)
        };
        self.calls.push(twin);
        Some(number)
    }

    pub(super) fn headers(&self, number: usize) -> HookHeaders {
        let call = &self.calls[number];
        let session = &self.sessions[call.session];
        HookHeaders {
            agent: session.agent.word().into(),
            event: None,
            at: call.at,
            id: call.id,
            env: session.env(self.setup.dead_terminals),
            truncated: false,
        }
    }

    /// Returns the id of the event that a call becomes: where the host names it, it is not the call's own.
    pub(super) fn event_id(&self, number: usize) -> Result<Uuid, Broken> {
        let reading = Reading {
            prefix: &self.config.settings.prefix.0,
            payload_bytes_max: usize::MAX,
            redactor: &self.config.redactor,
            agents: &self.config.settings.agents,
        };
        let headers = self.headers(number);
        let call = headers
            .with_payload(
                self.calls[number].payload.as_bytes(),
                &self.config.settings.agents,
            )
            .map_err(|error| error.to_string())?;
        hooks::normalize(&call, reading).map(|normal| normal.draft.id)
    }

    /// Sends a call, for the first time or again. A call without a waiting client came from the spool.
    pub(super) async fn send(
        &mut self,
        daemon: &Daemon,
        number: usize,
        waits: bool,
    ) -> Result<(), Broken> {
        let headers = self.headers(number);
        let payload = self.calls[number].payload.clone();
        let normal = ingest::read_call(&daemon.shared, headers, payload).await;
        let normal = normal.map_err(|refusal| format!("call {number} was refused: {refusal:?}"))?;
        let (outcome, taken) = oneshot::channel();
        let within = waits.then_some(STOP_WAIT);
        let take = AcceptHook {
            normal,
            waits: within,
            outcome,
        };
        if daemon.ingest.try_send(take).is_ok() {
            let call = &mut self.calls[number];
            (call.outcome, call.until) = (Some(taken), None);
        } else {
            self.spool(number);
        }
        Ok(())
    }

    pub(super) fn order(&mut self, session: usize, order: Order) -> Result<(), Broken> {
        let at = self.began.plus(self.now);
        let event = match order {
            Order::Mute => Event::Muted {
                until: Some(at.plus(Duration::from_secs(60))),
            },
            Order::Unmute => Event::Unmuted {},
            Order::Clear => Event::CheckpointCleared {},
            Order::Restart => Event::RestartRequested { due: at },
        };
        self.orders += 1;
        let id = Uuid::from_u64_pair(!self.seed, self.orders);
        let stream = self.sessions[session].stream();
        // It is the sessions that are ordered about, so there has to be one.
        if self.place.journal.session(stream.session).is_some() {
            let draft = Draft {
                stream,
                at,
                id,
                event,
                payload: None,
            };
            self.place
                .journal
                .append(vec![draft], |_| {})
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
