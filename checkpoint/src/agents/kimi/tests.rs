//! Tests with recordings of the real agent.

mod hooks;
mod recordings;
mod tools;
