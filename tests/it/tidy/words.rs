//! What is named in its own rooms only: the store's library, HTTP, agents. And every rule that is cited exists.

use std::collections::{BTreeMap, BTreeSet};

use journal::Agent;

use super::source::{File, assert_none, files, is_word, tree, words};

fn product(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| {
        let crates = [
            "src",
            "journal/src",
            "reading/src",
            "redact/src",
            "memory/src",
            "agents/src",
            "checkpoint/src",
            "actors/src",
            "broker/src",
        ];
        file.is_in(&crates) && !file.code.is_empty() && !file.is_test()
    })
}

/// Returns where code outside of these rooms has one of these words.
fn named(files: &[File], named: &[&str], rooms: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in product(files).filter(|file| !file.is_in(rooms)) {
        let product = file.product();
        for word in named {
            for at in words(&product, word) {
                found.push(format!("{}:{}: {word}", file.path, file.line_of(at)));
            }
        }
    }
    found
}

/// Returns where a string outside of these rooms is, or has in it, one of these texts.
fn quoted(files: &[File], texts: &[&str], rooms: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in product(files).filter(|file| !file.is_in(rooms)) {
        let product = file.product();
        for text in texts {
            for (at, _) in file.text.match_indices(text) {
                // Comments and strings are blank; only a string begins and ends with a quote that is code.
                let is_string = product[at..].starts_with('"') || in_string(&product, at);
                if is_string {
                    found.push(format!("{}:{}: {text}", file.path, file.line_of(at)));
                }
            }
        }
    }
    found
}

/// Returns whether the blank at a place lies behind a quote of the same line.
fn in_string(code: &str, at: usize) -> bool {
    let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
    code[line..at].matches('"').count() % 2 == 1
}

fn sled(files: &[File]) -> Vec<String> {
    named(files, &["sled"], &["journal/src/store"])
}

const HTTP: [&str; 8] = [
    "src/daemon/http",
    "src/daemon/web",
    // The processes that listen, and what it sends of itself.
    "src/daemon/mod.rs",
    "src/daemon/fleet/collector.rs",
    "src/daemon/telemetry/otlp",
    // The clients.
    "src/client",
    "src/cli/connection.rs",
    "journal/src/hook_call",
];

fn http(files: &[File]) -> Vec<String> {
    let mut found = named(files, &["actix_web", "actix_http", "StatusCode"], &HTTP);
    found.extend(quoted(files, &["HTTP/1.1"], &HTTP));
    found
}

const AGENTS: [&str; 6] = [
    "agents/src/rooms",
    "src/install/agents",
    // Keys of the settings, the agent of the demo, and the client, which does not link the core.
    "checkpoint/src/config/yaml.rs",
    "src/cli/commands/demo/stage.rs",
    "src/client/input.rs",
    // The definition.
    "journal/src/event",
];

fn agents(files: &[File]) -> Vec<String> {
    let variants = Agent::HOSTS.map(|agent| format!("Agent::{agent:?}"));
    let mut found = named(files, &variants.each_ref().map(String::as_str), &AGENTS);
    let quotes = Agent::WORDS.map(|word| format!("\"{word}\""));
    found.extend(quoted(
        files,
        &quotes.each_ref().map(String::as_str),
        &AGENTS,
    ));
    found
}

/// Returns the numbers of a text that look like those of rules, such as `TURN-3`.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let mut cited = Vec::new();
    for (dash, _) in text.match_indices('-') {
        let digits = text[dash + 1..]
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count();
        let letters = text[..dash]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_uppercase)
            .count();
        let begin = dash - letters;
        let end = dash + 1 + digits;
        let bounded = [begin.checked_sub(1), Some(end)]
            .into_iter()
            .flatten()
            .all(|at| text.as_bytes().get(at).is_none_or(|next| !is_word(*next)));
        if letters > 0 && digits > 0 && bounded {
            cited.push((begin, &text[begin..end]));
        }
    }
    cited
}

/// Returns citations of rules that do not exist, and rules that exist twice. A citation is a number with the prefix of a
/// rule.
fn citations(files: &[File]) -> Vec<String> {
    let mut rules: BTreeMap<&str, &str> = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.is_in(&["docs/spec"])) {
        for line in file.text.lines() {
            let rule = line
                .strip_prefix("### ")
                .and_then(|title| title.split(' ').next());
            let rule = rule.filter(|rule| numbers(rule).len() == 1);
            let other = rule.and_then(|rule| rules.insert(rule, &file.path));
            if let (Some(rule), Some(other)) = (rule, other) {
                wrong.push(format!("{}: {rule} is in {other} too", file.path));
            }
        }
    }
    let prefixes: BTreeSet<&str> = rules.keys().map(|rule| prefix(rule)).collect();
    // The rules of this test are made up.
    for file in files.iter().filter(|file| !file.is_in(&["tests/it/tidy"])) {
        let unknown = numbers(&file.text)
            .into_iter()
            .filter(|(_, rule)| prefixes.contains(prefix(rule)) && !rules.contains_key(rule));
        wrong.extend(unknown.map(|(at, rule)| {
            format!(
                "{}:{}: there is no rule {rule}",
                file.path,
                file.line_of(at)
            )
        }));
    }
    wrong
}

fn prefix(rule: &str) -> &str {
    rule.split('-').next().unwrap_or_default()
}

#[test]
fn sled_is_named_by_the_store_only() {
    assert_none(
        &sled(&tree()),
        "move it to journal/src/store/, and give that a function for it",
    );
}

#[test]
fn http_is_spoken_at_the_edge_only() {
    let to_do =
        "return a value or an error of your own, and let src/daemon/http/ make a response of it";
    assert_none(&http(&tree()), to_do);
}

#[test]
fn agents_are_named_in_their_rooms_only() {
    let to_do = "ask the agent's adapter (agents/src/rooms/, src/install/agents/) instead";
    assert_none(&agents(&tree()), to_do);
}

#[test]
fn every_cited_rule_exists_once() {
    assert_none(
        &citations(&tree()),
        "cite a heading of docs/spec/, or add the rule there",
    );
}

#[test]
fn names_in_the_wrong_rooms_are_found() {
    let tree = files(&[
        ("journal/src/log.rs", "use sled::Db; // sled\n"),
        ("journal/src/store/mod.rs", "use sled::Db;\n"),
        (
            "src/ops/phase.rs",
            "fn a() -> StatusCode {}\nlet b = \"GET / HTTP/1.1\";\n// HTTP/1.1\n",
        ),
        ("src/daemon/http/mod.rs", "use actix_web::web;\n"),
        ("src/ops/tests.rs", "use actix_web::web;\nAgent::Claude;\n"),
        (
            "src/cli/top.rs",
            "match a { Agent::Claude => \"gemini\" }\n#[cfg(test)]\nmod tests {\nAgent::Codex }\nAgent::Codex",
        ),
        ("src/ops/wire.rs", "let a = \"opencode\";\nAgent::OpenCode"),
        ("src/install/agents/codex.rs", "Agent::Codex\n"),
    ]);
    assert_eq!(sled(&tree), ["journal/src/log.rs:1: sled"]);
    assert_eq!(
        http(&tree),
        [
            "src/ops/phase.rs:1: StatusCode",
            "src/ops/phase.rs:2: HTTP/1.1"
        ]
    );
    assert_eq!(
        agents(&tree),
        [
            "src/cli/top.rs:1: Agent::Claude",
            "src/cli/top.rs:5: Agent::Codex",
            "src/ops/wire.rs:2: Agent::OpenCode",
            "src/cli/top.rs:1: \"gemini\"",
            "src/ops/wire.rs:1: \"opencode\""
        ]
    );
}

#[test]
fn wrong_citations_are_found() {
    let tree = files(&[
        (
            "docs/spec/turns.md",
            "### TURN-1 A\nsee TURN-2\n### TURN-2 B\n",
        ),
        ("docs/spec/other.md", "### TURN-2 C\n"),
        ("src/main.rs", "// spec TURN-1, TURN-3, UTF-8, RETURN-9\n"),
    ]);
    assert_eq!(
        citations(&tree),
        [
            "docs/spec/other.md: TURN-2 is in docs/spec/turns.md too",
            "src/main.rs:1: there is no rule TURN-3"
        ]
    );
}
