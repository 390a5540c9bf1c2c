//! The exits of a decision.

mod holdout;
mod leaving;
mod repeat;
mod unchanged;

use super::{Findings, Reason, inject_reason, or_generic};

#[test]
fn a_rule_that_panics_costs_the_rules_and_not_the_agent() {
    let findings = or_generic(|| panic!("asked for by a test"));
    assert_eq!(
        (findings.generic, inject_reason(&findings)),
        (true, Reason::Generic)
    );
    assert_eq!(or_generic(Findings::default), Findings::default());
}
