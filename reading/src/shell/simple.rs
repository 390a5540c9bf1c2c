//! One simple command of a line.

/// One simple command that a line executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simple {
    /// The words after quotes, redirections, assignments and wrappers are removed.
    ///
    /// The first is the program's file name without its directory. `$NAME` stays as written, `$(..)` becomes `$()`.
    pub words: Vec<String>,
    /// Whether the line always runs it, apart from failures of earlier commands.
    ///
    /// False after `||`, in the bodies of `if`, `while`, `case` and functions, after `xargs`, and
    /// after `exit`. A command after `&&` is certain: that it ran follows from the line's success
    /// if it also `decides`.
    pub certain: bool,
    /// Whether the line's success means that this command, if it ran, succeeded.
    ///
    /// False for `cmd; other`, `cmd || true`, `cmd | tee`, `cmd &`, `! cmd`, `echo $(cmd)` and conditions. True for
    /// `cmd && other`, `cmd || exit 1`, under `set -e`, and in pipelines under `set -o pipefail`.
    pub decides: bool,
    /// The directory it runs in, as written: from `cd`, `pushd`, `make -C`, `git -C` or a similar
    /// command.
    ///
    /// `None` means the directory in which the line was started; a relative one starts from there.
    pub dir: Option<String>,
    /// The text on its standard input, if the line holds it: a heredoc or a here-string.
    pub input: Option<String>,
}

/// A command with the files of its redirections.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) simple: Simple,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    /// The heredoc or here-string that it reads.
    pub(super) stdin: Option<String>,
}
