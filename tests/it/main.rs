//! All integration tests: one binary, one module for each subject.

mod client;
mod daemon;
mod demo;
mod formats;
mod preview;
mod support;
mod terminal;
mod tmux;
