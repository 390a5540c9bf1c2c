//! Layers, errors and `config show`.

use super::*;
use crate::policy::{EvidenceRule, Quiet};

fn facts(files: &str) -> ProjectFacts {
    ProjectFacts { path: "/home/me/work/app".into(), files: files.split_whitespace().map(String::from).collect() }
}

#[test]
fn every_key_with_its_default() {
    let rows: Vec<_> =
        Config::default().show().into_iter().map(|(key, value, source)| format!("{key}: {value} ({source})")).collect();
    insta::assert_snapshot!(rows.join("\n"), @"");
}

#[test]
fn files_go_over_each_other() {
    let user =
        "min_turn: 1m\nevidence: substring\njournal: {sync: always}\nrules: [{name: extra, include: ['x/**']}]\n";
    let config = Config::load(Some(("config.yml", user))).unwrap();
    let rows: Vec<_> = config.show().into_iter().filter(|(.., source)| source != "default").collect();
    insta::assert_snapshot!(format!("{rows:?}"), @"");
    let project = "min_turn: 10s\nworking_slug: login\nenabled: true\ndocs_only: silent\npacks: [go]\n";
    let policy = config.policy_for(&facts("Cargo.toml"), Some((".checkpointd.yml", project))).unwrap();
    assert_eq!(
        (policy.min_turn_ms, policy.evidence, policy.docs_only),
        (10_000, EvidenceRule::Substring, Quiet::Silent)
    );
    assert_eq!((policy.working_slug.as_deref(), policy.packs.join(" ").as_str()), (Some("login"), "go generic"));
    assert_eq!(policy.rules[0].name, "extra");
}

#[test]
fn projects_are_switched_off() {
    let off = |config: &str, project: &str| {
        let config = Config::load(Some(("config.yml", config))).unwrap();
        !config.policy_for(&facts(""), Some((".checkpointd.yml", project))).unwrap().enabled
    };
    assert!(!off("", ""));
    assert!(off("", "enabled: false"));
    assert!(off("projects: {exclude: [/home/me/work/app]}", ""));
    assert!(off("projects: {exclude: ['**/work']}", ""));
    assert!(off("projects: {include: [/srv/**]}", ""));
    assert!(!off("projects: {include: [/home/me/work/**], exclude: [/home/me/work/old]}", ""));
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
    let policy = Config::default().policy_for(&facts("Cargo.toml"), Some((".checkpointd.yml", project))).unwrap();
    let lines: Vec<_> = policy
        .rules
        .iter()
        .map(|rule| {
            let actions: Vec<_> =
                rule.actions.iter().map(|action| format!("{} -> {}", action.purpose, action.text)).collect();
            format!("{} / {} / {} / {}", rule.pack, rule.name, rule.subject(), actions.join("; "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"");
}

#[test]
fn a_policy_survives_its_journey_through_the_journal() {
    let policy = Config::default().policy_for(&facts("teleclaude/ Cargo.toml"), None).unwrap();
    let (fingerprint, text) = policy.to_text();
    let back = Policy::from_text(&text).unwrap();
    assert_eq!(back, policy);
    assert_eq!(back.to_text(), (fingerprint, text));
    let rule: crate::rules::Rule = serde_json::from_str(r#"{"name":"old"}"#).unwrap();
    assert_eq!(rule.name, "old");
}

#[test]
fn mistakes_are_shown_with_their_place() {
    let table = [
        "min_trun: 30s\n",
        "min_turn: 30\n",
        "min_turn: 30 parsecs\n",
        "scope: world\n",
        "evidence: comand\n",
        "max_blocks_per_turn: two\n",
        "min_turn: 30s\nscope: turn\nmin_turn: 20s\n",
        "packs: [rust, pyton]\n",
        "packs: all\n",
        "projects: {include: ['a[']}\n",
        "projects: none\n",
        "journal: {sync: never}\n",
        "journal:\n  snyc: mixed\n",
        "daemon: {mailbox: 0}\n",
        "prefix: '/checkpoint '\n",
        "prefix: ''\n",
        "enabled: false\n",
        "tmux: {settle: 1s}\n",
        "rules: [{name: daemon cod, disable: true}]\n",
        "rules:\n  - name: mine\n    include: ['{a']\n",
        "rules: [{include: [a]}]\n",
        "rules: [{name: mine, include: [a], needs: [test]}]\n",
        "rules: [{name: mine, include: [a], actions: [{txet: x}]}]\n",
        "logs: loud\n",
        "a: [1\n",
        "- min_turn\n",
        "min_turn: 30s\n\tscope: turn\n",
        "evidence_limits: {transcript_bytes: lots}\n",
    ]
    .map(|text| format!("{}\n", Config::load(Some(("config.yml", text))).unwrap_err()));
    insta::assert_snapshot!(table.join("\n"), @"");
}

#[test]
fn mistakes_of_a_project_are_shown_too() {
    let table = ["journal: {sync: mixed}\n", "enabeld: false\n", "working_slug: [a]\n"].map(|text| {
        format!("{}\n", Config::default().policy_for(&facts(""), Some((".checkpointd.yml", text))).unwrap_err())
    });
    insta::assert_snapshot!(table.join("\n"), @"");
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
