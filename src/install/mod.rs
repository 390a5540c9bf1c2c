//! Installs hooks into agents' settings, and removes them again.
//!
//! A plan comes first ([`plan`], [`undo`]): edits of the current files as splices, so that
//! everything else keeps every byte. Then it is shown or applied ([`apply`]), completely or not at
//! all. Backups are kept in our own data folder ([`record`]), not beside the file: no agent and no
//! dotfile sync may mistake a copy for settings, and uninstalling leaves nothing behind. [`agents`]
//! holds what is specific to one agent.

pub(crate) mod agents;
pub(crate) mod apply;
mod change;
pub(crate) mod check;
mod edits;
pub(crate) mod found;
pub(crate) mod git_hook;
pub(crate) mod hooks;
mod installer;
pub(crate) mod plan;
mod plugin;
mod prompt;
mod prompts;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod settings;
mod tables;
pub(crate) mod undo;
mod version;

#[cfg(test)]
mod tests;

pub(crate) use change::{AgentPlan, Change, Entry, Kind, Scope, Status};
