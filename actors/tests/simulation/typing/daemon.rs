//! The daemon of the simulation: it looks, journals a step and carries it out, and may die in between.

use std::time::Duration;

use checkpoint::replay;
use checkpoint::state::Delivery;
use checkpoint::terminal::{self, Seen, Situation, Step};
use journal::{Event, Route};

use super::{UNSURE_LAG_MAX, World};
use crate::pane::{Key, Look};
use crate::rules::Broken;

/// The daemon died, or a rule was broken.
enum End {
    Died,
    Broken(Broken),
}

impl From<Broken> for End {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl World {
    /// The daemon looks and takes a step. Where it dies of that, another one reads the journal.
    pub(super) fn step(&mut self) -> Result<(), Broken> {
        match self.look_and_do() {
            Ok(()) => {}
            Err(End::Broken(broken)) => return Err(broken),
            Err(End::Died) => {
                (self.fuel, self.seen) = (None, None);
                let stream = self.live.stream.clone();
                let own = self
                    .rules
                    .events
                    .iter()
                    .filter(|envelope| envelope.stream == stream);
                self.live = replay::fold(&stream, own);
                // Calls that were spooled meanwhile.
                self.hooks_arrive(Duration::ZERO)?;
            }
        }
        if self
            .rules
            .states()
            .find(|state| state.stream == self.live.stream)
            != Some(&self.live)
        {
            return Err("the session is not what its events make of it".into());
        }
        self.prompts_are_told();
        Ok(())
    }

    /// Performs one more action or dies; in that case returns whether an append was written nevertheless.
    fn spend(&mut self) -> Result<(), bool> {
        match &mut self.fuel {
            Some((0, written)) => Err(*written),
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn append(&mut self, event: Event, cause: &str) -> Result<(), End> {
        let died = self.spend();
        if died != Err(false) {
            self.derive(event, cause)?;
        }
        died.map_err(|_| End::Died)
    }

    fn press(&mut self, look: Look, key: Key) -> Result<bool, End> {
        self.spend().map_err(|_| End::Died)?;
        // A paste that may not be noted is not waited for as long as one that is.
        if self.fuel.is_some() || self.pane.is_asleep() {
            self.pane.lag = self.pane.lag.min(UNSURE_LAG_MAX);
        }
        Ok(self.pane.press(look, key)?)
    }

    fn look_and_do(&mut self) -> Result<(), End> {
        let Some(delivery) = self.live.delivery.clone() else {
            return Ok(());
        };
        if let Some(by) = delivery.seen_by {
            let decision = self.decision;
            let confirmed = Event::DeliveryConfirmed { decision, by };
            return self.append(confirmed, &decision.to_string());
        }
        let (look, seen) = self.pane.look();
        if self.seen.is_none_or(|(known, _)| known != seen) {
            self.seen = Some((seen, self.now));
        }
        let step = self.next(&delivery, seen);
        self.carry_out(step, &delivery, look)
    }

    fn carry_out(&mut self, step: Step, delivery: &Delivery, look: Look) -> Result<(), End> {
        let decision = self.decision;
        let cause = decision.to_string();
        let attempt = delivery.typed.attempts;
        match step {
            Step::Wait(None) => Ok(()),
            Step::Wait(Some(word)) => {
                let held = Event::DeliveryHeld {
                    decision,
                    obstacle: word.into(),
                };
                self.append(held, &format!("{decision}:{word}"))
            }
            Step::Clear => self.press(look, Key::Clear).map(drop),
            Step::Paste => {
                let attempt = attempt + 1;
                let cause = format!("{decision}:{attempt}");
                self.append(
                    Event::DeliveryAttempted {
                        decision,
                        route: Route::Tmux,
                        attempt,
                    },
                    &cause,
                )?;
                if self.press(look, Key::Paste(attempt))? {
                    self.append(
                        Event::DeliveryPasted {
                            decision,
                            attempt,
                            pid: None,
                        },
                        &cause,
                    )?;
                } else {
                    self.seen = None;
                }
                Ok(())
            }
            Step::NotePasted => {
                let pid = None;
                let pasted = Event::DeliveryPasted {
                    decision,
                    attempt,
                    pid,
                };
                self.append(pasted, &format!("{decision}:{attempt}"))
            }
            Step::Enter => {
                let count = delivery.typed.enters + 1;
                self.append(
                    Event::DeliveryEntered { decision, count },
                    &format!("{decision}:{attempt}:{count}"),
                )?;
                self.press(look, Key::Enter).map(drop)
            }
            Step::Fail(reason) => {
                let reason = reason.into();
                self.append(Event::DeliveryFailed { decision, reason }, &cause)
            }
            Step::Expire(reason) => {
                let reason = reason.into();
                self.append(Event::DeliveryExpired { decision, reason }, &cause)
            }
        }
    }

    fn next(&self, delivery: &Delivery, seen: Seen) -> Step {
        terminal::next(&Situation {
            typed: &delivery.typed,
            seen,
            decided_at: delivery.at,
            since: self.seen.map_or(self.now, |(_, since)| since),
            now: self.now,
            asks: self.live.dialog_up,
            running: self.live.running,
            is_said: self.pane.shows_text(),
            would_tell: self.live.prompts_by_hook,
            bounds: self.bounds,
        })
    }
}
