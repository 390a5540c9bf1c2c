//! The listeners whose last run failed, for `status`.

use std::collections::BTreeMap;

use checkpoint::config::{Listeners, UserCommand};
use parking_lot::Mutex;

/// The longest name of a command.
const NAME_CHARS_MAX: usize = 100;

/// The commands whose last run failed, and how.
#[derive(Debug, Default)]
pub(crate) struct FailedCommands(Mutex<BTreeMap<String, String>>);

/// The name of desktop notifications in the list of commands.
pub(crate) const DESKTOP: &str = "desktop notification";

impl FailedCommands {
    /// Notes that a command ran well.
    pub(crate) fn works(&self, name: &str) {
        self.0.lock().remove(name);
    }

    /// Notes how a command failed. What it printed may quote an agent and does not belong here.
    pub(crate) fn failed(&self, name: String, how: String) {
        self.0.lock().insert(name, how);
    }

    /// Returns one line for each command that is still configured.
    pub(crate) fn issues(&self, listeners: &Listeners) -> Vec<String> {
        let configured = [
            &listeners.agent_finished,
            &listeners.needs_attention,
            &listeners.checkpoint_sent,
        ];
        let desktop = listeners.desktop.then(|| DESKTOP.to_owned());
        let names = configured.into_iter().flatten().map(name);
        let names: Vec<_> = names.chain(desktop).collect();
        let failed = self.0.lock();
        let failed = failed.iter().filter(|(name, _)| names.contains(name));
        failed
            .map(|(name, how)| format!("the listener `{name}` failed: {how}"))
            .collect()
    }
}

/// Returns a command as configured, shortened.
pub(crate) fn name(command: &UserCommand) -> String {
    let whole = match command {
        UserCommand::Line(line) => line.clone(),
        UserCommand::Words(words) => words.join(" "),
    };
    whole.chars().take(NAME_CHARS_MAX).collect()
}
