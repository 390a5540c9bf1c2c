//! The package manager of a package.json.

use super::file::{ProjectFile, folder, join};
use super::values::of_json;

/// Returns the package manager of a package.json: the one that it or the nearest one above it names, or that of the nearest
/// lock file.
pub(super) fn runner<'a>(file: &'a ProjectFile, files: &[ProjectFile]) -> &'a str {
    if let Some(runner) = named(&file.text) {
        return runner;
    }
    let mut at = folder(&file.path);
    loop {
        let find = |name: &str| files.iter().find(|file| file.path == join(at, name));
        if let Some(runner) = find("package.json").and_then(|file| named(&file.text)) {
            return runner;
        }
        let locks = [
            ("pnpm-lock.yaml", "pnpm"),
            ("yarn.lock", "yarn"),
            ("bun.lock", "bun"),
            ("bun.lockb", "bun"),
            ("package-lock.json", "npm"),
        ];
        let lock = locks.iter().find(|(name, _)| find(name).is_some());
        if let Some((_, runner)) = lock {
            return runner;
        }
        if at.is_empty() {
            return "npm";
        }
        at = folder(at);
    }
}

/// Returns the package manager that a package.json names.
fn named(text: &str) -> Option<&'static str> {
    let package = of_json(text);
    let named = package["packageManager"].as_str()?;
    let known = ["pnpm", "yarn", "bun", "npm"];
    known.into_iter().find(|known| named.starts_with(*known))
}
