//! What the agent does in the demo's story, in the form of Claude Code's hooks.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// The name of the agent's project.
pub(super) const PROJECT: &str = "inventory";
/// The file that the agent writes.
const WRITTEN: &str = "stock/reorder.py";
/// The files of the project before the agent starts.
pub(super) const FILES: [(&str, &str); 3] = [
    (
        "pyproject.toml",
        "[project]\nname = \"inventory\"\n\n[tool.pytest.ini_options]\npythonpath = [\".\"]\n",
    ),
    ("stock/__init__.py", ""),
    (
        "tests/test_reorder.py",
        "from stock.reorder import to_order


def test_none_left():
    assert to_order(0) == 5


def test_some_left():
    assert to_order(3) == 2


def test_enough_left():
    assert to_order(9) == 0
",
    ),
];

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

/// One hook call of the agent.
pub(super) struct Call {
    /// The time between the call before it and this one.
    pub(super) pause: Duration,
    pub(super) event: &'static str,
    pub(super) payload: Value,
}

/// Returns each step: the milliseconds before it, its hook, and the fields that only this hook has.
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
        (1_000, "Stop", stop(false, "The reorder level is in.")),
        (
            500,
            "PostToolUseFailure",
            json!({ "tool_name": "Bash", "tool_input": tests, "error": FAILED }),
        ),
        (300, "PostToolUse", write(fixed)),
        (
            300,
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": tests, "tool_response": ended }),
        ),
        (400, "Stop", stop(true, "The tests pass now.")),
        (100, "SessionEnd", json!({ "reason": "other" })),
    ]
}

/// Returns the story's hook calls. The agent keeps no transcript.
pub(super) fn calls(session: &str, folder: &Path) -> Vec<Call> {
    let mut calls = Vec::new();
    for (number, (pause, event, fields)) in steps(&folder.join(WRITTEN)).into_iter().enumerate() {
        let mut add = |pause, event, mut payload: Value| {
            payload["session_id"] = json!(session);
            payload["cwd"] = json!(folder);
            payload["hook_event_name"] = json!(event);
            payload["prompt_id"] = json!("1");
            payload["tool_use_id"] = json!(number.to_string());
            let pause = Duration::from_millis(pause);
            calls.push(Call {
                pause,
                event,
                payload,
            });
        };
        if event.starts_with("PostTool") {
            let (tool, input) = (&fields["tool_name"], &fields["tool_input"]);
            add(
                pause,
                "PreToolUse",
                json!({ "tool_name": tool, "tool_input": input }),
            );
            add(0, event, fields);
        } else {
            add(pause, event, fields);
        }
    }
    calls
}

impl Call {
    fn text(&self, place: &str) -> Option<&str> {
        self.payload.pointer(place)?.as_str()
    }

    /// Returns the file that the agent has just written, and its text.
    pub(super) fn written(&self) -> Option<(&str, &str)> {
        let text = self.text("/tool_response/content")?;
        Some((self.text("/tool_response/filePath")?, text))
    }

    /// Says what the call did; `None` if it is not shown.
    pub(super) fn shown(&self) -> Option<String> {
        if let Some(prompt) = self.text("/prompt") {
            return Some(format!("\"{prompt}\""));
        }
        if self.written().is_some() {
            return Some(format!("Write {WRITTEN}"));
        }
        let output = self.text("/error").or(self.text("/tool_response/stdout"))?;
        let (ended, _) = output.lines().last()?.split_once(" in ")?;
        Some(format!(
            "Bash {}: {ended}",
            self.text("/tool_input/command")?
        ))
    }
}
