//! All integration tests: one binary, one module for each subject.

mod client;
mod daemon;
mod demo;
mod doctor;
mod formats;
mod install;
mod preview;
mod support;
mod terminal;
mod tmux;
