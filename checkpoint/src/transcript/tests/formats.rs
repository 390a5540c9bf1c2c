//! One situation in three formats, and what no recording shows: older versions, long commands, refusals, own text.

use journal::{Agent, PromptOrigin, TimelineSource, ToolCall};
use serde_json::Value;

use super::{PREFIX, fixtures, read, show_call};
use crate::agents::adapter;
use crate::transcript::{Facts, join};

const NORMAL: [(Agent, &str); 3] = [
    (
        Agent::Claude,
        "h-normal.transcripts/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl",
    ),
    (
        Agent::Codex,
        "h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl",
    ),
    (
        Agent::Gemini,
        "h-normal.transcripts/session-2026-11-21T21-19-5c9c151e.jsonl",
    ),
];
const STOPPED: [(Agent, &str); 3] = [
    (
        Agent::Claude,
        "h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl",
    ),
    (
        Agent::Codex,
        "h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl",
    ),
    (
        Agent::Gemini,
        "h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl",
    ),
];
const PARALLEL: [(Agent, &str); 3] = [
    (
        Agent::Claude,
        "h-parallel.transcripts/9bc4ae55-5ece-4f4f-8537-afa2c1912717.jsonl",
    ),
    (
        Agent::Codex,
        "h-parallel.transcripts/rollout-2026-11-21T20-43-28-01a1ffd9-8838-7600-b7fd-7d7d746807fb.jsonl",
    ),
    (
        Agent::Gemini,
        "h-parallel.transcripts/session-2026-11-21T20-45-fd8ad528.jsonl",
    ),
];

fn text(agent: Agent, path: &str) -> String {
    std::fs::read_to_string(fixtures().join(agent.word()).join(path))
        .expect("a recorded transcript")
}

/// What a call says apart from its host's names and times.
fn essence(call: &ToolCall) -> String {
    let paths: Vec<&str> = call
        .paths
        .iter()
        .map(|path| path.trim_start_matches("/home/user/project/"))
        .collect();
    let ToolCall {
        kind,
        command,
        is_error,
        refused,
        finished,
        ..
    } = call;
    format!("{kind:?} {command:?} {paths:?} error={is_error} refused={refused} finished={finished}")
}

fn lines(facts: Option<&Facts>) -> String {
    facts
        .expect("readable")
        .calls
        .iter()
        .map(|call| essence(call) + "\n")
        .collect()
}

/// Reads hand-written lines of one agent.
fn written(agent: Agent, lines: &[&str]) -> Facts {
    read(agent, lines.join("\n").as_bytes(), true, PREFIX).expect("readable")
}

fn calls(facts: &Facts) -> String {
    facts.calls.iter().map(show_call).collect()
}

#[test]
fn the_same_work_gives_equal_calls() {
    for cases in [NORMAL, STOPPED] {
        for (agent, path) in cases {
            let facts = read(agent, text(agent, path).as_bytes(), true, "DEBRIEF:");
            insta::allow_duplicates! {
                insta::assert_snapshot!(lines(facts.as_ref()), @r#"
    Shell Some("echo hi") [] error=false refused=false finished=true
    Write None ["notes.txt"] error=false refused=false finished=true
    Edit None ["notes.txt"] error=false refused=false finished=true
    Shell Some("ls /nonexistent") [] error=true refused=false finished=true
    "#);
            }
        }
    }
    for (agent, path) in PARALLEL {
        let facts = read(agent, text(agent, path).as_bytes(), true, PREFIX);
        insta::allow_duplicates! {
            insta::assert_snapshot!(lines(facts.as_ref()), @r#"
    Shell Some("echo one") [] error=false refused=false finished=true
    Shell Some("echo two") [] error=false refused=false finished=true
    "#);
        }
    }
}

#[test]
fn own_feedback_is_seen_and_begins_no_turn() {
    let context = (
        Agent::Claude,
        "h-stop-context.transcripts/f6e72abb-0640-4310-a04a-ba1004e8d5dc.jsonl",
    );
    for (agent, path) in STOPPED.into_iter().chain([context]) {
        let facts = read(agent, text(agent, path).as_bytes(), true, "DEBRIEF").expect("readable");
        assert_eq!(
            facts.last_user.expect("a user message").origin,
            PromptOrigin::Own,
            "{agent}"
        );
        assert!(
            facts
                .last_real_user
                .expect("a real one")
                .text
                .starts_with("[script:"),
            "{agent}"
        );
    }
}

#[test]
fn a_turn_that_began_before_the_tail_is_all_of_it() {
    for (agent, path) in NORMAL {
        let text = text(agent, path);
        let whole = read(agent, text.as_bytes(), true, PREFIX).expect("readable");
        let began = text.find("echo hi").expect("the first call");
        let line = text[..began].rfind('\n').expect("a line before it");
        let rest = read(agent, &text.as_bytes()[line - 1..], false, PREFIX).expect("readable");
        assert_eq!(rest.last_real_user, None, "{agent}");
        assert_eq!(rest.calls, whole.calls, "{agent}");
        assert_eq!(rest.last_assistant, whole.last_assistant, "{agent}");
    }
}

/// Makes the calls that the journal would hold, from the recorded hook calls of a scenario.
fn journaled(agent: Agent, scenario: &str) -> Vec<ToolCall> {
    let tools = adapter(agent).expect("an agent").tools();
    let mut calls: Vec<ToolCall> = Vec::new();
    for line in text(agent, &format!("{scenario}.ndjson")).lines() {
        let line: Value = serde_json::from_str(line).expect("recorded JSON");
        let (payload, hook) = (&line["payload"], line["event"].as_str().expect("an event"));
        if !matches!(
            hook,
            "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "BeforeTool" | "AfterTool"
        ) {
            continue;
        }
        let tool = payload["tool_name"].as_str().expect("a tool");
        let (kind, command, paths) = tools.describe(tool, &payload["tool_input"]);
        let id = payload["tool_use_id"].as_str().map(str::to_owned);
        let open = calls.iter_mut().find(|call| {
            !call.finished && (&call.id, &call.command, &call.paths) == (&id, &command, &paths)
        });
        if matches!(hook, "PreToolUse" | "BeforeTool") {
            let at = line["at"]
                .as_str()
                .expect("a time")
                .parse()
                .expect("RFC 3339");
            calls.push(ToolCall {
                id,
                tool: tool.to_owned(),
                kind,
                command,
                paths,
                at,
                ..ToolCall::default()
            });
        } else {
            let ended = tools.hook_outcome(kind, command.as_deref(), payload);
            let call = open.expect("begun before");
            (call.finished, call.is_error, call.refused) =
                (ended.finished, ended.is_error, ended.refused);
        }
    }
    calls
}

#[test]
fn hooks_and_transcript_together_double_nothing() {
    for (agent, path) in NORMAL.into_iter().chain(PARALLEL).chain(STOPPED) {
        let scenario = path.split_once(".transcripts").expect("a scenario").0;
        let journaled = journaled(agent, scenario);
        let facts = read(agent, text(agent, path).as_bytes(), true, "DEBRIEF").expect("readable");
        let from_transcript = lines(Some(&facts));
        let joined = join(Some(facts), &journaled);
        assert_eq!(joined.source, TimelineSource::Transcript);
        assert_eq!(
            joined
                .calls
                .iter()
                .map(|call| essence(call) + "\n")
                .collect::<String>(),
            from_transcript,
            "{path}"
        );
        let alone = join(None, &journaled);
        assert_eq!(alone.calls.len(), joined.calls.len(), "{path}");
        if agent != Agent::Codex {
            // Codex does not tell its hooks how a command ended.
            let mut alone: Vec<String> = alone.calls.iter().map(essence).collect();
            let mut both: Vec<String> = joined.calls.iter().map(essence).collect();
            alone.sort();
            both.sort();
            assert_eq!(alone, both, "{path}");
        }
    }
}

#[test]
fn claude_in_other_shapes() {
    let facts = written(
        Agent::Claude,
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
fn claude_takes_up_a_prompt_while_it_works() {
    let call = r#"{"type":"assistant","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
    let queued = |mode: &str, text: &str| {
        format!(
            r#"{{"type":"attachment","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","attachment":{{"type":"queued_command","prompt":"{text}","commandMode":"{mode}"}}}}"#
        )
    };
    for (mode, said, n_calls) in [
        ("prompt", "and also this", 0),
        ("task-notification", "and", 1),
        ("prompt", "[TeleClaude Checkpoint] - x", 1),
    ] {
        assert_eq!(
            written(Agent::Claude, &[call, &queued(mode, said)])
                .calls
                .len(),
            n_calls,
            "{mode} {said}"
        );
    }
}

#[test]
fn codex_in_other_shapes() {
    let facts = written(
        Agent::Codex,
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
fn gemini_in_other_shapes() {
    let facts = written(
        Agent::Gemini,
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
fn gemini_in_one_document() {
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
    let facts = read(Agent::Gemini, document.as_bytes(), true, PREFIX).expect("readable");
    assert_eq!(
        (facts.session.as_deref(), facts.last_assistant.as_deref()),
        (Some("s"), Some("done"))
    );
    assert_eq!(facts.last_user.as_ref().expect("one").text, "second");
    insta::assert_snapshot!(calls(&facts), @r#"  b replace Edit `-` ["/a"] ok 00:00:03.000 1000ms """#);
    assert_eq!(
        read(Agent::Gemini, &document.as_bytes()[100..], false, PREFIX),
        None,
        "only whole"
    );
}
