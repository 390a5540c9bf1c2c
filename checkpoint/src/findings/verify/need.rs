//! What is enough for a changed file.

use crate::findings::proof::Edit;
use crate::project::covering::Family;

/// A changed file and what is enough for it.
pub(super) struct Need<'a> {
    pub(super) path: &'a str,
    pub(super) family: Family,
    pub(super) covered: bool,
    /// A command is known that would check it.
    pub(super) checkable: bool,
    pub(super) edit: Option<Edit>,
}
