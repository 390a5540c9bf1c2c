//! A line of a file, and what comments say to programs.

use crate::catalogue::Catalogue;

/// Returns whether a comment says something to compilers, interpreters or other tools.
pub(super) fn is_directive(comment: &str) -> bool {
    let languages = Catalogue::built_in().languages().iter();
    let mut directives = languages.flat_map(|language| &language.directives);
    directives.any(|said| comment.contains(said))
}

/// A line of code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// Whether it begins, or ends, within a string.
    pub(super) within: [bool; 2],
}
