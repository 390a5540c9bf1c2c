//! Transcripts that no recording shows: older versions, long commands, refusals, own text.

use journal::Agent;

use crate::transcript::tests::{calls, written};

const AGENT: Agent = Agent::Claude;

#[test]
fn what_no_recording_shows() {
    let facts = written(
        AGENT,
        &[
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"older version, no marks"}}"#,
            r#"{"type":"assistant","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"npm start"}}]}}"#,
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","toolUseResult":{"stdout":"","backgroundTaskId":"b1"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Command running in background","is_error":false}]}}"#,
            r#"{"type":"user","isSidechain":true,"sessionId":"s","timestamp":"2026-01-01T00:00:03Z","message":{"content":"a subagent's task"}}"#,
            r#"{"type":"assistant","isSidechain":true,"sessionId":"s","timestamp":"2026-01-01T00:00:03Z","message":{"content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"a subagent's"}}]}}"#,
            r#"{"type":"assistant","sessionId":"s","timestamp":"2026-01-01T00:00:04Z","message":{"content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"t3","name":"Bash","input":{"command":"grep -r x src"}},{"type":"tool_use","id":"t4","name":"Read","input":{"file_path":"/a"}}]}}"#,
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:05Z","message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"Exit code 1","is_error":true},{"type":"tool_result","tool_use_id":"t4","content":[{"type":"text","text":"The user doesn't want to proceed with this tool use."}],"is_error":true}]}}"#,
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:06Z","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}"#,
        ],
    );
    assert_eq!(
        facts.last_real_user.as_ref().expect("one").text,
        "older version, no marks"
    );
    assert_eq!(facts.last_user, facts.last_real_user);
    assert_eq!(facts.last_assistant.as_deref(), Some("I look"));
    insta::assert_snapshot!(calls(&facts), @r#"
    t1 Bash Shell `npm start` [] open 00:00:01.000 ?ms ""
    t3 Bash Shell `grep -r x src` [] ok 00:00:04.000 1000ms ""
    t4 Read Read `-` ["/a"] refused 00:00:04.000 1000ms ""
    "#);
}

#[test]
fn it_takes_up_a_prompt_while_it_works() {
    let call = r#"{"type":"assistant","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
    let queued = |mode: &str, text: &str| {
        format!(
            r#"{{"type":"attachment","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","attachment":{{"type":"queued_command","prompt":"{text}","commandMode":"{mode}"}}}}"#
        )
    };
    for (mode, said, n_calls) in [
        ("prompt", "and also this", 1),
        ("task-notification", "and", 1),
        ("prompt", "[TeleClaude Checkpoint] - x", 1),
    ] {
        assert_eq!(
            written(AGENT, &[call, &queued(mode, said)]).calls.len(),
            n_calls,
            "{mode} {said}"
        );
    }
}
