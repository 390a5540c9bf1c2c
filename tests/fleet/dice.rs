//! Chance that is the same in each run.

/// Whether the long form is wanted.
pub(crate) fn is_full() -> bool {
    std::env::var("CHECKPOINTD_FLEET").is_ok_and(|form| form == "full")
}

/// Numbers that look random.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).expect("small")
    }
}
