//! What must hold after every step, and at the end of a run.

use std::collections::HashMap;

use tokio::sync::oneshot;

use super::{Daemon, STOP_WAIT, World};
use crate::plan::{Hook, SESSIONS};
use crate::rules::Broken;

impl World<'_> {
    /// Looks at what calls have led to.
    pub(super) fn take_outcomes(&mut self) -> Result<(), Broken> {
        let mut replies = Vec::new();
        let mut spooled = Vec::new();
        for (number, call) in self.calls.iter_mut().enumerate() {
            let Some(receiver) = &mut call.outcome else {
                continue;
            };
            match receiver.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => continue,
                Ok(Ok(taken)) => {
                    call.seq = Some(taken.seq);
                    if matches!(call.hook, Hook::Stop { .. }) && !taken.reply.is_empty() {
                        replies.push((call.session, taken));
                    }
                }
                // Refused, or the daemon has died.
                Ok(Err(_)) | Err(oneshot::error::TryRecvError::Closed) => spooled.push(number),
            }
            (call.outcome, call.until) = (None, None);
        }
        spooled.into_iter().for_each(|number| self.spool(number));
        for (session, taken) in replies {
            // What is sent must be in the journal already; nothing is waited for here.
            self.check_events()?;
            let times = self.replies.entry(taken.seq).or_default();
            *times += 1;
            self.rules.may_be_sent(
                self.sessions[session].stream().session,
                taken.seq,
                &taken.reply,
                *times,
            )?;
        }
        Ok(())
    }

    pub(super) fn check_events(&mut self) -> Result<(), Broken> {
        for envelope in self.place.journal.events_from(self.rules.last_seq() + 1) {
            self.rules
                .feed(envelope.map_err(|error| error.to_string())?)?;
        }
        Ok(())
    }

    /// The spool is taken in, time goes on, the agents end.
    pub(super) async fn come_to_an_end(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        self.rest(daemon).await?;
        // Clients that gave up have spooled too.
        let unanswered = (0..self.calls.len()).filter(|number| self.calls[*number].seq.is_none());
        unanswered.for_each(|number| self.spool(number));
        self.sweep(daemon).await?;
        self.wait(daemon, STOP_WAIT * 2).await?;
        self.rest(daemon).await?;
        self.check_calls()?;
        for session in 0..SESSIONS {
            let number = self.make_call(session, Hook::End, 0);
            self.send(daemon, number, false).await?;
            self.come_to_rest(daemon).await?;
        }
        self.rest(daemon).await
    }

    /// Every call is an event of its session: the one that was acknowledged; or where it came through the spool, one with
    /// its id or its twin's.
    pub(super) fn check_calls(&self) -> Result<(), Broken> {
        let by_id: HashMap<_, _> = self
            .rules
            .events
            .iter()
            .map(|envelope| (envelope.id, envelope))
            .collect();
        let by_seq: HashMap<_, _> = self
            .rules
            .events
            .iter()
            .map(|envelope| (envelope.seq, envelope))
            .collect();
        for (number, call) in self.calls.iter().enumerate() {
            let event = match call.seq {
                Some(seq) => by_seq.get(&seq),
                None => {
                    let same = (0..self.calls.len())
                        .filter(|other| self.calls[*other].payload == call.payload);
                    let ids = same
                        .map(|other| self.event_id(other))
                        .collect::<Result<Vec<_>, _>>()?;
                    ids.iter().find_map(|id| by_id.get(id))
                }
            };
            let Some(event) = event else {
                return Err(format!("call {number} was never taken in"));
            };
            if event.stream != self.sessions[call.session].stream() {
                return Err(format!(
                    "call {number} was acknowledged as event {}, which is another one",
                    event.seq
                ));
            }
        }
        Ok(())
    }

    /// Another daemon has come up: whatever was promised is kept, or given up.
    pub(super) async fn check_the_end(&mut self, daemon: &Daemon) -> Result<(), Broken> {
        for _ in 0..2 {
            self.wait(daemon, STOP_WAIT).await?;
        }
        self.rest(daemon).await?;
        for state in self.rules.states() {
            // A stop without a waiting client when the daemon died is not decided: its agent has stopped.
            if state.pending.iter().any(|stop| stop.can_reply) || state.delivery.is_some() {
                return Err(format!(
                    "at the end there are open stops {:?}, or a delivery {:?}",
                    state.pending, state.delivery
                ));
            }
        }
        Ok(())
    }
}
