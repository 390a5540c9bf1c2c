//! What subagents did and said.

use journal::{Agent, SummaryVerdict};
use serde_json::{Value, json};

use super::{PREFIX, fixtures, read, written};
use crate::transcript::{Facts, Part, read_subagent};

const PASSED: &str = "3 passed in 0.1s";
const FAILED: &str = "3 failed, 2 passed in 0.1s";

/// A subagent: whether it works in the background, its command with what that prints, and what it says.
struct Case {
    background: bool,
    ran: Option<(&'static str, &'static str)>,
    says: &'static str,
}

impl Case {
    /// The session's transcript.
    fn main(&self) -> Vec<Value> {
        let uses = i32::from(self.ran.is_some());
        let line = |kind: &str, second: u32, message: Value, more: Value| {
            json!({"type": kind, "sessionId": "s", "timestamp": format!("2026-01-01T00:00:0{second}Z"),
                "message": message, "toolUseResult": more})
        };
        let result = |text: &str, more: Value| {
            let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": text}]});
            line("user", 5, json!({"content": [block]}), more)
        };
        let used = json!({"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "run the tests"}});
        let mut lines = vec![
            line("user", 0, json!({"content": "go"}), Value::Null),
            line("assistant", 1, json!({"content": [used]}), Value::Null),
        ];
        if self.background {
            lines.push(result(
                "launched",
                json!({"isAsync": true, "status": "async_launched", "agentId": "a1"}),
            ));
            let notice = format!(
                "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status>\n\
                 <summary>Agent \"x\" finished</summary>\n<result>{}</result>\n\
                 <usage><tool_uses>{uses}</tool_uses></usage>\n</task-notification>",
                self.says
            );
            lines.push(line("user", 6, json!({"content": notice}), Value::Null));
        } else {
            let text = format!(
                "{}\nagentId: a1\n<usage>tool_uses: {uses}</usage>",
                self.says
            );
            let more = json!({"status": "completed", "agentId": "a1", "totalToolUseCount": uses});
            lines.push(result(&text, more));
        }
        lines
    }

    /// The subagent's own transcript.
    fn own(&self) -> Vec<Value> {
        let line = |kind: &str, second: u32, content: Value| {
            json!({"type": kind, "sessionId": "s", "isSidechain": true, "agentId": "a1",
                "timestamp": format!("2026-01-01T00:00:0{second}Z"), "message": {"content": content}})
        };
        let mut lines = vec![line("user", 1, json!("run the tests"))];
        if let Some((command, output)) = self.ran {
            let used = json!({"type": "tool_use", "id": "u1", "name": "Bash", "input": {"command": command}});
            let is_error = output.starts_with("Exit code");
            let result = json!({"type": "tool_result", "tool_use_id": "u1", "content": output, "is_error": is_error});
            lines.push(line("assistant", 2, json!([used])));
            lines.push(line("user", 3, json!([result])));
        }
        lines.push(line(
            "assistant",
            4,
            json!([{"type": "text", "text": self.says}]),
        ));
        lines
    }

    fn facts(&self) -> Facts {
        let lines: Vec<String> = self.main().iter().map(Value::to_string).collect();
        written(
            Agent::Claude,
            &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }

    fn theirs(&self) -> Facts {
        let lines: Vec<String> = self.own().iter().map(Value::to_string).collect();
        of_subagent(&lines.join("\n")).expect("readable")
    }
}

fn of_subagent(text: &str) -> Option<Facts> {
    let mut part = Some(Part::of(text.as_bytes(), true));
    read_subagent(
        Agent::Claude,
        &mut || part.take(),
        PREFIX,
        redact::built_in(),
    )
}

/// One word for each call: what it runs, and what is known of its end.
fn shown(facts: &Facts) -> String {
    let calls = facts.calls.iter().enumerate().map(|(at, call)| {
        let said = facts.outcomes.iter().find(|outcome| outcome.call == at);
        let said = said
            .and_then(|said| said.summaries.first())
            .map(|said| said.verdict);
        let end = match (said, call.is_error) {
            (_, true) => "error",
            (Some(SummaryVerdict::Passed), _) => "passed",
            (Some(_), _) => "failed",
            (None, _) => "unsaid",
        };
        format!("{} {end}", call.command.as_deref().unwrap_or(&call.tool))
    });
    calls.collect::<Vec<_>>().join(", ")
}

const MASKED: &str = "pytest | tail -5";

/// Whether it ran in the background, what it ran, what it says, and what is known by its word and by its calls.
type Row = (
    bool,
    Option<(&'static str, &'static str)>,
    &'static str,
    &'static str,
    &'static str,
);

const ROWS: &[Row] = &[
    (
        false,
        None,
        "All tests pass.",
        "Agent unsaid",
        "Agent unsaid",
    ),
    (
        false,
        Some((MASKED, FAILED)),
        "All tests pass.",
        "Agent passed",
        "Agent unsaid, pytest | tail -5 failed",
    ),
    (
        false,
        None,
        "I had no permission to run anything. By reading, all tests pass.",
        "Agent unsaid",
        "Agent unsaid",
    ),
    (
        false,
        Some(("pytest", "Exit code 1\n3 failed, 2 passed in 0.1s")),
        "All tests pass.",
        "Agent passed",
        "Agent unsaid, pytest error",
    ),
    (
        false,
        Some((MASKED, PASSED)),
        "Done, see above.",
        "Agent unsaid",
        "Agent unsaid, pytest | tail -5 passed",
    ),
    (
        true,
        Some((MASKED, PASSED)),
        "All 3 tests pass.",
        "Agent passed",
        "Agent unsaid, pytest | tail -5 passed",
    ),
    (
        true,
        None,
        "All tests pass.",
        "Agent unsaid",
        "Agent unsaid",
    ),
    (
        true,
        Some(("pytest", PASSED)),
        "Done.",
        "Agent unsaid",
        "Agent unsaid, pytest passed",
    ),
];

#[test]
fn its_calls_count_and_not_its_words() {
    for (background, ran, says, by_word, by_calls) in ROWS {
        let case = Case {
            background: *background,
            ran: *ran,
            says,
        };
        let mut facts = case.facts();
        assert_eq!(shown(&facts), *by_word, "{says}");
        let mut reported = facts.clone();
        facts.add_subagent("a1", case.theirs());
        assert_eq!(shown(&facts), *by_calls, "{says}");
        // Hooks that report its calls say as much.
        reported.forget_word("a1");
        assert_eq!(shown(&reported), "Agent unsaid");
    }
}

#[test]
fn a_recorded_one_is_found_and_read() {
    let text = |name: &str| {
        let folder = fixtures().join("claude/h-subagent.transcripts");
        std::fs::read_to_string(folder.join(name)).expect("a recorded transcript")
    };
    let session = "dd9608db-931d-43c1-9f90-91186a698196";
    let main = text(&format!("{session}.jsonl"));
    let mut facts = read(Agent::Claude, main.as_bytes(), true, PREFIX).expect("readable");
    let [known] = &facts.subagents[..] else {
        panic!("{:?}", facts.subagents);
    };
    let id = known.id.clone();
    let own = text(&format!("{session}__subagents__agent-{id}.jsonl"));
    let theirs = of_subagent(&own).expect("readable");
    facts.add_subagent(&id, theirs);
    assert_eq!(shown(&facts), "Agent unsaid, echo from-sub unsaid");
}

#[test]
fn its_calls_stand_among_the_others_by_time() {
    let case = Case {
        background: false,
        ran: Some(("make test", PASSED)),
        says: "Done.",
    };
    let mut facts = case.facts();
    let later = journal::ToolCall {
        command: Some("later".to_owned()),
        at: "2026-01-01T00:00:09Z".parse().expect("a time"),
        ..journal::ToolCall::default()
    };
    facts.calls.push(later);
    facts.said = vec![crate::transcript::Said {
        calls: 2,
        text: "done".to_owned(),
    }];
    facts.add_subagent("a1", case.theirs());
    // A second reading adds nothing.
    facts.add_subagent("a1", case.theirs());
    assert_eq!(
        shown(&facts),
        "Agent unsaid, make test passed, later unsaid"
    );
    assert_eq!(facts.said[0].calls, 3);
    // What it did in an earlier turn is not of this one.
    let mut next = case.facts();
    next.began = Some("2026-01-01T00:00:04Z".parse().expect("a time"));
    next.add_subagent("a1", case.theirs());
    assert_eq!(shown(&next), "Agent unsaid");
}
