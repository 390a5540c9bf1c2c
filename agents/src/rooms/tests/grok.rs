//! Tests with recordings of the real agent: hook calls, tools, transcripts.

use journal::{Agent, Event, PromptOrigin, ToolKind};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::hooks::tests::called_as;
use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::shown;

const AGENT: Agent = Agent::Grok;

fn event(hook: &str, rest: &Value) -> Event {
    let mut payload = json!({"hookEventName": hook, "sessionId": "s", "cwd": "/p"});
    let fields = payload.as_object_mut().expect("an object");
    fields.extend(rest.as_object().expect("an object").clone());
    called_as(Uuid::nil(), AGENT, None, &payload).draft.event
}

#[test]
fn only_a_marked_prompt_is_a_persons() {
    for (prompt, expected, said) in [
        (
            "<user_query>\nFix the shop\n</user_query>",
            PromptOrigin::User,
            "Fix the shop",
        ),
        // A subagent's task.
        ("Run the tests", PromptOrigin::Host, "Run the tests"),
        (
            "<user_query>\n[checkpointd] Run it\n</user_query>",
            PromptOrigin::Own,
            "[checkpointd] Run it",
        ),
    ] {
        let Event::PromptSubmitted { origin, text, .. } =
            event("user_prompt_submit", &json!({"prompt": prompt}))
        else {
            panic!("no prompt: {prompt}");
        };
        assert_eq!((origin, text.as_str()), (expected, said));
    }
}

#[test]
fn a_session_that_ends_does_not_stop_once_more() {
    let stop = |reason: &str| {
        event(
            "stop",
            &json!({"reason": reason, "stopHookActive": true, "promptId": "t"}),
        )
    };
    let Event::AgentStopped { reentry, host, .. } = stop("end_turn") else {
        panic!("it stopped");
    };
    assert!(reentry && host.turn.as_deref() == Some("t"));
    for reason in ["shutdown", "channel_closed"] {
        assert!(matches!(stop(reason), Event::OtherHook { .. }), "{reason}");
    }
}

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "run_terminal_command",
            json!({"command": "echo hi", "background": false}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read_file", json!({"target_file": "a"}), Read, None, "a"),
        (
            "search_replace",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write",
            json!({"file_path": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        (
            "spawn_subagent",
            json!({"prompt": "x", "subagent_type": "explore"}),
            Other,
            None,
            "",
        ),
    ] {
        described(AGENT, tool, &input, (kind, command, paths));
    }
}

#[test]
fn hook_payloads_say_how_a_call_ended() {
    let after = |result: Value| json!({"tool_response": result});
    let ran = |code: i64, shown: &str| {
        after(
            json!({"type": "Bash", "output": [104], "output_for_prompt": shown, "exit_code": code}),
        )
    };
    for (payload, expected) in [
        (ran(0, "exit: 0\nhi\n"), "ok"),
        (ran(3, "exit: 3\nbad\n"), "err"),
        (ran(-1, "exit: killed (signal 9)\n"), "err"),
        // A program may print what looks like the end of another one.
        (ran(0, "exit: 0\nError: exit: 3\n"), "ok"),
        (
            after(
                json!({"type": "BackgroundTaskStarted", "task_id": "t", "status": "running", "command": "Error"}),
            ),
            "run",
        ),
        (
            after(json!({"type": "ReadFile", "FileNotFound": "Error: /a does not exist."})),
            "err",
        ),
        (
            after(json!({"type": "ReadFile", "FileContent": {"content": "Error: x"}})),
            "ok",
        ),
        (
            after(
                json!({"type": "SearchReplace", "NoMatchesFound": {"message": "The string to replace was not found"}}),
            ),
            "err",
        ),
        (
            after(json!({"type": "SearchReplace", "EditsApplied": {"new_string": "x"}})),
            "ok",
        ),
        (json!({"tool_input": {}}), "run"),
    ] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn h_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "h-stop-block-once.transcripts/updates.jsonl"), @r#"
    01a21bde-546b-7fe2-9aaa-8005086a248f - - -
    user: User 07:18:05.586 "Fix the shop"
    real: User 07:18:05.586 "Fix the shop"
    says: "Done: all tests pass.I ran the tests now."
      6bbb1 read_file Read `-` ["a.py"] ok 07:18:05.828 211ms ""
      ea76d search_replace Edit `-` ["/home/user/project/a.py"] ok 07:18:06.237 179ms ""
      0b727 write Write `-` ["/home/user/project/b.py"] ok 07:18:06.555 182ms ""
      48ce9 run_terminal_command Shell `python3 a.py` [] ok 07:18:06.915 345ms ""
      6a635 run_terminal_command Shell `echo bad; exit 3` [] failed 07:18:07.502 263ms "Exit code 3\nbad\n"
      e9342 read_file Read `-` ["nope.py"] failed 07:18:07.918 132ms "Error: /home/user/project/nope.py does not exist."
    "#);
}
