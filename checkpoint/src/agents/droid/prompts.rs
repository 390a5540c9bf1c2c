//! The texts that Droid writes in its user's name.

use crate::prompts::Texts;

/// Its reminders are like Claude Code's, and our text arrives as it was sent.
pub(super) const TEXTS: Texts = Texts {
    peel: |_| None,
    companions: &[],
    calls_to_work: &[],
    asides: &[],
};
