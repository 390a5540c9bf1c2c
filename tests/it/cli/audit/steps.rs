//! `replay --step`.

use super::*;

#[test]
fn steps_lead_from_nothing_to_what_is_known() {
    let home = recorded();
    for session in ["3f0a", "8c4e", "01a1"] {
        let steps = lines(&home, &["replay", "--session", session, "--step"]);
        assert_eq!(steps.len(), lines(&home, &["timeline", session]).len());
        let state = &lines(&home, &["journal", "state", session])[0];
        let mut turn = json!(0);
        for change in steps
            .iter()
            .flat_map(|step| step["changes"].as_array().expect("changes"))
        {
            if change["field"] == "turn" {
                assert_eq!(
                    change["was"], turn,
                    "each step begins where the one before ended"
                );
                turn = change["now"].clone();
            }
        }
        assert_eq!(turn, state["turn"], "{session}");
    }
    let (code, _, error) = ask(&home, &["replay", "--step"]);
    assert!(
        code == 2 && error.contains("--session last --step"),
        "{error}"
    );
}

#[test]
fn recorded_calls_can_be_stepped_through() {
    let home = Home::new();
    let call = |event: &str, at: &str, more: Value| {
        let mut payload = json!({ "session_id": "s1", "cwd": "/p", "hook_event_name": event });
        payload
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        json!({ "agent": "claude", "at": at, "payload": payload }).to_string()
    };
    let calls = [
        call(
            "UserPromptSubmit",
            "2026-11-20T09:00:00Z",
            json!({ "prompt": "go", "prompt_id": "p" }),
        ),
        "not a call".to_owned(),
        call(
            "Stop",
            "2026-11-20T09:01:00Z",
            json!({ "stop_hook_active": false, "prompt_id": "p" }),
        ),
    ];
    let file = home.path().join("calls.ndjson");
    std::fs::write(&file, calls.join("\n")).expect("writes");
    let file = file.to_str().expect("text");
    let (code, out, error) = ask(&home, &["replay", "--file", file, "--step", "--json"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.starts_with("line 2: "), "{error}");
    let steps: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<_> = steps
        .iter()
        .map(|step| step["event"]["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(
        kinds,
        [
            "prompt_submitted",
            "agent_stopped",
            "decided",
            "delivery_attempted",
            "delivery_expired"
        ]
    );
    let changed = steps[2]["changes"].as_array().expect("changes").iter();
    let changed: Vec<_> = changed
        .map(|change| change["field"].as_str().expect("a field"))
        .collect();
    assert!(
        changed.contains(&"last_checkpoint_at") && changed.contains(&"blocks_this_turn"),
        "{changed:?}"
    );
    let (_, _, error) = ask(&home, &["replay", "--file", "/nowhere", "--step"]);
    assert!(error.contains("/nowhere"), "{error}");
}
