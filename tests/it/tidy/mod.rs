//! Rules for the source tree.

mod supply;
