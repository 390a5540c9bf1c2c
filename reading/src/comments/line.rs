//! A line of a file, and what comments say to programs.

/// What comments say to compilers, interpreters and other tools.
pub(super) const DIRECTIVES: [&str; 26] = [
    "#!",
    "//go:",
    "// +build",
    "//export",
    "//line",
    "#cgo",
    "@ts-",
    "@jsx",
    "@flow",
    "@vite",
    "webpack",
    "frozen_string_literal",
    "coding",
    "encoding:",
    "swift-tools-version",
    "type:",
    "noqa",
    "nosec",
    "nolint",
    "pragma",
    "pylint",
    "eslint",
    "istanbul",
    "c8 ",
    "/// <reference",
    "sourceMappingURL",
];

/// A line of code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// Whether it begins, or ends, within a string.
    pub(super) within: [bool; 2],
}
