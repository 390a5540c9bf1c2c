//! Installing into agents' settings, and leaving them again.
//!
//! First a plan is made ([`plan`], [`undo`]): edits of what the files hold now, as splices, so that everything that is
//! not ours keeps every byte. Then it is shown or carried out ([`apply`]), whole or not at all. What was there before is
//! kept in our own data folder ([`record`]) and not beside the file: no agent and no dotfile sync may take a copy of
//! settings for settings, and uninstalling leaves nothing behind. What is particular to one agent is in [`agents`].

pub(crate) mod agents;
pub(crate) mod apply;
mod change;
pub(crate) mod check;
mod edits;
pub(crate) mod found;
pub(crate) mod hooks;
mod installer;
mod means;
pub(crate) mod plan;
mod prompt;
mod prompts;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod settings;
pub(crate) mod undo;
mod version;

#[cfg(test)]
mod tests;

pub(crate) use change::{AgentPlan, Change, Entry, Kind, Scope, Status};
