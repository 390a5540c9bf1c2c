//! A slash command's prompt.

/// A slash command: name, description and prompt.
pub(crate) struct Prompt {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The prompt, with `{arguments}` as the placeholder for the user's words.
    pub(super) text: &'static str,
}

/// The placeholder for the user's words.
const ARGUMENTS: &str = "{arguments}";

impl Prompt {
    /// Returns the prompt with the host's own placeholder for the user's words.
    pub(super) fn text(&self, arguments: &str) -> String {
        self.text.replace(ARGUMENTS, arguments)
    }

    /// Returns the name and the text of a Markdown file with the command, with the host's own placeholder.
    pub(super) fn markdown(&self, arguments: &str) -> (String, String) {
        let text = self.text(arguments);
        (
            format!("{}.md", self.name),
            format!("---\ndescription: {}\n---\n\n{text}", self.description),
        )
    }
}
