//! Tests with recordings of the real agent.

mod composer;
mod recordings;
mod tools;
