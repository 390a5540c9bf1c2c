//! SECURITY.md names a test for each attack and for each protection; each of these tests exists.

use super::source::{File, assert_none, tree};

/// Where the tests of a target are, by the first part of their names.
const TARGETS: [(&str, &str); 9] = [
    ("actors", "actors/src/"),
    ("agents", "agents/src/"),
    ("checkpoint", "checkpoint/src/"),
    ("checkpointd", "src/"),
    ("it", "tests/it/"),
    ("journal", "journal/src/"),
    ("memory", "memory/src/"),
    ("reading", "reading/src/"),
    ("redact", "redact/src/"),
];
/// The headings of the tables.
const TABLES: [&str; 2] = [
    "## What is protected, and how",
    "## Attacks and their tests",
];

/// Returns the rows of the tables, without their heads.
fn rows(security: &str) -> impl Iterator<Item = &str> {
    let tables = TABLES.iter().map(|heading| {
        let table = security.split(heading).nth(1).unwrap_or_default();
        table.split("\n## ").next().unwrap_or_default()
    });
    let rows = tables.flat_map(|table| table.lines().filter(|line| line.starts_with("| ")).skip(1));
    rows.collect::<Vec<_>>().into_iter()
}

/// Returns the tests that a row names, by target, modules and function.
fn named(row: &str) -> impl Iterator<Item = &str> {
    let quoted = row.split('`').skip(1).step_by(2);
    quoted.filter(|name| name.contains("::"))
}

/// Returns whether a file has the test of this name.
fn has(file: &File, name: &str) -> bool {
    let Some((target, path)) = name.split_once("::") else {
        return false;
    };
    let folder = TARGETS.iter().find(|(known, _)| *known == target);
    let inside = folder.and_then(|(_, folder)| file.path.strip_prefix(folder));
    let (Some(inside), Some((modules, function))) = (inside, path.rsplit_once("::")) else {
        return false;
    };
    let own = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    let own = own.replace('/', "::");
    let is_here = modules == own || modules.strip_suffix("::tests") == Some(own.as_str());
    // Other attributes may stand between the mark and the function.
    let before = file.code.split(&format!("fn {function}(")).next();
    let marks = before.and_then(|before| before.rsplit(['}', ';']).next());
    let is_test =
        before != Some(&file.code) && marks.is_some_and(|marks| marks.contains("#[test]"));
    is_here && is_test
}

/// Returns the tests that are named and not there, and the rows that name none.
fn missing(files: &[File], security: &str) -> Vec<String> {
    let mut missing: Vec<&str> = rows(security).flat_map(named).collect();
    missing.retain(|name| !files.iter().any(|file| has(file, name)));
    missing.extend(rows(security).filter(|row| named(row).next().is_none()));
    missing.into_iter().map(str::to_owned).collect()
}

#[test]
fn every_attack_and_every_protection_has_its_test() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md");
    let security = std::fs::read_to_string(path).expect("readable");
    assert!(rows(&security).count() > 40, "the tables are not read");
    let to_do = "name the test that shows it, as it is called now, or write that test";
    assert_none(&missing(&tree(), &security), to_do);
}

#[test]
fn a_test_that_is_gone_is_found() {
    let files = [
        File::new(
            "tests/it/cli/trust.rs",
            "#[test]\nfn one() {}\nfn two() {}\n",
        ),
        File::new(
            "src/render.rs",
            "mod tests {\n #[test]\n fn three() {}\n}\n",
        ),
    ];
    let [protected, attacks] = TABLES;
    let table = format!(
        "`it::cli::gone` {protected}\n| asset |\n|---|\n| z |\n\n## More\n{attacks}\n| attack |\n|---|\n| x | \
         `it::cli::trust::one`, `it::cli::trust::two` |\n| y | `setting` `it::cli::one` \
         `checkpointd::render::tests::three` |\n## Next\n`it::x::y`\n"
    );
    assert_eq!(
        missing(&files, &table),
        ["it::cli::trust::two", "it::cli::one", "| z |"]
    );
}
