//! The client's debug output.

use std::fmt::Display;
use std::io::Write as _;

/// Prints to standard error if `CHECKPOINTD_DEBUG=1`. Agents may show a hook's standard error, so
/// nothing else is printed there.
pub(super) fn debug(words: &dyn Display) {
    if std::env::var_os("CHECKPOINTD_DEBUG").is_some_and(|value| value == "1") {
        let _ = writeln!(std::io::stderr(), "checkpointd-hook: {words}");
    }
}
