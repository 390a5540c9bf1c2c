//! What the agent does in the demo's story, in the form of Claude Code's hooks.

use std::path::Path;
use std::time::Duration;

use journal::Timestamp;
use serde_json::{Value, json};

use super::project::Project;
use super::recording::{Call, Script};
use super::stage::Stage;

// What pytest 9 really prints in the project, with the two versions of the file.
const FAILED: &str = "Exit code 1
..F                                                                      [100%]
=================================== FAILURES ===================================
_______________________________ test_enough_left _______________________________

    def test_enough_left():
>       assert to_order(9) == 0
E       assert -4 == 0
E        +  where -4 = to_order(9)

tests/test_reorder.py:13: AssertionError
=========================== short test summary info ============================
FAILED tests/test_reorder.py::test_enough_left - assert -4 == 0
1 failed, 2 passed in 0.07s";
const PASSED: &str =
    "...                                                                      [100%]
3 passed in 0.02s";

/// Returns each step: its time in milliseconds, its hook, and the fields that only this hook has.
fn steps(file: &Path) -> [(u64, &'static str, Value); 9] {
    let write = |text: &str| {
        json!({
            "tool_name": "Write",
            "tool_input": { "file_path": file, "content": text },
            "tool_response": { "filePath": file, "content": text },
        })
    };
    let stop = |is_second: bool, said: &str| json!({ "stop_hook_active": is_second, "last_assistant_message": said });
    let tests = json!({ "command": "pytest -q" });
    let first = "LEVEL = 5\n\n\ndef to_order(count):\n    return LEVEL - count\n";
    let fixed = "LEVEL = 5\n\n\ndef to_order(count):\n    return max(0, LEVEL - count)\n";
    let ended = json!({ "stdout": PASSED, "stderr": "", "interrupted": false });
    [
        (0, "SessionStart", json!({ "source": "startup" })),
        (
            0,
            "UserPromptSubmit",
            json!({ "prompt": "Add a reorder level to the inventory" }),
        ),
        (500, "PostToolUse", write(first)),
        (1_500, "Stop", stop(false, "The reorder level is in.")),
        (
            2_000,
            "PostToolUseFailure",
            json!({ "tool_name": "Bash", "tool_input": tests, "error": FAILED }),
        ),
        (2_300, "PostToolUse", write(fixed)),
        (
            2_600,
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": tests, "tool_response": ended }),
        ),
        (3_000, "Stop", stop(true, "The tests pass now.")),
        (3_100, "SessionEnd", json!({ "reason": "other" })),
    ]
}

/// Returns the story's hook calls, the first of them at `from`. The agent keeps no transcript.
pub(super) fn script(project: &Project, stage: &Stage, from: Timestamp) -> Script {
    let session = uuid::Uuid::new_v4().to_string();
    let folder = stage.project(project);
    let mut calls = Vec::new();
    for (ms, event, fields) in steps(&folder.join(project.written)) {
        let mut add = |event: &str, mut payload: Value| {
            payload["session_id"] = json!(session);
            payload["cwd"] = json!(folder);
            payload["hook_event_name"] = json!(event);
            payload["prompt_id"] = json!("1");
            payload["tool_use_id"] = json!(ms.to_string());
            let written = payload.pointer("/tool_response/content");
            calls.push(Call {
                event: event.to_owned(),
                due: from.plus(Duration::from_millis(ms)),
                env: Vec::new(),
                transcript: String::new(),
                was_blocked: payload["stop_hook_active"] == false,
                writes: written.and_then(Value::as_str).map(str::to_owned),
                payload: payload.to_string(),
            });
        };
        if event.starts_with("PostTool") {
            let (tool, input) = (&fields["tool_name"], &fields["tool_input"]);
            add(
                "PreToolUse",
                json!({ "tool_name": tool, "tool_input": input }),
            );
        }
        add(event, fields);
    }
    Script::of_calls(session, calls)
}

/// Says what a call of the story did; `None` if it is not shown.
pub(super) fn shown(call: &Call, project: &Project) -> Option<String> {
    let payload: Value = serde_json::from_str(&call.payload).ok()?;
    let text = |place: &str| payload.pointer(place).and_then(Value::as_str);
    if call.is_prompt() {
        return Some(format!("\"{}\"", text("/prompt")?));
    }
    if call.writes.is_some() {
        return Some(format!("Write {}", project.written));
    }
    let output = text("/error").or(text("/tool_response/stdout"))?;
    let (ended, _) = output.lines().last()?.split_once(" in ")?;
    Some(format!("Bash {}: {ended}", text("/tool_input/command")?))
}
