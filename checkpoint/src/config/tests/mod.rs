//! Layers, errors and `config show`.

mod agents;
mod endpoint;
mod mistakes;
mod project_file;
mod retention;

use journal::Agent;

use super::*;
use crate::policy::Policy;
use crate::policy::{EvidenceRule, Quiet};
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
    insta::assert_snapshot!(defaults(false), @r#"
    min_turn: 30s (default)
    timer: unified (default)
    max_blocks_per_turn: 1 (default)
    scope: turn (default)
    repeat: once (default)
    evidence: command (default)
    all_clear: message (default)
    docs_only: message (default)
    unchanged: silent (default)
    background: returning (default)
    steering: joins (default)
    reply: auto (default)
    headless: when_needed (default)
    restart_delay: 5s (default)
    prefix: [TeleClaude Checkpoint] -  (default)
    fail: open (default)
    confirm_timeout: 1m (default)
    packs: auto (default)
    rules: [] (default)
    slug_from_branch: false (default)
    projects: all (default)
    agents: [] (default)
    "#);
}

#[test]
fn every_key_of_a_group_with_its_default() {
    insta::assert_snapshot!(defaults(true), @r#"
    verify.outcomes: output (default)
    verify.commands: project (default)
    verify.uncovered: build (default)
    verify.scope: named (default)
    verify.unknown: counts (default)
    verify.gaps: evaluated (default)
    hygiene.read: session (default)
    hygiene.wide: off (default)
    hygiene.drift: plan (default)
    hygiene.errors: open (default)
    hygiene.missing_tools: passed_over (default)
    hygiene.handed_over: reported (default)
    hygiene.narrower: open (default)
    changed.data: ignored (default)
    changed.comments: ignored (default)
    changed.dependencies: changed (default)
    changed.root: found (default)
    changed.packs: touched (default)
    changed.commits: head (default)
    changed.tree: session (default)
    journal.sync: mixed (default)
    journal.batch_window: 50ms (default)
    journal.payload_bytes_max: 64KB (default)
    journal.retention: {"payloads":"30d","kinds":{}} (default)
    journal.compact: daily (default)
    hooks.stop_wait: 5s (default)
    hooks.escape_marker: teleclaude_checkpoint_clear (default)
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
    redact.enabled: true (default)
    redact.extra: [] (default)
    progress.path: .ai-instructions/concepts/memory-bank/progress-checkpoint.md (default)
    progress.resume: true (default)
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
    fleet.postgres: none (default)
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
    rust / benchmarks / Benchmarks were modified / 1 actions bench-build -> Build the changed benchmarks (`cargo bench --no-run`)
    rust / dependencies / Dependencies or build settings were modified / 1 actions install -> Build with the changed manifest (`cargo build`)
    generic / container image / A container image definition was modified / 1 actions image -> Build the changed container image (`docker build`)
    generic / compose file / A compose file was modified / 1 actions compose -> Check the changed compose file (`docker compose config`)
    generic / no code changes / No code changes was modified / 0 actions
    generic / dependencies / Dependencies were modified / 1 actions install -> Install or build with the changed dependencies (`bundle install`, `composer install`, `mvn package`, or the project's own command)
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
    let own = load("redact:\n  extra: [Checkpoint]\n").expect_err("our own prefix");
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
