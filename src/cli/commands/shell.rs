//! `completions` and the manual pages, generated from the definition of the command line.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::env::Shells;

use crate::error::{Failure, Result, exit};

/// Print shell completions, which include session ids, or write the manual pages
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  source <(checkpointd completions bash)\n  \
    checkpointd completions fish > ~/.config/fish/completions/checkpointd.fish\n  \
    checkpointd completions --man ~/.local/share/man/man1")]
pub(crate) struct CompletionsArgs {
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"], required_unless_present = "man")]
    pub(crate) shell: Option<String>,
    /// Write the manual pages to this folder, which is created if missing
    #[arg(long, value_name = "FOLDER", conflicts_with = "shell")]
    pub(crate) man: Option<PathBuf>,
}

/// The variable with which a shell asks this program for completions.
pub(crate) const COMPLETE: &str = "COMPLETE";

pub(crate) fn run(command: clap::Command, args: &CompletionsArgs) -> Result<u8> {
    match &args.man {
        Some(folder) => man(command, folder),
        None => completions(args.shell.as_deref().unwrap_or_default()),
    }
}

/// Prints the script that makes a shell ask this program for completions.
fn completions(shell: &str) -> Result<u8> {
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

/// Writes a page for the program and one for each command.
fn man(command: clap::Command, folder: &Path) -> Result<u8> {
    let told = |error: std::io::Error| {
        Failure::failed(format!("cannot write to {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(told)?;
    clap_mangen::generate_to(command, folder).map_err(told)?;
    println!(
        "written to {}: `man -l {}`",
        folder.display(),
        folder.join("checkpointd.1").display()
    );
    Ok(exit::OK)
}
