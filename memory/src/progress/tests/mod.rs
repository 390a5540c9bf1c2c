//! Documents: read, rendered, compared.

use journal::{ChangedFile, ProgressKind, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

mod facts;
mod hostile;
mod report;
mod tables;

/// What an agent might hand in for `/handoff`.
const HANDOFF: &str = "\
Login works; registration waits for SMTP.

## Goal
User authentication

**Status**: in progress
**Completion**: 70%
**Phase**: implementation

## Done
- [x] JWT tokens
- [x] Login endpoint,
  with tests

## Remaining
1. Email validation
2. Password reset

## Blocked
- SMTP credentials

## Files changed
| File | Changes |
|---|---|
| src/jwt.rs | Tokens \\| helpers |

## Decisions
| Decision | Rationale | Confidence | Reversible |
|---|---|---|---|
| JWT over sessions | Stateless | 90% | Yes |

## Must Read
- `src/register.rs` - goes on here

## Can Skip
- src/jwt.rs: complete

## Summary of skippable content
`verify(token)` checks.

## When resuming
1. Check SMTP_HOST

## Next Action
Add the validation

## Remaining work
Half a day

## Risks
- Mail may be slow

## Dependencies
None

## Mood
Good
";

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000 + second * 1_000_000)
}

pub(super) fn document(kind: ProgressKind, stated: &str) -> Document {
    let mut all = Stated::default();
    all.lay(read(stated).expect("it reads"), at(100));
    let file = FileWork {
        path: "src/jwt.rs".into(),
        writes: 1,
        edits: 2,
        status: "created".into(),
        hash: Some(7),
        last_at: at(90),
        ..FileWork::default()
    };
    let failed = Failed {
        at: at(50),
        tool: "Bash".into(),
        what: "cargo test".into(),
        said: "1 failed".into(),
        resolved: None,
    };
    Document {
        version: DOCUMENT_VERSION,
        kind,
        cause: "command".into(),
        at: at(100),
        session: Uuid::nil().to_string(),
        native_session: "sess_abc".into(),
        agent: "claude".into(),
        project: "/p".into(),
        facts: Facts {
            worked_ms: 4_500_000,
            tools: 9,
            turns: 2,
            files: vec![file],
            failures: vec![failed],
            ..Facts::default()
        },
        others: Vec::new(),
        git: Ok(GitState {
            top: "/p".into(),
            branch: Some("feature".into()),
            commit: Some("a1b2c3d4e5f6a7b8".into()),
            subject: "feat: login".into(),
            uncommitted: vec![("??".into(), "src/jwt.rs".into())],
            ahead: Some(3),
            behind: Some(0),
        }),
        lock_files: vec![ChangedFile {
            path: "Cargo.lock".into(),
            hash: Some(1),
        }],
        open_phase: None,
        parent: None,
        stated: all,
    }
}

/// Headings of a handoff, and what is said under each.
const SECTIONS: [(&str, &str); 19] = [
    ("# Session Handoff Checkpoint", "**Session ID**: `sess_abc`"),
    (
        "# Session Handoff Checkpoint",
        "**Phase**: implementation (stated by the agent)",
    ),
    ("# Session Handoff Checkpoint", "**Time Worked**: 1h15m"),
    (
        "## Executive Summary",
        "Login works; registration waits for SMTP.",
    ),
    (
        "## Current Task",
        "**Objective**: User authentication\n**Status**: in_progress\n**Completion**: 70%",
    ),
    (
        "### Completed Steps",
        "- [x] JWT tokens\n- [x] Login endpoint, with tests",
    ),
    (
        "### Remaining Steps",
        "- [ ] Email validation\n- [ ] Password reset",
    ),
    ("### Active Blockers", "- SMTP credentials"),
    (
        "## Files Modified This Session",
        "| `src/jwt.rs` | Tokens \\| helpers | created | written once, edited twice |",
    ),
    ("## Tool Runs", "9 tool calls in 2 turns"),
    (
        "## Failures and What Resolved Them",
        "not resolved: `Bash` `cargo test`, which said `1 failed`",
    ),
    (
        "## Key Decisions Made",
        "| JWT over sessions | Stateless | 90% | Yes |",
    ),
    ("### Must Read", "- `src/register.rs` - goes on here"),
    ("### Can Skip", "- `src/jwt.rs` - complete"),
    (
        "### Summary of Skippable Content",
        "`verify(token)` checks.",
    ),
    (
        "## Recovery Instructions",
        "1. Check SMTP_HOST\n2. Run `checkpointd progress validate`",
    ),
    (
        "## Handoff Notes",
        "**Recommended Next Action**: Add the validation\n**Estimated Remaining Work**: Half a day\n**Risk Areas**: Mail may be slow\n**Dependencies**: None",
    ),
    ("## Notes", "Mood: Good"),
    (
        "## Git State",
        "**Branch**: `feature`\n**Last Commit**: a1b2c3d4e5 - `feat: login`\n**Uncommitted Changes**: Yes - `src/jwt.rs`\n**Ahead/Behind Remote**: 3 ahead, 0 behind",
    ),
];

#[test]
fn every_section_of_the_specification_is_there_and_says_what_was_stated() {
    let text = render(&document(ProgressKind::Handoff, HANDOFF));
    for (heading, words) in SECTIONS {
        let start = text
            .find(&format!("{heading}\n"))
            .unwrap_or_else(|| panic!("no {heading} in\n{text}"));
        let rest = &text[start + heading.len()..];
        let end = rest.find("\n#").unwrap_or(rest.len());
        assert!(
            rest[..end].contains(words),
            "{heading} lacks {words:?}:\n{}",
            &rest[..end]
        );
    }
    let marked = text.matches("_Stated by the agent._").count();
    assert_eq!(marked, 13, "each stated part says so:\n{text}");
}

#[test]
fn each_type_has_its_own_form() {
    for kind in ProgressKind::ALL {
        assert_eq!(ProgressKind::of_word(kind.word()), Some(kind));
        assert_eq!(serde_json::to_value(kind).expect("a word"), kind.word());
        let mut document = document(kind, HANDOFF);
        document.parent = (kind == ProgressKind::Incremental).then(|| Parent {
            seq: 1,
            at: at(60),
            tools: 4,
            failed: 0,
            decisions: vec![],
        });
        let text = render(&document);
        let title = match kind {
            ProgressKind::Handoff => "# Session Handoff Checkpoint",
            ProgressKind::Incremental => "# Incremental Checkpoint",
            _ => "# Progress Checkpoint",
        };
        assert!(text.starts_with(&format!("{title}\n")), "{text}");
        assert!(text.contains(&format!("**Type**: {}\n", kind.word())));
        assert_eq!(
            text.contains("## Handoff Notes"),
            kind == ProgressKind::Handoff
        );
        assert_eq!(
            text.contains("## Recovery Instructions"),
            kind != ProgressKind::Incremental
        );
        assert_eq!(
            Document::from_json(&document.to_json()).as_ref(),
            Ok(&document)
        );
    }
    let mut delta = document(ProgressKind::Incremental, HANDOFF);
    delta.parent = Some(Parent {
        seq: 1,
        at: at(60),
        tools: 4,
        failed: 0,
        decisions: vec![],
    });
    let text = render(&delta);
    for words in [
        "**Delta Since Parent**: 5 tool calls, 0 of them failed; 1 file changed",
        "**Files Touched**: `src/jwt.rs` (created)",
        "**Decisions Made**: JWT over sessions",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn what_is_not_stated_anew_stays_and_says_since_when() {
    let mut document = document(ProgressKind::Full, HANDOFF);
    document.at = at(500);
    document.stated.lay(
        read(r#"{"remaining": ["Password reset"], "blockers": []}"#).expect("JSON"),
        at(500),
    );
    let text = render(&document);
    assert!(
        text.contains("- [ ] Password reset\n\n_Stated by the agent._"),
        "{text}"
    );
    assert!(!text.contains("Email validation"));
    assert!(text.contains("### Active Blockers\n\nNone\n"));
    assert!(text.contains(&format!(
        "- [x] Login endpoint, with tests\n\n_Stated by the agent at {}; nothing newer was stated._",
        at(100)
    )));
    assert!(document.has_more());
    document
        .stated
        .lay(read(r#"{"status": "complete"}"#).expect("JSON"), at(501));
    assert!(!document.has_more());
}

#[test]
fn our_own_document_reads_back_as_what_was_stated() {
    let stated = read(HANDOFF).expect("it reads");
    assert_eq!(
        read(&render(&document(ProgressKind::Handoff, HANDOFF))),
        Ok(stated)
    );
    let nothing = read(&render(&document(ProgressKind::Full, "")));
    assert_eq!(
        nothing.map(|stated| stated.recovery),
        Ok(Some(Texts(vec![]))),
        "but for the list that has our step"
    );
}

#[test]
fn json_is_exact_and_says_which_field_is_wrong() {
    for (text, problem) in [
        (
            r#"{"completion": 101}"#,
            "`completion`: expected a whole number from 0 to 100",
        ),
        (
            r#"{"phase": "coding"}"#,
            "`phase`: `coding` is not one of research,",
        ),
        (
            r#"{"status": "fine"}"#,
            "`status`: `fine` is not one of in_progress,",
        ),
        (
            r#"{"remaining": 3}"#,
            "`remaining`: expected a list of texts",
        ),
        (
            r#"{"decisions": [{"choice": "x"}]}"#,
            "`decisions`: unknown field `choice`",
        ),
        (
            r#"{"mood": "good"}"#,
            "unknown field `mood`; the fields are phase, summary,",
        ),
        ("{", "not a JSON object: "),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(problem), "{text}: {error}");
    }
    let read = read(
        r#"{"completion":"70%","decisions":["x",{"decision":"y","confidence":90,"reversible":true}],"must_read":["a.md - why"]}"#,
    );
    let read = read.expect("lenient in shape");
    assert_eq!(read.completion, Some(Percent(70)));
    assert_eq!(
        read.decisions.expect("two")[1].reversible.as_deref(),
        Some("Yes")
    );
    assert_eq!(
        read.must_read,
        Some(vec![Pointer {
            file: "a.md".into(),
            why: "why".into()
        }])
    );
    assert!(super::read(&"x".repeat(INPUT_BYTES_MAX + 1)).is_err());
}

#[test]
fn an_offer_is_bounded_and_says_what_counts_first() {
    let mut document = document(ProgressKind::Handoff, HANDOFF);
    let holds = Report::of(vec![]);
    let text = offer(None, Some((&document, "/f.md", &holds))).expect("there is something");
    for words in [
        "/f.md",
        "it still holds",
        "Goal: User authentication",
        "Must read:\n- `src/register.rs`",
        "Can skip:\n- `src/jwt.rs`",
        "Next action: Add the validation",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    document.stated.lay(
        Judgments {
            summary: Some("x\n# y ".repeat(9_000)),
            remaining: Some(Texts(vec!["z".repeat(900); 90])),
            ..Judgments::default()
        },
        at(1),
    );
    let text = offer(None, Some((&document, "/f.md", &holds))).expect("there is something");
    assert!(
        text.len() <= OFFER_BYTES_MAX && text.contains("Must read"),
        "{}",
        text.len()
    );
    assert_eq!(offer(None, None), None);
    let phase = OpenPhase {
        name: "build".into(),
        number: 4,
        checkpoint: "c1".into(),
        summary: "half".into(),
    };
    assert!(
        offer(Some(&phase), None)
            .expect("a phase")
            .contains("Open work phase: 4 of 7, build: half (checkpoint c1)")
    );
}

proptest! {
    #[test]
    fn whatever_an_agent_writes_reads_and_renders_within_its_section(text in "\\PC{0,200}", lines in prop::collection::vec("[-#*|>`a-z:\\[\\]x 0-9]{0,30}", 0..30)) {
        let input = format!("{text}\n{}", lines.join("\n"));
        if !input.trim_start().starts_with('{') {
            let document = document(ProgressKind::Full, &input);
            let rendered = render(&document);
            prop_assert_eq!(rendered.lines().filter(|line| *line == "## Git State").count(), 1);
            prop_assert_eq!(rendered.lines().filter(|line| *line == "# Progress Checkpoint").count(), 1);
            prop_assert_eq!(Document::from_json(&document.to_json()).map(|again| render(&again)), Ok(rendered));
        }
    }
}
