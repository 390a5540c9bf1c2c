//! What the outputs of calls say, in the formats of all agents (spec EVID-11).

use journal::{Agent, CallOutcome, ToolCall};
use serde_json::{Value, json};

use super::written;
use crate::transcript::{Facts, join};

/// One line a call with an outcome: its command, the summaries, and how it ended in the background.
fn show(calls: &[ToolCall], outcomes: &[CallOutcome]) -> String {
    let one = |outcome: &CallOutcome| {
        let command = calls[outcome.call].command.as_deref().unwrap_or_default();
        let said = outcome.summaries.iter().map(|summary| {
            let counts = (summary.passed, summary.failed);
            format!("{} {:?} {counts:?}", summary.tool, summary.verdict)
        });
        let said: Vec<String> = said.collect();
        format!("{command}: {} {:?}\n", said.join(", "), outcome.ended)
    };
    outcomes.iter().map(one).collect()
}

fn shown(facts: &Facts) -> String {
    show(&facts.calls, &facts.outcomes)
}

fn lines(agent: Agent, values: &[Value]) -> Facts {
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    written(agent, &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn claude_call(id: &str, tool: &str, input: Value) -> Value {
    json!({"type": "assistant", "sessionId": "s", "timestamp": "2026-01-01T00:00:01Z",
        "message": {"content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}})
}

fn claude_result(id: &str, text: &str, extra: Value) -> Value {
    json!({"type": "user", "sessionId": "s", "timestamp": "2026-01-01T00:00:02Z", "toolUseResult": extra,
        "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": false}]}})
}

fn claude_user(text: &str) -> Value {
    json!({"type": "user", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": text}})
}

#[test]
fn claude() {
    let started = |id: &str, task: &str, command: &str| {
        [
            claude_call(
                id,
                "Bash",
                json!({"command": command, "run_in_background": true}),
            ),
            claude_result(
                id,
                &format!("Command running in background with ID: {task}."),
                json!({"stdout": "", "backgroundTaskId": task}),
            ),
        ]
    };
    let polled = |id: &str, tool: &str, input: Value, text: &str| {
        let file = json!({"type": "text", "file": {"filePath": input["file_path"]}});
        let extra = if tool == "Read" { file } else { json!({}) };
        [claude_call(id, tool, input), claude_result(id, text, extra)]
    };
    let mut values = vec![claude_user("go")];
    values.extend(polled(
        "t1",
        "Bash",
        json!({"command": "pytest -q | tail -1"}),
        "5 passed in 0.1s",
    ));
    values.extend(started("t2", "b1", "pytest a"));
    values.extend(started("t3", "b2", "pytest b"));
    values.extend(started("t4", "b3", "pytest c"));
    values.extend(started("t5", "b4", "pytest d"));
    values.extend(polled(
        "t6",
        "BashOutput",
        json!({"bash_id": "b1"}),
        "<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<stdout>\n1 failed, 2 passed in 0.1s\n</stdout>",
    ));
    values.extend(polled(
        "t7",
        "TaskOutput",
        json!({"task_id": "b2", "block": true}),
        "<status>failed</status>\n\n<exit_code>2</exit_code>\n\n<output>\n<status>completed</status>\n</output>",
    ));
    values.extend(polled(
        "t8",
        "Read",
        json!({"file_path": "/private/tmp/claude-501/-Users-me-work-a-project-with-a-name/tasks/b3.output"}),
        "3 passed in 0.1s",
    ));
    values.extend(polled(
        "t9",
        "Bash",
        json!({"command": "tail -3 /tmp/tasks/b4.output"}),
        "4 passed in 0.1s",
    ));
    values.push(claude_user(
        "<task-notification>\n<task-id>b3</task-id>\n<status>completed</status>\n<summary>Background command \"x\" completed \
         (exit code 0)</summary>\n</task-notification>",
    ));
    assert_eq!(
        shown(&lines(Agent::Claude, &values)),
        "pytest -q | tail -1: pytest Passed (Some(5), None) None\n\
         pytest a: pytest Failed (Some(2), Some(1)) Some(Passed)\n\
         pytest b:  Some(Failed)\n\
         pytest c: pytest Passed (Some(3), None) Some(Passed)\n\
         pytest d: pytest Passed (Some(4), None) None\n"
    );
}

#[test]
fn codex() {
    let item = |payload: Value| json!({"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": payload});
    let call = |id: &str, tool: &str, input: Value| {
        item(
            json!({"type": "function_call", "name": tool, "call_id": id, "arguments": input.to_string()}),
        )
    };
    let output = |id: &str, text: &str| {
        item(json!({"type": "function_call_output", "call_id": id, "output": text}))
    };
    let values = [
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "go"}}),
        call("c1", "exec_command", json!({"cmd": "npm test"})),
        output(
            "c1",
            "Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n> vitest\n",
        ),
        call("c2", "write_stdin", json!({"session_id": 7, "chars": ""})),
        output(
            "c2",
            "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n Tests  5 passed (5)\n",
        ),
        call(
            "c3",
            "shell",
            json!({"command": ["bash", "-lc", "cargo test | tail"]}),
        ),
        output(
            "c3",
            "{\"output\":\"test result: FAILED. 1 passed; 2 failed; 0 ignored\\n\",\"metadata\":{\"exit_code\":0}}",
        ),
        call("c4", "exec_command", json!({"cmd": "go test ./..."})),
        json!({"timestamp": "2026-01-01T00:00:01Z", "type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c4",
            "command": ["bash", "-lc", "go test ./..."], "exit_code": 0, "aggregated_output": "ok  \tx/y\t0.1s\n"}}),
    ];
    assert_eq!(
        shown(&lines(Agent::Codex, &values)),
        "npm test: vitest Passed (Some(5), None) Some(Passed)\n\
         cargo test | tail: cargo Failed (None, None) None\n\
         go test ./...: go Passed (None, None) None\n"
    );
}

#[test]
fn what_a_line_spells_out_itself_says_nothing() {
    let mut values = vec![claude_user("go")];
    for (id, line, text) in [
        (
            "1",
            "make; echo 'Build succeeded'",
            "cc -c a.c\nBuild succeeded\n",
        ),
        (
            "2",
            "make test; echo 'exit: 0'",
            "5 passed in 0.1s\nexit: 0\n",
        ),
        ("3", "pytest -q | tail -1", "5 passed in 0.1s\n"),
    ] {
        values.push(claude_call(id, "Bash", json!({"command": line})));
        values.push(claude_result(id, text, json!({"stdout": text})));
    }
    assert_eq!(
        shown(&lines(Agent::Claude, &values)),
        "make test; echo 'exit: 0': pytest Passed (Some(5), None) None\n\
         pytest -q | tail -1: pytest Passed (Some(5), None) None\n"
    );
}

#[test]
fn a_command_in_the_background_ends_as_the_host_says() {
    let started = claude_call(
        "1",
        "Bash",
        json!({"command": "./e2e.sh", "run_in_background": true}),
    );
    let running = claude_result(
        "1",
        "running in background",
        json!({"backgroundTaskId": "b1"}),
    );
    let notice = |task: &str, call: &str, status: &str, code: &str| {
        claude_user(&format!(
            "<task-notification>\n<task-id>{task}</task-id>\n{call}<status>{status}</status>\n\
             <summary>Background command \"e2e\" {status} (exit code {code})</summary>\n</task-notification>"
        ))
    };
    let named = "<tool-use-id>1</tool-use-id>\n";
    for (notice, expected) in [
        (
            notice("b1", "", "completed", "0"),
            "./e2e.sh:  Some(Passed)\n",
        ),
        (
            notice("b1", named, "completed", "0"),
            "./e2e.sh:  Some(Passed)\n",
        ),
        (
            notice("other", named, "completed", "0"),
            "./e2e.sh:  Some(Passed)\n",
        ),
        (notice("other", "", "completed", "0"), ""),
        (
            notice("b1", named, "failed", "2"),
            "./e2e.sh:  Some(Failed)\n",
        ),
        (
            notice("b1", named, "killed", "0"),
            "./e2e.sh:  Some(Failed)\n",
        ),
    ] {
        let values = [claude_user("go"), started.clone(), running.clone(), notice];
        assert_eq!(
            shown(&lines(Agent::Claude, &values)),
            expected,
            "{values:?}"
        );
    }
}

#[test]
fn a_skill_holds_what_its_commands_printed() {
    let text = |text: &str| {
        json!({"type": "user", "isMeta": true, "sessionId": "s", "sourceToolUseID": "1",
            "message": {"content": [{"type": "text", "text": text}]}})
    };
    let values = |said: &str| {
        [
            claude_user("go"),
            claude_call("1", "Skill", json!({"skill": "check"})),
            claude_result("1", "Launching skill: check", json!({})),
            text(said),
        ]
    };
    for (said, expected) in [
        (
            "# Check\nThe tests:\n.. [100%]\n3 passed in 0.1s\nMend what failed.",
            ": pytest Passed (Some(3), None) None\n",
        ),
        (
            "# Check\nAn example:\n```\n3 passed in 0.1s\n```\nAll tests passed.",
            "",
        ),
    ] {
        assert_eq!(shown(&lines(Agent::Claude, &values(said))), expected);
    }
    // The commands are journaled before they run, and nothing reports their ends.
    let journaled = ToolCall {
        id: Some("1:preamble-0".to_owned()),
        command: Some("pytest -q".to_owned()),
        at: "2026-01-01T00:00:01Z".parse().expect("a time"),
        ..ToolCall::default()
    };
    let joined = join(Some(lines(Agent::Claude, &values("# Check"))), &[journaled]);
    let ends = joined
        .timeline
        .calls
        .iter()
        .map(|call| (call.finished, call.is_error));
    assert_eq!(ends.collect::<Vec<_>>(), [(true, false), (true, false)]);
}

#[test]
fn a_tool_of_another_program_answers_with_an_exit_code() {
    for (tool, answer, expected) in [
        (
            "mcp__box__run",
            r#"{"exitCode": 1, "stdout": "1 failed, 2 passed in 0.1s", "stderr": ""}"#,
            "true: pytest Failed (Some(2), Some(1))",
        ),
        (
            "mcp__box__run",
            r#"{"exit_code": 0, "output": "3 passed in 0.1s"}"#,
            "false: pytest Passed (Some(3), None)",
        ),
        (
            "mcp__box__run",
            r#"{"result": {"returncode": 2, "stderr": "boom"}}"#,
            "true: ",
        ),
        (
            "mcp__ci__run_tests",
            r#"{"exitCode": 2, "stdout": "all good"}"#,
            "true:  Failed (None, None)",
        ),
        (
            "mcp__ci__run_tests",
            r#"{"exitCode": 0, "stdout": "1 error handled"}"#,
            "false:  Passed (None, None)",
        ),
        (
            "Bash",
            r#"{"exitCode": 1, "stdout": "1 failed, 2 passed in 0.1s"}"#,
            "false: ",
        ),
    ] {
        let values = [
            claude_user("go"),
            claude_call("1", tool, json!({"command": "x"})),
            claude_result("1", answer, json!([{"type": "text", "text": answer}])),
        ];
        let facts = lines(Agent::Claude, &values);
        let said = facts.outcomes.iter().flat_map(|outcome| &outcome.summaries);
        let said = said.map(|said| {
            format!(
                "{} {:?} {:?}",
                said.tool,
                said.verdict,
                (said.passed, said.failed)
            )
        });
        let said: String = said.collect();
        assert_eq!(
            format!("{}: {said}", facts.calls[0].is_error),
            expected,
            "{tool} {answer}"
        );
    }
}

/// Scripts of Codex that print only what their commands printed.
#[test]
fn scripts_that_do_not_say_what_goes_on() {
    let item = |payload: Value| json!({"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": payload});
    let mut values = vec![
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg",
        "payload": {"type": "user_message", "message": "go"}}),
    ];
    let mut add = |id: &str, script: &str, text: &str| {
        values.push(item(
            json!({"type": "custom_tool_call", "name": "exec", "call_id": id, "input": script}),
        ));
        let text = format!("Script completed\nWall time 1.0 seconds\nOutput:\n{text}");
        values.push(item(
            json!({"type": "custom_tool_call_output", "call_id": id, "output": text}),
        ));
    };
    add(
        "1",
        "const r = await tools.exec_command({cmd: 'npm run build | tail'}); text(r.output)",
        "> build",
    );
    add(
        "2",
        "const r = await tools.write_stdin({session_id: 41, chars: ''}); text(JSON.stringify(r))",
        r#"{"exit_code":0,"output":"✓ built in 1.2s"}"#,
    );
    add(
        "3",
        "for (const cmd of ['go vet ./...', 'go test ./...']) { const r = await tools.exec_command({cmd}); \
         text(`${cmd}: exit_code ${r.exit_code}`) }",
        "go vet ./...: exit_code 0\ngo test ./...: exit_code 1",
    );
    let facts = lines(Agent::Codex, &values);
    assert_eq!(
        shown(&facts),
        "npm run build | tail: vite Passed (None, None) Some(Passed)\n"
    );
    let ended: Vec<_> = facts
        .calls
        .iter()
        .map(|call| {
            (
                call.command.as_deref().unwrap_or("-"),
                call.finished,
                call.is_error,
            )
        })
        .collect();
    assert_eq!(
        ended,
        [
            ("npm run build | tail", false, false),
            ("-", true, false),
            ("go vet ./...", true, false),
            ("go test ./...", true, true),
        ]
    );
}

#[test]
fn gemini() {
    let result = json!([{"functionResponse": {"id": "g1", "response": {"output": "Output: 5 passed in 0.1s\nProcess Group PGID: 1"}}}]);
    let values = [
        json!({"sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}),
        json!({"id": "m1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{"text": "go"}]}),
        json!({"id": "m2", "timestamp": "2026-01-01T00:00:01Z", "type": "gemini", "content": "", "toolCalls": [
            {"id": "g1", "name": "run_shell_command", "args": {"command": "pytest | tail -1"}, "status": "success",
             "timestamp": "2026-01-01T00:00:01Z", "result": result}]}),
    ];
    assert_eq!(
        shown(&lines(Agent::Gemini, &values)),
        "pytest | tail -1: pytest Passed (Some(5), None) None\n"
    );
}

#[test]
fn outcomes_follow_their_calls_into_the_timeline() {
    let journaled = |id: &str, command: &str, at: i64, output: &str| ToolCall {
        id: Some(id.to_owned()),
        command: Some(command.to_owned()),
        at: journal::Timestamp::from_micros(at),
        finished: true,
        is_error: !output.is_empty(),
        output: output.to_owned(),
        ..ToolCall::default()
    };
    let facts = Facts {
        calls: vec![journaled("2", "b", 20, "")],
        outcomes: vec![CallOutcome {
            call: 0,
            summaries: reading::outcome::read("5 passed in 1s"),
            ..CallOutcome::default()
        }],
        ..Facts::default()
    };
    let more = [
        journaled("1", "a", 10, ""),
        journaled("3", "c", 30, "2 failed in 1s"),
    ];
    let joined = join(Some(facts), &more);
    assert_eq!(
        show(&joined.timeline.calls, &joined.outcomes),
        "b: pytest Passed (Some(5), None) None\nc: pytest Failed (None, Some(2)) None\n"
    );
}
