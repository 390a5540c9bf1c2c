//! The authors of prompts, told apart by the texts of all agents.

use journal::PromptOrigin;

use crate::rooms::authors;

const PREFIX: &str = "[TeleClaude Checkpoint] - ";

#[test]
fn own_text_is_seen_through_every_wrapper() {
    let wrapped = [
        "[TeleClaude Checkpoint] - Run the tests",
        "\n  [TeleClaude Checkpoint] - Run the tests\n",
        "\n\n<pasted_content id=\"4144\">\n[TeleClaude Checkpoint] - a\n\nb\n</pasted_content id=\"4144\">\n",
        "<pasted_content id=\"9\">[TeleClaude Checkpoint] - a</pasted_content>",
        "<pasted_content id=\"9\">\n\n[TeleClaude Checkpoint] - cut before its end",
        "Stop hook feedback:\n[TeleClaude Checkpoint] - a",
        "Stop hook feedback:\n[/usr/bin/checkpointd-hook claude]: [TeleClaude Checkpoint] - a",
        "<hook_prompt hook_run_id=\"stop:10:/home/user/.codex/hooks.json\">[TeleClaude Checkpoint] - a</hook_prompt>",
        "<hook_prompt hook_run_id=\"1\">other</hook_prompt>\n<hook_prompt hook_run_id=\"2\">[TeleClaude Checkpoint] - a</hook_prompt>",
        "<system-reminder>\nStop hook additional context: [TeleClaude Checkpoint] - a\n</system-reminder>",
        "<hook_context>hello</hook_context>\n\n[TeleClaude Checkpoint] - a",
    ];
    for text in wrapped {
        assert!(authors(PREFIX).is_own(text), "{text}");
    }
}

#[test]
fn quotations_and_other_texts_are_not_own() {
    let others = [
        "",
        "Why did you say \"[TeleClaude Checkpoint] - Run the tests\"?",
        "half a draft [TeleClaude Checkpoint] - Run the tests",
        "<pasted_content id=\"1\">\n[TeleClaude Checkpoint] - a\n</pasted_content id=\"1\">\n\nwhat does this mean?",
        "<pasted_content id=\"1\">\nsee: [TeleClaude Checkpoint] - a\n</pasted_content id=\"1\">",
        "Stop hook feedback:\nother [TeleClaude Checkpoint] - a",
        "<hook_promptly>[TeleClaude Checkpoint] - a</hook_promptly>",
    ];
    for text in others {
        assert!(!authors(PREFIX).is_own(text), "{text}");
    }
    assert!(
        !authors("  ").is_own("anything"),
        "an empty prefix recognizes nothing"
    );
}

#[test]
fn prompts_are_told_apart() {
    use PromptOrigin::{Host, Own, Subagent, User};
    let cases = [
        ("[TeleClaude Checkpoint] - a", false, Own),
        ("[TeleClaude Checkpoint] - a", true, Own),
        ("fix the bug", false, User),
        ("fix the bug", true, Subagent),
        ("", false, User),
        (
            "<task-notification>\n<task-id>a</task-id>\n</task-notification>",
            false,
            Host,
        ),
        (
            "<wake reason=\"external-event\" current-time=\"now\">\n<event source=\"github\" kind=\"check_run.completed\">{\"pr\":\"o/r#1\"}</event>\n</wake>",
            false,
            Host,
        ),
        (
            "<github-webhook-activity>\nCI failed\n</github-webhook-activity>",
            false,
            Host,
        ),
        ("<system-reminder>\ntoday\n</system-reminder>", false, Host),
        (
            "<system-reminder>\ntoday\n</system-reminder>\n\nfix the bug",
            false,
            User,
        ),
        ("<hook_context>x</hook_context>\n\nfix the bug", false, User),
        ("Stop hook feedback:\nanother hook's", false, Host),
        (
            "<local-command-stdout>ok</local-command-stdout>",
            false,
            Host,
        ),
        ("<command-name>/clear</command-name>", false, Host),
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>",
            false,
            User,
        ),
        (
            "This session is being continued from a previous conversation that ran out of context.",
            false,
            Host,
        ),
        (
            "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
            false,
            Host,
        ),
        (
            "<hook_prompt hook_run_id=\"1\">x</hook_prompt>",
            false,
            Host,
        ),
        (
            "<environment_context>\n  <cwd>/</cwd>\n</environment_context>",
            false,
            Host,
        ),
        ("[Request interrupted by user for tool use]", false, Host),
        ("You wrote: Stop hook feedback: why?", false, User),
        ("/compact", false, User),
    ];
    for (text, subagent, expected) in cases {
        let origin = authors(PREFIX).origin(text, subagent);
        assert_eq!(origin, expected, "{text}");
    }
}
