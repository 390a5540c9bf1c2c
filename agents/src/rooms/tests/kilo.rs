//! Tests with recordings of the real agent. What it shares with opencode is tested there.

use journal::{Agent, ToolKind};
use serde_json::json;

use crate::tools::tests::{described, ended_by_hook};
use crate::transcript::tests::shown;

const AGENT: Agent = Agent::Kilo;

#[test]
fn every_known_tool_is_described() {
    use ToolKind::{Edit, Other, Read, Shell, Write};
    for (tool, input, kind, command, paths) in [
        (
            "bash",
            json!({"command": "echo hi", "description": "Run"}),
            Shell,
            Some("echo hi"),
            "",
        ),
        ("read", json!({"filePath": "/a"}), Read, None, "/a"),
        (
            "edit",
            json!({"filePath": "/a", "oldString": "x", "newString": "y"}),
            Edit,
            None,
            "/a",
        ),
        (
            "write",
            json!({"filePath": "/a", "content": "x"}),
            Write,
            None,
            "/a",
        ),
        // How it ended is not known.
        (
            "background_process",
            json!({"action": "start", "command": "make test"}),
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
    let after = |exit: i64| json!({"tool_response": {"output": "hi\n", "exit": exit}});
    for (payload, expected) in [(after(0), "ok"), (after(3), "err")] {
        ended_by_hook(AGENT, ToolKind::Shell, &payload, expected);
    }
}

#[test]
fn t_stop_block_once() {
    insta::assert_snapshot!(shown(AGENT, "t-stop-block-once.transcripts/ses_de3fd1011ffeZaMEMlHmlqt1Dz.jsonl"), @r#"
    ses_de3fd1011ffeZaMEMlHmlqt1Dz 7.7.9 - /home/user/project
    user: Own 07:58:28.460 "[TeleClaude Checkpoint] - Before you stop:\n\n1. run the tests\n2. say what you did"
    real: User 07:58:05.410 "improve x"
    says: "debrief-done"
      0aecf read Read `-` ["/home/user/project/src/x.py"] ok 07:58:15.999 1399ms ""
      d945c edit Edit `-` ["/home/user/project/src/x.py"] ok 07:58:18.809 1053ms ""
      596a7 bash Shell `echo hi; false` [] failed 07:58:21.502 1877ms "Exit code 1\nhi\n"
      78827 write Write `-` ["/home/user/project/notes.txt"] ok 07:58:24.516 1108ms ""
      39863 bash Shell `echo tests ok` [] ok 07:58:31.478 200ms ""
    "#);
}
