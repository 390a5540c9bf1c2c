//! Typing a checkpoint into an agent's terminal without harm: what a screen shows, and what to do next.
//!
//! `screen.rs` reads what a terminal shows, `composer.rs` finds the place in it where an agent's user types, and
//! `typing.rs` says from that, and from what the journal knows of a delivery, what the next step is. Nothing here types.

mod composer;
mod screen;
mod typing;

pub use composer::{Composer, read, shows};
pub use screen::View;
pub use typing::{Bounds, Draft, Seen, Situation, Step, Typed, next};
