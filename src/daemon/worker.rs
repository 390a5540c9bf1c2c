//! Work on a thread of its own, so that no hook waits for it.

use std::io::Result;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

#[derive(Default)]
pub(super) struct Worker {
    stop: Notify,
    ended: Notify,
}

impl Worker {
    /// Begins.
    ///
    /// # Errors
    ///
    /// When the system refuses the thread.
    pub(super) fn start<W: Future<Output = ()>>(
        self: &Arc<Self>,
        name: &str,
        work: impl FnOnce() -> W + Send + 'static,
    ) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let own = Arc::clone(self);
        let body = move || {
            runtime.block_on(work());
            own.ended.notify_one();
        };
        let named = thread::Builder::new().name(name.to_owned());
        named.spawn(body).map(drop)
    }

    /// Returns when the work is to end.
    pub(super) async fn asked_to_stop(&self) {
        self.stop.notified().await;
    }

    /// Asks the work to end, and waits for that.
    pub(super) async fn close(&self, within: Duration) {
        self.stop.notify_one();
        let _ = timeout(within, self.ended.notified()).await;
    }
}
