//! Mistakes in files: what is wrong, where, and what to do.

use super::*;

/// Returns the error that a wrong `config.yml` gives.
fn shown(text: &str) -> String {
    let error = Config::load(Some(("config.yml", text))).unwrap_err();
    format!("{error}\n")
}

#[test]
fn mistakes_in_single_values_are_shown_with_their_place() {
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
    ]
    .map(shown);
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
    "#);
}

#[test]
fn mistakes_in_lists_are_shown_with_their_place() {
    let table = [
        "packs: [rust, pyton]\n",
        "min_turn: 30s\npacks: all\n",
        "projects: {include: ['a[']}\n",
        "projects: none\n",
    ]
    .map(shown);
    insta::assert_snapshot!(table.join("\n"), @"
    config.yml:1:15: unknown pack `pyton`; the packs are teleclaude, beam, clojure, dart, gleam, go, haskell, javascript, julia, jvm, native, ocaml, php, python, r, ruby, rust, solidity, swift, zig, generic
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
    ");
}

#[test]
fn mistakes_in_groups_are_shown_with_their_place() {
    let table = [
        "journal: {sync: never}\n",
        "journal:\n  snyc: mixed\n",
        "daemon:\n  session_idle: 1m\n  mailbox: 0\n",
        "prefix: '/checkpoint '\n",
        "prefix: ''\n",
        "enabled: false\n",
        "tmux: {setle: 1s}\n",
    ]
    .map(shown);
    insta::assert_snapshot!(table.join("\n"), @r#"
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

    config.yml:1:9: a prefix may not be empty: checkpointd recognizes its own text by it
      |
    1 | prefix: ''
      |         ^

    config.yml:1:1: unknown key `enabled`
      |
    1 | enabled: false
      | ^
    hint: `enabled` belongs in the project's .checkpointd.yml

    config.yml:1:8: unknown key `setle`
      |
    1 | tmux: {setle: 1s}
      |        ^
    hint: did you mean `settle`?
    "#);
}

#[test]
fn mistakes_in_rules_are_shown_with_their_place() {
    let table = [
        "rules: [{name: daemon cod, disable: true}]\n",
        "rules:\n  - name: mine\n    include: ['{a']\n",
        "rules: [{include: [a]}]\n",
        "rules: [{name: mine, include: [a], needs: [test]}]\n",
        "rules: [{name: mine, include: [a], actions: [{txet: x}]}]\n",
    ]
    .map(shown);
    insta::assert_snapshot!(table.join("\n"), @r#"
    config.yml:1:16: unknown rule `daemon cod`
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
    "#);
}

#[test]
fn mistakes_in_programs_are_shown_with_their_place() {
    let table = [
        "programs: {mytest: {does: tets}}\n",
        "programs:\n  mytest:\n    does: tests\n    operand: paths\n",
        "programs:\n  acme:\n    verbs:\n      check: chekc\n",
        "programs:\n  acme:\n    verbs: {check: {dryy: [-n]}}\n",
        "programs: {mytest: 7}\n",
    ]
    .map(shown);
    insta::assert_snapshot!(table.join("\n"), @"
    config.yml:1:27: `tets` is not one of show, set_up, install, format, lint, serve, run, types, build, tests
      |
    1 | programs: {mytest: {does: tets}}
      |                           ^
    hint: did you mean `tests`?

    config.yml:4:5: unknown key `operand`
      |
    4 |     operand: paths
      |     ^
    hint: did you mean `operands`?

    config.yml:4:7: `chekc` is not one of show, set_up, install, format, lint, serve, run, types, build, tests
      |
    4 |       check: chekc
      |       ^

    config.yml:3:21: unknown key `dryy`
      |
    3 |     verbs: {check: {dryy: [-n]}}
      |                     ^
    hint: did you mean `dry`?

    config.yml:1:12: expected what it does, or a table, found integer `7`
      |
    1 | programs: {mytest: 7}
      |            ^
    ");
}

#[test]
fn mistakes_in_commands_are_shown_with_their_place() {
    let table = [
        "logs: loud\n",
        "hooks: {escape_marker: ../x}\n",
        "listeners: {agent_finished: notify-send}\n",
        "listeners: {agent_finished: ['']}\n",
        "listeners: {agent_finished: [[]]}\n",
        "listeners: {agent_finished: [7]}\n",
    ]
    .map(shown);
    insta::assert_snapshot!(table.join("\n"), @r#"
    config.yml:1:7: expected keys with values (`key: value`)
      |
    1 | logs: loud
      |       ^

    config.yml:1:24: `../x` is not a plain file name: use at most 100 letters, digits, `_`, `-` and `.`
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
    "#);
}

#[test]
fn mistakes_of_yaml_and_addresses_are_shown_with_their_place() {
    let table = [
        "restart: {claude: ''}\n",
        "zzzz: [1\n",
        "- min_turn\n",
        "min_turn: 30s\n\tscope: turn\n",
        "evidence_limits: {transcript_bytes: lots}\n",
        "otlp: {endpoint: 'https://localhost:4318'}\n",
        "otlp: {endpoint: 'http://localhost'}\n",
        "otlp:\n  interval: 999ms\n",
    ]
    .map(shown);
    insta::assert_snapshot!(table.join("\n"), @"
    config.yml:1:19: a resume command is one line of at most 1000 bytes
      |
    1 | restart: {claude: ''}
      |                   ^

    config.yml:1:1: unknown key `zzzz`
      |
    1 | zzzz: [1
      | ^
    hint: the keys here are min_turn, judgment, ask, uncovered, comments, timer, max_blocks_per_turn, scope, repeat, evidence, all_clear, docs_only, unchanged, background, reply, headless, restart_delay, prefix, message, fail, confirm_timeout, packs, rules, programs, slug_from_branch, projects, agents, journal, hooks, daemon, evidence_limits, tmux, codex, listeners, restart, phase, experiment, redact, progress, web, metrics, otlp, fleet, logs

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

    config.yml:1:18: only `http://` is supported; a local collector can forward to `https://`
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
    ");
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
    hint: `journal` belongs in config.yml

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
