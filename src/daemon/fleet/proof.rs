//! The proof that what was sent is this journal's own past.
//!
//! It is made of one event, so a daemon that starts looks up that event and no other. A history that was copied or set
//! back and then continued has another event with the same number.

use journal::Journal;

/// Returns the proof for an event: a hash of data that no other history has at its number, made with the journal's
/// secret. `None` if the event cannot be read yet.
pub(super) fn proof(journal: &Journal, seq: u64) -> journal::Result<Option<String>> {
    let identity = journal.identity()?;
    Ok(journal.event(seq)?.map(|event| {
        // Not the stored bytes: a later version may store the event in another form.
        let of = format!("{seq} {} {}", event.id, event.recorded_at.as_micros());
        format!("{:016x}", identity.keyed(of.as_bytes()))
    }))
}
