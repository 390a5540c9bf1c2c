//! The hook client as a binary of its own, small and statically linked: what agents run at every hook.

#[path = "../client/mod.rs"]
mod client;

use std::process::ExitCode;

fn main() -> ExitCode {
    client::run(std::env::args_os().skip(1))
}
