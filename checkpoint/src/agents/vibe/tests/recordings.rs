//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::Vibe;

#[test]
fn h_stop_block_once() {
    let facts = recorded(
        AGENT,
        "h-stop-block-once.transcripts/0000000000000001.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    - - - -
    user: Own 15:37:41.265 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 15:37:38.707 "improve"
    says: "debrief-done"
      00060 file_system.read_file Read `-` ["src/x.py"] ok 15:37:39.182 11ms ""
      00050 file_system.search_replace Edit `-` ["src/x.py"] ok 15:37:39.585 56ms ""
      00040 file_system.bash Shell `echo hi; false` [] failed 15:37:40.061 103ms "hi\n"
      00030 file_system.write_file Write `-` ["notes.txt"] ok 15:37:40.690 59ms ""
      00010 file_system.bash Shell `echo tests ok` [] ok 15:37:41.587 74ms ""
    "#);
}

#[test]
fn h_readmiss() {
    let facts = recorded(AGENT, "h-readmiss.transcripts/0000000000000131.jsonl");
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    - - - -
    user: User 15:38:29.119 "go on"
    real: User 15:38:29.119 "go on"
    says: "over"
      16dea file_system.search_replace Edit `-` ["src/x.py"] failed 15:38:29.383 14ms "block 0: old_str not found in /home/user/project/src/x.py; read the file again and copy old_str exactly"
      12fe6 file_system.read_file Read `-` ["missing.py"] failed 15:38:29.413 11ms "File not found at: /home/user/project/missing.py"
      51c6d file_system.bash Shell `sleep 2` [] failed 15:38:29.469 1067ms "\n[The command timed out after 1s and was stopped. The output above is what it printed until then.]"
      ool:0 file_system.bash Shell `echo from ts; exit 3` [] failed 15:38:30.792 13ms "from ts\n"
      734d3 vibe.todo Other `-` [] ok 15:38:31.039 11ms ""
    "#);
}
