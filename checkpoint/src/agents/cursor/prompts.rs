//! The texts that Cursor writes in its user's name.

use crate::prompts::Texts;

/// Our text is submitted as it was sent.
pub(super) const TEXTS: Texts = Texts {
    peel: |_| None,
    companions: &[],
    calls_to_work: &[],
    asides: &[],
};
