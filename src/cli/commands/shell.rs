//! `completions` and `man`: what shells and readers need, made from the command line's own description.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::env::Shells;

use crate::cli::args::Cli;
use crate::error::{Failure, Result, exit};

/// The variable by which a shell asks this program for completions.
pub(crate) const COMPLETE: &str = "COMPLETE";

/// Prints the lines that make a shell ask this program.
pub(super) fn completions(shell: &str) -> Result<u8> {
    let shells = Shells::builtins();
    let completer = shells
        .completer(shell)
        .ok_or_else(|| Failure::usage(format!("no completions for `{shell}`")))?;
    let program = std::env::current_exe()?;
    let mut script = Vec::new();
    completer.write_registration(
        COMPLETE,
        "checkpointd",
        "checkpointd",
        &program.to_string_lossy(),
        &mut script,
    )?;
    std::io::stdout().write_all(&script)?;
    Ok(exit::OK)
}

/// Writes a page for the program and for each of its commands.
pub(super) fn man(folder: &Path) -> Result<u8> {
    let told = |error: std::io::Error| {
        Failure::failed(format!("cannot write to {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(told)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(told)?;
    println!(
        "written to {}: `man -l {}`",
        folder.display(),
        folder.join("checkpointd.1").display()
    );
    Ok(exit::OK)
}
