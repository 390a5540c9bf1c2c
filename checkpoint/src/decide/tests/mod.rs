//! The exits of a decision.

mod repeat;

use super::{Findings, Reason, inject_reason, or_generic, takes_context};

#[test]
fn a_rule_that_panics_costs_the_rules_and_not_the_agent() {
    let findings = or_generic(|| panic!("asked for by a test"));
    assert_eq!(
        (findings.generic, inject_reason(&findings)),
        (true, Reason::Generic)
    );
    assert_eq!(or_generic(Findings::default), Findings::default());
}

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
