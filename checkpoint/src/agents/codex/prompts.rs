//! The texts that Codex CLI writes in its user's name.

use crate::prompts::{Texts, element};

pub(super) const TEXTS: Texts = Texts {
    peel,
    companions: &[],
    calls_to_work: &["<hook_prompt"],
    asides: &[
        "<turn_aborted>",
        "<environment_context>",
        "<user_instructions>",
        "<permissions instructions>",
        "# AGENTS.md instructions for ",
        "Another language model started to solve this problem",
        "<user_shell_command>",
    ],
};

/// Several hooks that speak at once get an element each, one after the other.
fn peel(text: &str) -> Option<[&str; 2]> {
    element(text, "hook_prompt").map(|(inner, after)| [after, inner])
}
