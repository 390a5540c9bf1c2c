//! The names of the rule packs, and the facts of a project that select them.

/// Names the packs, the most specific first, and compiles their files in.
macro_rules! packs {
    ($($name:ident)*) => {
        /// Names of the packs, the most specific first.
        pub const NAMES: [&str; 6] = [$(stringify!($name)),*];
        /// Their files, in the same order.
        pub(super) const TEXTS: [&str; NAMES.len()] =
            [$(include_str!(concat!("../../packs/", stringify!($name), ".yml"))),*];
    };
}

packs!(teleclaude rust node python go generic);

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
