//! Who began a turn, by the first line of a journal.

use super::super::headless::is_programmatic;

#[test]
fn only_a_turn_that_no_queue_gave_is_without_a_person() {
    for (line, expected) in [
        (
            r#"{"payload":{"abandon_on_restart":true,"client_command_id":"turn-8a","method":"turn/start"}}"#,
            true,
        ),
        (
            r#"{"payload":{"abandon_on_restart":true,"client_command_id":"queue-8a","method":"turn/start"}}"#,
            false,
        ),
        // The remains of the turn before.
        (
            "{\"payload\":{\"delta\":[]}}\n{\"payload\":{\"client_command_id\":\"turn-8a\"",
            true,
        ),
        ("", false),
        ("{\"payload\":{\"client_command_id\":\"", false),
    ] {
        assert_eq!(is_programmatic(line.as_bytes()), expected, "{line}");
    }
}
