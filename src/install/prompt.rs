//! A slash command that an agent offers its user.

/// A command: its name, what it is for, and what the agent is told.
pub(crate) struct Prompt {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The prompt, with `{arguments}` where the user's own words go.
    pub(super) text: &'static str,
}

/// Where the prompt's text has what the user typed behind the command.
const ARGUMENTS: &str = "{arguments}";

impl Prompt {
    /// Returns the prompt with the host's own placeholder for what the user typed after the command.
    pub(super) fn text(&self, arguments: &str) -> String {
        self.text.replace(ARGUMENTS, arguments)
    }
}
