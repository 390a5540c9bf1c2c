//! The command line: arguments, commands, and what they print.

mod args;
mod commands;
mod complete;
mod connection;
mod csv;
mod daemon_process;
mod doctor;
mod text;
mod time;
mod top;

pub(crate) use args::Cli as Args;
pub(crate) use commands::{COMPLETE, run};
