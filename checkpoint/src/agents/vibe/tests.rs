//! Tests with recordings of the real agent.

mod composer;
mod headless;
mod hooks;
mod recordings;
mod tools;
