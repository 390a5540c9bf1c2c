//! Tests with recordings of the real agent.

mod composer;
mod formats;
mod recordings;
mod tools;

use super::takes_context;

#[test]
fn only_a_version_that_is_known_to_take_context_gets_it() {
    for (version, expected) in [
        (Some("2.1.330"), true),
        (Some("2.1.163"), true),
        (Some("2.1.162"), false),
        (Some("2.2.0"), true),
        (Some("1.9.999"), false),
        (Some("3.0.0-beta.1"), true),
        (Some("latest"), false),
        (None, false),
    ] {
        assert_eq!(takes_context(version), expected, "{version:?}");
    }
}
