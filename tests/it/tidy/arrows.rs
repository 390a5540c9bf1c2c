//! Who may import from whom: crates, and the rooms of `src/`.

use toml_edit::DocumentMut;

use super::imports::Imports;
use super::source::{File, assert_none, files, tree};

/// Each crate with the ones that it may depend on.
const CRATES: [(&str, &[&str]); 9] = [
    ("journal", &[]),
    ("redact", &[]),
    ("reading", &["journal"]),
    ("memory", &["journal", "redact", "reading"]),
    ("agents", &["journal", "redact", "reading"]),
    (
        "checkpoint",
        &["journal", "redact", "reading", "memory", "agents"],
    ),
    ("actors", &["journal", "checkpoint"]),
    // Messages only: it knows no events.
    ("broker", &[]),
    ("", &["journal", "checkpoint", "actors", "broker"]),
];

/// Rust sees to it that what is used is listed in the manifest.
fn crate_arrows(files: &[File]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, may) in CRATES {
        let path = format!("{name}/Cargo.toml");
        let path = path.trim_start_matches('/');
        let manifest = files.iter().find(|file| file.path == path);
        let Some(manifest) = manifest else { continue };
        let manifest: DocumentMut = manifest.text.parse().expect("TOML");
        for table in ["dependencies", "build-dependencies"] {
            let listed = manifest.get(table).and_then(|table| table.as_table_like());
            for (dependency, _) in listed.into_iter().flat_map(|table| table.iter()) {
                let ours = CRATES.iter().any(|(name, _)| *name == dependency);
                if ours && !may.contains(&dependency) {
                    wrong.push(format!("{path}: {dependency}"));
                }
            }
        }
    }
    wrong
}

#[test]
fn crates_depend_on_lower_ones_only() {
    let to_do = "journal <- checkpoint <- actors <- the binaries, and broker <- the binaries: move the code to the lower crate, or pass what it needs in";
    assert_none(&crate_arrows(&tree()), to_do);
}

#[test]
fn wrong_dependencies_are_found() {
    let tree = files(&[
        ("Cargo.toml", "[dependencies]\nactors.workspace = true\n"),
        (
            "journal/Cargo.toml",
            "[dependencies]\nserde = \"1\"\nactors.workspace = true\n",
        ),
    ]);
    assert_eq!(crate_arrows(&tree), ["journal/Cargo.toml: actors"]);
}

/// The rooms of `src/` from low to high, each with the lower ones that it may import from.
const ROOMS: [(&str, &[&str]); 11] = [
    ("error", &[]),
    ("config", &["error"]),
    ("render", &["error"]),
    ("edit", &["error"]),
    ("client", &[]),
    ("service", &["error"]),
    ("install", &["error", "config", "edit", "service"]),
    ("ops", &["error", "config", "render", "edit"]),
    ("daemon", &["error", "config", "service", "ops"]),
    (
        "cli",
        &[
            "error", "config", "render", "edit", "service", "install", "ops", "daemon",
        ],
    ),
    ("main", &["client", "cli"]),
];

/// Fails where the table itself lets a room import from a higher one.
fn rising(rooms: &[(&str, &[&str])]) -> Vec<String> {
    let mut rising = Vec::new();
    for (floor, (room, may)) in rooms.iter().enumerate() {
        let lower: Vec<_> = rooms[..floor].iter().map(|(room, _)| room).collect();
        let higher = may.iter().filter(|room| !lower.contains(room));
        rising.extend(higher.map(|higher| format!("{room} -> {higher}")));
    }
    rising
}

fn room(path: &str) -> &str {
    let path = path.trim_start_matches("src/");
    let rooms = ROOMS.iter().map(|(room, _)| *room);
    let of =
        rooms.filter(|room| path == format!("{room}.rs") || path.starts_with(&format!("{room}/")));
    of.max_by_key(|room| room.len()).unwrap_or(path)
}

fn room_arrows(files: &[File]) -> Vec<String> {
    let imports = Imports::read(files, "src");
    let mut wrong = Vec::new();
    for (index, file) in imports.files.iter().enumerate() {
        let from = room(&file.path);
        for import in &imports.of[index] {
            let to = room(&imports.files[*import].path);
            let may = ROOMS
                .iter()
                .find(|(room, _)| *room == from)
                .map(|(_, may)| *may);
            if from != to && !may.is_some_and(|may| may.contains(&to)) {
                wrong.push(format!(
                    "{from} -> {to}: {} -> {}",
                    file.path, imports.files[*import].path
                ));
            }
        }
    }
    wrong.sort();
    wrong
}

#[test]
fn rooms_import_from_lower_ones_only() {
    assert_none(&rising(&ROOMS), "ROOMS goes from low to high");
    let to_do = "move what is imported to a lower room, or pass it in; a new room goes into ROOMS";
    assert_none(&room_arrows(&tree()), to_do);
}

#[test]
fn imports_from_higher_rooms_are_found() {
    let tree = files(&[
        ("src/main.rs", "mod cli; mod ops;\n"),
        ("src/cli/mod.rs", "use crate::ops::A;\npub struct B;\n"),
        ("src/ops/mod.rs", "mod c;\npub use c::A;\n"),
        ("src/ops/c.rs", "pub struct A(crate::cli::B);\n"),
        ("src/new.rs", "use crate::ops::A;\n"),
    ]);
    assert_eq!(
        room_arrows(&tree),
        [
            "new.rs -> ops: src/new.rs -> src/ops/c.rs",
            "ops -> cli: src/ops/c.rs -> src/cli/mod.rs"
        ]
    );
    let rooms: [(&str, &[&str]); 2] = [("low", &["high"]), ("high", &["low"])];
    assert_eq!(rising(&rooms), ["low -> high"]);
}
