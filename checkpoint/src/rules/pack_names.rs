//! The names of the rule packs, and the facts of a project that select them.

/// Names of the packs, the most specific first.
pub const NAMES: [&str; 6] = [TELECLAUDE, "rust", "node", "python", "go", GENERIC];

/// The pack that is always on: it matches what no other pack claims.
pub const GENERIC: &str = "generic";

/// The facts of a project that select its packs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFacts {
    /// Absolute path of its top folder.
    pub path: String,
    /// Names at its top, folders with a trailing `/`, and deeper files that were probed
    /// (`backend/Cargo.toml`).
    pub files: Vec<String>,
}

/// The pack with the rules of TeleClaude, which are judged word for word (spec RULE-3).
pub const TELECLAUDE: &str = "teleclaude";
