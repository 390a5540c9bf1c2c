//! Comparison of paths that were written relative to different folders.

use std::path::{Component, Path};

use Origin::{Inside, Loose, Outside};

/// A path in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathRef {
    /// The path without `.` and `..`; relative to the project's top when it is in the project.
    pub(super) path: String,
    origin: Origin,
}

/// What a path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The project's top.
    Inside,
    /// The root of the file system; by its name it is not in the project.
    Outside,
    /// An unknown working folder.
    Loose,
}

impl PathRef {
    /// Creates a reference from a path relative to the project's top, as git gives it.
    pub(super) fn changed(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            origin: Inside,
        }
    }

    /// Creates a reference from a path as an agent wrote it.
    pub(super) fn written(path: &str, project: &str) -> Self {
        let mut parts: Vec<&str> = Vec::new();
        for component in Path::new(path).components() {
            match component {
                Component::ParentDir => {
                    parts.pop();
                }
                Component::Normal(part) => parts.extend(part.to_str()),
                _ => {}
            }
        }
        let path_in = parts.join("/");
        if !path.starts_with('/') {
            return Self {
                path: path_in,
                origin: Loose,
            };
        }
        let project = project.trim_matches('/');
        match path_in
            .strip_prefix(project)
            .and_then(|rest| rest.strip_prefix('/'))
        {
            Some(inside) if !project.is_empty() => Self {
                path: inside.to_owned(),
                origin: Inside,
            },
            _ => Self {
                path: format!("/{path_in}"),
                origin: Outside,
            },
        }
    }

    /// Returns whether both may name the same file.
    ///
    /// An agent may run below the project's top, or reach the project through a link. So a loose path is any file that
    /// ends in it, and a path outside is the project's file that it ends in.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.path == other.path
            || match (self.origin, other.origin) {
                (Inside, Inside) | (Outside, Outside) => false,
                (Loose, Loose) => {
                    ends_in(&self.path, &other.path) || ends_in(&other.path, &self.path)
                }
                (Outside, Inside) | (_, Loose) => ends_in(&self.path, &other.path),
                (Inside, Outside) | (Loose, _) => ends_in(&other.path, &self.path),
            }
    }

    pub(super) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns whether a shell line names the file or its module.
    pub(super) fn is_named_in(&self, line: &str) -> bool {
        let name = self.file_name();
        let stem = self.path.rsplit_once('.').map(|(stem, _)| stem);
        let module = stem.unwrap_or(&self.path).replace('/', ".");
        // A name of one or two letters occurs in every line.
        (name.len() > 3 && line.contains(name))
            || (module.contains('.') && line.contains(module.as_str()))
    }
}

/// Returns whether `path` ends in the whole parts of `tail`.
fn ends_in(path: &str, tail: &str) -> bool {
    !tail.is_empty()
        && path
            .strip_suffix(tail)
            .is_some_and(|rest| rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_mean_the_same_file() {
        let same = |left: &str, right: &str| {
            PathRef::written(left, "/p/app").same(&PathRef::written(right, "/p/app"))
        };
        assert!(same("/p/app/src/a.rs", "src/a.rs"));
        assert!(same("/p/app/src/a.rs", "./src/../src/a.rs"));
        assert!(same("/p/app/src/a.rs", "a.rs"));
        assert!(!same("/p/app/docs/README.md", "/p/app/README.md"));
        assert!(!same("/p/app/src/a.rs", "/p/app/src/ba.rs"));
        assert!(!same("a.rs", "ba.rs"));
        assert!(same("/private/p/app/src/a.rs", "/p/app/src/a.rs"));
        assert!(PathRef::written("/anywhere/src/a.rs", "").same(&PathRef::changed("src/a.rs")));
        assert!(
            !PathRef::written("/p/application/src/a.rs", "/p/app").same(&PathRef::changed("b.rs"))
        );
    }
}
