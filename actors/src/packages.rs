//! The packages that a turn's changed files belong to.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use journal::ChangedFile;

/// Files that make a folder a package.
const MANIFESTS: [&str; 18] = [
    "Cargo.toml",
    "package.json",
    "deno.json",
    "go.mod",
    "pyproject.toml",
    "setup.py",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "rebar.config",
    "pubspec.yaml",
    "Package.swift",
    "CMakeLists.txt",
    "meson.build",
    "build.sbt",
];
/// The most packages that are kept.
const PACKAGES_MAX: usize = 64;
/// Maximum number of folders that are examined.
const FOLDERS_MAX: usize = 500;

/// Returns the folders of the packages of `files`, sorted: of each file the nearest folder with a manifest, else the top,
/// which is empty.
pub fn touched(top: &Path, files: &[ChangedFile]) -> Vec<String> {
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut packages = BTreeSet::new();
    for file in files {
        let mut folder = parent(&file.path);
        while !folder.is_empty() {
            let looked_at = known.len();
            let is_package = known.entry(folder).or_insert_with(|| {
                looked_at < FOLDERS_MAX && {
                    let folder = top.join(folder);
                    MANIFESTS.iter().any(|name| folder.join(name).is_file())
                }
            });
            if *is_package {
                break;
            }
            folder = parent(folder);
        }
        packages.insert(folder);
    }
    packages
        .into_iter()
        .take(PACKAGES_MAX)
        .map(str::to_owned)
        .collect()
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_nearest_package() {
        let top = tempfile::tempdir().expect("a folder");
        for manifest in [
            "package.json",
            "apps/web/package.json",
            "core/Cargo.toml",
            "core/fuzz/Cargo.toml",
        ] {
            let path = top.path().join(manifest);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        let of = |paths: &str| {
            let files: Vec<_> = paths
                .split_whitespace()
                .map(|path| ChangedFile {
                    path: path.to_owned(),
                    hash: Some(1),
                })
                .collect();
            touched(top.path(), &files)
        };
        assert_eq!(of("README.md docs/a.md"), [""]);
        assert_eq!(of("apps/web/src/a/b.ts apps/web/c.ts"), ["apps/web"]);
        assert_eq!(
            of("core/src/a.rs core/fuzz/b.rs tools/x.sh"),
            ["", "core", "core/fuzz"]
        );
        assert_eq!(of("apps/api/a.ts"), [""]);
        assert!(of("").is_empty());
    }
}
