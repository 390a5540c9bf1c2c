//! Which file of a crate imports from which.
//!
//! A path counts to the file that defines what it names, also when it leads through a re-export (`pub use`), and even when
//! that is in a parent that only declares and re-exports its children. The re-export itself is no import, unless the file
//! uses the name in its own code. So a child that uses an item of its parent while the parent uses the child is a circle, and
//! one that is only re-exported by its parent is none. Code for tests is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{File, is_word};

type ModulePath = Vec<String>;

/// Imports between the files of a crate: by index, from the one that imports.
pub(super) struct Imports<'a> {
    pub(super) files: Vec<&'a File>,
    pub(super) of: Vec<BTreeSet<usize>>,
}

impl Imports<'_> {
    /// Reads the crate whose root file lies in this folder.
    pub(super) fn read<'a>(files: &'a [File], folder: &str) -> Imports<'a> {
        let own = files.iter().filter(|file| {
            let is_program = file.path.starts_with(&format!("{folder}/bin/"));
            let is_tests = !folder.starts_with("tests") && file.is_test();
            file.is_in(&[folder]) && !file.code.is_empty() && !is_program && !is_tests
        });
        let files: Vec<&File> = own.collect();
        let mut modules = Modules::default();
        for (index, file) in files.iter().enumerate() {
            modules.read(index, module_of(file, folder), file);
        }
        let mut of = vec![BTreeSet::new(); files.len()];
        for (path, module) in &modules.0 {
            of[module.file].extend(modules.imports(path, module));
        }
        for (index, imports) in of.iter_mut().enumerate() {
            imports.remove(&index);
        }
        Imports { files, of }
    }
}

fn module_of(file: &File, folder: &str) -> ModulePath {
    let path = file.path[folder.len() + 1..].trim_end_matches(".rs");
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    let root = ["mod", "lib", "main"];
    if parts.last().is_some_and(|last| root.contains(&&**last)) {
        parts.pop();
    }
    parts
}

struct Use {
    path: Vec<String>,
    /// `None` for `*`.
    name: Option<String>,
    is_public: bool,
}

#[derive(Default)]
struct Module {
    file: usize,
    uses: Vec<Use>,
    /// Paths of two parts and more outside of `use`.
    paths: Vec<Vec<String>>,
    /// Single names outside of `use`.
    names: BTreeSet<String>,
    defines: BTreeSet<String>,
}

#[derive(Default)]
struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    /// Reads a file, and the modules inside of it.
    fn read(&mut self, index: usize, path: ModulePath, file: &File) {
        let product = file.product();
        let tokens = tokens(&product);
        let mut open = vec![(path, 0)];
        let mut depth = 0;
        let mut at = 0;
        while at < tokens.len() {
            let (path, _) = open.last().expect("the file").clone();
            let module = self.0.entry(path.clone()).or_default();
            module.file = index;
            let next = |offset: usize| tokens.get(at + offset).copied().unwrap_or_default();
            match tokens[at] {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if open.len() > 1 && open.last().is_some_and(|(_, begin)| *begin == depth) {
                        open.pop();
                    }
                }
                "mod" if next(2) == "{" => {
                    open.push(([&path[..], &[next(1).to_owned()]].concat(), depth));
                    depth += 1;
                    at += 2;
                }
                "use" if next(1) != "<" => {
                    let is_public = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                    at = read_use(&tokens, at + 1, &[], is_public, &mut module.uses);
                }
                token if is_name(token) => {
                    let is_part = at > 0 && matches!(tokens[at - 1], "::" | ".");
                    let mut parts = vec![token.to_owned()];
                    let defining = ["fn", "struct", "enum", "trait", "type", "const", "static"];
                    if defining.contains(&token) {
                        module.defines.insert(next(1).to_owned());
                    }
                    if token == "macro_rules" {
                        module.defines.insert(next(2).to_owned());
                    }
                    while tokens.get(at + 1) == Some(&"::")
                        && tokens.get(at + 2).is_some_and(|part| is_name(part))
                    {
                        parts.push(tokens[at + 2].to_owned());
                        at += 2;
                    }
                    if !is_part {
                        module.names.insert(parts[0].clone());
                        if parts.len() > 1 {
                            module.paths.push(parts);
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the files that a module imports from.
    fn imports(&self, path: &[String], module: &Module) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for item in &module.uses {
            let is_used = item
                .name
                .as_ref()
                .is_some_and(|name| module.names.contains(name));
            if item.is_public && !is_used {
                continue;
            }
            let target = self.absolute(path, &item.path, 0);
            found.extend(target.and_then(|target| match item.name {
                Some(_) => self.defining_file(&target, 0),
                None => self.0.get(&target).map(|module| module.file),
            }));
        }
        let paths = module.paths.iter();
        let targets = paths.filter_map(|parts| self.absolute(path, parts, 0));
        found.extend(targets.filter_map(|target| self.defining_file(&target, 0)));
        found
    }

    /// Returns a path from the root of the crate, or `None` for one of another crate.
    fn absolute(&self, from: &[String], parts: &[String], depth: usize) -> Option<ModulePath> {
        let rest = &parts[1..];
        match &*parts[0] {
            "crate" => Some(rest.to_vec()),
            "self" => Some([from, rest].concat()),
            "super" => {
                let parent = &from[..from.len().checked_sub(1)?];
                if rest.is_empty() {
                    return Some(parent.to_vec());
                }
                let word = ["super".to_owned(), "self".to_owned()];
                let goes_on = rest.first().is_some_and(|part| word.contains(part));
                if goes_on {
                    self.absolute(parent, rest, depth)
                } else {
                    Some([parent, rest].concat())
                }
            }
            name => {
                if self.0.contains_key(&[from, &parts[..1]].concat()) {
                    return Some([from, parts].concat());
                }
                let item = self.bound(from, name).filter(|item| item.path != parts)?;
                let target = (depth < 8).then(|| self.absolute(from, &item.path, depth + 1))??;
                Some([&target, rest].concat())
            }
        }
    }

    fn bound(&self, module: &[String], name: &str) -> Option<&Use> {
        let uses = &self.0.get(module)?.uses;
        uses.iter().find(|item| item.name.as_deref() == Some(name))
    }

    /// Returns the file that defines what a path names; `None` if that is a module.
    fn defining_file(&self, path: &[String], depth: usize) -> Option<usize> {
        let length = (0..=path.len())
            .rev()
            .find(|length| self.0.contains_key(&path[..*length]))?;
        let (place, rest) = path.split_at(length);
        let module = &self.0[place];
        let name = rest.first()?;
        if depth > 8 || module.defines.contains(name) {
            return Some(module.file);
        }
        if let Some(item) = self.bound(place, name) {
            let target = self.absolute(place, &item.path, 0)?;
            return self.defining_file(&[&target, &rest[1..]].concat(), depth + 1);
        }
        for glob in module.uses.iter().filter(|item| item.name.is_none()) {
            let target = self.absolute(place, &glob.path, 0);
            let target = target.filter(|target| {
                self.0.get(target).is_some_and(|module| {
                    let has = |item: &Use| item.name.as_ref() == Some(name);
                    module.defines.contains(name) || module.uses.iter().any(has)
                })
            });
            if let Some(target) = target {
                return self.defining_file(&[&target[..], rest].concat(), depth + 1);
            }
        }
        Some(module.file)
    }
}

/// Reads a tree of `use` from a token on, and returns where it ends.
fn read_use(
    tokens: &[&str],
    mut at: usize,
    prefix: &[String],
    is_public: bool,
    uses: &mut Vec<Use>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut name = None;
    while at < tokens.len() {
        match tokens[at] {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = read_use(tokens, at, &path, is_public, uses);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "*" => {
                uses.push(Use {
                    path,
                    name: None,
                    is_public,
                });
                return at + 1;
            }
            "::" => {}
            "as" => {
                at += 1;
                name = tokens.get(at).map(|token| (*token).to_owned());
            }
            "self" if !path.is_empty() => {}
            token if is_name(token) => path.push(token.to_owned()),
            _ => break,
        }
        at += 1;
    }
    let name = name.or_else(|| path.last().cloned());
    if !path.is_empty() {
        uses.push(Use {
            path,
            name,
            is_public,
        });
    }
    at
}

fn is_name(token: &str) -> bool {
    token
        .bytes()
        .next()
        .is_some_and(|first| is_word(first) && !first.is_ascii_digit())
}

fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.bytes().next() {
        let length = if is_word(first) {
            rest.bytes().take_while(|byte| is_word(*byte)).count()
        } else if rest.starts_with("::") {
            2
        } else {
            1
        };
        let (token, others) = rest.split_at(length);
        if !first.is_ascii_whitespace() {
            tokens.push(token);
        }
        rest = others;
    }
    tokens
}
