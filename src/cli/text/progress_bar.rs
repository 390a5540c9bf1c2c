//! Progress of long operations.

use std::io::IsTerminal;

/// Shows the progress of a long operation, on a terminal only.
pub(crate) fn progress(what: &'static str) -> impl FnMut(u64, u64) {
    let shown = std::io::stderr().is_terminal();
    move |done, all| {
        if shown && all > 0 {
            eprint!(
                "\r{what}: {:3}% of {all}\x1b[K{}",
                done * 100 / all,
                if done >= all { "\r\x1b[K" } else { "" }
            );
        }
    }
}

/// Ends a line of progress.
pub(crate) fn progress_done() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}
