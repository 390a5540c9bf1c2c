//! Tests with recordings of the real agent.

mod composer;
mod hooks;
mod recordings;
mod tools;
