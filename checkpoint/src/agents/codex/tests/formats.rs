//! Transcripts that no recording shows: older versions, long commands, refusals, own text.

use journal::Agent;

use crate::transcript::tests::{calls, written};

const AGENT: Agent = Agent::Codex;

#[test]
fn what_no_recording_shows() {
    let facts = written(
        AGENT,
        &[
            r##"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/p","cli_version":"0.40.0","git":{"branch":"main"}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"go"}}"##,
            r##"{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p"}]}}"##,
            r##"{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"bash\",\"-lc\",\"pytest\"]}"}}"##,
            r##"{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"1 failed\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":1.5}}"}}"##,
            r##"{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"c2","status":"completed","action":{"type":"exec","command":["bash","-lc","rg x"]}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:05Z","type":"event_msg","payload":{"type":"exec_command_end","call_id":"c2","command":["bash","-lc","rg x"],"exit_code":1,"aggregated_output":"","duration":{"secs":1,"nanos":5000000}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:06Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c3","command":["/bin/bash","-lc","make"],"status":"failed","exit_code":2,"aggregated_output":"boom","duration":{"secs":2,"nanos":0}}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:07Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c4","command":["/bin/bash","-lc","a person's"],"source":"user_shell","status":"completed","exit_code":0}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:08Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c5","arguments":"{\"cmd\":\"cargo test\"}"}}"##,
            r##"{"timestamp":"2026-01-01T00:00:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c5","output":"Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n"}}"##,
            r##"{"timestamp":"2026-01-01T00:00:10Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c5","command":["/bin/bash","-lc","cargo test"],"status":"failed","exit_code":101,"aggregated_output":"failed","duration":{"secs":2,"nanos":0}}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:11Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"c6","status":"declined","changes":{"/p/a":{"type":"add"},"/p/b":{"type":"update"}}}}}"##,
            r##"{"timestamp":"2026-01-01T00:00:12Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c7","arguments":"{\"cmd\":\"apply_patch <<'EOF'\\n*** Begin Patch\\n*** Update File: n.txt\\n*** End Patch\\nEOF\"}"}}"##,
            r##"{"timestamp":"2026-01-01T00:00:13Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c7","output":[{"type":"input_text","text":"exec command rejected by user"}]}}"##,
            r##"{"timestamp":"2026-01-01T00:00:14Z","type":"event_msg","payload":{"type":"agent_message","message":"there"}}"##,
        ],
    );
    assert_eq!(facts.host_version.as_deref(), Some("0.40.0"));
    assert_eq!(facts.branch.as_deref(), Some("main"));
    assert_eq!(facts.last_user.as_ref().expect("one").text, "go");
    insta::assert_snapshot!(calls(&facts), @r#"
    c1 shell Shell `pytest` [] failed 00:00:01.000 2000ms "{\"output\":\"1 failed\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":1.5}}"
    c2 local_shell Shell `rg x` [] ok 00:00:04.000 1005ms ""
    c3 exec_command Shell `make` [] failed 00:00:04.000 2000ms "boom"
    c5 exec_command Shell `cargo test` [] failed 00:00:08.000 2000ms "failed"
    c6 apply_patch Edit `-` ["/p/a", "/p/b"] refused 00:00:11.000 0ms ""
    c7 exec_command Edit `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: n.txt\n*** End Patch\nEOF` ["n.txt"] refused 00:00:12.000 1000ms ""
    "#);
}

#[test]
fn a_message_typed_while_it_works_is_one_of_the_same_task() {
    let event = |second: u32, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:{second:02}Z","type":"event_msg","payload":{payload}}}"#
        )
    };
    let said = |second, text: &str| {
        event(
            second,
            &format!(r#"{{"type":"user_message","message":"{text}"}}"#),
        )
    };
    let task = |second, kind: &str| event(second, &format!(r#"{{"type":"{kind}","turn_id":"t"}}"#));
    let ran = |second: u32, id: &str| {
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:{second:02}Z","type":"response_item","payload":{{"type":"local_shell_call","call_id":"{id}","action":{{"command":["ls"]}}}}}}"#
        )
    };
    let before = [said(1, "old"), ran(2, "c1")];
    let now = [
        said(11, "go"),
        ran(12, "c2"),
        said(13, "and this"),
        ran(14, "c3"),
    ];
    let cases: [(&[&str], &[&str], &str); 4] = [
        (
            &["task_complete", "task_started"],
            &["c2", "c3"],
            "00:00:11",
        ),
        (&["turn_aborted"], &["c2", "c3"], "00:00:11"),
        (&["task_started"], &["c2", "c3"], "00:00:11"),
        // Rollouts without these events.
        (&[], &["c3"], "00:00:13"),
    ];
    for (marks, expected, began) in cases {
        let marks = marks.iter().map(|kind| task(10, kind));
        let lines: Vec<String> = before
            .iter()
            .cloned()
            .chain(marks)
            .chain(now.clone())
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let facts = written(AGENT, &lines);
        let ids: Vec<_> = facts
            .calls
            .iter()
            .filter_map(|call| call.id.as_deref())
            .collect();
        assert_eq!(ids, expected);
        assert!(facts.began.expect("known").to_string().contains(began));
        assert_eq!(facts.last_user.expect("one").text, "and this");
        assert!(facts.is_whole);
    }
}

fn script(id: &str, text: &str) -> String {
    let text = serde_json::to_string(text).expect("a string");
    format!(
        r#"{{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{{"type":"custom_tool_call","call_id":"{id}","name":"exec","input":{text}}}}}"#
    )
}

fn script_result(id: &str, head: &str, text: &str) -> String {
    let blocks = serde_json::json!([
        {"type": "input_text", "text": format!("{head}\nWall time 0.9 seconds\nOutput:\n")},
        {"type": "input_text", "text": text},
    ]);
    format!(
        r#"{{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{{"type":"custom_tool_call_output","call_id":"{id}","output":{blocks}}}}}"#
    )
}

/// Two rollouts of one task: the older one has only its scripts, the newer one an item for what they ran.
#[test]
fn calls_of_scripts_are_seen_with_and_without_items() {
    let begin = [
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_started"}}"#.to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"go"}}"#.to_owned(),
    ];
    let patch = script(
        "c1",
        "const patch = \"*** Begin Patch\\n*** Update File: /p/a.rs\\n@@\\n-a\\n+b\\n*** End Patch\";\ntext(await tools.apply_patch(patch));",
    );
    let patched = script_result("c1", "Script completed", "{}");
    let run = script(
        "c2",
        "const r = await tools.exec_command({cmd: 'cargo test', workdir: '/p'}); text(r);",
    );
    let ran = script_result(
        "c2",
        "Script completed",
        r#"{"chunk_id":"x","exit_code":101,"output":"test result: FAILED. 1 passed; 1 failed"}"#,
    );
    let long = script(
        "c3",
        "text((await tools.exec_command({cmd: 'make all'})).output)",
    );
    let still = script_result("c3", "Script running with cell ID 5", "");
    let wait = [
        r#"{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"function_call","name":"wait","call_id":"c4","arguments":"{\"cell_id\":\"5\"}"}}"#.to_owned(),
        script_result("c4", "Script completed", "5 passed in 1.0s"),
    ];
    let lines = |parts: &[&[String]]| -> String {
        let lines = parts.concat();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let facts = written(AGENT, &lines);
        let seen = facts
            .outcomes
            .iter()
            .map(|outcome| format!("{}: {:?}", outcome.call, outcome.ended));
        format!("{}\n{}", calls(&facts), seen.collect::<Vec<_>>().join("\n"))
    };
    insta::assert_snapshot!(
        lines(&[&begin, &[patch.clone(), patched.clone(), run.clone(), ran.clone(), long, still], &wait]),
        @r#"
      c1#0 apply_patch Edit `-` ["/p/a.rs"] ok 00:00:01.000 2000ms ""
      c2#0 exec_command Shell `cargo test` [] failed 00:00:01.000 2000ms "test result: FAILED. 1 passed; 1 failed\n"
      c3#0 exec_command Shell `make all` [] open 00:00:01.000 ?ms ""
      c4 wait Other `-` [] ok 00:00:04.000 0ms ""

    1: None
    2: Some(Passed)
    "#
    );
    let items = [
        r#"{"timestamp":"2026-01-01T00:00:02Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"e1","status":"completed","changes":{"/p/a.rs":{"type":"update"}}}}}"#.to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:02Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"e2","command":["/bin/bash","-lc","cargo test"],"status":"failed","exit_code":101,"aggregated_output":"FAILED"}}}"#.to_owned(),
    ];
    insta::assert_snapshot!(
        lines(&[&begin, &[patch, items[0].clone(), patched, run, items[1].clone(), ran]]),
        @r#"
    e1 apply_patch Edit `-` ["/p/a.rs"] ok 00:00:02.000 0ms ""
    e2 exec_command Shell `cargo test` [] failed 00:00:02.000 0ms "FAILED"
    "#
    );
}
