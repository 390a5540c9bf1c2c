//! What of a project's file counts, before and after it is trusted (spec RULE-16).

use super::*;
use crate::policy::Policy;

const EVERYTHING: &str = "\
enabled: false
packs: [go]
working_slug: login
min_turn: 0s
max_blocks_per_turn: 4000000000
repeat: always
prefix: '[Mine] '
rules:
  - {name: Go code, pack: go, actions: [{text: Say that all is well, evidence: [true]}]}
  - {name: schema, include: ['**'], actions: [{text: Send it away}], needs: [tests]}
";

fn under(trusted: bool) -> (Policy, Policy) {
    let user = Config::load(Some(("config.yml", "max_blocks_per_turn: 2\n"))).unwrap();
    let file = user.project_file(".checkpointd.yml", EVERYTHING).unwrap();
    let with = |file| user.policy_with(&facts("go.mod"), file, trusted);
    (with(Some(&file)), with(None))
}

#[test]
fn before_trust_only_the_switch_and_the_packs_count() {
    let (policy, without) = under(false);
    assert!(!policy.enabled && without.enabled);
    assert_eq!(policy.packs, ["go", "generic"]);
    assert_eq!(
        Policy {
            enabled: true,
            ..policy
        },
        without
    );
}

#[test]
fn a_trusted_file_changes_neither_the_prefix_nor_the_users_budget() {
    let (policy, without) = under(true);
    assert_eq!(
        (policy.prefix, policy.max_blocks_per_turn),
        (without.prefix, 2)
    );
    assert_eq!((policy.min_turn_ms, policy.enabled), (0, false));
}

#[test]
fn a_smaller_budget_of_the_project_counts() {
    let policy = Config::default()
        .policy_for(
            &facts(""),
            Some((".checkpointd.yml", "max_blocks_per_turn: 0")),
        )
        .unwrap();
    assert_eq!(policy.max_blocks_per_turn, 0);
}

#[test]
fn what_waits_and_what_is_overruled_is_said() {
    let user = Config::default();
    let said = |text| {
        let file = user.project_file(".checkpointd.yml", text).unwrap();
        let lines = [file.needs_trust(), file.overruled(&user.settings)].concat();
        lines.join("\n")
    };
    insta::assert_snapshot!(said(EVERYTHING), @r"
    `working_slug`
    `min_turn`
    `max_blocks_per_turn`
    `repeat`
    rule `Go code`
    rule `schema`
    `prefix` has no effect here: only config.yml sets it
    `max_blocks_per_turn: 4000000000` counts as 1, the most that config.yml allows
    ");
    assert_eq!(said("enabled: false\npacks: [rust]\n"), "");
}

#[test]
fn demands_of_a_project_name_their_source() {
    let (policy, _) = under(true);
    let texts: Vec<_> = policy
        .rules
        .iter()
        .flat_map(|rule| {
            rule.actions
                .iter()
                .map(|action| format!("{}: {}", rule.name, action.text))
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    schema: Send it away (asked for by the project's .checkpointd.yml)
    schema: Run the tests that cover the changed code (asked for by the project's .checkpointd.yml)
    Go code: Say that all is well (asked for by the project's .checkpointd.yml)
    tests only: Run targeted tests for changed test files (`go test ./...`)
    dependencies: Build with the changed manifest (`go build ./...`)
    container image: Build the changed container image (`docker build`)
    compose file: Check the changed compose file (`docker compose config`)
    tests only: Run targeted tests for changed test files
    code: Run the tests that cover the changed code
    ");
}

#[test]
fn a_file_that_grows_without_bound_is_an_error() {
    let mut aliases = "packs: &a0 [go, go, go, go, go, go, go, go, go, go]\nrules:\n".to_owned();
    for level in 1..10 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        aliases.push_str(&format!("  - &a{level} [{below}]\n"));
    }
    let error = |text: &str| {
        let error = Config::default().project_file(".checkpointd.yml", text);
        error.expect_err("is an error").to_string()
    };
    for text in [
        aliases,
        format!("packs: {}", "[".repeat(100_000)),
        format!("packs: [{}go]", "go, ".repeat(300_000)),
    ] {
        let words = error(&text);
        assert!(words.len() < 1000, "{words}");
        assert!(!words.contains("Nodes"), "{words}");
    }
}
