//! What is known of programs and languages: `reading/catalogue/*.yml`, compiled in, and what a person adds under
//! `programs:` in their configuration.
//!
//! A row says what a program does, what its operands are, and which options matter. Whatever is not in the catalogue is
//! unknown, and nothing is concluded from it.

mod lookup;
mod names;
mod options;
mod row;
#[cfg(test)]
mod tests;
mod wrapped;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::built_in;

pub use lookup::{Command, Opening};
pub use names::file_name;
pub use options::{Arg, Kind, Parsed};
pub use row::{Comments, Counted, Form, Layout, Manifest, Operands, Purpose, Row, Tasks, Wraps};
pub use wrapped::Wrapped;

/// Compiles files of the catalogue in, with their names.
macro_rules! files {
    ($($name:ident)*) => {
        [$((stringify!($name), include_str!(concat!("../../catalogue/", stringify!($name), ".yml")))),*]
    };
}

/// The files, a language each, or programs of no language.
const FILES: [(&str, &str); 30] = files![
    beam clojure dart documents dotnet gleam go haskell javascript julia jvm lua native
    ocaml perl php powershell python r ruby rust shell solidity sql
    swift system tasks terraform wrappers zig
];

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
    let files = FILES.map(|(name, text)| {
        let language: Language = built_in(name, text);
        Language {
            file: name,
            ..language
        }
    });
    Catalogue::of(files.into())
});

/// One file of the catalogue: a language, or programs of no language.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Language {
    /// The name of its file, without the ending; empty for the rows of a person.
    #[serde(skip)]
    pub file: &'static str,
    /// Its name, as messages write it; empty in files of no language.
    pub language: String,
    /// Endings of its files, without the dot.
    pub files: Vec<String>,
    /// How it writes comments, by the ending of the file.
    pub comments: Vec<Comments>,
    /// Globs of its tests, relative to any folder.
    pub tests: Vec<String>,
    /// Files in which its package managers note the versions that they chose.
    pub locks: Vec<String>,
    /// What comments say to its compilers, interpreters and other tools.
    pub directives: Vec<String>,
    /// Its manifests, and which parts of them name dependencies.
    pub manifests: Vec<Manifest>,
    /// Its kinds of projects, the more specific before the more general.
    pub projects: Vec<Project>,
    /// The command to name in a demand for tests if the project names none; if empty, that of the first kind of project.
    pub usual: String,
    /// The command that installs what a project depends on, if building does not.
    pub installs: String,
    /// The lines in which its tools say how things ended: a form a line, of tool, kind, what it says, and pattern (see
    /// `outcome`).
    pub prints: String,
    /// Its programs. A key names one or more, separated by spaces.
    pub programs: BTreeMap<String, Row>,
    /// What words in the names of tasks and scripts say that they do.
    pub names: BTreeMap<Purpose, Vec<String>>,
    /// Files of a project that are read, in order, and the programs that run their tasks.
    pub task_files: Vec<TaskFiles>,
    /// Ends of the names of executors of nx, and the commands that they run.
    pub executors: BTreeMap<String, String>,
    /// How tests of all languages are named.
    pub naming: Option<Naming>,
    /// How generated files say that they are.
    pub generated: Option<Generated>,
    /// Words by which people ask for a command by which work leaves, in small letters: beginnings of words, or whole
    /// words if they have at most three letters.
    pub asks_to_leave: Vec<String>,
    /// What words beside the numbers of summaries say that they count.
    pub counts: BTreeMap<Counted, Vec<String>>,
}

/// Files of a project that are read, and the program that runs their tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskFiles {
    /// The program; empty if they have none.
    pub runner: String,
    /// Their names, relative to a folder of the project.
    pub files: Vec<String>,
}

/// How tests are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Naming {
    /// Ends of names of tests, without the ending of the file.
    pub ends: Vec<String>,
    /// Ends that count only behind a small letter or a digit: `UserIT`, but not `EDIT`.
    pub words: Vec<String>,
    /// Words in lines that import something.
    pub imports: Vec<String>,
}

/// How generated files say that they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// Starts of comments, in any language.
    pub comments: Vec<String>,
    /// What generators ask of people, in lower case.
    pub requests: Vec<String>,
}

/// A kind of project: the file that makes a folder one, and the commands that it usually has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// The file that every such project has.
    pub manifest: String,
    /// What that file says, if it is to say something.
    pub says: String,
    /// Files of which one has to be in the same folder or at the top.
    pub beside: Vec<String>,
    /// Runs the tests; empty if there is no usual command.
    pub tests: String,
    /// Builds or checks the code.
    pub build: String,
    /// The commands for a member of a workspace.
    pub member: Option<Member>,
}

/// The commands for one member of a workspace: `{name}`, `{folder}`, and `{path}` with colons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// The tool of the workspace.
    pub of: String,
    /// Runs the tests.
    pub tests: String,
    /// Builds the code.
    pub build: String,
}

/// The catalogue, indexed.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    languages: Vec<Language>,
    /// Position of the language, the name, and the row of each program.
    programs: Vec<(usize, String, Arc<Row>)>,
    by_name: HashMap<String, usize>,
    by_ending: HashMap<String, usize>,
    /// The globs of the tests of each language.
    tests: Vec<GlobSet>,
    /// What is compiled in, below the rows of a person.
    base: Option<&'static Catalogue>,
}

impl Language {
    /// Returns the command to name in a demand for tests if the project names none; empty if there is no usual one.
    pub fn usual(&self) -> &str {
        let first = || self.projects.iter().map(|project| project.tests.as_str());
        let usual = std::iter::once(self.usual.as_str()).chain(first());
        usual
            .into_iter()
            .find(|usual| !usual.is_empty())
            .unwrap_or_default()
    }

    /// Returns the usual command that builds; empty if there is none.
    pub fn builds(&self) -> &str {
        let mut builds = self.projects.iter().map(|project| project.build.as_str());
        builds.find(|build| !build.is_empty()).unwrap_or_default()
    }
}

impl Catalogue {
    /// Returns the catalogue that is compiled in.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Returns the catalogue with the rows of a person before those that are compiled in.
    pub fn with(rows: &BTreeMap<String, Row>) -> Self {
        let own = Language {
            programs: rows.clone(),
            ..Language::default()
        };
        Self {
            base: Some(&BUILT_IN),
            ..Self::of(vec![own])
        }
    }

    fn of(languages: Vec<Language>) -> Self {
        let mut found = Self {
            tests: languages
                .iter()
                .map(|language| globs(&language.tests))
                .collect(),
            languages,
            ..Self::default()
        };
        for (at, language) in found.languages.iter_mut().enumerate() {
            for (names, row) in std::mem::take(&mut language.programs) {
                let row = Arc::new(row);
                for name in names.split_whitespace() {
                    let place = found.programs.len();
                    for also in row.also.iter().map(String::as_str).chain([name]) {
                        found.by_name.insert(also.to_owned(), place);
                    }
                    found.programs.push((at, name.to_owned(), Arc::clone(&row)));
                }
            }
            for ending in &language.files {
                found.by_ending.insert(ending.clone(), at);
            }
        }
        found
    }

    fn language_name(&self, at: usize) -> &str {
        &self.languages[at].language
    }

    /// Returns the language of a file, by the ending of its name.
    pub fn language(&self, path: &str) -> Option<&Language> {
        self.of_path(path).map(|(language, _)| language)
    }

    /// Returns how a file writes comments, by the ending of its name; none if that is not known.
    pub fn comments(&self, path: &str) -> Option<&Comments> {
        let (_, ending) = path.rsplit_once('.')?;
        let mut forms = self.language(path)?.comments.iter();
        forms.find(|form| form.only.is_empty() || form.only.iter().any(|only| only == ending))
    }

    fn of_path(&self, path: &str) -> Option<(&Language, &GlobSet)> {
        let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
        match self.by_ending.get(&ending.to_ascii_lowercase()) {
            Some(at) => Some((&self.languages[*at], &self.tests[*at])),
            None => self.base?.of_path(path),
        }
    }

    /// Returns all languages and groups of programs that are compiled in.
    pub fn languages(&self) -> &[Language] {
        self.base.map_or(self.languages.as_slice(), Self::languages)
    }

    /// Returns how tests are named.
    pub fn naming(&self) -> Option<&Naming> {
        let mut languages = self.languages().iter();
        languages.find_map(|language| language.naming.as_ref())
    }

    /// Returns how generated files say that they are.
    pub fn generated(&self) -> Option<&Generated> {
        let mut languages = self.languages().iter();
        languages.find_map(|language| language.generated.as_ref())
    }

    /// Returns all programs in the order of the files: language, name, and row.
    pub fn programs(&self) -> impl Iterator<Item = (&str, &str, &Row)> {
        let programs = self.programs.iter();
        programs.map(|(at, name, row)| (self.language_name(*at), name.as_str(), &**row))
    }

    /// Returns the row of a program.
    pub fn program(&self, name: &str) -> Option<&Row> {
        self.entry(name).map(|(_, row)| row)
    }

    /// Returns the language whose file names a program; empty for programs of no language.
    pub fn language_of_program(&self, name: &str) -> &str {
        self.entry(name).map_or("", |(language, _)| language)
    }

    /// Returns what a task or a script does by its name: the least telling purpose of which a part of the name is a word.
    pub fn named(&self, name: &str) -> Option<Purpose> {
        let parts = parts(name);
        let names = self.languages().iter().flat_map(|language| &language.names);
        let fitting = names.filter(|(_, words)| words.iter().any(|word| parts.contains(word)));
        fitting.map(|(purpose, _)| *purpose).min()
    }

    /// Returns whether a text asks for a command by which work leaves, or speaks of one.
    pub fn asks_to_leave(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let speaks = |word: &str| {
            text.match_indices(word).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + word.len()..]);
                let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let is_whole = word.len() > 3 || !goes_on(after.chars().next());
                // Some languages write no blanks between words.
                !word.is_ascii() || (is_whole && !goes_on(before.chars().next_back()))
            })
        };
        let words = self
            .languages()
            .iter()
            .flat_map(|language| &language.asks_to_leave);
        words.into_iter().any(|word| speaks(word))
    }

    /// Returns whether a file is a test, by its name and place.
    pub fn is_test(&self, path: &str) -> bool {
        self.of_path(path)
            .is_some_and(|(_, tests)| tests.is_match(path))
    }
}

/// Returns the words of a name, in small letters: of `test:unit`, `buildProd`, `e2e_tests`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for next in name.chars() {
        let begins = !next.is_alphanumeric() || (next.is_uppercase() && before.is_lowercase());
        if begins {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| next.is_alphanumeric()) {
            part.extend(next.to_lowercase());
        }
        before = next;
    }
    parts
}

/// Compiles globs that hold in every folder; a test shows that all of them compile.
pub(crate) fn globs<'t>(texts: impl IntoIterator<Item = &'t String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        if let Ok(glob) = GlobBuilder::new(&format!("**/{text}"))
            .literal_separator(true)
            .build()
        {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}
