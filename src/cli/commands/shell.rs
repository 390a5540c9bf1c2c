//! `completions` and `man`, generated from the definition of the command line.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use clap_complete::env::Shells;

use crate::error::{Failure, Result, exit};

/// Print shell completions, which include session ids
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  source <(checkpointd completions bash)\n  checkpointd completions fish > ~/.config/fish/completions/checkpointd.fish"
)]
pub(crate) struct CompletionsArgs {
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    pub(crate) shell: String,
}

/// Write the manual pages to a folder, for example ~/.local/share/man/man1
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The folder, created if missing
    pub(crate) folder: PathBuf,
}

/// The variable with which a shell asks this program for completions.
pub(crate) const COMPLETE: &str = "COMPLETE";

/// Prints the script that makes a shell ask this program for completions.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<u8> {
    let shell = args.shell.as_str();
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
pub(crate) fn man(command: clap::Command, args: &ManArgs) -> Result<u8> {
    let folder = args.folder.as_path();
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
