//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show, written};

const AGENT: Agent = Agent::Copilot;

#[test]
fn h_stop_block_once() {
    let facts = recorded(AGENT, "h-stop-block-once.transcripts/events.jsonl");
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    - - - -
    user: Own 18:28:10.137 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 18:28:09.247 "[script:main] improve x"
    says: "debrief-done"
      00002 view Read `-` ["/home/user/project/src/x.py"] ok 18:28:09.329 100ms ""
      00005 edit Edit `-` ["/home/user/project/src/x.py"] ok 18:28:09.466 154ms ""
      00008 bash Shell `echo hi; false` [] failed 18:28:09.652 245ms "hi\n<shellId: 0 completed with exit code 1>"
      00011 create Write `-` ["/home/user/project/notes.txt"] ok 18:28:09.922 106ms ""
      00016 bash Shell `echo tests ok` [] ok 18:28:10.163 181ms ""
    "#);
}

#[test]
fn lines_of_a_subagent_are_not_the_sessions() {
    let line = |kind: &str, data: &str| {
        format!(
            r#"{{"type":"{kind}","id":"i","timestamp":"2026-01-01T00:00:00Z","data":{{{data}}}}}"#
        )
    };
    let facts = written(
        AGENT,
        &[
            &line("user.message", r#""content":"go""#),
            &line(
                "user.message",
                r#""content":"a part","parentToolCallId":"t""#,
            ),
            &line(
                "assistant.message",
                r#""content":"","parentToolCallId":"t","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"command":"ls"}}]"#,
            ),
            &line("assistant.message", r#""content":"done""#),
        ],
    );
    assert_eq!(
        (facts.prompts, facts.calls.len()),
        (vec!["go".to_owned()], 0)
    );
    assert_eq!(facts.last_assistant.as_deref(), Some("done"));
}
