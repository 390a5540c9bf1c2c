//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, Event, ReplyForm, ToolKind};
use serde_json::{Value, json};

use crate::adapter::Reply;
use crate::hooks::tests::called;
use crate::rooms::adapter;
use crate::tools::tests::{described, ended, ended_by_hook};
use crate::transcript::join;
use crate::transcript::tests::{calls, shown, written};

const AGENT: Agent = Agent::Claude;

#[test]
fn a_command_in_a_skill_is_a_call() {
    let payload = json!({"session_id": "s", "hook_event_name": "PreSkillShellCommand", "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"}, "tool_use_id": "t1:preamble-0", "command_name": "check"});
    let Event::ToolStarted { call, .. } = called(AGENT, None, &payload).draft.event else {
        panic!("no call");
    };
    let known = (call.kind, call.command.as_deref(), call.id.as_deref());
    assert_eq!(
        known,
        (ToolKind::Shell, Some("pytest -q"), Some("t1:preamble-0"))
    );
}

#[test]
fn a_changed_configuration_is_journaled_under_its_own_name() {
    let payload =
        json!({"session_id": "s", "hook_event_name": "ConfigChange", "source": "user_settings"});
    let Event::OtherHook { host } = called(AGENT, None, &payload).draft.event else {
        panic!("another event");
    };
    assert_eq!(host.hook, "ConfigChange");
}

#[test]
fn only_a_version_that_is_known_to_take_context_gets_it() {
    for (version, expected) in [
        (Some("2.1.330"), true),
        (Some("2.1.163"), true),
        (Some("2.1.162"), false),
        (Some("2.2.0"), true),
        (Some("1.9.999"), false),
        (Some("3.0.0-beta.1"), true),
        (Some("latest"), false),
        (None, false),
    ] {
        let form = adapter(AGENT).map(|it| it.reply_form(Reply::Auto, version));
        let expected = if expected {
            ReplyForm::Context
        } else {
            ReplyForm::Block
        };
        assert_eq!(form, Some(expected), "{version:?}");
    }
}

#[test]
fn a_shell_in_the_background_brings_no_other_stop() {
    let task = |kind: &str, status: &str| json!({"id": "b1", "type": kind, "status": status, "description": "", "command": "npm run dev"});
    let returning = |payload: &Value| adapter(AGENT)?.returning_tasks(payload);
    for (tasks, expected) in [
        (json!([]), Some(0)),
        (json!([task("shell", "running")]), Some(0)),
        (json!([task("monitor", "running")]), Some(0)),
        (json!([task("teammate", "running")]), Some(0)),
        (
            json!([task("shell", "running"), task("subagent", "running")]),
            Some(1),
        ),
        (json!([task("subagent", "completed")]), Some(0)),
        (json!([{"id": "b1", "status": "running"}]), None),
    ] {
        let payload = json!({"background_tasks": tasks});
        assert_eq!(returning(&payload), expected, "{payload}");
    }
    assert_eq!(returning(&json!({})), None);
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "Bash",
            json!({"command": "echo hi", "description": "x"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("Read", json!({"file_path": "/a"}), Read, None, "/a"),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "x"}),
            Edit,
            None,
            "/a",
        ),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": []}),
            Edit,
            None,
            "/a",
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/a.ipynb"}),
            Edit,
            None,
            "/a.ipynb",
        ),
        (
            "Write",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": "src"}),
            Other,
            None,
            "src",
        ),
        ("TodoWrite", json!({"todos": []}), Other, None, ""),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn tools_of_mcp_servers_are_known_by_their_names_and_fields() {
    use ToolKind::{Edit, Other, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "mcp__fs__write_file",
            json!({"path": "/a"}),
            Write,
            None,
            "/a",
        ),
        (
            "mcp__fs__edit_file",
            json!({"path": "/a"}),
            Edit,
            None,
            "/a",
        ),
        (
            "mcp__editor__list",
            json!({"path": "/a"}),
            Other,
            None,
            "/a",
        ),
        ("mcp__fs__read_text", json!({"query": "x"}), Other, None, ""),
        (
            "mcp__box__sh",
            json!({"cmd": "make test"}),
            Shell,
            Some("make test"),
            "",
        ),
        ("mcp__box__run", json!({"id": 3}), Other, None, ""),
        (
            "mcp__sh__exec",
            json!({"command": "ls"}),
            Shell,
            Some("ls"),
            "",
        ),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn exit_codes_count_only_in_the_framing() {
    for (command, text, expected) in [
        ("make", "Exit code 2\nboom", "err"),
        ("make", "Error: Exit code 2\nboom", "err"),
        ("cat log", "ok\nExit code 2\nError", "ok"),
        ("grep x y", "Exit code 1", "ok"),
        ("grep x y", "Exit code 2\ngrep: y: No such file", "err"),
    ] {
        ended(AGENT, command, text, expected);
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |response: Value| json!({"tool_name": "x", "tool_response": response});
    for (payload, expected) in [
        (
            after(json!({"stdout": "hi", "stderr": "", "interrupted": false})),
            "ok",
        ),
        (after(json!({"stdout": "", "interrupted": true})), "no"),
        (
            after(json!({"stdout": "", "backgroundTaskId": "b1"})),
            "run",
        ),
        (
            after(json!([{"type": "text", "text": "Exit code 2"}])),
            "ok",
        ),
        (
            json!({"error": "Exit code 2\nls: cannot access", "is_interrupt": false}),
            "err",
        ),
        (
            json!({"error": "Exit code 137", "is_interrupt": true}),
            "no",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn a_command_in_the_background_has_not_ended_on_any_side() {
    let payload = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": "pytest"}, "tool_response": {"stdout": "", "backgroundTaskId": "b1"}
    });
    let Event::ToolFinished { call, .. } = called(AGENT, None, &payload).draft.event else {
        panic!("another event");
    };
    let facts = written(
        AGENT,
        &[
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"go"}}"#,
            r#"{"type":"assistant","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"pytest","run_in_background":true}}]}}"#,
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","toolUseResult":{"stdout":"","backgroundTaskId":"b1"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Command running in background with ID: b1","is_error":false}]}}"#,
            r#"{"type":"assistant","sessionId":"s","timestamp":"2026-01-01T00:00:03Z","message":{"content":[{"type":"tool_use","id":"t2","name":"TaskOutput","input":{"task_id":"b1"}}]}}"#,
            r#"{"type":"user","sessionId":"s","timestamp":"2026-01-01T00:00:04Z","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"<retrieval_status>not_ready</retrieval_status><task_id>b1</task_id><status>running</status>","is_error":false}]}}"#,
        ],
    );
    for transcript in [None, Some(facts)] {
        let joined = join(transcript, std::slice::from_ref(&call));
        let call = &joined.timeline.calls[0];
        assert!(!call.finished, "{:?}", joined.timeline.source);
        assert!(joined.outcomes.is_empty(), "{:?}", joined.outcomes);
    }
}

#[test]
fn h_normal() {
    insta::assert_snapshot!(shown(AGENT, "h-normal.transcripts/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl"), @r#"
    10e54898-3d7e-4d3d-bff0-5aa71c2b471a 2.1.330 master /home/user/project
    user: User 21:18:56.368 "[script:basic] please do it"
    real: User 21:18:56.368 "[script:basic] please do it"
    says: "done"
      00001 Bash Shell `echo hi` [] ok 21:18:56.709 185ms ""
      00002 Write Write `-` ["/home/user/project/notes.txt"] ok 21:18:56.967 128ms ""
      00003 Edit Edit `-` ["/home/user/project/notes.txt"] ok 21:18:57.166 122ms ""
      00004 Bash Shell `ls /nonexistent` [] failed 21:18:57.399 125ms "Exit code 2\nls: cannot access '/nonexistent': No such file or directory"
    "#);
}

#[test]
fn h_parallel() {
    insta::assert_snapshot!(shown(AGENT, "h-parallel.transcripts/9bc4ae55-5ece-4f4f-8537-afa2c1912717.jsonl"), @r#"
    9bc4ae55-5ece-4f4f-8537-afa2c1912717 2.1.330 master /home/user/project
    user: User 20:37:56.102 "[script:parallel] please do it"
    real: User 20:37:56.102 "[script:parallel] please do it"
    says: "done parallel"
      00001 Bash Shell `echo one` [] ok 20:37:57.101 667ms ""
      00002 Bash Shell `echo two` [] ok 20:37:57.196 629ms ""
    "#);
}

#[test]
fn h_pretool_deny() {
    insta::assert_snapshot!(shown(AGENT, "h-pretool-deny.transcripts/d3824a7a-c87a-4954-8018-f1fde230abca.jsonl"), @r#"
    d3824a7a-c87a-4954-8018-f1fde230abca 2.1.330 master /home/user/project
    user: User 20:40:18.694 "[script:bash] run it"
    real: User 20:40:18.694 "[script:bash] run it"
    says: "done"
      00001 Bash Shell `echo hi` [] refused 20:40:19.053 386ms ""
    "#);
}

#[test]
fn h_resume() {
    insta::assert_snapshot!(shown(AGENT, "h-resume.transcripts/8096b923-0dd5-4dca-8ea0-d2c12802e6ce.jsonl"), @r#"
    8096b923-0dd5-4dca-8ea0-d2c12802e6ce 2.1.330 master /home/user/project
    user: User 20:40:40.516 "[script:text] again"
    real: User 20:40:40.516 "[script:text] again"
    says: "plain answer"
    "#);
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl"), @r#"
    57147911-fcc3-4e34-bbcf-8a9dd1e37986 2.1.330 master /home/user/project
    user: Host 21:19:05.363 "Stop hook feedback:\nDEBRIEF: say what you did.\nSecond line."
    real: User 21:19:03.047 "[script:basic] please do it"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00001 Bash Shell `echo hi` [] ok 21:19:03.616 283ms ""
      00002 Write Write `-` ["/home/user/project/notes.txt"] ok 21:19:04.051 282ms ""
      00003 Edit Edit `-` ["/home/user/project/notes.txt"] ok 21:19:04.550 251ms ""
      00004 Bash Shell `ls /nonexistent` [] failed 21:19:04.951 190ms "Exit code 2\nls: cannot access '/nonexistent': No such file or directory"
    "#);
}

#[test]
fn h_stop_context() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-context.transcripts/f6e72abb-0640-4310-a04a-ba1004e8d5dc.jsonl"), @r#"
    f6e72abb-0640-4310-a04a-ba1004e8d5dc 2.1.330 master /home/user/project
    user: User 20:39:27.784 "[script:bash] run it"
    real: User 20:39:27.784 "[script:bash] run it"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00001 Bash Shell `echo hi` [] ok 20:39:28.162 775ms ""
    "#);
}

#[test]
fn h_subagent() {
    insta::assert_snapshot!(shown(AGENT, "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196.jsonl"), @r#"
    dd9608db-931d-43c1-9f90-91186a698196 2.1.330 master /home/user/project
    user: Host 20:38:05.582 "<task-notification>\n<task-id>a63f9e008307a1f5c</task-id>\n<tool-use-id>toolu_mock_00001</tool-use-id>\n<output-file>/tmp/claude-1000/-home-user-project/dd9608db-931d-43c1-9f90-91186a698196/tasks/a63f9e008307a1f5c.output</output-file>\n<status>completed</status>\n<summary>Agent \"sub\" finished</summary>\n<note>A task-notification fires each time this agent stops with no live background children of its own. The user can send it another message and resume it, so the same task-id may notify more than once.</note>\n<result>sub done</result>\n<usage><subagent_tokens>132</subagent_tokens><tool_uses>1</tool_uses><duration_ms>1302</duration_ms></usage>\n</task-notification>"
    real: User 20:38:03.566 "[script:task] use a subagent"
    says: "heard: ><duration_ms>1302</duration_ms></usage> </task-notification> </system-reminder>"
      00001 Agent Other `-` [] ok 20:38:03.976 603ms ""
    "#);
}

#[test]
fn h_subagent_2() {
    insta::assert_snapshot!(shown(AGENT, "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196__subagents__agent-a63f9e008307a1f5c.jsonl"), @r#"
    dd9608db-931d-43c1-9f90-91186a698196 2.1.330 master /home/user/project
    user: -
    real: -
    says: "-"
    "#);
}

#[test]
fn h_subagent_3() {
    insta::assert_snapshot!(shown(AGENT, "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196__subagents__agent-a63f9e008307a1f5c.meta.json"), @"nothing");
}

#[test]
fn t_main() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/-home-user-project__594047f2-410f-4665-9a22-0fa2db8f4649.jsonl"), @r#"
    594047f2-410f-4665-9a22-0fa2db8f4649 2.1.330 master /home/user/project
    user: Host 20:57:45.508 "Stop hook feedback:\nDEBRIEF: say what you did.\nSecond line."
    real: User 20:57:44.814 "[script:bash] and again"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00005 Bash Shell `echo hi` [] ok 20:57:44.989 241ms ""
    "#);
}

#[test]
fn t_main_2() {
    insta::assert_snapshot!(shown(AGENT, "t-main.transcripts/-home-user-project__70643654-ace1-4da1-88e7-94f779e2962d.jsonl"), @r#"
    70643654-ace1-4da1-88e7-94f779e2962d 2.1.330 master /home/user/project
    user: User 20:57:59.052 "[script:text] after clear"
    real: User 20:57:59.052 "[script:text] after clear"
    says: "plain answer"
    "#);
}

#[test]
fn t_permission() {
    insta::assert_snapshot!(shown(AGENT, "t-permission.transcripts/-home-user-project__20ceb071-ce96-4108-928c-e9f6facf6916.jsonl"), @r#"
    20ceb071-ce96-4108-928c-e9f6facf6916 2.1.330 master /home/user/project
    user: User 20:58:04.453 "[script:bashask] go"
    real: User 20:58:04.453 "[script:bashask] go"
    says: "done ask"
      00001 Bash Shell `touch asked.txt` [] ok 20:58:04.838 9572ms ""
    "#);
}

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
