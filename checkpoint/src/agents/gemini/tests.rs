//! Tests with recordings of the real agent.

mod composer;
mod formats;
mod recordings;
mod tools;
