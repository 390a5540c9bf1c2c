//! All integration tests: one binary, one module for each subject.

mod client;
mod preview;
mod support;
