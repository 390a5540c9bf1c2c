//! `checkpointd journal sql`: the same answers as the other commands, and no way to change anything.

use serde_json::{Value, json};

use super::store::{checkpointd, with_history};
use crate::support::Home;

fn rows(home: &Home, query: &str) -> Vec<Value> {
    let (code, out, error) = checkpointd(home, &["journal", "sql", query, "--json"]);
    assert_eq!(code, 0, "{query}: {error}");
    out.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn lines(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let (code, out, error) = checkpointd(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {error}");
    out.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Brings a cell of a table back to what it was made from.
fn as_told(cell: &Value, told: &Value) -> Value {
    match (cell, told) {
        (Value::String(text), Value::Array(_) | Value::Object(_)) => {
            serde_json::from_str(text).expect("JSON")
        }
        (Value::Number(number), Value::Bool(_)) => json!(number.as_i64() == Some(1)),
        _ => cell.clone(),
    }
}

/// Every column has what another command tells under the same name.
fn agree(rows: &[Value], told: &[Value]) {
    assert_eq!(rows.len(), told.len());
    assert!(!rows.is_empty());
    for (row, told) in rows.iter().zip(told) {
        for (column, cell) in row.as_object().expect("an object") {
            let is_left_out_if_unknown =
                ["machine", "journal", "journal_seq", "withheld", "remote"]
                    .contains(&column.as_str());
            if is_left_out_if_unknown && told.get(column).is_none() {
                assert!(cell.is_null(), "column `{column}`");
                continue;
            }
            let told = told
                .get(column)
                .unwrap_or_else(|| panic!("no `{column}` in {told}"));
            assert_eq!(&as_told(cell, told), told, "column `{column}`");
        }
    }
}

/// Every session's row has what `sessions` tells of it.
fn sessions_agree(rows: &[Value], sessions: &[Value]) {
    assert_eq!(rows.len(), sessions.len());
    for row in rows {
        let told = sessions
            .iter()
            .find(|told| told["session"] == row["session"])
            .expect("a session");
        agree(std::slice::from_ref(row), std::slice::from_ref(told));
    }
}

/// Every event's row has what the export tells of it.
fn events_agree(rows: &[Value], exported: &[Value]) {
    for (row, told) in rows.iter().zip(exported) {
        assert_eq!(
            (&row["seq"], &row["kind"], &row["id"]),
            (&told["seq"], &told["kind"], &told["id"])
        );
        assert_eq!(as_told(&row["payload"], &told["payload"]), told["payload"]);
        let fields: Value =
            serde_json::from_str(row["fields"].as_str().expect("text")).expect("JSON");
        // An export has the texts of objects.
        let same = |(name, value): (&String, &Value)| {
            let text = told[name].as_str().filter(|_| value.is_object());
            let read = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
            told[name] == *value || read.as_ref() == Some(value)
        };
        assert!(fields.as_object().expect("an object").iter().all(same));
    }
}

/// With a daemon and without it.
#[test]
fn tables_tell_what_the_other_commands_tell() {
    let mut daemon = with_history("");
    let questions = [
        "select * from events order by seq",
        "select * from decisions order by seq",
        "select * from tools order by seq",
        "select * from turns order by seq",
        "select * from sessions order by first_at, session",
    ];
    let with: Vec<_> = questions
        .iter()
        .map(|query| rows(&daemon.home, query))
        .collect();
    let exported = lines(&daemon.home, &["journal", "export"]);
    let audit = lines(&daemon.home, &["audit", "--json"]);
    let sessions = lines(&daemon.home, &["sessions", "--json"]);
    daemon.kill();
    let without: Vec<_> = questions
        .iter()
        .map(|query| rows(&daemon.home, query))
        .collect();
    assert_eq!(with, without);

    agree(&with[1], &audit);
    sessions_agree(&with[4], &sessions);
    events_agree(&with[0], &exported);
    let finished = ["tool_finished", "tool_failed"];
    let calls = exported
        .iter()
        .filter(|line| finished.iter().any(|kind| line["kind"] == *kind))
        .count();
    assert_eq!((with[0].len(), with[2].len()), (exported.len(), calls));
    // Turns are counted as decisions count them.
    let counted = rows(
        &daemon.home,
        "select count(*) as wrong from decisions d left join turns t using (session, turn) where d.turn > 0 and t.seq is null",
    );
    assert_eq!(counted, [json!({ "wrong": 0 })]);
    let sums = rows(
        &daemon.home,
        "select sum(tool_calls) as calls, sum(injected) as injected, sum(stops) as stops from turns",
    );
    let count = |key: &str, is: &str| audit.iter().filter(|line| line[key] == is).count();
    let stops = exported
        .iter()
        .filter(|line| line["kind"] == "agent_stopped")
        .count();
    assert_eq!(
        sums,
        [json!({ "calls": calls, "injected": count("verdict", "inject"), "stops": stops })]
    );
}

#[test]
fn answers_come_as_a_table_as_csv_and_as_json_lines() {
    let mut daemon = with_history("");
    daemon.kill();
    let query = "select agent, count(*) as n, null as empty, 'a,\"b\"' as odd from sessions group by agent order by 1";
    let shown = |form: &[&str]| {
        let (code, out, error) =
            checkpointd(&daemon.home, &[&["journal", "sql", query], form].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        out
    };
    insta::assert_snapshot!(shown(&[]), @r#"
    agent   n  empty  odd
    claude  1         a,"b"
    codex   1         a,"b"
    gemini  1         a,"b"
    "#);
    insta::assert_snapshot!(shown(&["--csv"]), @r#"
    agent,n,empty,odd
    claude,1,,"a,""b"""
    codex,1,,"a,""b"""
    gemini,1,,"a,""b"""
    "#);
    insta::assert_snapshot!(shown(&["--json"]), @r#"
    {"agent":"claude","n":1,"empty":null,"odd":"a,\"b\""}
    {"agent":"codex","n":1,"empty":null,"odd":"a,\"b\""}
    {"agent":"gemini","n":1,"empty":null,"odd":"a,\"b\""}
    "#);
    let columns = lines(&daemon.home, &["journal", "sql", "--schema", "--json"]);
    for table in ["events", "decisions", "tools", "turns", "sessions"] {
        let documented = columns
            .iter()
            .filter(|line| line["table"] == table)
            .map(|line| &line["column"]);
        let row = rows(&daemon.home, &format!("select * from {table} limit 1"));
        let real = row[0].as_object().expect("an object").keys();
        assert!(documented.eq(real), "{table}");
    }
}

#[test]
fn nothing_but_reading_is_possible_and_mistakes_are_named() {
    let mut daemon = with_history("");
    daemon.kill();
    let (_, before, _) = checkpointd(&daemon.home, &["journal", "export"]);
    for (query, said) in [
        ("delete from events", "only SELECT"),
        ("update events set kind = 'x'", "only SELECT"),
        ("create table x (y)", "only SELECT"),
        ("attach 'x.db' as x", "only SELECT"),
        ("pragma query_only = 0", "only SELECT"),
        ("vacuum into 'x.db'", "only SELECT"),
        ("select 1; select 2", "only one query"),
        ("select color from tools", "--schema"),
        ("select * from nowhere", "--schema"),
        ("selekt 1", "--schema"),
        ("", "--schema"),
    ] {
        let (code, out, error) = checkpointd(&daemon.home, &["journal", "sql", query]);
        assert!(
            code == 2 && out.is_empty() && error.contains(said),
            "{query}: {code} {error}"
        );
    }
    assert!(!daemon.home.path().join("x.db").exists());
    assert_eq!(checkpointd(&daemon.home, &["journal", "export"]).1, before);
    let (code, _, error) = checkpointd(
        &Home::new(),
        &["journal", "sql", "select count(*) from events"],
    );
    assert!(code == 3 && error.contains("hint:"), "{error}");
}
