//! The files of the catalogue, and what commands are by it.

use std::collections::{BTreeMap, BTreeSet};

use globset::Glob;

use super::{Catalogue, FILES, Language, Opening, Purpose, Row};
use crate::shell;

fn languages() -> Vec<(&'static str, Language)> {
    let read = |(name, text): (&'static str, &str)| {
        let language = serde_saphyr::from_str(text);
        (
            name,
            language.unwrap_or_else(|error| panic!("{name}.yml: {error}")),
        )
    };
    FILES.map(read).into()
}

/// Returns the names that a key and its row have.
fn names(key: &str, row: &Row) -> Vec<String> {
    key.split(' ')
        .map(str::to_owned)
        .chain(row.also.iter().cloned())
        .collect()
}

#[test]
fn programs_are_sorted_in_their_files() {
    for (file, text) in FILES {
        let programs = text
            .split_once("\nprograms:\n")
            .map_or("", |(_, programs)| programs);
        let keys = programs.lines().filter_map(|line| line.strip_prefix("  "));
        let keys = keys.filter(|line| !line.starts_with([' ', '#']));
        let first = |line: &str| {
            let key = line.trim_start_matches(['"', '\'']);
            key.split([' ', ':', '"'])
                .next()
                .unwrap_or_default()
                .to_lowercase()
        };
        let found: Vec<String> = keys.map(first).filter(|key| !key.is_empty()).collect();
        assert!(found.is_sorted(), "{file}.yml: {found:#?}");
    }
}

#[test]
fn a_program_a_subcommand_and_an_ending_are_named_once() {
    let (mut programs, mut endings) = (BTreeSet::new(), BTreeSet::new());
    for (file, language) in languages() {
        for (key, row) in &language.programs {
            for name in names(key, row) {
                assert!(
                    programs.insert(name.clone()),
                    "{file}.yml: {name} is named twice"
                );
            }
            check_verbs(file, key, row);
        }
        for ending in &language.files {
            assert!(
                endings.insert(ending.clone()),
                "{file}.yml: .{ending} is named twice"
            );
        }
        for glob in &language.tests {
            assert!(Glob::new(glob).is_ok(), "{file}.yml: {glob}");
        }
    }
}

fn check_verbs(file: &str, program: &str, row: &Row) {
    let mut known = BTreeSet::new();
    for (key, verb) in &row.verbs {
        for name in names(key, verb) {
            assert!(
                known.insert(name.clone()),
                "{file}.yml: {program} {name} is named twice"
            );
        }
        check_verbs(file, &format!("{program} {key}"), verb);
    }
}

/// Shows what a command is.
fn shown(catalogue: &Catalogue, line: &str) -> String {
    let line = shell::read(line);
    let Some(command) = line
        .commands
        .last()
        .and_then(|last| catalogue.command(&last.words))
    else {
        return "unknown".to_owned();
    };
    let word = |value: serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let mut shown = vec![
        word(serde_json::json!(command.does)),
        word(serde_json::json!(command.takes)),
        if command.language.is_empty() {
            "-"
        } else {
            command.language
        }
        .to_owned(),
    ];
    let notes = [
        (command.is_dry, "dry"),
        (command.is_partial, "partial"),
        (command.may_do_nothing, "may do nothing"),
        (command.writes, "writes"),
        (command.opening == Opening::Script, "script"),
        (command.opening == Opening::Inline, "inline"),
        (command.opening == Opening::Tasks, "tasks"),
    ];
    shown.extend(
        notes
            .iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, note)| (*note).to_owned()),
    );
    if !command.operands.is_empty() {
        shown.push(format!("of {}", command.operands.join(" ")));
    }
    shown.join(", ")
}

#[test]
fn a_made_up_runner_is_one_row() {
    let row = "{does: tests, operands: paths, chooses: --only, values: --only, dry: --plan}";
    let rows = BTreeMap::from([(
        "proveit".to_owned(),
        serde_saphyr::from_str(row).expect("a row"),
    )]);
    let catalogue = Catalogue::with(&rows);
    for (line, is) in [
        ("proveit", "tests, paths, -"),
        ("proveit spec/a.x", "tests, paths, -, of spec/a.x"),
        (
            "sudo -u me ./bin/proveit --only one",
            "tests, paths, -, partial",
        ),
        ("bash -c 'cd app && proveit --plan'", "tests, paths, -, dry"),
        ("frobnicate proveit", "tests, paths, -"),
        ("pytest", "tests, paths, Python"),
    ] {
        assert_eq!(shown(&catalogue, line), is, "{line}");
    }
}

#[test]
fn a_wrong_row_says_what_is_wrong() {
    for (row, says) in [
        ("{does: testing}", "testing"),
        ("testing", "testing"),
        ("{takes: paths}", "takes"),
    ] {
        let error = serde_saphyr::from_str::<Row>(row)
            .expect_err(row)
            .to_string();
        assert!(error.contains(says), "{row}: {error}");
    }
}

#[test]
fn names_of_tasks_say_what_they_do() {
    let catalogue = Catalogue::built_in();
    for (purpose, names) in [
        (
            Some(Purpose::Tests),
            "test test:unit unitTests ci check e2e.smoke",
        ),
        (Some(Purpose::Lint), "lint test-lint lint:fix"),
        (Some(Purpose::Format), "format_check fmt"),
        (Some(Purpose::Build), "build buildProd"),
        (Some(Purpose::Serve), "dev start"),
        (Some(Purpose::Types), "typecheck"),
        (None, "deploy contest restart"),
    ] {
        for name in names.split(' ') {
            assert_eq!(catalogue.named(name), purpose, "{name}");
        }
    }
}

#[test]
fn commands_by_which_work_leaves_are_marked() {
    let catalogue = Catalogue::built_in();
    for (line, leaves) in [
        ("git push -u origin main", true),
        ("git -C app push --force-with-lease", true),
        ("git commit -m push", false),
        ("git merge work", false),
        ("gh pr create --title x", true),
        ("glab mr merge 7", true),
        ("gh pr view 7", false),
        ("gh release create v1", true),
        ("gh issue create", false),
        ("npm publish", true),
        ("npx wrangler deploy", true),
        ("cargo publish -p x", true),
        ("uv publish", true),
        ("docker push x", true),
        ("docker build -t push .", false),
        ("terraform apply", true),
        ("terraform plan", false),
        ("kubectl apply -f x.yml", true),
        ("helm lint", false),
    ] {
        let line = shell::read(line);
        let command = catalogue.command(&line.commands[0].words);
        let found = command.is_some_and(|command| command.leaves);
        assert_eq!(found, leaves, "{line:?}");
    }
    let dry = shell::read("git push --dry-run");
    let dry = catalogue.command(&dry.commands[0].words);
    assert!(dry.is_some_and(|command| command.is_dry));
}

#[test]
fn people_ask_for_work_to_leave_in_many_words() {
    let catalogue = Catalogue::built_in();
    for text in [
        "Commit and push.",
        "pushe das bitte",
        "open a PR",
        "raise a new pull request",
        "release v1.2",
        "推送到远程",
    ] {
        assert!(catalogue.asks_to_leave(text), "{text}");
    }
    for text in ["approve it", "fix the printer", "a sprint", "pull main", ""] {
        assert!(!catalogue.asks_to_leave(text), "{text}");
    }
}
