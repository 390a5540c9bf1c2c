//! Screens of the real agent.

use journal::Agent;

use crate::terminal::composer::tests::{ONE, SHORT, big, hold, needs_the_cursor, screen};
use crate::terminal::{Composer, read};

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    use Composer::{Draft, Empty, Ours, Unknown};
    hold(
        Agent::OpenCode,
        [
            ("empty", screen!("empty"), ONE, Empty),
            ("draft", screen!("draft"), ONE, Draft),
            ("ours-short", screen!("ours-short"), SHORT, Ours),
            ("ours-one", screen!("ours-one"), ONE, Ours),
            ("ours-big", screen!("ours-big"), &big(), Ours),
            ("busy", screen!("busy"), ONE, Empty),
            // It takes the place of the composer, and its answers have no numbers.
            ("dialog", screen!("dialog"), ONE, Unknown),
        ],
    );
}

#[test]
fn without_the_cursor_in_it_a_composer_does_not_count() {
    needs_the_cursor(Agent::OpenCode, screen!("empty"));
    // Neither does a message that was sent.
    let mut sent = screen!("empty");
    sent.cursor = (5, 2);
    assert_eq!(read(Agent::OpenCode, &sent, ONE), Composer::Unknown);
}
