//! Tests with recordings of the real agent.

mod composer;
mod formats;
mod recordings;
mod tools;

use std::path::Path;

use super::headless::is_exec;

#[test]
fn the_first_line_of_a_rollout_tells_whether_a_person_is_there() {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/fixtures/codex");
    for (path, expected) in [
        (
            "h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl",
            true,
        ),
        (
            "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-01-51-01a1ffea-5aaf-7123-83fd-8232af8fa840.jsonl",
            false,
        ),
    ] {
        let bytes = std::fs::read(recordings.join(path)).expect("a recorded transcript");
        assert_eq!(is_exec(&bytes), expected, "{path}");
    }
    assert!(!is_exec(b"") && !is_exec(b"{\"payload\":{\"source\":{\"sub\":1}}}\n"));
}
