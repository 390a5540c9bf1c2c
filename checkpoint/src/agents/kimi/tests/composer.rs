//! Screens of the real agent.

use journal::Agent;

use crate::terminal::Composer;
use crate::terminal::composer::tests::{ONE, SHORT, big, hold, needs_the_cursor, screen};

/// Longer than the composer is high.
const LONG: &str = "[TeleClaude Checkpoint] - Context-aware checkpoint\n\n\
    1. a rather long line of a message that goes on and on, so that it wraps\n\
    2. a rather long line of a message that goes on and on, so that it wraps\n\
    3. a rather long line of a message that goes on and on, so that it wraps\n\
    4. a rather long line of a message that goes on and on, so that it wraps\n\
    5. a rather long line of a message that goes on and on, so that it wraps\n\
    6. a rather long line of a message that goes on and on, so that it wraps\n\
    7. a rather long line of a message that goes on and on, so that it wraps\n\
    end";

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    use Composer::{Dialog, Draft, Empty, Ours, Unknown};
    hold(
        Agent::Kimi,
        [
            ("empty", screen!("empty"), ONE, Empty),
            ("busy", screen!("busy"), ONE, Empty),
            ("draft", screen!("draft"), ONE, Draft),
            ("ours-short", screen!("ours-short"), SHORT, Ours),
            ("ours-one", screen!("ours-one"), ONE, Ours),
            ("ours-scrolled", screen!("ours-scrolled"), LONG, Ours),
            ("ours-big", screen!("ours-big"), &big(), Ours),
            ("completion", screen!("completion"), ONE, Draft),
            ("selector", screen!("selector"), ONE, Unknown),
            ("shell", screen!("shell"), ONE, Unknown),
            ("trust", screen!("trust"), ONE, Unknown),
            ("dialog", screen!("dialog"), ONE, Dialog),
        ],
    );
}

#[test]
fn without_the_cursor_in_it_a_composer_does_not_count() {
    needs_the_cursor(Agent::Kimi, screen!("empty"));
}
