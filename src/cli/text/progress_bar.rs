//! Progress of long operations.

use std::io::{IsTerminal, Read, Result};

use crate::render;

/// Shows the progress of a long operation, on a terminal only.
pub(crate) fn progress(what: &'static str) -> impl FnMut(u64, u64) {
    let shown = std::io::stderr().is_terminal();
    move |done, all| {
        if shown && all > 0 {
            show(what, done, all, &all.to_string());
        }
    }
}

fn show(what: &str, done: u64, all: u64, amount: &str) {
    eprint!(
        "\r{what}: {:3}% of {amount}\x1b[K{}",
        done * 100 / all,
        if done >= all { "\r\x1b[K" } else { "" }
    );
}

/// A file that shows how much of it is read, on a terminal only.
pub(crate) struct Shown<R> {
    file: R,
    what: String,
    done: u64,
    /// Its size; 0 if nothing is shown.
    all: u64,
}

impl<R> Shown<R> {
    pub(crate) fn new(file: R, what: String, size: u64) -> Self {
        let all = if std::io::stderr().is_terminal() {
            size
        } else {
            0
        };
        Self {
            file,
            what,
            done: 0,
            all,
        }
    }
}

impl<R: Read> Read for Shown<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let read = self.file.read(into)?;
        self.done += read as u64;
        if self.all > 0 {
            // It may have grown.
            let done = self.done.min(self.all);
            show(&self.what, done, self.all, &render::bytes(self.all));
        }
        Ok(read)
    }
}

/// Says what takes a while, on a terminal only.
pub(crate) fn announce(doing: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{doing} ..\x1b[K");
    }
}

/// Ends the line of a progress bar.
pub(crate) fn progress_done() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}
