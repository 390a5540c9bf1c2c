//! Words of command lines and outputs that say what an error is about.

use std::sync::LazyLock;

use regex::Regex;

/// Programs that do not identify the purpose of a line.
pub(super) const SETTING_UP: [&str; 17] = [
    "cd", "pushd", "popd", "echo", "printf", "export", "set", "unset", "source", ".", "true",
    "false", ":", "sleep", "mkdir", "wait", "exit",
];

/// Programs that only filter the output of another in a pipeline.
pub(super) const FILTERS: [&str; 13] = [
    "head", "tail", "grep", "rg", "tee", "wc", "sort", "uniq", "cut", "sed", "awk", "cat", "less",
];

/// Names of files in a command or its output: words with an extension or a folder.
pub(super) static FILES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\w.+@~-]*(?:/[\w.+@-]+)+|[\w+@-][\w.+@-]*\.[A-Za-z]\w{0,7}")
        .expect("a constant that a test compiles")
});
