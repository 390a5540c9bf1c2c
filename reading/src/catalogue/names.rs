//! The names of programs.

use super::{Catalogue, Row};

impl Catalogue {
    /// Returns the language and the row of a program, by one of its names.
    pub(super) fn entry(&self, program: &str) -> Option<(&str, &Row)> {
        let at = self.at(program).or_else(|| self.at(unversioned(program)));
        if let Some(at) = at {
            let (language, _, row) = &self.programs[at];
            return Some((self.language_name(*language), row));
        }
        self.base.and_then(|base| base.entry(program))
    }

    fn at(&self, program: &str) -> Option<usize> {
        self.by_name.get(program).copied()
    }

    /// Returns a program's name as rules write it: `pip3.11` is `pip`, `py.test` is `pytest`.
    pub fn canonical<'a>(&'a self, program: &'a str) -> &'a str {
        match self.at(program).or_else(|| self.at(unversioned(program))) {
            Some(at) => &self.programs[at].1,
            None => self.base.map_or(program, |base| base.canonical(program)),
        }
    }
}

/// Returns a path's last part, without the ending of Windows programs.
pub fn file_name(path: &str) -> &str {
    let is_name = |name: &&str| !name.is_empty();
    let name = path.rsplit(['/', '\\']).next().filter(is_name);
    let name = name.unwrap_or(path);
    let bare = name.strip_suffix(".exe").or_else(|| launched(path, name));
    bare.filter(is_name).unwrap_or(name)
}

/// Returns the program that a launcher of Windows starts: `pnpm.cmd`, `node_modules\.bin\eslint.CMD`, `.\gradlew.bat`.
/// Other such files in a folder are scripts of the project.
fn launched<'a>(path: &str, name: &'a str) -> Option<&'a str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_launcher = ending.eq_ignore_ascii_case("cmd") || ending.eq_ignore_ascii_case("bat");
    let is_installed = path == name || path.replace('\\', "/").contains(".bin/");
    (is_launcher && (is_installed || matches!(stem, "gradlew" | "mvnw"))).then_some(stem)
}

/// Returns a program's name without a version at its end: `python3.12`, `clang-18`.
fn unversioned(program: &str) -> &str {
    program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-')
}
