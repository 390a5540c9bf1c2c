//! Whether a session of Vibe runs without a person.

/// Names the command that began a turn.
const COMMAND: &str = "\"client_command_id\":\"";

/// Returns whether a journal begins with a turn that no terminal or editor sent: those put messages into a queue, and
/// `vibe -p` begins the turn by itself.
pub(super) fn is_programmatic(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(beginning);
    let begun = beginning.split_once(COMMAND);
    begun.is_some_and(|(_, command)| command.starts_with("turn-"))
}
