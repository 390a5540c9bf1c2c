//! Layers, errors and `config show`.

mod endpoint;
mod retention;

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

#[test]
fn every_key_with_its_default() {
    let rows: Vec<_> = Config::default()
        .show()
        .into_iter()
        .map(|(key, value, source)| format!("{key}: {value} ({source})"))
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    min_turn: 30s (default)
    timer: unified (default)
    max_blocks_per_turn: 1 (default)
    scope: worktree (default)
    repeat: once (default)
    evidence: command (default)
    all_clear: message (default)
    docs_only: message (default)
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
    evidence_limits.git_timeout: 2s (default)
    evidence_limits.transcript_bytes: 512KB (default)
    evidence_limits.changed_files_max: 5000 (default)
    tmux.settle: 600ms (default)
    tmux.send_timeout: 2s (default)
    tmux.confirm_timeout: 1m (default)
    tmux.draft: wait (default)
    tmux.draft_wait: 1m (default)
    tmux.hold_for: 10m (default)
    tmux.attempts: 3 (default)
    codex.delivery: tmux (default)
    listeners.agent_finished: [] (default)
    listeners.needs_attention: [] (default)
    listeners.checkpoint_sent: [] (default)
    listeners.timeout: 10s (default)
    listeners.at_once: 4 (default)
    restart.claude: claude --resume {session} (default)
    restart.gemini: gemini --resume {session} (default)
    restart.codex: codex resume {session} (default)
    restart.stop_within: 5s (default)
    phase.folder: ~/.pai/checkpoints (default)
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
        .filter(|(.., source)| source != "default")
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
    insta::assert_snapshot!(lines.join("\n"), @r"
    own / api schema / Api schema was modified / 2 actions api schema -> Run `make client`; tests -> Run the tests that cover the changed code
    rust / tests only / Rust tests were modified / 1 actions tests -> Run targeted tests for changed test files (`cargo test`)
    rust / benchmarks / Benchmarks were modified / 1 actions bench-build -> Build the changed benchmarks (`cargo bench --no-run`)
    rust / dependencies / Dependencies or build settings were modified / 1 actions install -> Build with the changed manifest (`cargo build`)
    generic / container image / A container image definition was modified / 1 actions image -> Build the changed container image (`docker build`)
    generic / compose file / A compose file was modified / 1 actions compose -> Check the changed compose file (`docker compose config`)
    generic / no code changes / No code changes was modified / 0 actions
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
    config.yml:4:7: `(open` is no pattern: unclosed group
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
fn mistakes_are_shown_with_their_place() {
    let table = [
        "min_trun: 30s\n",
        "min_turn: 30\n",
        "min_turn: 30 parsecs\n",
        "scope: world\n",
        "evidence: comand\n",
        "max_blocks_per_turn: two\n",
        "slug_from_branch: perhaps\n",
        "rules: all\n",
        "min_turn: 30s\nscope: turn\nmin_turn: 20s\n",
        "packs: [rust, pyton]\n",
        "min_turn: 30s\npacks: all\n",
        "projects: {include: ['a[']}\n",
        "projects: none\n",
        "journal: {sync: never}\n",
        "journal:\n  snyc: mixed\n",
        "daemon:\n  session_idle: 1m\n  mailbox: 0\n",
        "prefix: '/checkpoint '\n",
        "prefix: ''\n",
        "enabled: false\n",
        "tmux: {setle: 1s}\n",
        "rules: [{name: daemon cod, disable: true}]\n",
        "rules:\n  - name: mine\n    include: ['{a']\n",
        "rules: [{include: [a]}]\n",
        "rules: [{name: mine, include: [a], needs: [test]}]\n",
        "rules: [{name: mine, include: [a], actions: [{txet: x}]}]\n",
        "logs: loud\n",
        "hooks: {escape_marker: ../x}\n",
        "listeners: {agent_finished: notify-send}\n",
        "listeners: {agent_finished: ['']}\n",
        "listeners: {agent_finished: [[]]}\n",
        "listeners: {agent_finished: [7]}\n",
        "restart: {claude: ''}\n",
        "a: [1\n",
        "- min_turn\n",
        "min_turn: 30s\n\tscope: turn\n",
        "evidence_limits: {transcript_bytes: lots}\n",
        "otlp: {endpoint: 'https://localhost:4318'}\n",
        "otlp: {endpoint: 'http://localhost'}\n",
        "otlp:\n  interval: 999ms\n",
    ]
    .map(|text| {
        format!(
            "{}\n",
            Config::load(Some(("config.yml", text))).unwrap_err()
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    config.yml:1:1: unknown key `min_trun`
      |
    1 | min_trun: 30s
      | ^
    hint: did you mean `min_turn`?

    config.yml:1:11: `30` has no unit; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
      |
    1 | min_turn: 30
      |           ^

    config.yml:1:11: `30 parsecs` has no unit; write a duration such as `500ms`, `30s`, `20m` or `1h30m`
      |
    1 | min_turn: 30 parsecs
      |           ^

    config.yml:1:8: `world` is not one of worktree, turn
      |
    1 | scope: world
      |        ^

    config.yml:1:11: `comand` is not one of command, substring
      |
    1 | evidence: comand
      |           ^
    hint: did you mean `command`?

    config.yml:1:22: expected a whole number
      |
    1 | max_blocks_per_turn: two
      |                      ^

    config.yml:1:19: expected a value of type boolean
      |
    1 | slug_from_branch: perhaps
      |                   ^

    config.yml:1:8: expected a list (`[a, b]`)
      |
    1 | rules: all
      |        ^

    config.yml:3:1: duplicate key `min_turn`
      |
    3 | min_turn: 20s
      | ^

    config.yml:1:15: unknown pack `pyton`; the packs are teleclaude, rust, node, python, go, generic
      |
    1 | packs: [rust, pyton]
      |               ^
    hint: did you mean `python`?

    config.yml:2:8: expected `auto` or a list of rule packs, found `all`
      |
    2 | packs: all
      |        ^

    config.yml:1:22: bad glob `a[`: unclosed character class; missing ']'
      |
    1 | projects: {include: ['a[']}
      |                      ^

    config.yml:1:11: expected `all`, or `include` and `exclude` with globs, found `none`
      |
    1 | projects: none
      |           ^

    config.yml:1:17: `never` is not one of mixed, always
      |
    1 | journal: {sync: never}
      |                 ^

    config.yml:2:3: unknown key `snyc`
      |
    2 |   snyc: mixed
      |   ^
    hint: did you mean `sync`?

    config.yml:3:12: expected at least 1
      |
    3 |   mailbox: 0
      |            ^

    config.yml:1:9: a prefix may not begin with `!` or `/`: agents take such text as a command
      |
    1 | prefix: '/checkpoint '
      |         ^

    config.yml:1:9: a prefix may not be empty: our own text is recognised by it
      |
    1 | prefix: ''
      |         ^

    config.yml:1:1: unknown key `enabled`
      |
    1 | enabled: false
      | ^
    hint: `enabled` belongs into the project's .checkpointd.yml

    config.yml:1:8: unknown key `setle`
      |
    1 | tmux: {setle: 1s}
      |        ^
    hint: did you mean `settle`?

    config.yml:1:16: no rule is called `daemon cod`
      |
    1 | rules: [{name: daemon cod, disable: true}]
      |                ^
    hint: did you mean `daemon code`?

    config.yml:3:15: bad glob `{a`: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
      |
    3 |     include: ['{a']
      |               ^

    config.yml:1:10: missing key `name`
      |
    1 | rules: [{include: [a]}]
      |          ^

    config.yml:1:44: no pack has an action for `test`
      |
    1 | rules: [{name: mine, include: [a], needs: [test]}]
      |                                            ^
    hint: did you mean `tests`?

    config.yml:1:47: unknown key `txet`
      |
    1 | rules: [{name: mine, include: [a], actions: [{txet: x}]}]
      |                                               ^
    hint: did you mean `text`?

    config.yml:1:7: expected keys with values (`key: value`)
      |
    1 | logs: loud
      |       ^

    config.yml:1:24: `../x` is no plain file name: at most 100 letters, digits, `_`, `-` and `.`
      |
    1 | hooks: {escape_marker: ../x}
      |                        ^

    config.yml:1:29: expected a list (`[a, b]`)
      |
    1 | listeners: {agent_finished: notify-send}
      |                             ^

    config.yml:1:30: an empty command: write a line for the shell, or `[program, argument]`
      |
    1 | listeners: {agent_finished: ['']}
      |                              ^

    config.yml:1:30: an empty command: write a line for the shell, or `[program, argument]`
      |
    1 | listeners: {agent_finished: [[]]}
      |                              ^

    config.yml:1:30: expected a line for the shell, or `[program, argument]`, found integer `7`
      |
    1 | listeners: {agent_finished: [7]}
      |                              ^

    config.yml:1:19: a resume command is one line of at most 1000 bytes
      |
    1 | restart: {claude: ''}
      |                   ^

    config.yml:1:1: unknown key `a`
      |
    1 | a: [1
      | ^
    hint: the keys here are min_turn, timer, max_blocks_per_turn, scope, repeat, evidence, all_clear, docs_only, reply, headless, restart_delay, prefix, fail, confirm_timeout, packs, rules, slug_from_branch, projects, journal, hooks, daemon, evidence_limits, tmux, codex, listeners, restart, phase, redact, progress, web, metrics, otlp, logs

    config.yml:1:1: expected keys with values (`key: value`)
      |
    1 | - min_turn
      | ^

    config.yml:1:11: while scanning a plain scalar, found a tab
      |
    1 | min_turn: 30s
      |           ^

    config.yml:1:37: `lots` is not a size; write one such as `64KB` or `1MB`
      |
    1 | evidence_limits: {transcript_bytes: lots}
      |                                     ^

    config.yml:1:18: only `http://` is spoken; a collector on this machine can pass all on by `https://`
      |
    1 | otlp: {endpoint: 'https://localhost:4318'}
      |                  ^

    config.yml:1:18: expected `none`, or `http://HOST:PORT` such as `http://localhost:4318`
      |
    1 | otlp: {endpoint: 'http://localhost'}
      |                  ^

    config.yml:2:13: expected at least 1s
      |
    2 |   interval: 999ms
      |             ^
    "#);
}

#[test]
fn mistakes_of_a_project_are_shown_too() {
    let table = [
        "journal: {sync: mixed}\n",
        "enabeld: false\n",
        "working_slug: [a]\n",
    ]
    .map(|text| {
        format!(
            "{}\n",
            Config::default()
                .policy_for(&facts(""), Some((".checkpointd.yml", text)))
                .unwrap_err()
        )
    });
    insta::assert_snapshot!(table.join("\n"), @r"
    .checkpointd.yml:1:1: unknown key `journal`
      |
    1 | journal: {sync: mixed}
      | ^
    hint: `journal` belongs into config.yml

    .checkpointd.yml:1:1: unknown key `enabeld`
      |
    1 | enabeld: false
      | ^
    hint: did you mean `enabled`?

    .checkpointd.yml:1:15: expected a text
      |
    1 | working_slug: [a]
      |               ^
    ");
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
