//! Screens of the real agent.

use journal::Agent;

use crate::terminal::Composer;
use crate::terminal::composer::tests::{ONE, SHORT, big, hold, needs_the_cursor, screen};

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    use Composer::{Draft, Empty, Ours, Unknown};
    hold(
        Agent::Vibe,
        [
            ("empty", screen!("empty"), ONE, Empty),
            ("draft", screen!("draft"), ONE, Draft),
            ("ours-short", screen!("ours-short"), SHORT, Ours),
            ("ours-one", screen!("ours-one"), ONE, Ours),
            ("ours-big", screen!("ours-big"), &big(), Ours),
            ("busy", screen!("busy"), ONE, Empty),
            // Its dialogs mark the chosen answer by color only. Nothing is typed into them either way.
            ("dialog", screen!("dialog"), ONE, Unknown),
        ],
    );
}

#[test]
fn without_the_cursor_in_it_a_composer_does_not_count() {
    needs_the_cursor(Agent::Vibe, screen!("empty"));
}
