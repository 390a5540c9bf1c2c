//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::Pi;

#[test]
fn h_stop_block_once() {
    let facts = recorded(
        AGENT,
        "h-stop-block-once.transcripts/2026-11-23T13-05-19-008Z_01a20882-ca9f-77d2-884b-e7acdf26fbc8.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    - - - -
    user: Own 13:05:20.384 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 13:05:19.438 "improve"
    says: "debrief-done"
      77d4b read Read `-` ["src/x.py"] ok 13:05:19.681 98ms ""
      d905a edit Edit `-` ["src/x.py"] ok 13:05:19.801 104ms ""
      28737 bash Shell `echo hi; false` [] failed 13:05:19.913 162ms "hi\n\n\nCommand exited with code 1"
      4e6b3 write Write `-` ["notes.txt"] ok 13:05:20.117 123ms ""
      c8aeb bash Shell `echo tests ok` [] ok 13:05:20.424 99ms ""
    "#);
}
