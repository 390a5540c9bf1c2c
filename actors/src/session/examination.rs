//! Examining calls as they end. No hook call waits for it.

use std::sync::Arc;

use actix::prelude::*;

use super::Session;

impl Session {
    /// Examines the calls that have ended, one after the other.
    pub(super) fn examine(&mut self, ctx: &mut Context<Self>) {
        if self.examines || !self.examining.has_next(&self.state) {
            return;
        }
        self.examines = true;
        let (shared, state) = (Arc::clone(&self.shared), self.state.clone());
        let examining = Arc::clone(&self.examining);
        let work = async move { shared.beside(examining.work(&shared, state)).await };
        ctx.spawn(work.into_actor(self).map(|_, session, ctx| {
            session.examines = false;
            session.catch_up();
            session.examine(ctx);
        }));
    }
}
