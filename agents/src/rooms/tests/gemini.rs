//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, ToolKind};
use serde_json::{Value, json};

use crate::tools::tests::{described, ended, ended_by_hook};
use crate::transcript::tests::{PREFIX, calls, read, shown, written};

const AGENT: Agent = Agent::Gemini;

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "run_shell_command",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read_file", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "read_file",
            json!({"absolute_path": "/a"}),
            Read,
            None,
            "/a",
        ),
        (
            "read_many_files",
            json!({"paths": ["a", "b"]}),
            Read,
            None,
            "a b",
        ),
        ("replace", json!({"file_path": "/a"}), Edit, None, "/a"),
        ("write_file", json!({"file_path": "/a"}), Write, None, "/a"),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn exit_codes_count_only_in_the_framing() {
    let framed = |output: &str, rest: &str| {
        format!(
            "<untrusted_context>\nOutput: {output}\n{rest}Process Group PGID: 1\n</untrusted_context>"
        )
    };
    for (command, text, expected) in [
        ("make", framed("boom", "Exit Code: 2\n"), "err"),
        ("make", framed("Exit Code: 2\nfine", ""), "ok"),
        ("make", framed("boom", "Signal: SIGKILL\n"), "err"),
        ("make", framed("fine", "Signal: 0\n"), "ok"),
        ("make", framed("fine", "Exit Code: 0\nSignal: 0\n"), "ok"),
        ("make", framed("boom", "Exit Code: 2\nSignal: 0\n"), "err"),
        ("make", framed("boom", "Signal: 15\n"), "err"),
        (
            "make",
            "Output: x\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 1"
                .to_owned(),
            "ok",
        ),
        ("rg x", framed("(empty)", "Exit Code: 1\n"), "ok"),
        (
            "make",
            "Stdout: x\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)"
                .to_owned(),
            "ok",
        ),
        (
            "make",
            "Stdout: x\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: 1"
                .to_owned(),
            "err",
        ),
    ] {
        ended(AGENT, command, &text, expected);
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    for (payload, expected) in [
        (
            after(
                json!({"llmContent": "Output: x\nExit Code: 2\nProcess Group PGID: 9", "returnDisplay": "x"}),
            ),
            "err",
        ),
        (
            after(
                json!({"llmContent": [{"text": "Output: x\nProcess Group PGID: 9"}], "returnDisplay": [[{"text": "x"}]]}),
            ),
            "ok",
        ),
        (
            after(
                json!({"llmContent": "no", "error": {"message": "File not found: x", "type": "file_not_found"}}),
            ),
            "err",
        ),
        (
            after(json!({"llmContent": "no", "error": {"message": "Tool execution blocked: R"}})),
            "no",
        ),
        (
            after(
                json!({"llmContent": "Command moved to background (PID: 7). Output hidden. Press Ctrl+B to view."}),
            ),
            "run",
        ),
        (
            after(
                json!({"llmContent": "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output. There was no output before it was cancelled."}),
            ),
            "err",
        ),
        (after(json!(null)), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_normal() {
    insta::assert_snapshot!(shown(AGENT, "h-normal.transcripts/session-2026-11-21T21-19-5c9c151e.jsonl"), @r#"
    5c9c151e-dae8-4d91-b6de-8cabe6f798b3 - - -
    user: User 21:19:13.941 "[script:basic] please do it"
    real: User 21:19:13.941 "[script:basic] please do it"
    says: "done"
      397_0 run_shell_command Shell `echo hi` [] ok 21:19:14.553 243ms ""
      228_0 write_file Write `-` ["/home/user/project/notes.txt"] ok 21:19:15.246 371ms ""
      282_0 replace Edit `-` ["/home/user/project/notes.txt"] ok 21:19:16.316 341ms ""
      290_0 run_shell_command Shell `ls /nonexistent` [] failed 21:19:17.299 457ms "<untrusted_context>\nOutput: ls: cannot access '/nonexistent': No such file or directory\nExit Code: 2\nProcess Group PGID: 9497\n</untrusted_context>"
    "#);
}

#[test]
fn h_parallel() {
    insta::assert_snapshot!(shown(AGENT, "h-parallel.transcripts/session-2026-11-21T20-45-fd8ad528.jsonl"), @r#"
    fd8ad528-7775-43f2-a951-65c97f621fc8 - - -
    user: User 20:45:12.014 "[script:parallel] please do it"
    real: User 20:45:12.014 "[script:parallel] please do it"
    says: "done parallel"
      939_0 run_shell_command Shell `echo one` [] ok 20:45:13.292 619ms ""
      268_1 run_shell_command Shell `echo two` [] ok 20:45:13.292 619ms ""
    "#);
}

#[test]
fn h_readmiss() {
    insta::assert_snapshot!(shown(AGENT, "h-readmiss.transcripts/session-2026-11-21T20-45-d9a3bad3.jsonl"), @r#"
    d9a3bad3-1f3c-4927-a895-db62b3cae207 - - -
    user: User 20:45:22.351 "[script:readmiss] read it"
    real: User 20:45:22.351 "[script:readmiss] read it"
    says: "done readmiss"
      470_0 read_file Read `-` ["/home/user/project/nonexistent.txt"] failed 20:45:22.913 434ms "File not found: /home/user/project/nonexistent.txt"
    "#);
}

#[test]
fn h_resume() {
    insta::assert_snapshot!(shown(AGENT, "h-resume.transcripts/session-2026-11-21T20-51-3b438ae5.jsonl"), @r#"
    3b438ae5-a3e1-41b3-aff6-83475020fdb9 - - -
    user: User 20:51:34.259 "[script:text] again"
    real: User 20:51:34.259 "[script:text] again"
    says: "plain answer"
    "#);
}

#[test]
fn h_stop_deny_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl"), @r#"
    9f41e258-c223-4af0-b557-bdd60743872f - - -
    user: User 21:19:26.784 "DEBRIEF: say what you did.\nSecond line."
    real: User 21:19:26.784 "DEBRIEF: say what you did.\nSecond line."
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
    "#);
}

#[test]
fn t_main() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/logs.json"), @"nothing");
}

#[test]
fn t_main_2() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/session-2026-11-21T21-05-d302e775.jsonl"), @r#"
    d302e775-1ca6-4e13-9966-57627dc9859b - - -
    user: User 21:05:25.907 "[script:text] after clear"
    real: User 21:05:25.907 "[script:text] after clear"
    says: "plain answer"
    "#);
}

#[test]
fn t_main_3() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/session-2026-11-21T21-05-f3735547.jsonl"), @r#"
    f3735547-4fee-4bed-8a4a-5c8d4f25e94a - - -
    user: Host 21:05:14.117 "Stop hook feedback:\nDEBRIEF: say what you did.\nSecond line."
    real: User 21:05:12.507 "[script:bash] and again"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      897_0 run_shell_command Shell `echo hi` [] ok 21:05:12.903 412ms ""
    "#);
}

#[test]
fn t_permission() {
    insta::assert_snapshot!(shown(AGENT, "t-permission.transcripts/logs.json"), @"nothing");
}

#[test]
fn t_permission_2() {
    insta::assert_snapshot!(shown(AGENT, "t-permission.transcripts/session-2026-11-21T21-05-c7cb4ef3.jsonl"), @r#"
    c7cb4ef3-0b65-4aa6-a0dd-c84dab7fc049 - - -
    user: User 21:05:42.600 "[script:bashask] go"
    real: User 21:05:42.600 "[script:bashask] go"
    says: "done ask"
      180_0 run_shell_command Shell `touch asked.txt` [] ok 21:05:44.320 4198ms ""
    "#);
}

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
