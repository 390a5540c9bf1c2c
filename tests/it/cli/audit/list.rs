//! What `audit` lists: filters, CSV; and the totals of `stats`.

use super::*;

#[test]
fn audit_shows_what_was_asked_for() {
    let home = recorded();
    let rows: [(&[&str], &[u64]); 17] = [
        (&[], &[13, 22, 26, 33, 37, 45]),
        (&["--session", "3f0a"], &[13, 22, 26]),
        (&["--agent", "gemini"], &[33, 37]),
        (&["--project", "/home/ada/inventory"], &[13, 22, 26, 33, 37]),
        (&["--project", "/home/ada"], &[13, 22, 26, 33, 37, 45]),
        // A name that begins alike is another folder.
        (&["--project", "/home/ada/inv"], &[]),
        (&["--verdict", "inject"], &[13, 33, 45]),
        (&["--reason", "block_budget"], &[22, 37]),
        (&["--since", "2026-11-20T09:05:08Z"], &[26, 33, 37, 45]),
        (&["--until", "2026-11-20T09:05:08Z"], &[13, 22, 26]),
        (
            &[
                "--since",
                "2026-11-20 09:01:30",
                "--until",
                "2026-11-20 09:07:30",
            ],
            &[22, 26, 33],
        ),
        (
            &["--since", "2026-11-20", "--until", "2026-11-20"],
            &[13, 22, 26, 33, 37, 45],
        ),
        (&["--until", "2026-11-19"], &[]),
        (&["--text", "PYTEST"], &[13, 33]),
        (&["--text", "without being read"], &[33]),
        (&["--limit", "2"], &[37, 45]),
        (
            &["--limit", "1", "--agent", "claude", "--verdict", "inject"],
            &[13],
        ),
    ];
    for (filter, expected) in rows {
        assert_eq!(
            seqs(&home, &[&["audit"], filter].concat()),
            expected,
            "{filter:?}"
        );
    }
    let (code, _, error) = ask(&home, &["audit", "--since", "soon"]);
    assert_eq!(code, 2, "{error}");
    assert!(
        error.contains("`soon` is not a time") && error.contains("yesterday"),
        "{error}"
    );
    let (code, _, error) = ask(&home, &["audit", "--reason", "why"]);
    assert!(code == 2 && error.contains("block_budget"), "{error}");
}

#[test]
fn words_that_do_not_exist_are_refused_and_the_nearest_is_named() {
    let home = recorded();
    for (arguments, near) in [
        (&["journal", "tail", "--kind", "decide"][..], "'decided'"),
        (
            &["journal", "tail", "--kind", "agent_stoped"][..],
            "'agent_stopped'",
        ),
        (&["journal", "tail", "--agent", "claud"][..], "'claude'"),
        (&["audit", "--verdict", "let-trough"][..], "'let-through'"),
        (
            &["audit", "--reason", "below_treshold"][..],
            "'below_threshold'",
        ),
        (&["audit", "--agent", "gemmini"][..], "'gemini'"),
    ] {
        let (code, out, error) = ask(&home, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
        assert!(
            error.contains(&format!("a similar value exists: {near}")),
            "{arguments:?}: {error}"
        );
        assert!(
            error.contains("possible values: "),
            "{arguments:?}: {error}"
        );
    }
    for kind in journal::Event::KINDS {
        assert_eq!(
            ask(&home, &["journal", "tail", "--kind", kind]).0,
            0,
            "{kind}"
        );
    }
    assert_eq!(
        ask(&home, &["journal", "tail", "--kind", "muted"]).1,
        "No events.\n"
    );
    let (_, out, _) = ask(&home, &["timeline", "3f0a", "--turn", "9"]);
    assert!(out.starts_with("There is no turn 9"), "{out}");
}

#[test]
fn a_spreadsheet_takes_nothing_that_an_agent_wrote_for_a_formula() {
    let formula = "=cmd|' /C calc'!A0";
    let was = "Reorder points are off by one; please fix them";
    assert!(recording().contains(was));
    let home = home_with(
        &recording()
            .replace(was, formula)
            .replace("\"Rust code\"", "\"=Rust\""),
    );
    let query = "select prompt, -1 as number, -0.5 as half, '-1' as text, '@x' as at, '+1' as plus from turns where seq = 3";
    let (code, out, error) = ask(&home, &["journal", "sql", "--csv", query]);
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "prompt,number,half,text,at,plus\n'=cmd|' /C calc'!A0,-1,-0.5,'-1,'@x,'+1\n"
        ),
        "{error}"
    );
    // Nothing is added to where no spreadsheet reads.
    assert_eq!(
        lines(&home, &["journal", "sql", query])[0]["prompt"],
        formula
    );
}

#[test]
fn audit_as_csv_has_a_record_for_each_decision_whatever_is_in_its_fields() {
    let home = recorded();
    let (code, out, error) = ask(&home, &["audit", "--csv"]);
    assert_eq!(code, 0, "{error}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let head = reader.headers().expect("a head").clone();
    let records: Vec<_> = reader
        .records()
        .map(|record| record.expect("a record"))
        .collect();
    let decisions = lines(&home, &["audit"]);
    assert_eq!(records.len(), decisions.len());
    for (record, decision) in records.iter().zip(&decisions) {
        let field =
            |name: &str| &record[head.iter().position(|column| column == name).expect(name)];
        assert_eq!(field("seq"), decision["seq"].to_string());
        // Messages are many lines with quotes in them.
        assert_eq!(
            field("message"),
            decision["message"].as_str().unwrap_or_default()
        );
        let actions = decision["actions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["text"].as_str().expect("text"));
        assert_eq!(field("actions"), actions.collect::<Vec<_>>().join("\n"));
        assert_eq!(
            field("project"),
            decision["project"].as_str().expect("a project")
        );
    }
    let (code, ..) = ask(&home, &["audit", "--csv", "--json"]);
    assert_eq!(code, 2);
}

#[test]
fn a_summary_counts_what_the_decisions_say() {
    let home = own();
    let summary = lines(&home, &["stats", "--since", "2026-11-01"]).remove(0);
    let (total, decisions) = (&summary["total"], lines(&home, &["audit"]));
    let with =
        |name: &str, value: &str| decisions.iter().filter(|line| line[name] == value).count();
    assert_eq!(total["decisions"], decisions.len());
    assert_eq!(total["injected"], with("verdict", "inject"));
    assert_eq!(total["passed"], with("verdict", "pass"));
    assert_eq!(
        total["passed_by_reason"],
        json!({ "below_threshold": 1, "block_budget": 2 })
    );
    for outcome in ["confirmed", "failed", "expired", "pending"] {
        assert_eq!(total[outcome], with("delivery", outcome), "{outcome}");
    }
    // Documentation alone demands nothing, so there were two demands.
    assert_eq!((&total["demands"], &total["met"]), (&json!(2), &json!(1)));
    // Turns of 109 s, 8 s, 69 s and 58 s.
    assert_eq!(
        (&total["turns"], &total["median_turn_ms"]),
        (&json!(4), &json!(69_000))
    );
    let groups: Vec<_> = summary["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .collect();
    let group = |agent: &str| {
        groups
            .iter()
            .find(|group| group["agent"] == agent)
            .expect("a group")
    };
    assert_eq!(
        (&group("claude")["met"], &group("gemini")["met"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(group("codex")["project"], "/home/ada/handbook");
    let count = |name: &str| {
        groups
            .iter()
            .map(|group| group[name].as_u64().expect("a number"))
            .sum::<u64>()
    };
    assert_eq!(total["decisions"], count("decisions"));
    let filtered = lines(
        &home,
        &[
            "stats",
            "--since",
            "2026-11-20T09:07:00Z",
            "--until",
            "2026-11-20T09:07:40Z",
            "--agent",
            "gemini",
        ],
    )
    .remove(0);
    assert_eq!(
        (
            &filtered["total"]["decisions"],
            &filtered["total"]["demands"]
        ),
        (&json!(1), &json!(1))
    );
}

#[test]
fn a_limit_of_nothing_shows_nothing() {
    let home = recorded();
    assert_eq!(lines(&home, &["audit", "--limit", "0"]).len(), 0);
    assert_eq!(lines(&home, &["audit", "--limit", "1"]).len(), 1);
}
