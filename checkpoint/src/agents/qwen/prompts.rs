//! The texts that Qwen Code writes in its user's name.

use crate::prompts::Texts;

/// Our text arrives as it was sent, and notices of finished tasks are like Claude Code's.
pub(super) const TEXTS: Texts = Texts {
    peel: |_| None,
    companions: &[],
    calls_to_work: &[],
    asides: &[],
};
