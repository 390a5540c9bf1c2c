//! The texts that Copilot writes in its user's name.

use crate::prompts::{Texts, element};

/// The model gets the date before each message; hooks and transcripts have the message alone.
pub(super) const TEXTS: Texts = Texts {
    peel: |text| element(text, "current_datetime").map(|(inner, after)| [inner, after]),
    companions: &["current_datetime"],
    calls_to_work: &[],
    asides: &[],
};
