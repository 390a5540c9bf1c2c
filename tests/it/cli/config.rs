//! `config`: what holds in a project, and changes that keep everything else; and the help, which lists all commands.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Home, run, text};

fn config(home: &Home, arguments: &[&str]) -> Output {
    let arguments = [&["config"], arguments].concat();
    let mut command = home.command(env!("CARGO_BIN_EXE_checkpointd"), &arguments);
    run(command.current_dir(home.path()), b"")
}

fn said(home: &Home, arguments: &[&str]) -> String {
    let output = config(home, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn refused(home: &Home, arguments: &[&str]) -> String {
    let output = config(home, arguments);
    assert_ne!(output.status.code(), Some(0), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn put(home: &Home, name: &str, text: &str) {
    fs::write(home.path().join(name), text).expect("writes");
}

fn row(home: &Home, key: &str) -> (Value, String) {
    let shown = said(home, &["show", "--json"]);
    let mut rows = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let row = rows.find(|row| row["key"] == key).expect(key);
    let source = row["source"].as_str().expect("a source");
    (
        row["value"].clone(),
        source.rsplit('/').next().unwrap_or_default().to_owned(),
    )
}

#[test]
fn what_holds_in_a_project_is_shown_with_its_source() {
    let home = Home::new();
    put(
        &home,
        "config.yml",
        "min_turn: 1m\nrepeat: always\nask: likely\nuncovered: tests\n",
    );
    put(
        &home,
        ".checkpointd.yml",
        "min_turn: 10s\ndocs_only: message\nmax_blocks_per_turn: 9\npacks: [rust]\n",
    );
    let of = |value: &str, source: &str| (json!(value), source.to_owned());
    // Before it is trusted, a project's file only picks among built-in rules.
    assert_eq!(row(&home, "min_turn"), of("1m", "config.yml"));
    assert_eq!(row(&home, "docs_only"), of("silent", "default"));
    home.trust(home.path());
    assert_eq!(row(&home, "min_turn"), of("10s", ".checkpointd.yml"));
    assert_eq!(row(&home, "docs_only"), of("message", ".checkpointd.yml"));
    assert_eq!(row(&home, "repeat"), of("always", "config.yml"));
    assert_eq!(row(&home, "ask"), of("likely", "config.yml"));
    assert_eq!(row(&home, "uncovered"), of("tests", "config.yml"));
    assert_eq!(row(&home, "max_blocks_per_turn"), of("1", "default"));
    assert_eq!(said(&home, &["get", "min_turn"]), "10s\n");
    let table = said(&home, &["show"]);
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    assert!(
        table.contains("min_turn") && table.contains("packs: rust, generic"),
        "{table}"
    );
    assert!(refused(&home, &["get", "min_trun"]).contains("did you mean `min_turn`?"));
    put(&home, ".checkpointd.yml", "packs: [teleclaude]\n");
    assert_eq!(row(&home, "unchanged"), of("message", "pack teleclaude"));
}

#[test]
fn a_key_is_set_and_comments_stay() {
    let home = Home::new();
    assert_eq!(said(&home, &["set", "min_turn", "45s"]), "min_turn: 45s\n");
    put(
        &home,
        "config.yml",
        "# mine\nmin_turn: 45s # short\njournal: {sync: mixed}\n# end\n",
    );
    said(&home, &["set", "min_turn", "1m"]);
    said(&home, &["set", "journal.sync", "always"]);
    said(&home, &["set", "packs", "[rust, go]"]);
    let file = || fs::read_to_string(home.path().join("config.yml")).expect("reads");
    assert_eq!(
        file(),
        "# mine\nmin_turn: 1m # short\njournal:\n  sync: always\npacks: [rust, go]\n# end\n"
    );
    let before = file();
    for (key, value, why) in [
        ("min_turn", "soon", "nothing was changed"),
        ("min_trun", "1m", "did you mean `min_turn`?"),
        ("scope", "turn\nrepeat: every", "a value must be one line"),
        ("scope", "[", "nothing was changed"),
        ("journal", "{}", "there is no key `journal`"),
        (
            "enabled",
            "false",
            "belongs in the project's .checkpointd.yml",
        ),
    ] {
        let error = refused(&home, &["set", key, value]);
        assert!(error.contains(why), "{key}: {error}");
        assert_eq!(file(), before);
    }
    // What YAML would take for a comment is a part of the value.
    let said = said(&home, &["set", "prefix", "Team A # urgent"]);
    assert_eq!(said, "prefix: Team A # urgent\n");
}

#[test]
fn an_edit_is_used_only_once_it_is_valid() {
    let home = Home::new();
    put(&home, "config.yml", "min_turn: 45s\n");
    // In a terminal, which `script` makes. The answers are those to "Edit it again?".
    let edit = |editor: &str, answers: &str| {
        let line = format!("{} config edit", env!("CARGO_BIN_EXE_checkpointd"));
        let mut command = home.command("script", &["-qec", &line, "/dev/null"]);
        let output = run(
            command.env("EDITOR", editor).env_remove("VISUAL"),
            answers.as_bytes(),
        );
        (output.status.code(), text(&output.stdout))
    };
    let file = || fs::read_to_string(home.path().join("config.yml")).expect("reads");
    let (code, said) = edit("sed -i s/45s/soon/", "n\n");
    assert!(code == Some(1) && said.contains("is kept in"), "{said}");
    assert_eq!(file(), "min_turn: 45s\n");
    // The mistake of the last time can be mended.
    let (code, said) = edit("sed -i s/soon/50s/", "");
    assert!(
        code == Some(0) && said.contains("is opened again"),
        "{said}"
    );
    assert_eq!(file(), "min_turn: 50s\n");
    assert_eq!(edit("false", "").0, Some(1));
    // Nothing was edited, so nothing is kept.
    let (code, said) = edit("true", "");
    assert!(
        code == Some(0) && said.contains("Nothing was changed."),
        "{said}"
    );
    assert!(!said.contains("is opened again"), "{said}");
    let error = refused(&home, &["edit"]);
    assert!(error.contains("needs a terminal"), "{error}");
}

#[test]
fn what_differs_is_shown_and_each_key_explained() {
    let home = Home::new();
    let fresh = said(&home, &["show"]);
    assert!(fresh.contains("every setting has its default"), "{fresh}");
    assert!(fresh.lines().count() <= 12, "{fresh}");
    put(&home, "config.yml", "scope: worktree\n");
    let table = said(&home, &["show"]);
    assert!(
        table.contains("worktree") && !table.contains("min_turn  "),
        "{table}"
    );
    assert!(said(&home, &["show", "--all"]).contains("min_turn  "));
    let scope = said(&home, &["explain", "scope"]);
    for words in [
        "values: worktree, turn",
        "default: turn",
        "here: worktree",
        "config set scope",
    ] {
        assert!(scope.contains(words), "{words}: {scope}");
    }
    assert!(said(&home, &["explain", "journal"]).contains("journal.retention"));
    assert!(refused(&home, &["explain", "min_trun"]).contains("did you mean `min_turn`?"));
}

#[test]
fn a_check_needs_no_file_and_quotes_a_window_of_a_long_line() {
    let home = Home::new();
    assert!(said(&home, &["check"]).contains("the defaults apply"));
    put(&home, ".checkpointd.yml", "min_trun: 1m\n");
    let error = refused(&home, &["check"]);
    assert!(
        error.contains(".checkpointd.yml:1:1") && error.contains("did you mean"),
        "{error}"
    );
    fs::remove_file(home.path().join(".checkpointd.yml")).expect("removed");
    let long = format!(
        "prefix: 'x'\n{{ min_turn: 1m, scope: {}, repeat: every }}\n",
        "y".repeat(40_000)
    );
    put(&home, "config.yml", &long);
    let error = refused(&home, &["check"]);
    assert!(
        error.contains("config.yml:") && error.len() < 1_000,
        "{} bytes",
        error.len()
    );
    put(&home, "config.yml", "min_turn: 1m\nscope: tur\n");
    let program = env!("CARGO_BIN_EXE_checkpointd");
    let doctor = text(&run(&mut home.command(program, &["doctor"]), b"").stdout);
    assert!(
        doctor.lines().any(|line| line.trim() == "2 | scope: tur"),
        "{doctor}"
    );
}

#[test]
fn a_check_of_what_is_no_file_never_waits() {
    let home = Home::new();
    let pipe = home.path().join("other.yml");
    let mut make = std::process::Command::new("mkfifo");
    assert!(make.arg(&pipe).status().expect("it runs").success());
    let error = refused(&home, &["check", "other.yml"]);
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn the_help_lists_every_command_in_a_group() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_checkpointd");
    let help = text(&run(&mut home.command(program, &["--help"]), b"").stdout);
    for group in [
        "Start here:",
        "Watch:",
        "Analyze:",
        "Control:",
        "Data:",
        "Set up:",
        "Options:",
        "Exit codes:",
    ] {
        assert!(
            help.lines().any(|line| line.starts_with(group)),
            "{group}: {help}"
        );
    }
    let first: Vec<_> = help
        .lines()
        .skip_while(|line| !line.starts_with("Start here"))
        .skip(1)
        .take(5)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(first, ["init", "lookback", "open", "explain", "doctor"]);
    let alone = run(&mut home.command(program, &[]), b"");
    let said = text(&alone.stdout);
    assert_eq!(alone.status.code(), Some(0), "{said}");
    assert!(
        said.contains("lookback") && said.contains("--help"),
        "{said}"
    );
    // The completions know every command from the same definition.
    let mut complete = home.command(program, &["--", "checkpointd", ""]);
    let names = text(&run(complete.env("COMPLETE", "fish"), b"").stdout);
    let names = names.lines().filter_map(|line| line.split('\t').next());
    for name in names.filter(|name| !name.starts_with('-') && *name != "help") {
        assert!(
            help.lines()
                .any(|line| line.starts_with(&format!("  {name} "))),
            "{name}: {help}"
        );
    }
}
