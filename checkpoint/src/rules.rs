//! Rules as data: which changed files ask for what.

use serde::{Deserialize, Serialize};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Category name, as messages show it.
    pub name: String,
}
