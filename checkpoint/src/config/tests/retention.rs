//! Periods of retention.

use std::time::Duration;

use crate::config::Config;
use crate::config::{Keep, Retention};

fn read(retention: &str) -> Result<Retention, String> {
    let text = format!("journal: {{retention: {retention}}}\n");
    let config = Config::load(Some(("config.yml", &text))).map_err(|error| error.message)?;
    Ok(config.settings.journal.retention)
}

#[test]
fn periods_are_set_for_all_kinds_and_for_single_ones() {
    let days = |days: u64| Some(Duration::from_secs(days * 86_400));
    let own = read("{kinds: {prompt_submitted: forever, tool_finished: 7d}}").expect("right");
    assert_eq!(own.payloads.period(), days(30));
    let kinds: Vec<_> = own
        .kinds
        .iter()
        .map(|(kind, keep)| (kind.0.as_str(), keep.period()))
        .collect();
    assert_eq!(
        kinds,
        [("prompt_submitted", None), ("tool_finished", days(7))]
    );
    assert_eq!(
        read("{payloads: forever}").expect("right").payloads,
        Keep::Forever
    );
    assert_eq!(
        Config::default().settings.journal.retention,
        Retention::default()
    );
}

#[test]
fn a_kind_that_is_none_and_a_period_that_is_none_are_named() {
    assert!(
        read("{kinds: {tool_done: 7d}}")
            .expect_err("wrong")
            .contains("`tool_done`")
    );
    assert!(
        read("{payloads: long}")
            .expect_err("wrong")
            .contains("`long`")
    );
    assert!(
        read("{decisions: 7d}")
            .expect_err("wrong")
            .contains("`decisions`")
    );
}
