//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::Kimi;

#[test]
fn h_stop_block_once() {
    let facts = recorded(AGENT, "h-stop-block-once.transcripts/wire.jsonl");
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    - - - -
    user: Own 12:39:40.061 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 12:39:39.526 "improve"
    says: "debrief-done"
      e812c Read Read `-` ["/home/user/project/src/x.py"] ok 12:39:39.663 5ms ""
      5d051 Edit Edit `-` ["/home/user/project/src/x.py"] ok 12:39:39.755 4ms ""
      7fca3 Bash Shell `echo hi; env | grep -i KIMI; false` [] failed 12:39:39.864 51ms "hi\nCommand failed with exit code: 1."
      cab08 Write Write `-` ["/home/user/project/notes.txt"] ok 12:39:39.997 1ms ""
      4bbce Bash Shell `echo tests ok` [] ok 12:39:40.112 12ms ""
    "#);
}
