//! Makes runs reproducible although the journal has threads of its own.

use std::future::poll_fn;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use journal::Journal;

/// Two threads work for the actors: the journal's and the one for blocking work. While the actors run, both wait at a
/// closed gate, so that the order of work is fixed. And as one of them is always busy, the paused clock advances only
/// when the run advances it.
pub(crate) struct Gates {
    pub(crate) journal: Option<Sender<()>>,
    blocking: Sender<()>,
}

impl Gates {
    /// Closes both; `held` is a gate at which the journal waits already.
    pub(crate) fn closed(journal: &Journal, held: Option<Sender<()>>) -> Self {
        let (open, reached) = Self::before_blocking();
        let _ = reached.recv();
        let mut gates = Self {
            journal: held,
            blocking: open,
        };
        if gates.journal.is_none() {
            gates.let_journal_through(journal);
        }
        gates
    }

    /// Lets first the one and then the other do all that it has been given.
    pub(crate) fn let_through(&mut self, journal: &Journal) {
        self.let_journal_through(journal);
        // The next gate is behind all that waits; the one before opens by going away.
        let (open, reached) = Self::before_blocking();
        self.blocking = open;
        let _ = reached.recv();
    }

    fn let_journal_through(&mut self, journal: &Journal) {
        self.journal = None;
        all_is_journaled(journal).expect("the journal lives");
        let (open, reached, stop) = Self::gate();
        journal.sync(move |_| stop()).expect("it is open");
        let _ = reached.recv();
        self.journal = Some(open);
    }

    fn before_blocking() -> (Sender<()>, Receiver<()>) {
        let (open, reached, stop) = Self::gate();
        tokio::task::spawn_blocking(stop);
        (open, reached)
    }

    /// Returns the sender that keeps the gate closed, the receiver that ends when a thread reaches it, and the gate.
    fn gate() -> (Sender<()>, Receiver<()>, impl FnOnce() + Send + 'static) {
        let (open, until_open) = channel::<()>();
        let (reach, reached) = channel();
        let stop = move || {
            drop(reach);
            let _ = until_open.recv();
        };
        (open, reached, stop)
    }
}

/// Detects that the actors are idle: their runtime reports it each time before it sleeps.
#[derive(Clone, Default)]
pub(crate) struct Idle(Arc<Mutex<Sleep>>);

#[derive(Default)]
struct Sleep {
    waits: Option<Waker>,
    came: bool,
}

impl Idle {
    /// The runtime is about to sleep. A waiter for that keeps it awake.
    pub(crate) fn comes(&self) {
        let mut sleep = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = sleep.waits.take() {
            sleep.came = true;
            waker.wake();
        }
    }

    /// Runs the actors until they are idle. Returns whether another thread had given one of them work.
    pub(crate) async fn come(&self) -> bool {
        let mut polls = 0;
        poll_fn(|context| {
            let mut sleep = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if std::mem::take(&mut sleep.came) {
                return Poll::Ready(polls > 1);
            }
            polls += 1;
            sleep.waits = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// Returns once all that the journal was given can be read, and those who wait for it have been told.
pub(crate) fn all_is_journaled(journal: &Journal) -> journal::Result<()> {
    journal.append_wait(Vec::new())?;
    let (sender, settled) = channel();
    journal.when_settled(move |result| drop(sender.send(result)));
    settled.recv().map_err(|_| journal::Error::Closed)?
}
