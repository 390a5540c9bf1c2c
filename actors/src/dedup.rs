//! Recognizing the second call of a hook that is registered twice.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use journal::Timestamp;
use uuid::Uuid;

/// Two calls with the same content within this time are one call of a hook that is registered twice.
const SAME_CALL_WITHIN: Duration = Duration::from_secs(1);
/// How many contents are remembered at least.
const REMEMBERED_MIN: usize = 4_096;

/// The contents of recent calls. What a call costs does not depend on how many are remembered.
#[derive(Debug, Default)]
pub(crate) struct RecentCalls {
    /// The id and the time of the first call with each content.
    first: HashMap<Uuid, (Uuid, Timestamp)>,
    /// The same contents by their time.
    by_time: BTreeSet<(Timestamp, Uuid)>,
}

impl RecentCalls {
    /// Returns the id of the call that this one is, which is its own unless an earlier call has the same content.
    pub(crate) fn id_of(&mut self, content: Uuid, id: Uuid, at: Timestamp) -> Uuid {
        self.forget();
        match self.first.get(&content) {
            Some((known, when)) if at.since(*when).max(when.since(at)) < SAME_CALL_WITHIN => *known,
            _ => {
                if let Some((_, earlier)) = self.first.insert(content, (id, at)) {
                    self.by_time.remove(&(earlier, content));
                }
                self.by_time.insert((at, content));
                id
            }
        }
    }

    /// Forgets the oldest contents of more than [`REMEMBERED_MIN`] that can no longer be repeated.
    fn forget(&mut self) {
        let latest = self.by_time.last().map(|(at, _)| *at).unwrap_or_default();
        while self.by_time.len() >= REMEMBERED_MIN
            && let Some(&(at, content)) = self.by_time.first()
            && latest.since(at) >= SAME_CALL_WITHIN
        {
            self.by_time.pop_first();
            self.first.remove(&content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(number: usize) -> Timestamp {
        Timestamp::from_micros(number as i64 * 1_000)
    }

    fn uuid(number: usize) -> Uuid {
        Uuid::from_u128(number as u128)
    }

    #[test]
    fn a_twin_gets_the_first_ones_id_within_a_second() {
        let mut recent = RecentCalls::default();
        let mut id_of = |content, id, at| recent.id_of(uuid(content), uuid(id), millis(at));
        assert_eq!(id_of(1, 10, 5_000), uuid(10));
        assert_eq!(id_of(2, 11, 5_001), uuid(11));
        assert_eq!(id_of(1, 12, 5_999), uuid(10));
        // A hook may report its time late, or early.
        assert_eq!(id_of(1, 13, 4_001), uuid(10));
        assert_eq!(id_of(1, 14, 6_000), uuid(14));
        assert_eq!(id_of(1, 15, 6_500), uuid(14));
    }

    #[test]
    fn as_many_are_remembered_as_can_have_twins() {
        let mut recent = RecentCalls::default();
        // Each content comes twice, half a second apart, at 20,000 calls a second.
        for number in 0..60_000_usize {
            let at = Timestamp::from_micros(number as i64 * 50);
            assert_eq!(recent.id_of(uuid(number), uuid(number), at), uuid(number));
            if let Some(earlier) = number.checked_sub(10_000) {
                assert_eq!(
                    recent.id_of(uuid(earlier), uuid(1 << 40), at),
                    uuid(earlier)
                );
            }
            assert_eq!(recent.first.len(), recent.by_time.len());
            assert!(recent.first.len() <= 20_001, "{}", recent.first.len());
        }
        // Later the rest is forgotten, one by one.
        for number in 0..30_000_usize {
            let at = millis(10_000 + number * 10);
            recent.id_of(uuid(1 << 32 | number), uuid(number), at);
        }
        assert_eq!(recent.first.len(), REMEMBERED_MIN);
    }
}
