//! Screens of the real agent.

use journal::Agent;

use crate::terminal::composer::tests::{ONE, SHORT, big, needs_the_cursor, view};
use crate::terminal::{Composer, read};

macro_rules! screen {
    ($name:literal) => {
        view(include_str!(concat!("../screens/", $name, ".txt")))
    };
}

#[test]
fn the_real_screens_are_read_as_what_they_show() {
    use Composer::{Draft, Empty, Ours, Unknown};
    for (name, view, ours, expected) in [
        ("empty", screen!("empty"), ONE, Empty),
        ("draft", screen!("draft"), ONE, Draft),
        ("ours-short", screen!("ours-short"), SHORT, Ours),
        ("ours-one", screen!("ours-one"), ONE, Ours),
        ("ours-big", screen!("ours-big"), &big(), Ours),
        ("busy", screen!("busy"), ONE, Empty),
        // Its dialogs mark the chosen answer by color only. Nothing is typed into them either way.
        ("dialog", screen!("dialog"), ONE, Unknown),
    ] {
        assert_eq!(read(Agent::Vibe, &view, ours), expected, "{name}");
    }
}

#[test]
fn another_text_in_the_place_of_ours_is_a_draft() {
    for (view, other) in [
        (screen!("ours-short"), ONE),
        (screen!("ours-one"), SHORT),
        (screen!("ours-big"), SHORT),
    ] {
        assert_eq!(read(Agent::Vibe, &view, other), Composer::Draft, "{other}");
    }
}

#[test]
fn without_the_cursor_in_it_a_composer_does_not_count() {
    needs_the_cursor(Agent::Vibe, screen!("empty"));
}
