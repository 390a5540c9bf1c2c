//! The texts that opencode writes in its user's name.

use crate::prompts::Texts;

/// The plugin leaves out what opencode adds to a message.
pub(super) const TEXTS: Texts = Texts {
    peel: |_| None,
    companions: &[],
    calls_to_work: &[],
    asides: &[],
};
