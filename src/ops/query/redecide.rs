//! Deciding the past again, on all cores: each walks over history and folds its share of the sessions, which know nothing of
//! each other.

use std::thread;

use checkpoint::replay::{self, Past, Replayer};
use journal::{Envelope, Journal, Stream};
use uuid::Uuid;

use super::question::{Emit, Progress, Result, send};
use super::sessions::{find_session_on, of_machine};
use crate::ops::views::{Mismatch, Reproved};

/// Events between two signs of progress.
const PROGRESS_EVERY: u64 = 20_000;
/// More walks than this would mostly do the same, each with a segment of the log in memory.
const WALKS_MAX: usize = 4;

/// Hands every decision of a session, of a machine, or of all, to a judge, one of several, and returns what the judges say, in order.
pub(super) fn judge_all<T: Send, J: FnMut(Past<'_>) -> T>(
    journal: &Journal,
    (session, machine): (Option<&str>, Option<&str>),
    emit: &mut Emit<'_>,
    judge: impl Fn() -> J + Sync,
) -> Result<Vec<T>> {
    // The daemon's own events have the policies.
    let own = Stream::daemon().session;
    if let Some(session) = session {
        let session = find_session_on(journal, session, machine)?.stream.session;
        let mut events = journal.stream(own, 0, usize::MAX)?;
        events.extend(journal.stream(session, 0, usize::MAX)?);
        events.sort_by_key(|envelope| envelope.seq);
        return Ok(in_order(judge_some(
            events.into_iter().map(Ok),
            judge(),
            |_| Ok(()),
        )?));
    }
    let walks = thread::available_parallelism()
        .map_or(1, usize::from)
        .clamp(1, WALKS_MAX) as u128;
    // One moment for all of them.
    let last = journal.settle()?;
    let only = machine.map(|machine| of_machine(journal, machine));
    let only = only.transpose()?;
    let only = only.as_ref();
    let share = |walk: u128| {
        let is_wanted = move |session: &Uuid| only.is_none_or(|only| only.contains(session));
        let wanted = move |session: Uuid| {
            session == own || session.as_u128() % walks == walk && is_wanted(&session)
        };
        journal.history(1..=last, wanted)
    };
    let mut next = PROGRESS_EVERY;
    let progress = |seq: u64| {
        if seq < next {
            return Ok(());
        }
        next = seq + PROGRESS_EVERY;
        let progress = (seq, last);
        send(emit, &Progress { progress })
    };
    let (share, judge) = (&share, &judge);
    thread::scope(|scope| {
        let others: Vec<_> = (1..walks)
            .map(|walk| scope.spawn(move || judge_some(share(walk)?, judge(), |_| Ok(()))))
            .collect();
        let mut judged = judge_some(share(0)?, judge(), progress)?;
        for other in others {
            judged.extend(
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            );
        }
        Ok(in_order(judged))
    })
}

/// Returns what a judge says, each with the number of its decision.
fn judge_some<T>(
    events: impl Iterator<Item = journal::Result<Envelope>>,
    mut judge: impl FnMut(Past<'_>) -> T,
    mut progress: impl FnMut(u64) -> Result<()>,
) -> Result<Vec<(u64, T)>> {
    let (mut replayer, mut judged) = (Replayer::default(), Vec::new());
    for envelope in events {
        let envelope = envelope?;
        progress(envelope.seq)?;
        replayer.feed(envelope, |past| {
            judged.push((past.envelope.seq, judge(past)))
        });
    }
    Ok(judged)
}

fn in_order<T>(mut judged: Vec<(u64, T)>) -> Vec<T> {
    judged.sort_by_key(|(seq, _)| *seq);
    judged.into_iter().map(|(_, said)| said).collect()
}

pub(super) fn verify(
    journal: &Journal,
    whose: (Option<&str>, Option<&str>),
    emit: &mut Emit<'_>,
) -> Result<()> {
    let judge = |past: Past<'_>| match past.again() {
        _ if past.is_withheld() => Proof::Withheld,
        _ if past.is_earlier() => Proof::Earlier,
        Ok(now) if now == *past.decision => Proof::Same,
        Ok(now) => Proof::Not(Mismatch {
            seq: past.envelope.seq,
            fields: replay::differences(past.decision, &now),
            was: Some(past.decision.reason),
            now: Some(now.reason),
            why: None,
        }),
        Err(why) => Proof::Not(Mismatch {
            seq: past.envelope.seq,
            fields: Vec::new(),
            was: None,
            now: None,
            why: Some(why),
        }),
    };
    let judged = judge_all(journal, whose, emit, || judge)?;
    let decisions = judged.len();
    let mut proved = Reproved {
        decisions,
        ..Reproved::default()
    };
    for proof in judged {
        match proof {
            Proof::Same => proved.matched += 1,
            Proof::Withheld => proved.withheld += 1,
            Proof::Earlier => proved.earlier += 1,
            Proof::Not(mismatch) => proved.mismatched.push(mismatch),
        }
    }
    send(emit, &proved)
}

/// What deciding again shows.
enum Proof {
    Same,
    /// Nothing, since a machine withholds what it was based on.
    Withheld,
    /// Nothing, since an earlier version made it.
    Earlier,
    Not(Mismatch),
}
