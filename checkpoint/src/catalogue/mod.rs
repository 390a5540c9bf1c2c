//! What is known of programs and languages: `checkpoint/catalogue/*.yml`, compiled in, and what a person adds under
//! `programs:` in their configuration.
//!
//! A row says what a program does, what its operands are, and which options matter. Whatever is not in the catalogue is
//! unknown, and nothing is concluded from it.

mod lookup;
mod row;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use globset::{GlobSet, GlobSetBuilder};
use serde::Deserialize;

pub use lookup::{Command, Opening};
pub use row::{Comments, Operands, Purpose, Row, Wraps};

/// The files, a language each, or programs of no language.
const FILES: [(&str, &str); 26] = [
    ("beam", include_str!("../../catalogue/beam.yml")),
    ("dart", include_str!("../../catalogue/dart.yml")),
    ("documents", include_str!("../../catalogue/documents.yml")),
    ("dotnet", include_str!("../../catalogue/dotnet.yml")),
    ("go", include_str!("../../catalogue/go.yml")),
    ("haskell", include_str!("../../catalogue/haskell.yml")),
    ("javascript", include_str!("../../catalogue/javascript.yml")),
    ("julia", include_str!("../../catalogue/julia.yml")),
    ("jvm", include_str!("../../catalogue/jvm.yml")),
    ("lua", include_str!("../../catalogue/lua.yml")),
    ("native", include_str!("../../catalogue/native.yml")),
    ("ocaml", include_str!("../../catalogue/ocaml.yml")),
    ("perl", include_str!("../../catalogue/perl.yml")),
    ("php", include_str!("../../catalogue/php.yml")),
    ("powershell", include_str!("../../catalogue/powershell.yml")),
    ("python", include_str!("../../catalogue/python.yml")),
    ("r", include_str!("../../catalogue/r.yml")),
    ("ruby", include_str!("../../catalogue/ruby.yml")),
    ("rust", include_str!("../../catalogue/rust.yml")),
    ("shell", include_str!("../../catalogue/shell.yml")),
    ("sql", include_str!("../../catalogue/sql.yml")),
    ("swift", include_str!("../../catalogue/swift.yml")),
    ("system", include_str!("../../catalogue/system.yml")),
    ("tasks", include_str!("../../catalogue/tasks.yml")),
    ("terraform", include_str!("../../catalogue/terraform.yml")),
    ("zig", include_str!("../../catalogue/zig.yml")),
];

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
    let files = FILES.map(|(name, text)| {
        serde_saphyr::from_str::<Language>(text)
            .unwrap_or_else(|error| panic!("catalogue/{name}.yml: {error}"))
    });
    Catalogue::of(files.into())
});

/// One file of the catalogue: a language, or programs of no language.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Language {
    /// Its name, as messages write it; empty in files of no language.
    pub language: String,
    /// Endings of its files, without the dot.
    pub files: Vec<String>,
    /// How it writes comments.
    pub comments: Option<Comments>,
    /// Globs of its tests, relative to any folder.
    pub tests: Vec<String>,
    /// Whether a file of code may hold tests of its own.
    pub tests_inside: bool,
    /// Whether a test file is about all code of its folder.
    pub tests_by_folder: bool,
    /// Its manifests and lock files.
    pub manifests: Vec<String>,
    /// The command that usually runs its tests, and the one that builds or checks it where nothing is tested.
    pub usual: Usual,
    /// Its programs. A key names one or more, separated by spaces.
    pub programs: BTreeMap<String, Row>,
    /// What words in the names of tasks and scripts say that they do.
    pub names: BTreeMap<Purpose, Vec<String>>,
    /// The rule pack: files in a project that switch it on, and its rules.
    pub detect: Vec<String>,
    /// The rules of the pack, read by `rules`.
    pub rules: Vec<serde_json::Value>,
}

/// Commands to name in a demand if the project names none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usual {
    /// Runs the tests.
    pub tests: String,
    /// Builds or checks the code.
    pub build: String,
}

/// The catalogue, indexed.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    languages: Vec<Language>,
    /// Position of the language, and the row, by the name of the program.
    programs: HashMap<String, (usize, Row)>,
    by_ending: HashMap<String, usize>,
    /// The globs of the tests of each language.
    tests: Vec<GlobSet>,
}

impl Catalogue {
    /// Returns the catalogue that is compiled in.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Returns the catalogue with the rows of a person before those that are compiled in.
    pub fn with(rows: &BTreeMap<String, Row>) -> Self {
        let mut languages = BUILT_IN.languages.clone();
        languages.push(Language {
            programs: rows.clone(),
            ..Language::default()
        });
        Self::of(languages)
    }

    fn of(languages: Vec<Language>) -> Self {
        let (mut programs, mut by_ending) = (HashMap::new(), HashMap::new());
        for (at, language) in languages.iter().enumerate() {
            for (names, row) in &language.programs {
                for name in names.split_whitespace() {
                    programs.insert(name.to_owned(), (at, row.clone()));
                }
            }
            for ending in &language.files {
                by_ending.insert(ending.clone(), at);
            }
        }
        Self {
            tests: languages.iter().map(|language| globs(&language.tests)).collect(),
            languages,
            programs,
            by_ending,
        }
    }

    /// Returns the language of a file, by the ending of its name.
    pub fn language(&self, path: &str) -> Option<&Language> {
        let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
        let at = self.by_ending.get(&ending.to_ascii_lowercase())?;
        self.languages.get(*at)
    }

    /// Returns all languages and groups of programs.
    pub fn languages(&self) -> &[Language] {
        &self.languages
    }

    /// Returns the row of a program.
    pub fn program(&self, name: &str) -> Option<&Row> {
        self.programs.get(name).map(|(_, row)| row)
    }

    /// Returns what a task or a script does by its name: the first purpose of which a part of the name is a word.
    pub fn named(&self, name: &str) -> Option<Purpose> {
        let name = name.to_ascii_lowercase();
        let names = self.languages.iter().flat_map(|language| &language.names);
        let mut fitting: Vec<Purpose> = names
            .filter(|(_, words)| {
                name.split([':', '.', '-', '_', '/', ' '])
                    .any(|part| words.iter().any(|word| word == part))
            })
            .map(|(purpose, _)| *purpose)
            .collect();
        fitting.sort_unstable();
        fitting.first().copied()
    }
}

impl Catalogue {
    /// Returns the language whose file names a program; empty for programs of no language.
    pub fn language_of_program(&self, name: &str) -> &str {
        let found = self.programs.get(name);
        found.map_or("", |(at, _)| &self.languages[*at].language)
    }

    /// Returns whether a file is a test, by its name and place.
    pub fn is_test(&self, path: &str) -> bool {
        let Some((_, ending)) = path.rsplit_once('.') else {
            return false;
        };
        let at = self.by_ending.get(&ending.to_ascii_lowercase());
        at.is_some_and(|at| self.tests[*at].is_match(path))
    }
}

/// Compiles globs that hold in every folder; a test shows that all of them compile.
fn globs(texts: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        if let Ok(glob) = crate::rules::glob(&format!("**/{text}")) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}
