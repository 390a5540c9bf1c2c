//! Transcripts that no recording shows: older versions, long commands, refusals, own text.

use journal::Agent;

use crate::transcript::tests::{PREFIX, calls, read, written};

const AGENT: Agent = Agent::Gemini;

#[test]
fn what_no_recording_shows() {
    let facts = written(
        AGENT,
        &[
            r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#,
            r#"{"id":"u0","type":"user","content":"lost with the list","timestamp":"2026-01-01T00:00:00Z"}"#,
            r#"{"$set":{"messages":[{"id":"u1","timestamp":"2026-01-01T00:00:01Z","type":"user","content":[{"text":"<hook_context>x</hook_context>\n\ngo"}]},{"id":"g1","timestamp":"2026-01-01T00:00:02Z","type":"gemini","content":[{"functionCall":{"id":"f1","name":"read_file","args":{"file_path":"/a"}}}]},{"id":"r1","type":"user","content":[{"functionResponse":{"id":"f1","response":{"error":"File not found"}}}]}]}}"#,
            r#"{"id":"g2","timestamp":"2026-01-01T00:00:03Z","type":"gemini","content":"","toolCalls":[{"id":"f2","name":"run_shell_command","args":{"command":"sleep 9"},"status":"executing"},{"id":"f3","name":"write_file","args":{"file_path":"/b"},"status":"cancelled","result":[{"functionResponse":{"response":{"error":"[Operation Cancelled] Reason: User denied execution."}}}]}]}"#,
            r#"{"id":"g3","timestamp":"2026-01-01T00:00:04Z","type":"gemini","content":"","toolCalls":[{"id":"f4","name":"run_shell_command","args":{"command":"ls"},"status":"error","result":[{"functionResponse":{"response":{"error":"Tool execution blocked: no"}}}]}]}"#,
            r#"{"id":"g4","timestamp":"2026-01-01T00:00:05Z","type":"gemini","content":"taken back"}"#,
            r#"{"id":"u2","type":"user","content":"taken back too","timestamp":"2026-01-01T00:00:06Z"}"#,
            r#"{"$rewindTo":"g4"}"#,
        ],
    );
    assert_eq!(facts.last_assistant, None);
    assert!(
        facts
            .last_real_user
            .as_ref()
            .expect("one")
            .text
            .ends_with("go")
    );
    insta::assert_snapshot!(calls(&facts), @r#"
    f1 read_file Read `-` ["/a"] failed 00:00:02.000 ?ms "File not found"
    f2 run_shell_command Shell `sleep 9` [] open 00:00:03.000 ?ms ""
    f3 write_file Write `-` ["/b"] refused 00:00:03.000 ?ms ""
    f4 run_shell_command Shell `ls` [] refused 00:00:04.000 ?ms ""
    "#);
}

#[test]
fn the_older_format_is_one_document() {
    let document = r#"{
  "sessionId": "s",
  "messages": [
    {"id": "1", "type": "user", "timestamp": "2026-01-01T00:00:00Z", "content": "first"},
    {"id": "2", "type": "gemini", "timestamp": "2026-01-01T00:00:01Z", "content": "", "toolCalls": [{"id": "a", "name": "run_shell_command", "args": {"command": "earlier"}, "status": "success"}]},
    {"id": "3", "type": "user", "timestamp": "2026-01-01T00:00:02Z", "content": "second"},
    {"id": "4", "type": "gemini", "timestamp": "2026-01-01T00:00:03Z", "content": "done", "toolCalls": [{"id": "b", "name": "replace", "args": {"file_path": "/a"}, "status": "success", "timestamp": "2026-01-01T00:00:04Z"}]}
  ]
}
"#;
    let facts = read(AGENT, document.as_bytes(), true, PREFIX).expect("readable");
    assert_eq!(
        (facts.session.as_deref(), facts.last_assistant.as_deref()),
        (Some("s"), Some("done"))
    );
    assert_eq!(facts.last_user.as_ref().expect("one").text, "second");
    insta::assert_snapshot!(calls(&facts), @r#"  b replace Edit `-` ["/a"] ok 00:00:03.000 1000ms """#);
    assert_eq!(
        read(AGENT, &document.as_bytes()[100..], false, PREFIX),
        None,
        "only whole"
    );
}
