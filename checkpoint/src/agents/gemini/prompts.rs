//! The texts that Gemini CLI writes in its user's name.

use crate::prompts::{Texts, element};

pub(super) const TEXTS: Texts = Texts {
    peel,
    companions: &["hook_context"],
    calls_to_work: &[],
    asides: &["<session_context>", "<state_snapshot>"],
};

fn peel(text: &str) -> Option<[&str; 2]> {
    element(text, "hook_context").map(|(inner, after)| [after, inner])
}
