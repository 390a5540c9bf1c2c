//! `checkpointd`: the daemon, and everything that people ask of it.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

mod cli;
mod client;
mod config;
mod daemon;
mod edit;
mod error;
mod install;
mod ops;
mod render;
mod service;

/// Replaying a journal is a third allocation, and the system's allocator keeps what a long answer took.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    // A hook call must be as fast as the client of its own, so it is told before anything else is looked at.
    if arguments.nth(1).is_some_and(|first| first == "hook") {
        return client::run(arguments);
    }
    restore_sigpipe();
    // A shell that asks for completions gets them here, and the program ends.
    CompleteEnv::with_factory(cli::Cli::command)
        .var(cli::COMPLETE)
        .complete();
    match cli::run(cli::Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.code())
        }
    }
}

/// Output that nobody reads any more (`checkpointd tail | head`) ends the program without a word.
fn restore_sigpipe() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        if text.contains("Broken pipe") {
            std::process::exit(0);
        }
        eprintln!(
            "{text}\nThis is a mistake in checkpointd; nothing that was acknowledged is lost."
        );
    }));
}
