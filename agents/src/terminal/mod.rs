//! Typing a checkpoint into an agent's terminal without harm: what a screen shows, and what to do next.
//!
//! `screen.rs` reads what a terminal shows, `text_box.rs` knows the forms of composers, `composer.rs` reads the one of an
//! agent, and `typing.rs` says from that, and from what the journal knows of a delivery, what the next step is. Nothing
//! here types.

pub(crate) mod composer;
pub(crate) mod screen;
pub(crate) mod text_box;
pub(crate) mod typing;

pub use composer::{read, shows};
pub use screen::View;
pub use text_box::Composer;
pub use typing::{Bounds, Draft, Seen, Situation, Step, Typed, next};
