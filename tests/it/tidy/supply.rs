//! Rules for manifests and dependencies: no unsafe code of our own, one minimal Rust version, and a reason for each
//! exception.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item};

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn toml(name: &str) -> DocumentMut {
    text(name)
        .parse()
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The manifests of all crates of the workspace.
fn manifests() -> Vec<(String, DocumentMut)> {
    let root = toml("Cargo.toml");
    let members = root["workspace"]["members"].as_array().expect("a list");
    let names = members
        .iter()
        .map(|member| format!("{}/Cargo.toml", member.as_str().expect("a folder")));
    names.map(|name| (name.clone(), toml(&name))).collect()
}

#[test]
fn no_crate_may_hold_unsafe_code() {
    // `forbid` cannot be taken back within a crate, so it is enough that each crate has it.
    let lints = &toml("Cargo.toml")["workspace"]["lints"]["rust"];
    assert_eq!(
        lints["unsafe_code"].as_str(),
        Some("forbid"),
        "write `unsafe_code = \"forbid\"` below [workspace.lints.rust] in Cargo.toml"
    );
    let manifests = manifests();
    assert!(
        manifests.len() >= 4,
        "only {} crates are members of the workspace; this test reads their manifests",
        manifests.len()
    );
    for (name, manifest) in manifests {
        let inherits = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"))
            .and_then(Item::as_bool);
        assert_eq!(
            inherits,
            Some(true),
            "{name}: write `workspace = true` below [lints]"
        );
    }
}

/// So that no hook client and no daemon links a client of the broker or TLS.
#[test]
fn only_the_fleets_own_program_speaks_to_its_broker() {
    let speaks = |manifest: &DocumentMut| {
        let named = manifest.get("dependencies").and_then(Item::as_table_like);
        let mut names = named.into_iter().flat_map(|named| named.iter());
        names.any(|(name, _)| ["async-nats", "rcgen", "checkpointd-fleet"].contains(&name))
    };
    let manifests = manifests();
    let speaking = manifests.iter().filter(|(_, manifest)| speaks(manifest));
    let speaking: Vec<&str> = speaking.map(|(name, _)| name.as_str()).collect();
    assert_eq!(speaking, ["fleet/Cargo.toml"]);
}

#[test]
fn the_minimal_rust_is_the_same_wherever_it_is_named() {
    let root = toml("Cargo.toml");
    let minimal = root["workspace"]["package"]["rust-version"]
        .as_str()
        .expect("a version")
        .to_owned();
    for (name, manifest) in manifests() {
        assert_eq!(
            manifest["package"]["rust-version"]["workspace"].as_bool(),
            Some(true),
            "{name}: write `rust-version.workspace = true` below [package]"
        );
    }
    for name in ["README.md", "install.sh"] {
        assert!(
            text(name).contains(&format!("{minimal} or newer")),
            "{name}: name the minimal Rust of Cargo.toml as `{minimal} or newer`"
        );
    }
}

#[test]
fn every_exception_in_what_may_come_in_has_its_reason() {
    let deny = toml("deny.toml");
    let exceptions = [
        ("advisories", "ignore"),
        ("bans", "skip"),
        ("bans", "skip-tree"),
    ];
    for (table, key) in exceptions {
        let listed = deny[table]
            .get(key)
            .map(|listed| listed.as_array().expect("a list"));
        for exception in listed.into_iter().flatten() {
            let reason = exception
                .as_inline_table()
                .and_then(|table| table.get("reason")?.as_str());
            assert!(
                reason.is_some_and(|reason| reason.len() > 20),
                "deny.toml, {table}.{key}: give {exception:?} a `reason` that says why it is allowed"
            );
        }
    }
}
