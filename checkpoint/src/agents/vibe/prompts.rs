//! The texts that Vibe writes in its user's name.

use crate::prompts::Texts;

/// Our text arrives as it was sent.
pub(super) const TEXTS: Texts = Texts {
    peel: |_| None,
    companions: &[],
    calls_to_work: &[],
    asides: &[],
};
