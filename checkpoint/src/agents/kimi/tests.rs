//! Tests with recordings of the real agent.

mod recordings;
mod tools;
