use std::fmt::Write as _;

use super::*;
use crate::transcript::tests::{PREFIX, fixtures};

fn turns_of(agent: Agent, text: &str) -> (Vec<PastTurn>, Seen) {
    let mut turns = Turns::new(agent, PREFIX, redact::built_in()).expect("an agent");
    let mut found = Vec::new();
    let mut each = |turn| found.push(turn);
    if turns.is_whole() {
        turns.whole(text, &mut each);
    } else {
        for line in text.lines() {
            if !turns.line(line, &mut each) {
                break;
            }
        }
    }
    let seen = turns.finish(&mut each);
    (found, seen)
}

fn show(turns: &[PastTurn]) -> String {
    let mut out = String::new();
    for turn in turns {
        let time = |at: Timestamp| at.to_string().get(11..19).unwrap_or_default().to_owned();
        let failed = turn.facts.calls.iter().filter(|call| call.is_error).count();
        let prompt: String = turn.prompt().chars().take(40).collect();
        let _ = writeln!(
            out,
            "  {}-{} {} calls, {failed} failed{} {prompt:?}",
            time(turn.began),
            time(turn.ended),
            turn.facts.calls.len(),
            if turn.interrupted {
                ", interrupted"
            } else {
                ""
            },
        );
    }
    out
}

#[test]
fn recorded_sessions_are_cut_into_turns() {
    for agent in Agent::HOSTS {
        let mut out = String::new();
        let folder = fixtures().join(agent.word());
        let scenarios = std::fs::read_dir(&folder).expect("recordings");
        let mut files: Vec<_> = scenarios
            .flatten()
            .filter(|scenario| scenario.path().is_dir())
            .flat_map(|scenario| std::fs::read_dir(scenario.path()).expect("files"))
            .flatten()
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
            .collect();
        files.sort();
        for path in &files {
            let text = std::fs::read_to_string(path).expect("text");
            let (turns, seen) = turns_of(agent, &text);
            let scenario = path.parent().and_then(std::path::Path::file_name);
            let scenario = scenario.unwrap_or_default().to_string_lossy();
            let _ = writeln!(out, "{scenario} own {} broken {}", seen.is_own, seen.broken);
            out.push_str(&show(&turns));
        }
        if files.is_empty() {
            continue;
        }
        // What is expected is beside the recordings.
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!("turns", out);
        });
    }
}

#[test]
fn a_broken_line_costs_itself_and_is_counted() {
    let said = |text: &str, at: u32| {
        format!(
            r#"{{"type":"user","sessionId":"s","cwd":"/p","timestamp":"2026-11-01T10:00:{at:02}Z","message":{{"content":"{text}"}}}}"#
        )
    };
    let text = [
        said("one", 1),
        r#"{"type":"assistant","sessionId":"s","message":{"content":[{"type":"te"#.to_owned(),
        "\u{0}\u{0}".to_owned(),
        said("two", 9),
    ]
    .join("\n");
    let (turns, seen) = turns_of(Agent::Claude, &text);
    assert_eq!(turns.len(), 2);
    assert_eq!((seen.broken, seen.first_broken), (2, Some(2)));
    assert_eq!(turns_of(Agent::Claude, "").1, Seen::default());
    assert!(!turns_of(Agent::Codex, &text).1.is_own);
}

#[test]
fn a_message_within_a_task_and_a_second_record_of_one_begin_no_turn() {
    let event = |second: u32, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-11-01T10:00:{second:02}.000Z","type":"event_msg","payload":{payload}}}"#
        )
    };
    let task = |kind: &str| format!(r#"{{"type":"{kind}"}}"#);
    let said = |text: &str| format!(r#"{{"type":"user_message","message":"{text}"}}"#);
    let echo = r#"{"timestamp":"2026-11-01T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]}}"#;
    let with_tasks = [
        event(1, &task("task_started")),
        echo.to_owned(),
        event(3, &said("first")),
        event(4, &said("and also")),
        event(5, &task("task_complete")),
        event(6, &task("task_started")),
        event(7, &said("second")),
        event(8, &task("turn_aborted")),
    ]
    .join("\n");
    let (turns, _) = turns_of(Agent::Codex, &with_tasks);
    let prompts: Vec<_> = turns.iter().map(PastTurn::prompt).collect();
    assert_eq!(prompts, ["first", "second"]);
    assert!(!turns[0].interrupted && turns[1].interrupted);
    assert_eq!(turns[0].facts.prompts, ["first", "first", "and also"]);
    // Without these events every message begins one, but for its second record.
    let older = [
        echo.to_owned(),
        event(3, &said("first")),
        event(4, &said("then")),
    ]
    .join("\n");
    let (turns, _) = turns_of(Agent::Codex, &older);
    assert_eq!(
        turns.iter().map(PastTurn::prompt).collect::<Vec<_>>(),
        ["first", "then"]
    );
}

#[test]
fn a_subagents_transcript_is_not_a_persons() {
    let meta = r#"{"timestamp":"2026-11-01T10:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/p","source":{"subagent":{"thread_spawn":{}}}}}"#;
    let said = r#"{"timestamp":"2026-11-01T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"go"}}"#;
    let (turns, seen) = turns_of(Agent::Codex, &format!("{meta}\n{said}"));
    assert!(turns.is_empty() && seen.is_own);
    let chat = r#"{"sessionId":"g","projectHash":"h","kind":"subagent"}
{"id":"1","timestamp":"2026-11-01T10:00:01Z","type":"user","content":"go"}"#;
    assert!(turns_of(Agent::Gemini, chat).0.is_empty());
}

#[test]
fn the_older_gemini_document_names_its_folder() {
    let document = r#"{"sessionId":"g","projectHash":"h","messages":[
        {"id":"0","type":"user","content":"This is the Gemini CLI.\nI'm currently working in the directory: /home/user/shop\nHere is"},
        {"id":"1","type":"user","timestamp":"2026-11-01T10:00:01Z","content":"fix it"},
        {"id":"2","type":"gemini","timestamp":"2026-11-01T10:00:02Z","content":"done","toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"ls"},"status":"success"}]}]}"#;
    let (turns, _) = turns_of(Agent::Gemini, document);
    let last = turns.last().expect("a turn");
    assert_eq!(last.facts.cwd.as_deref(), Some("/home/user/shop"));
    assert_eq!((last.prompt(), last.facts.calls.len()), ("fix it", 1));
}
