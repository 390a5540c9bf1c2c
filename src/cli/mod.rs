//! The command line: commands, and what they print.

mod command;
mod commands;
mod complete;
mod connection;
mod csv;
mod daemon_process;
mod doctor;
mod mine;
mod project_files;
mod repository;
mod shared;
mod signature;
mod text;
mod time;
#[cfg(feature = "top")]
mod top;

pub(crate) use command::{Cli, parse, run};
pub(crate) use commands::shell::COMPLETE;
