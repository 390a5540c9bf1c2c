//! Layers, errors and `config show`.

mod agents;
mod endpoint;
mod mistakes;
mod project_file;
mod retention;
mod schema;

use journal::Agent;

use super::*;
use crate::policy::{Background, Edition, EvidenceRule, Policy, Quiet, Scope};
use crate::rules::pack_names::ProjectFacts;

fn facts(files: &str) -> ProjectFacts {
    ProjectFacts {
        path: "/home/me/code/app".into(),
        files: files.split_whitespace().map(String::from).collect(),
    }
}

/// Returns the keys of the defaults, those of groups or those that policies are made of; not those that each agent has.
fn defaults(in_groups: bool) -> String {
    let agents = Agent::WORDS.map(|word| format!("restart.{word}"));
    let rows = Config::default().show().into_iter();
    rows.filter(|row| row.key.contains('.') == in_groups && !agents.contains(&row.key))
        .map(|row| format!("{}: {} ({})", row.key, row.value, row.source))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_key_of_a_policy_with_its_default() {
    insta::assert_snapshot!(defaults(false), @"
    min_turn: 30s (default)
    judgment: 2026-11 (default)
    ask: certain (default)
    uncovered: build (default)
    comments: ignored (default)
    timer: unified (default)
    max_blocks_per_turn: 1 (default)
    scope: turn (default)
    repeat: once (default)
    evidence: command (default)
    all_clear: silent (default)
    docs_only: silent (default)
    unchanged: silent (default)
    background: returning (default)
    reply: auto (default)
    headless: when_needed (default)
    restart_delay: 5s (default)
    prefix: [checkpointd]  (default)
    message:  (default)
    fail: open (default)
    confirm_timeout: 1m (default)
    packs: auto (default)
    rules: [] (default)
    programs: {} (default)
    slug_from_branch: false (default)
    projects: all (default)
    agents: [] (default)
    ");
}

#[test]
fn every_key_of_a_group_with_its_default() {
    insta::assert_snapshot!(defaults(true), @r#"
    journal.sync: mixed (default)
    journal.batch_window: 50ms (default)
    journal.payload_bytes_max: 64KB (default)
    journal.retention: {"payloads":"30d","kinds":{}} (default)
    journal.compact: daily (default)
    hooks.stop_wait: 5s (default)
    hooks.escape_marker: checkpointd_clear (default)
    hooks.exits: off (default)
    daemon.mailbox: 256 (default)
    daemon.sessions_awake_max: 256 (default)
    daemon.session_idle: 30m (default)
    daemon.path: [] (default)
    evidence_limits.git_timeout: 2s (default)
    evidence_limits.transcript_bytes: 512KB (default)
    evidence_limits.transcript_bytes_max: 16MB (default)
    evidence_limits.transcript_timeout: 300ms (default)
    evidence_limits.changed_files_max: 5000 (default)
    tmux.settle: 600ms (default)
    tmux.send_timeout: 2s (default)
    tmux.confirm_timeout: 1m (default)
    tmux.draft: wait (default)
    tmux.draft_wait: 1m (default)
    tmux.hold_for: 10m (default)
    tmux.attempts: 3 (default)
    codex.delivery: tmux (default)
    listeners.desktop: false (default)
    listeners.agent_finished: [] (default)
    listeners.needs_attention: [] (default)
    listeners.checkpoint_sent: [] (default)
    listeners.timeout: 10s (default)
    listeners.at_once: 4 (default)
    listeners.env: [] (default)
    restart.stop_within: 5s (default)
    phase.folder: auto (default)
    phase.seed: none (default)
    phase.keep: 30d (default)
    experiment.holdout: 0 (default)
    redact.enabled: true (default)
    redact.extra: [] (default)
    progress.path: .ai-instructions/concepts/memory-bank/progress-checkpoint.md (default)
    progress.resume: false (default)
    progress.resume_within: 14d (default)
    progress.checks: [] (default)
    progress.auto: {"place":"data","interval":"30m","phase":true,"compaction":true,"subagent":true,"error":true,"session_end":true} (default)
    web.port: 0 (default)
    metrics.enabled: false (default)
    otlp.endpoint: none (default)
    otlp.interval: 1m (default)
    fleet.url: none (default)
    fleet.machine: none (default)
    fleet.credentials: none (default)
    fleet.level: decisions (default)
    fleet.keep: 7d (default)
    logs.level: info (default)
    "#);
}

#[test]
fn files_go_over_each_other() {
    let user = "min_turn: 1m\nevidence: substring\njournal: {sync: always}\nrules: [{name: extra, include: ['x/**']}]\n";
    let config = Config::load(Some(("config.yml", user))).unwrap();
    let rows: Vec<_> = config
        .show()
        .into_iter()
        .filter(|row| row.source != "default")
        .map(|row| (row.key, row.value, row.source))
        .collect();
    insta::assert_snapshot!(format!("{rows:?}"), @r#"[("min_turn", "1m", "config.yml"), ("evidence", "substring", "config.yml"), ("rules", "[extra]", "config.yml"), ("journal.sync", "always", "config.yml")]"#);
    let project =
        "min_turn: 10s\nworking_slug: login\nenabled: true\ndocs_only: silent\npacks: [go]\n";
    let policy = config
        .policy_for(&facts("Cargo.toml"), Some((".checkpointd.yml", project)))
        .unwrap();
    assert_eq!(
        (policy.min_turn_ms, policy.evidence, policy.docs_only),
        (10_000, EvidenceRule::Substring, Quiet::Silent)
    );
    assert_eq!(
        (
            policy.working_slug.as_deref(),
            policy.packs.join(" ").as_str()
        ),
        (Some("login"), "go generic")
    );
    assert_eq!(policy.rules[0].name, "extra");
}

#[test]
fn the_letter_brings_its_own_defaults_whoever_chose_it() {
    let of = |user: &str, files: &str, project: &str| {
        let config = Config::load(Some(("config.yml", user))).unwrap();
        let file = Some((".checkpointd.yml", project));
        let policy = config.policy_for(&facts(files), file).unwrap();
        let source = |key: &str| {
            let file = config.project_file(".checkpointd.yml", project).unwrap();
            let rows = config.show_in(&InProject {
                facts: &facts(files),
                file: Some((".checkpointd.yml", &file, true)),
            });
            rows.into_iter().find(|row| row.key == key).unwrap().source
        };
        let quiet = [policy.all_clear, policy.docs_only, policy.unchanged];
        let words = quiet.map(Quiet::word).join(" ");
        let is_preset = (policy.scope, policy.background) == (Scope::Worktree, Background::Any);
        (policy.judgment, words, is_preset, source("scope"))
    };
    const LETTER: &str = "judgment: letter\n";
    let (letter, now) = (Edition::Letter, Edition::November2026);
    for (user, files, project, expected) in [
        ("", "", "", (now, "silent silent silent", false, "default")),
        (
            "",
            "teleclaude/",
            "",
            (letter, "message message message", true, "pack teleclaude"),
        ),
        (
            LETTER,
            "",
            "",
            (letter, "message message message", true, "judgment: letter"),
        ),
        (
            "",
            "",
            LETTER,
            (letter, "message message message", true, "judgment: letter"),
        ),
        (
            "judgment: letter\ndocs_only: silent\n",
            "",
            "unchanged: silent\n",
            (letter, "message silent silent", true, "judgment: letter"),
        ),
        (
            LETTER,
            "",
            "judgment: '2026-11'\n",
            (now, "silent silent silent", false, "default"),
        ),
        (
            "judgment: '2026-11'\n",
            "teleclaude/",
            "",
            (now, "silent silent silent", false, "default"),
        ),
        (
            "scope: turn\n",
            "teleclaude/",
            "",
            (letter, "message message message", false, "config.yml"),
        ),
    ] {
        let (judgment, words, is_preset, source) = of(user, files, project);
        let found = (judgment, words.as_str(), is_preset, source.as_str());
        assert_eq!(found, expected, "{user:?} {files:?} {project:?}");
    }
}

#[test]
fn projects_are_switched_off() {
    let off = |config: &str, project: &str| {
        let config = Config::load(Some(("config.yml", config))).unwrap();
        !config
            .policy_for(&facts(""), Some((".checkpointd.yml", project)))
            .unwrap()
            .enabled
    };
    assert!(!off("", ""));
    assert!(off("", "enabled: false"));
    assert!(off("projects: {exclude: [/home/me/code/app]}", ""));
    assert!(off("projects: {exclude: ['**/code']}", ""));
    assert!(off("projects: {include: [/srv/**]}", ""));
    assert!(!off(
        "projects: {include: [/home/me/code/**], exclude: [/home/me/code/old]}",
        ""
    ));
    assert!(!off("projects: all", "enabled: true"));
}

#[test]
fn rules_are_added_overridden_and_disabled() {
    let project = "\
rules:
  - {name: Rust code, disable: true}
  - {name: tests only, pack: rust, modified: Rust tests were modified}
  - name: api schema
    include: [api/**]
    actions: [{text: Run `make client`, evidence: [make client]}]
    needs: [tests]
";
    let policy = Config::default()
        .policy_for(&facts("Cargo.toml"), Some((".checkpointd.yml", project)))
        .unwrap();
    let lines: Vec<_> = policy
        .rules
        .iter()
        .map(|rule| {
            let actions: Vec<_> = rule
                .actions
                .iter()
                .map(|action| format!("{} -> {}", action.purpose, action.text))
                .collect();
            format!(
                "{} / {} / {} / {} actions {}",
                rule.pack,
                rule.name,
                rule.subject(),
                actions.len(),
                actions.join("; ")
            )
            .trim()
            .to_owned()
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    own / api schema / Api schema was modified (a rule of the project's .checkpointd.yml) / 2 actions api schema -> Run `make client` (asked for by the project's .checkpointd.yml); tests -> Run the tests that cover the changed code (asked for by the project's .checkpointd.yml)
    rust / tests only / Rust tests were modified (a rule of the project's .checkpointd.yml) / 1 actions tests -> Run targeted tests for changed test files (`cargo test`)
    rust / dependencies / Dependencies were modified / 1 actions install -> Build with the changed manifest (`cargo build`)
    generic / container image / A container image definition was modified / 1 actions image -> Build the changed container image (`docker build`)
    generic / compose file / A compose file was modified / 1 actions compose -> Check the changed compose file (`docker compose config`)
    generic / no code changes / No code changes was modified / 0 actions
    generic / generated files / Generated files was modified / 0 actions
    generic / settings and data / Settings and data was modified / 0 actions
    generic / linter settings / Linter settings was modified / 0 actions
    generic / tests only / Test files were modified / 1 actions tests -> Run targeted tests for changed test files
    generic / code / Code was modified / 1 actions tests -> Run the tests that cover the changed code
    ");
}

#[test]
fn a_policy_survives_its_journey_through_the_journal() {
    let policy = Config::default()
        .policy_for(&facts("teleclaude/ Cargo.toml"), None)
        .unwrap();
    let (fingerprint, text) = policy.to_text();
    let back = Policy::from_text(&text).unwrap();
    assert_eq!(back, policy);
    assert_eq!(back.to_text(), (fingerprint, text));
    let rule: crate::rules::Rule = serde_json::from_str(r#"{"name":"old"}"#).unwrap();
    assert_eq!(rule.name, "old");
}

#[test]
fn patterns_to_redact_are_read_and_a_wrong_one_is_shown_with_its_place() {
    let load = |text| Config::load(Some(("config.yml", text)));
    let config = load("redact:\n  extra: ['CORP-\\d+']\n").expect("good");
    assert_eq!(
        config.redactor.text("CORP-12 password=hunter2"),
        "[redacted: extra] password=[redacted: secret]"
    );
    let off = load("redact:\n  enabled: false\n").expect("good");
    assert_eq!(off.redactor.text("password=hunter2"), "password=hunter2");
    let wrong = load("redact:\n  extra:\n    - fine\n    - '(open'\n").expect_err("no pattern");
    insta::assert_snapshot!(wrong, @r"
    config.yml:4:7: `(open` is not a valid pattern: unclosed group
      |
    4 |     - '(open'
      |       ^
    ");
    let own = load("redact:\n  extra: [checkpointd]\n").expect_err("our own prefix");
    assert!(
        own.to_string().contains("the prefix would be redacted"),
        "{own}"
    );
}

#[test]
fn an_id_that_could_say_something_to_a_shell_resumes_nothing() {
    let line = Config::default().settings.restart.codex;
    for (id, expected) in [
        ("019a-b.c_D", Some("codex resume '019a-b.c_D'")),
        ("", None),
        ("--yolo", None),
        ("..", None),
        ("a'; rm -rf ~ #", None),
        ("a b", None),
        ("$(id)", None),
        ("é", None),
        ("a\nb", None),
    ] {
        assert_eq!(line.for_session(id).as_deref(), expected, "{id:?}");
    }
    assert_eq!(line.for_session(&"a".repeat(129)), None);
}

#[test]
fn an_empty_file_changes_nothing() {
    for text in ["", "\n", "# nothing\n", "{}\n"] {
        let config = Config::load(Some(("config.yml", text))).unwrap();
        assert_eq!(config.settings, Config::default().settings, "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_answered(text in "[a-z_:\\[\\]{}&*<>|\\-'\" \n\t0-9]{0,60}") {
        let _ = Config::load(Some(("config.yml", &text)));
        let _ = Config::default().policy_for(&facts(""), Some((".checkpointd.yml", &text)));
    }
}
