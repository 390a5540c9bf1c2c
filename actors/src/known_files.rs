//! Which edited files an agent knew before their edit, from what its turn does not show: its own rules, and the session
//! before the turn (spec HYG-4, HYG-9).

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use checkpoint::agents::{self, adapter};
use checkpoint::findings;
use checkpoint::policy::{Policy, ReadBeforeEdit};
use checkpoint::transcript;
use journal::{Agent, Evidence, ToolCall};

use crate::named_file::Backward;
use crate::transcripts;

/// Maximum number of files that are searched for.
const FILES_MAX: usize = 256;
/// How much of a transcript is looked through, from its end.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How much of it is read at once, in bytes.
const PART_BYTES: u64 = 1024 * 1024;
/// How long to look at most. A test looks until it has found what it is about, however busy the machine is.
const TIME_MAX: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 150 });

/// Returns the edited files that the turn did not show to the agent before, but whose text it knew anyway, by the paths
/// that it wrote. If every edit had its read, nothing is searched.
pub fn of(
    agent: Agent,
    transcript: Option<&Path>,
    evidence: &Evidence,
    project: &str,
    policy: &Policy,
) -> Vec<String> {
    if policy.hygiene.read != ReadBeforeEdit::Session {
        return Vec::new();
    }
    let mut unknown = findings::unread_files(evidence, project);
    unknown.truncate(FILES_MAX);
    let (Some(known), false) = (adapter(agent), unknown.is_empty()) else {
        return Vec::new();
    };
    let mut search = Search {
        unknown,
        known: Vec::new(),
    };
    let calls = &evidence.timeline.calls;
    search.take(|path| agents::knows_file(known, calls, path));
    if let Some(transcript) = transcript {
        // A transcript that cannot be read has a note already.
        let _ = look_back(agent, transcript, evidence, project, policy, &mut search);
    }
    search.known
}

/// The files that are searched for.
struct Search {
    unknown: Vec<String>,
    known: Vec<String>,
}

impl Search {
    fn take(&mut self, is_known: impl Fn(&str) -> bool) {
        let known = self.unknown.extract_if(.., |path| is_known(path));
        self.known.extend(known);
    }
}

/// Reads a transcript backward, part by part, until all files are found or a bound is reached. What the turn itself did is
/// left out.
fn look_back(
    agent: Agent,
    path: &Path,
    evidence: &Evidence,
    project: &str,
    policy: &Policy,
    search: &mut Search,
) -> io::Result<()> {
    let began = Instant::now();
    let in_turn: HashSet<&str> = evidence
        .timeline
        .calls
        .iter()
        .filter_map(|call| call.id.as_deref())
        .collect();
    let mut file = Backward::open(path)?;
    // One JSON document can only be read whole.
    let whole = transcripts::is_document(path);
    let part_bytes = if whole { BYTES_MAX } else { PART_BYTES };
    while !search.unknown.is_empty() && began.elapsed() < TIME_MAX && file.taken() < BYTES_MAX {
        let Some(part) = file.part(part_bytes)? else {
            break;
        };
        if whole && !part.from_start {
            break;
        }
        let bytes = part.text.as_bytes();
        let Some(facts) = transcript::read_all(agent, bytes, &policy.prefix) else {
            continue;
        };
        let before: Vec<ToolCall> = facts
            .calls
            .into_iter()
            .filter(|call| call.id.as_deref().is_none_or(|id| !in_turn.contains(id)))
            .filter(|call| {
                evidence
                    .last_prompt_at
                    .is_none_or(|prompt| call.at < prompt)
            })
            .collect();
        let prompts = facts.prompts.iter().map(String::as_str);
        let seen = findings::known_files(&before, prompts, &search.unknown, project);
        search.take(|path| seen.iter().any(|seen| seen == path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use checkpoint::config::Config;
    use checkpoint::rules::pack_names::ProjectFacts;
    use checkpoint::transcript::join;
    use journal::{ChangedFile, Changes};
    use serde_json::{Value, json};

    use super::*;

    const PROJECT: &str = "/p";

    /// Writes a transcript, reads its last turn as a stop would, and asks.
    fn known(agent: Agent, name: &str, transcript: &str, changed: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, transcript).expect("written");
        let config = Config::default();
        let policy = config
            .policy_for(
                &ProjectFacts {
                    path: PROJECT.into(),
                    files: Vec::new(),
                },
                None,
            )
            .expect("a policy");
        let facts = checkpoint::transcript::read(
            agent,
            transcript.as_bytes(),
            true,
            "[x]",
            &config.redactor,
        );
        let files = changed.iter().map(|path| ChangedFile {
            path: (*path).to_owned(),
            hash: Some(1),
        });
        let evidence = Evidence {
            changes: Changes::Known(files.collect()),
            last_prompt_at: facts
                .as_ref()
                .and_then(|facts| facts.last_real_user.as_ref())
                .map(|user| user.at),
            timeline: join(facts, &[]).timeline,
            ..Evidence::default()
        };
        assert!(!evidence.timeline.calls.is_empty(), "the turn was read");
        of(agent, Some(&path), &evidence, PROJECT, &policy)
    }

    fn lines(lines: &[Value]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn codex(second: u32, payload: &Value) -> Value {
        json!({"timestamp": format!("2026-01-01T00:00:{second:02}Z"), "type": "response_item", "payload": payload})
    }

    fn said(second: u32, text: &str) -> Value {
        json!({"timestamp": format!("2026-01-01T00:00:{second:02}Z"), "type": "event_msg",
            "payload": {"type": "user_message", "message": text}})
    }

    fn ran(second: u32, command: &str) -> [Value; 2] {
        let id = format!("c{second}");
        let arguments = json!({"cmd": command}).to_string();
        [
            codex(
                second,
                &json!({"type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments}),
            ),
            codex(
                second,
                &json!({"type": "function_call_output", "call_id": id,
                "output": "Process exited with code 0\nOutput:\n"}),
            ),
        ]
    }

    fn patched(second: u32, patch: &str) -> [Value; 2] {
        let id = format!("p{second}");
        [
            codex(
                second,
                &json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": patch}),
            ),
            codex(
                second,
                &json!({"type": "custom_tool_call_output", "call_id": id, "output": "Success."}),
            ),
        ]
    }

    #[test]
    fn earlier_turns_are_looked_through() {
        let patch = "*** Update File: a.ts\n*** Update File: b.ts\n*** Update File: c.ts\n*** Add File: d.ts\n\
                     *** Update File: AGENTS.md\n*** Update File: e.ts\n";
        // More than one part of the file is between them.
        let filler = json!({"timestamp": "2026-01-01T00:00:05Z", "type": "event_msg",
            "payload": {"type": "agent_message", "message": "x".repeat(3 << 20)}});
        let mut all = vec![said(1, "look at @c.ts")];
        all.extend(ran(2, "cat a.ts"));
        all.extend(patched(3, "*** Update File: b.ts\n"));
        all.extend([filler, said(6, "go on")]);
        all.extend(patched(7, patch));
        all.extend(ran(8, "cat e.ts"));
        let changed = ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "AGENTS.md"];
        let mut found = known(Agent::Codex, "rollout.jsonl", &lines(&all), &changed);
        found.sort();
        assert_eq!(found, ["AGENTS.md", "a.ts", "b.ts", "c.ts", "d.ts"]);
    }

    #[test]
    fn a_host_that_enforces_reading_is_believed() {
        let line = |kind: &str, second: u32, content: &Value| {
            json!({"type": kind, "sessionId": "s", "timestamp": format!("2026-01-01T00:00:{second:02}Z"),
                "message": {"content": content}})
        };
        let mut all = vec![line("user", 1, &json!("go"))];
        for (second, tool) in [(2, "Edit"), (3, "mcp__fs__edit_file")] {
            let id = format!("t{second}");
            let input = json!({"file_path": format!("/p/{tool}.rs")});
            all.push(line(
                "assistant",
                second,
                &json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]),
            ));
            all.push(line(
                "user",
                second,
                &json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}]),
            ));
        }
        let changed = ["Edit.rs", "mcp__fs__edit_file.rs"];
        assert_eq!(
            known(Agent::Claude, "s.jsonl", &lines(&all), &changed),
            ["/p/Edit.rs"]
        );
    }

    #[test]
    fn a_document_is_read_whole() {
        let call = |id: &str, name: &str, second: u32, path: &str| {
            json!({"id": id, "type": "gemini", "timestamp": format!("2026-01-01T00:00:{second:02}Z"), "content": "",
                "toolCalls": [{"id": format!("c{id}"), "name": name, "args": {"file_path": path}, "status": "success",
                    "timestamp": format!("2026-01-01T00:00:{second:02}Z")}]})
        };
        let said = |id: &str, second: u32| json!({"id": id, "type": "user", "timestamp": format!("2026-01-01T00:00:{second:02}Z"), "content": "do it"});
        let document = json!({"sessionId": "s", "projectHash": "h", "messages": [
            said("1", 1), call("2", "read_file", 2, "/p/a.ts"), said("3", 3),
            call("4", "replace", 4, "/p/a.ts"), call("5", "replace", 5, "/p/b.ts")]});
        let found = known(
            Agent::Gemini,
            "session.json",
            &document.to_string(),
            &["a.ts", "b.ts"],
        );
        assert_eq!(found, ["/p/a.ts"]);
    }
}
