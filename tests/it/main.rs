//! All integration tests: one binary, one module for each subject.

mod client;
mod control;
mod daemon;
mod demo;
mod doctor;
mod formats;
mod install;
mod preview;
mod progress;
mod restart;
mod service;
mod support;
mod terminal;
mod tmux;
