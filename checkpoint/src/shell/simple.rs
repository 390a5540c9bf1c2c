//! One simple command of a line.

/// One simple command that a line executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simple {
    /// The words after quotes, redirections, assignments and wrappers are removed.
    ///
    /// The first is the program's file name without its directory. `$NAME` stays as written, `$(..)` becomes `$()`.
    pub words: Vec<String>,
    /// Whether the line always runs it, as far as its failures do not get in the way.
    ///
    /// False behind `||`, in the bodies of `if`, `while`, `case` and functions, behind `xargs`, and behind `exit`. A command
    /// behind `&&` is certain: that it ran follows from the line's success if it also `decides`.
    pub certain: bool,
    /// Whether the line's success means that this command, if it ran, succeeded.
    ///
    /// False for `cmd; other`, `cmd || true`, `cmd | tee`, `cmd &`, `! cmd`, `echo $(cmd)` and conditions. True for
    /// `cmd && other`, `cmd || exit 1`, under `set -e`, and in pipelines under `set -o pipefail`.
    pub decides: bool,
    /// The directory it runs in, as written: from `cd`, `pushd`, `make -C`, `git -C` and their like.
    ///
    /// `None` means the directory that the line was started in; a relative one starts from there.
    pub dir: Option<String>,
}

/// A command together with what its redirections name.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) simple: Simple,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    /// The heredoc or here-string that it reads.
    pub(super) stdin: Option<String>,
}
