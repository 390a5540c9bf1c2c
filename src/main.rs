//! `checkpointd`: the daemon and all commands.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory;
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

/// Allocation takes a third of a replay's time, and the system's allocator keeps the memory of long
/// answers.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    // A hook call must be as fast as with the separate client, so it is checked first.
    match arguments.nth(1) {
        Some(first) if first == "hook" => return client::run(arguments),
        Some(first) if first == "statusline" => {
            let rest: Vec<_> = arguments.collect();
            if client::status_line(&rest) {
                return ExitCode::SUCCESS;
            }
        }
        // Parsing the command line takes longer than the run may take.
        Some(first) if first == "run" => {
            let line: Vec<_> = std::iter::once(first).chain(arguments).collect();
            if client::is_run(&line) {
                return client::run(line.into_iter());
            }
        }
        _ => {}
    }
    restore_sigpipe();
    // Answers a shell that asks for completions, and exits.
    CompleteEnv::with_factory(cli::Cli::command)
        .var(cli::COMPLETE)
        .complete();
    match cli::run(cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            say(&failure);
            ExitCode::from(failure.code())
        }
    }
}

/// Ends the program silently when its output is closed (`checkpointd journal tail | head`).
fn restore_sigpipe() {
    std::panic::set_hook(Box::new(|panic| {
        // A damaged store makes sled panic. The journal notices, and builds it again.
        if panic
            .location()
            .is_some_and(|at| at.file().contains("/sled-"))
        {
            return;
        }
        let text = panic.to_string();
        if text.contains("Broken pipe") {
            std::process::exit(0);
        }
        // Not of standard error: a daemon goes on without its log.
        if let Some((_, why)) = text.split_once("failed printing to stdout: ") {
            say(&format_args!("error: the output cannot be written: {why}"));
            std::process::exit(1);
        }
        say(&format_args!(
            "{text}\nThis is a bug in checkpointd; no acknowledged event is lost."
        ));
    }));
}

/// Prints an error. `eprintln` panics where that fails, as with a daemon's log on a full disk.
fn say(text: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
