//! No files of a crate import each other in a circle.

use std::collections::{BTreeSet, VecDeque};

use super::imports::Imports;
use super::source::{File, assert_none, files, tree};

const CRATES: [&str; 13] = [
    "journal/src",
    "reading/src",
    "redact/src",
    "memory/src",
    "agents/src",
    "checkpoint/src",
    "actors/src",
    "broker/src",
    "src",
    "testkit/src",
    "tests/it",
    "tests/web",
    "tests/fleet",
];

fn circles(files: &[File]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for folder in CRATES {
        let imports = Imports::read(files, folder);
        for begin in 0..imports.files.len() {
            if let Some(circle) = circle(&imports, begin) {
                found.insert(circle);
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the shortest way from a file back to it, told from its first file on.
fn circle(imports: &Imports<'_>, begin: usize) -> Option<String> {
    let mut from = vec![None; imports.files.len()];
    let mut next = VecDeque::from([begin]);
    while let Some(file) = next.pop_front() {
        for import in &imports.of[file] {
            if *import == begin {
                let mut way = vec![file];
                while let Some(before) = from[*way.last().expect("one")] {
                    way.push(before);
                }
                way.reverse();
                let first = (0..way.len()).min_by_key(|at| &imports.files[way[*at]].path);
                way.rotate_left(first.unwrap_or_default());
                way.push(way[0]);
                let names = way.iter().map(|file| &*imports.files[*file].path);
                return Some(names.collect::<Vec<_>>().join(" -> "));
            }
            if from[*import].is_none() && *import != begin {
                from[*import] = Some(file);
                next.push_back(*import);
            }
        }
    }
    None
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let to_do = "move what both need to a file of its own, or take it as an argument";
    assert_none(&circles(&tree()), to_do);
}

#[test]
fn circles_are_found() {
    let tree = files(&[
        (
            "src/main.rs",
            "mod a; mod b; mod c; mod d;\nfn main() { a::run(); }\n",
        ),
        (
            "src/a.rs",
            "use crate::b::{self, C};\npub fn run() { b::go() }\n",
        ),
        (
            "src/b.rs",
            "pub struct C;\npub fn go() { super::d::last() }\n",
        ),
        // A re-export is no import; who comes through it imports from the file behind it.
        (
            "src/c/mod.rs",
            "mod e; mod f;\npub use e::E;\npub struct G;\n",
        ),
        ("src/c/e.rs", "use super::G;\npub struct E(G);\n"),
        ("src/c/f.rs", "use super::E;\n"),
        ("src/d.rs", "pub fn last() { crate::a::run() }\n"),
    ]);
    assert_eq!(
        circles(&tree),
        ["src/a.rs -> src/b.rs -> src/d.rs -> src/a.rs"]
    );
    let tree = files(&[
        ("src/c/mod.rs", "mod e;\npub use e::E;\npub struct G(E);\n"),
        (
            "src/c/e.rs",
            "use super::G;\npub struct E(G);\n#[cfg(test)]\nmod tests { use crate::h::H; }\n",
        ),
        ("src/h.rs", "pub struct H(super::c::E);\n"),
        ("src/main.rs", "mod c;\n"),
    ]);
    assert_eq!(circles(&tree), ["src/c/e.rs -> src/c/mod.rs -> src/c/e.rs"]);
}
