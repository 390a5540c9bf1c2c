//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use std::path::Path;

use journal::{Agent, Place, ToolKind};
use serde_json::{Value, json};

use crate::adapter::HeadlessSign;
use crate::rooms::adapter;
use crate::tools::tests::{described, ended, ended_by_hook};
use crate::transcript::tests::{calls, shown, written};

const AGENT: Agent = Agent::Codex;

#[test]
fn the_first_line_of_a_rollout_tells_whether_a_person_is_there() {
    let headless = adapter(AGENT).map(|it| (it.headless)(&Place::default()));
    let Some(HeadlessSign::Transcript(is_headless)) = headless else {
        panic!("no sign");
    };
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
        assert_eq!(is_headless(&bytes), expected, "{path}");
    }
    assert!(!is_headless(b"") && !is_headless(b"{\"payload\":{\"source\":{\"sub\":1}}}\n"));
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Shell, Write};
    let add = "*** Begin Patch\n*** Add File: n.txt\n+a\n*** End Patch\n";
    let update = "*** Begin Patch\n*** Update File: n.txt\n@@\n-a\n+b\n*** End Patch\n";
    let heredoc = format!("apply_patch <<'EOF'\n{update}EOF");
    for (tool, input, kind, command, paths) in [
        (
            "Bash",
            json!({"command": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "exec_command",
            json!({"cmd": "echo hi"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "shell",
            json!({"command": ["bash", "-lc", "echo hi"]}),
            Shell,
            Some("echo hi"),
            "",
        ),
        (
            "shell",
            json!({"command": ["git", "log", "a b"]}),
            Shell,
            Some("git log 'a b'"),
            "",
        ),
        (
            "local_shell",
            json!({"command": ["/bin/zsh", "-c", "ls"]}),
            Shell,
            Some("ls"),
            "",
        ),
        ("apply_patch", json!(add), Write, None, "n.txt"),
        (
            "apply_patch",
            json!({"command": update}),
            Edit,
            None,
            "n.txt",
        ),
        ("apply_patch", json!({"input": update}), Edit, None, "n.txt"),
        (
            "Bash",
            json!({"command": heredoc}),
            Edit,
            Some(heredoc.as_str()),
            "n.txt",
        ),
        ("update_plan", json!({"plan": []}), Other, None, ""),
        (
            "write_stdin",
            json!({"session_id": 1, "chars": "x"}),
            Other,
            None,
            "",
        ),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn exit_codes_count_only_in_the_framing() {
    for (command, text, expected) in [
        (
            "make",
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom",
            "err",
        ),
        (
            "make",
            "Exit code: 2\nWall time: 0 seconds\nOutput:\nboom",
            "err",
        ),
        (
            "make",
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 2",
            "ok",
        ),
        (
            "make",
            "{\"output\":\"boom\",\"metadata\":{\"exit_code\":2}}",
            "err",
        ),
        (
            "make",
            "{\"output\":\"fine\",\"metadata\":{\"exit_code\":0}}",
            "ok",
        ),
        ("cat x.json", "{\"broken", "ok"),
        ("cat log", "an error: Process exited with code 2", "ok"),
        (
            "rg x",
            "Wall time: 0 seconds\nProcess exited with code 1\nOutput:\n",
            "ok",
        ),
        (
            "sleep 99",
            "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n",
            "run",
        ),
        ("x", "apply_patch verification failed: no such file", "err"),
        ("x", "exec command rejected by user", "no"),
        (
            "x",
            "Command blocked by PreToolUse hook: R. Command: x",
            "no",
        ),
    ] {
        ended(AGENT, command, text, expected);
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    let printed = after(json!("Exit code: 2\nOutput:\nprinted by the program"));
    ended_by_hook(AGENT, ToolKind::Shell, &printed, "run");
    let stated = after(json!({"output": "x", "metadata": {"exit_code": 0}}));
    ended_by_hook(AGENT, ToolKind::Shell, &stated, "ok");
    for (text, expected) in [
        (
            "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
            "ok",
        ),
        (
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed.",
            "err",
        ),
    ] {
        ended_by_hook(AGENT, ToolKind::Edit, &after(json!(text)), expected);
    }
}

#[test]
fn h_badpatch() {
    insta::assert_snapshot!(shown(AGENT, "h-badpatch.transcripts/rollout-2026-11-21T20-43-30-01a1ffd9-8de8-7ca1-a09c-e96479799beb.jsonl"), @r#"
    01a1ffd9-8de8-7ca1-a09c-e96479799beb 0.169.0 - /home/user/project
    user: User 20:43:30.425 "[script:badpatch] patch it"
    real: User 20:43:30.425 "[script:badpatch] patch it"
    says: "done badpatch"
      00001 apply_patch Edit `-` ["missing.txt"] failed 20:43:30.459 56ms "apply_patch verification failed: Failed to read file to update /home/user/project/missing.txt: No such file or directory (os error 2)"
    "#);
}

#[test]
fn h_normal() {
    insta::assert_snapshot!(shown(AGENT, "h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl"), @r#"
    01a1fffa-28d2-7052-8d5e-d33d1a413d46 0.169.0 - /home/user/project
    user: User 21:19:07.243 "[script:basic] please do it"
    real: User 21:19:07.243 "[script:basic] please do it"
    says: "done"
      00002 exec_command Shell `echo hi` [] ok 21:19:07.308 0ms ""
      00003 apply_patch Write `-` ["notes.txt"] ok 21:19:07.622 92ms ""
      00004 apply_patch Edit `-` ["notes.txt"] ok 21:19:07.838 61ms ""
      00005 exec_command Shell `ls /nonexistent` [] failed 21:19:07.983 0ms "Exit code 2\nls: cannot access '/nonexistent': No such file or directory\n"
    "#);
}

#[test]
fn h_parallel() {
    insta::assert_snapshot!(shown(AGENT, "h-parallel.transcripts/rollout-2026-11-21T20-43-28-01a1ffd9-8838-7600-b7fd-7d7d746807fb.jsonl"), @r#"
    01a1ffd9-8838-7600-b7fd-7d7d746807fb 0.169.0 - /home/user/project
    user: User 20:43:28.926 "[script:parallel] please do it"
    real: User 20:43:28.926 "[script:parallel] please do it"
    says: "done parallel"
      00001 exec_command Shell `echo one` [] ok 20:43:28.967 0ms ""
      00002 exec_command Shell `echo two` [] ok 20:43:28.969 0ms ""
    "#);
}

#[test]
fn h_resume() {
    insta::assert_snapshot!(shown(AGENT, "h-resume.transcripts/rollout-2026-11-21T20-44-57-01a1ffda-e47e-7d42-b420-bb2694547ded.jsonl"), @r#"
    01a1ffda-e47e-7d42-b420-bb2694547ded 0.169.0 - /home/user/project
    user: User 20:44:59.745 "[script:text] again"
    real: User 20:44:59.745 "[script:text] again"
    says: "plain answer"
    "#);
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl"), @r#"
    01a1fffa-3089-71f2-8f43-2e0e710490f5 0.169.0 - /home/user/project
    user: Host 21:19:10.089 "<hook_prompt>DEBRIEF: say what you did.\nSecond line.</hook_prompt>"
    real: User 21:19:09.172 "[script:basic] please do it"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00002 exec_command Shell `echo hi` [] ok 21:19:09.275 0ms ""
      00003 apply_patch Write `-` ["notes.txt"] ok 21:19:09.520 51ms ""
      00004 apply_patch Edit `-` ["notes.txt"] ok 21:19:09.663 61ms ""
      00005 exec_command Shell `ls /nonexistent` [] failed 21:19:09.826 0ms "Exit code 2\nls: cannot access '/nonexistent': No such file or directory\n"
    "#);
}

#[test]
fn t_main() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-01-51-01a1ffea-5aaf-7123-83fd-8232af8fa840.jsonl"), @r#"
    01a1ffea-5aaf-7123-83fd-8232af8fa840 0.169.0 - /home/user/project
    user: User 21:01:59.484 "[script:text] after compact"
    real: User 21:01:59.484 "[script:text] after compact"
    says: "plain answer"
    "#);
}

#[test]
fn t_main_2() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-02-03-01a1ffea-88ff-7ef3-95bb-5cfdaa1ff365.jsonl"), @r#"
    01a1ffea-88ff-7ef3-95bb-5cfdaa1ff365 0.169.0 - /home/user/project
    user: -
    real: -
    says: "-"
    "#);
}

#[test]
fn t_main_3() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-02-34-01a1ffeb-020a-7f23-8689-aec3d5826151.jsonl"), @r#"
    01a1ffeb-020a-7f23-8689-aec3d5826151 0.169.0 - /home/user/project
    user: User 21:02:37.715 "[script:slow] to be interrupted"
    real: User 21:02:37.715 "[script:slow] to be interrupted"
    says: "-"
    "#);
}

#[test]
fn t_permission() {
    insta::assert_snapshot!(shown(AGENT, "t-permission.transcripts/2026__11__21__rollout-2026-11-21T21-02-44-01a1ffeb-2bf3-7b90-92ea-d1751803555c.jsonl"), @r#"
    01a1ffeb-2bf3-7b90-92ea-d1751803555c 0.169.0 - /home/user/project
    user: User 21:02:46.033 "[script:bashask] go"
    real: User 21:02:46.033 "[script:bashask] go"
    says: "done ask"
      00001 exec_command Shell `touch /home/user/outside.txt` [] ok 21:02:46.085 0ms ""
    "#);
}

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
    c1 shell Shell `pytest` [] failed 00:00:01.000 2000ms "Exit code 1\n{\"output\":\"1 failed\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":1.5}}"
    c2 local_shell Shell `rg x` [] ok 00:00:04.000 1005ms ""
    c3 exec_command Shell `make` [] failed 00:00:04.000 2000ms "Exit code 2\nboom"
    c5 exec_command Shell `cargo test` [] failed 00:00:08.000 2000ms "Exit code 101\nfailed"
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
      c2#0 exec_command Shell `cargo test` [] failed 00:00:01.000 2000ms "Exit code 101\ntest result: FAILED. 1 passed; 1 failed\n"
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
    e2 exec_command Shell `cargo test` [] failed 00:00:02.000 0ms "Exit code 101\nFAILED"
    "#
    );
}
