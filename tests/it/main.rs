//! All integration tests: one binary, one module for each subject.

mod audit;
mod client;
mod control;
mod daemon;
mod damage;
mod demo;
mod doctor;
mod formats;
mod install;
mod kills;
mod phase;
mod preview;
mod privacy;
mod progress;
mod restart;
mod service;
mod sql;
mod status;
mod store;
mod support;
mod terminal;
mod tmux;
mod web;
