//! Calls that ran without the work of the turn (spec EVID-28).

use journal::{ToolCall, ToolKind};

use super::questions;
use crate::shell::{self, CommandLine};

/// Returns for each call whether it ran without the work of the turn: all that it did was between `git stash` and what
/// brings the work back, and there was work that no commit held.
pub(super) fn set_aside(calls: &[ToolCall], lines: &[CommandLine]) -> Vec<bool> {
    let stashes = |call: &ToolCall| {
        call.command
            .as_deref()
            .is_some_and(|line| line.contains("stash"))
    };
    if !calls.iter().any(stashes) {
        return Vec::new();
    }
    let (mut works, mut aside) = (false, false);
    let calls = calls.iter().zip(lines).map(|(call, line)| {
        if call.refused {
            return false;
        }
        works |= matches!(call.kind, ToolKind::Edit | ToolKind::Write) && !call.is_error;
        works |= !line.writes.is_empty() && !aside;
        let mut ran = None;
        for simple in &line.commands {
            let is_git = simple.words.first().is_some_and(|program| program == "git");
            let operands = shell::operands(simple);
            match operands.as_slice() {
                ["stash"] | ["stash", "push" | "save", ..] if is_git => aside = works,
                ["stash", "pop" | "apply", ..] if is_git => aside = false,
                ["commit", ..] if is_git => works = false,
                _ if is_git || questions::is_harmless(simple) => {}
                _ => ran = Some(ran.unwrap_or(true) && aside),
            }
        }
        ran.unwrap_or_default()
    });
    calls.collect()
}
