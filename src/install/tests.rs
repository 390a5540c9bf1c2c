//! Effects on settings files, generated and real ones: installing and uninstalling restores every byte, installing
//! twice changes nothing more, and foreign entries are not touched.

use std::path::{Path, PathBuf};

use journal::Agent;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::agents::codex::trust;
use super::agents::installer;
use super::change::Status;
use super::hooks::HookEntry;
use super::settings::{self, Shape};
use crate::edit::files::Text;

fn wanted(agent: Agent, client: &str) -> Vec<HookEntry> {
    installer(agent).wanted(None, Path::new(client), 5_000)
}

/// Returns what the hooks of others say, wherever they stand in the text.
fn foreign(text: &str) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let mut all = settings::handlers(text).expect("JSON");
    all.retain(|handler| handler.client.is_none());
    let said = all.into_iter().map(|hook| {
        let place = (hook.event, hook.group, hook.index);
        let shown = (hook.matcher, hook.status_message, hook.is_async);
        (place, hook.command, hook.timeout, shown)
    });
    said.collect()
}

/// Checks the properties that every settings file must have.
fn check_settings(text: &str, agent: Agent) {
    let entries = wanted(agent, "/opt/bin/checkpointd-hook");
    let (with, statuses) = settings::merge(text, &entries, Shape::Groups).expect("JSON");
    assert!(
        statuses.iter().all(|entry| entry.status == Status::Added),
        "{statuses:?}"
    );
    let ours = settings::handlers(&with).expect("JSON");
    assert_eq!(
        ours.iter()
            .filter(|handler| handler.client.is_some())
            .count(),
        entries.len()
    );
    assert_eq!(foreign(&with), foreign(text), "{with}");

    let (again, statuses) = settings::merge(&with, &entries, Shape::Groups).expect("JSON");
    assert!(
        statuses
            .iter()
            .all(|entry| entry.status == Status::AlreadyThere),
        "{statuses:?}"
    );
    assert_eq!(again, with);

    let elsewhere = wanted(agent, "/elsewhere/it's here/checkpointd-hook");
    let (moved, statuses) = settings::merge(&with, &elsewhere, Shape::Groups).expect("JSON");
    assert!(
        statuses.iter().all(|entry| entry.status == Status::Updated),
        "{statuses:?}"
    );
    assert_eq!(settings::handlers(&moved).expect("JSON").len(), ours.len());

    for with in [with, moved] {
        let (without, _) = settings::strip(&with, Some(text)).expect("JSON");
        // Of nothing, something is left that says nothing.
        if text.is_empty() {
            assert!(settings::is_blank(&without))
        } else {
            assert_eq!(without, text)
        }
    }
}

fn check_trust(text: &str) {
    let (hooks, _) = settings::merge(
        "",
        &wanted(Agent::Codex, "/opt/bin/checkpointd-hook"),
        Shape::Groups,
    )
    .expect("JSON");
    let file = Path::new("/home/me/.codex/hooks.json");
    let handlers = settings::handlers(&hooks).expect("JSON");
    let keys: Vec<_> = handlers
        .iter()
        .map(|one| (trust::key(file, one), trust::hash(one)))
        .collect();
    let before = trust::states(text).expect("TOML");
    let (with, _) = trust::trust(text, &keys).expect("TOML");
    let states = trust::states(&with).expect("TOML");
    assert_eq!(states.len(), before.len() + keys.len());
    assert!(
        before
            .iter()
            .all(|(key, state)| states.get(key) == Some(state))
    );
    assert_eq!(trust::trust(&with, &keys).expect("TOML").0, with);
    let names: Vec<_> = keys.into_iter().map(|(key, _)| key).collect();
    assert_eq!(trust::forget(&with, &names).expect("TOML").0, text);
    // Another program has added to the file meanwhile.
    let more = format!("{}\n[later]\nb = 2\n", with.trim_end());
    let (without, _) = trust::forget(&more, &names).expect("TOML");
    assert!(
        without.contains("[later]\nb = 2\n") && !without.contains("hooks.json"),
        "{without}"
    );
}

#[test]
fn real_settings_files_come_back_byte_for_byte() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/settings");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("readable");
        let Some(end) = path.extension().and_then(|end| end.to_str()) else {
            continue;
        };
        let text = Text::of(Some(&bytes), &path).expect("text");
        assert_eq!(text.bytes(&text.text), bytes);
        match end {
            "json" => Agent::HOSTS
                .into_iter()
                .for_each(|agent| check_settings(&text.text, agent)),
            "toml" => check_trust(&text.text),
            _ => continue,
        }
        seen += 1;
    }
    assert_eq!(seen, 16);
}

#[test]
fn an_entry_that_is_there_twice_becomes_one_and_a_stale_one_goes() {
    let entries = wanted(Agent::Gemini, "/b/checkpointd-hook");
    let (once, _) = settings::merge("{\n}\n", &entries, Shape::Groups).expect("JSON");
    let twice = once.replacen(
        "\"AfterAgent\": [",
        "\"AfterAgent\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/a/checkpointd-hook gemini\"}]}, ",
        1,
    );
    let twice = twice.replacen(
        "\"AfterTool\"",
        "\"BeforeModel\": [{\"hooks\": [{\"type\": \"command\", \
        \"command\": \"/a/checkpointd-hook gemini\"}, {\"type\": \"command\", \"command\": \"mine\"}]}], \"AfterTool\"",
        1,
    );
    let (merged, statuses) = settings::merge(&twice, &entries, Shape::Groups).expect("JSON");
    let ours = settings::handlers(&merged)
        .expect("JSON")
        .into_iter()
        .filter(|handler| handler.client.is_some());
    assert_eq!(ours.count(), entries.len());
    assert_eq!(foreign(&merged).len(), 1);
    let changed: Vec<_> = statuses
        .into_iter()
        .filter(|entry| entry.status != Status::AlreadyThere)
        .collect();
    let changed: Vec<_> = changed
        .iter()
        .map(|entry| (entry.name.as_str(), entry.status))
        .collect();
    assert_eq!(
        changed,
        [
            ("BeforeModel", Status::Removed),
            ("AfterAgent", Status::Updated)
        ]
    );
}

#[test]
fn an_entry_of_ours_that_lost_its_condition_gets_it_back_and_others_of_its_group_stay() {
    let entries = wanted(Agent::Gemini, "/b/checkpointd-hook");
    let entry = entries
        .iter()
        .find(|entry| entry.event == "PreCompress")
        .expect("one");
    let ours = json!({ "type": "command", "command": entry.command, "timeout": entry.timeout });
    let mine = json!({ "type": "command", "command": "mine" });
    for (group, left) in [(json!([ours]), 0), (json!([mine, ours]), 1)] {
        let wrong =
            json!({ "hooks": { "PreCompress": [{ "matcher": "*", "hooks": group }] } }).to_string();
        let (merged, statuses) = settings::merge(&wrong, &entries, Shape::Groups).expect("JSON");
        let updated: Vec<_> = statuses
            .iter()
            .filter(|entry| entry.status == Status::Updated)
            .collect();
        assert_eq!(
            updated
                .iter()
                .map(|entry| entry.name.as_str())
                .collect::<Vec<_>>(),
            ["PreCompress"]
        );
        let all = settings::handlers(&merged)
            .expect("JSON")
            .into_iter()
            .filter(|one| one.event == "PreCompress");
        let (own, foreign): (Vec<_>, Vec<_>) = all.partition(|handler| handler.client.is_some());
        assert_eq!(
            own.iter()
                .map(|handler| handler.matcher.as_deref())
                .collect::<Vec<_>>(),
            [Some("manual")]
        );
        assert_eq!(
            foreign
                .iter()
                .filter(|one| one.matcher.as_deref() == Some("*"))
                .count(),
            left
        );
    }
}

#[test]
fn what_is_no_settings_file_is_refused_with_its_place() {
    let refused = |text: &str| {
        settings::merge(
            text,
            &wanted(Agent::Claude, "/b/checkpointd-hook"),
            Shape::Groups,
        )
        .expect_err(text)
    };
    insta::assert_debug_snapshot!(
        ["{\n  \"a\": [1,],\n}", "{\"a\" 1}", "[1]", "{\n\"hooks\": []}", "{\"hooks\": {\n\"Stop\": {}}}", "{\"a\": 1,\n\"a\": 2}"]
            .map(refused),
        @r#"
    [
        "line 2, column 10: trailing commas are not allowed",
        "line 1, column 6: expected colon after the string or word in object property",
        "expected a settings file with a JSON object",
        "line 2: `hooks` is not an object; fix it by hand",
        "line 2: `hooks.Stop` is not a list; fix it by hand",
        "line 2: `a` occurs twice; remove one by hand",
    ]
    "#
    );
}

/// The layout of a generated file.
#[derive(Clone, Debug)]
struct Style {
    unit: Option<&'static str>,
    is_crlf: bool,
    has_end: bool,
    remarks: Vec<bool>,
}

fn style() -> impl Strategy<Value = Style> {
    let unit = prop_oneof![
        Just(None),
        Just(Some("  ")),
        Just(Some("    ")),
        Just(Some("\t"))
    ];
    (
        unit,
        any::<bool>(),
        any::<bool>(),
        prop::collection::vec(any::<bool>(), 0..40),
    )
        .prop_map(|(unit, is_crlf, has_end, remarks)| Style {
            unit,
            is_crlf,
            has_end,
            remarks,
        })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é世\n\"\\\\]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z/\" ]{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn foreign_hooks() -> impl Strategy<Value = Value> {
    let hook = "[ -~]{0,20}".prop_map(|command| json!({ "type": "command", "command": command }));
    let group = (
        prop::option::of("[A-Za-z|*]{0,8}"),
        prop::collection::vec(hook, 0..3),
    )
        .prop_map(|(matcher, hooks)| {
            let mut group = Map::new();
            group.extend(matcher.map(|matcher| ("matcher".to_owned(), json!(matcher))));
            group.insert("hooks".into(), json!(hooks));
            Value::Object(group)
        });
    let event = prop::sample::select(vec![
        "Stop",
        "PreToolUse",
        "AfterAgent",
        "SessionStart",
        "Own",
    ]);
    prop::collection::btree_map(event, prop::collection::vec(group, 0..3), 0..4)
        .prop_map(|map| json!(map))
}

fn write(value: &Value, style: &Style) -> String {
    let Some(unit) = style.unit else {
        return value.to_string();
    };
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    serde::Serialize::serialize(value, &mut writer).expect("writes");
    let text = String::from_utf8(bytes).expect("text");
    let mut remarks = style.remarks.iter().chain(std::iter::repeat(&false));
    let with_remark = |line: &str| match remarks.next() {
        Some(true) if line.len().is_multiple_of(2) => format!("{line} /* and */ // so {{ on"),
        Some(true) => format!("{line} // it's, so"),
        _ => line.to_owned(),
    };
    let newline = if style.is_crlf { "\r\n" } else { "\n" };
    let lines: Vec<String> = text.lines().map(with_remark).collect();
    lines.join(newline) + if style.has_end { newline } else { "" }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn generated_settings_files_come_back_byte_for_byte(
        rest in prop::collection::btree_map("[a-z]{1,6}", value(), 0..4),
        hooks in prop::option::of(foreign_hooks()),
        is_first in any::<bool>(),
        style in style(),
        agent in prop::sample::select(Agent::HOSTS.to_vec()),
    ) {
        let mut root: Map<String, Value> = rest.into_iter().filter(|(key, _)| key != "hooks").collect();
        if let Some(hooks) = hooks {
            let at = if is_first { 0 } else { root.len() };
            root.shift_insert(at, "hooks".into(), hooks);
        }
        check_settings(&write(&Value::Object(root), &style), agent);
    }

    #[test]
    fn generated_toml_files_come_back_byte_for_byte(
        tables in prop::collection::btree_map("[a-g]{1,3}", prop::collection::btree_map("[a-z]{1,5}", any::<i32>(), 0..4), 0..4),
        is_crlf in any::<bool>(),
        has_end in any::<bool>(),
    ) {
        let mut lines = vec!["# top".to_owned()];
        for (name, values) in tables {
            lines.extend([String::new(), format!("[{name}] # of {name}")]);
            lines.extend(values.iter().map(|(key, value)| format!("{key} = {value}")));
        }
        let newline = if is_crlf { "\r\n" } else { "\n" };
        check_trust(&(lines.join(newline) + if has_end { newline } else { "" }));
    }
}

#[test]
fn a_switch_of_the_administrator_counts_in_their_files_only() {
    let text = r#"{"allowManagedHooksOnly": true}"#;
    assert_eq!(
        settings::switched_off(text, true),
        Some("allowManagedHooksOnly")
    );
    assert_eq!(settings::switched_off(text, false), None);
}

/// Whoever edits it is noted (spec EVID-23).
#[test]
fn the_file_with_an_agents_hooks_is_known_to_the_core() {
    for agent in Agent::HOSTS {
        let installer = installer(agent);
        let file = installer
            .user_folder()
            .expect("a home")
            .join(installer.file);
        let adapter = checkpoint::agents::adapter(agent).expect("an adapter");
        let known = &(adapter.tools.known)().hooks;
        let file = file.to_string_lossy();
        assert!(
            known.iter().any(|end| file.ends_with(end)),
            "{file}: {known:?}"
        );
    }
}
