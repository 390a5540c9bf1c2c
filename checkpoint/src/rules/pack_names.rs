//! The names of the rule packs, and what of a project decides between them.

/// Names of the packs, the most specific first.
pub const NAMES: [&str; 6] = ["teleclaude", "rust", "node", "python", "go", GENERIC];

/// The pack that is always on: it takes what no other pack claims.
pub const GENERIC: &str = "generic";

/// What is known of a project from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFacts {
    /// Absolute path of its top folder.
    pub path: String,
    /// Names at its top, folders with a `/` at the end, and any deeper file that was probed (`backend/Cargo.toml`).
    pub files: Vec<String>,
}
