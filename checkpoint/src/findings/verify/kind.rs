//! What a command may do to verify code.

/// What a command does, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It checks the style or the form. That verifies nothing, but a task that does only this is known.
    Lint,
    /// It starts a server. Only what asks that server verifies something.
    Serve,
    /// It runs the program.
    Run,
    /// It compiles, bundles, or checks types.
    Build,
    /// It runs tests.
    Tests,
}
