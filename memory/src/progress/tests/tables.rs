//! Tables of the documents: each heading and label in its order (spec PROG-4), each judgment in both forms of input,
//! each type.

use serde_json::{Value, json};

use journal::ProgressKind;

use super::{at, document};
use crate::progress::*;

/// Headings of the template, with the labels under each.
const TEMPLATE: [(&str, &[&str]); 14] = [
    (
        "# Progress Checkpoint",
        &["**Last Updated**: ", "**Session ID**: ", "**Phase**: "],
    ),
    ("## Executive Summary", &[]),
    (
        "## Current Task",
        &[
            "**Task ID**: ",
            "**Objective**: ",
            "**Status**: ",
            "**Completion**: ",
        ],
    ),
    ("### Completed Steps", &["- [x] "]),
    ("### Remaining Steps", &["- [ ] "]),
    ("### Active Blockers", &["- "]),
    (
        "## Files Modified This Session",
        &["| File | Changes | Status |"],
    ),
    (
        "## Key Decisions Made",
        &["| Decision | Rationale | Confidence | Reversible |"],
    ),
    ("## Context for Next Session", &[]),
    ("### Must Read", &["- `a.md` - "]),
    ("### Can Skip", &["- `b.md` - "]),
    ("### Summary of Skippable Content", &[]),
    (
        "## Recovery Instructions",
        &["If resuming from this checkpoint:", "1. ", "2. "],
    ),
    (
        "## Git State",
        &[
            "**Branch**: ",
            "**Last Commit**: ",
            "**Uncommitted Changes**: ",
            "**Ahead/Behind Remote**: ",
        ],
    ),
];

/// What a handoff has besides, before the state of git.
const HANDOFF: (&str, &[&str]) = (
    "## Handoff Notes",
    &[
        "**Recommended Next Action**: ",
        "**Estimated Remaining Work**: ",
        "**Risk Areas**: ",
        "**Dependencies**: ",
    ],
);

/// The labels of an incremental document.
const INCREMENTAL: (&str, &[&str]) = (
    "# Incremental Checkpoint",
    &[
        "**Parent Checkpoint**: ",
        "**Delta Since Parent**: ",
        "**Files Touched**: ",
        "**Decisions Made**: ",
    ],
);

/// A judgment: its field, a value as JSON, the same as Markdown, and the heading and words that it is rendered with.
type Row = (
    &'static str,
    Value,
    &'static str,
    &'static str,
    &'static str,
);

fn judgments() -> Vec<Row> {
    let rows = task().into_iter().chain(work());
    rows.chain(next_session()).collect()
}

fn task() -> [Row; 6] {
    let title = "# Session Handoff Checkpoint";
    [
        (
            "phase",
            json!("testing"),
            "**Phase**: testing",
            title,
            "**Phase**: testing (stated by the agent)",
        ),
        (
            "summary",
            json!("Half done."),
            "## Executive Summary\nHalf done.",
            "## Executive Summary",
            "Half done.",
        ),
        (
            "task_id",
            json!("TASK-7"),
            "**Task ID**: TASK-7",
            "## Current Task",
            "**Task ID**: TASK-7",
        ),
        (
            "objective",
            json!("Log in"),
            "**Objective**: Log in",
            "## Current Task",
            "**Objective**: Log in",
        ),
        (
            "status",
            json!("near_complete"),
            "**Status**: near complete",
            "## Current Task",
            "**Status**: near_complete",
        ),
        (
            "completion",
            json!(70),
            "**Completion**: 70%",
            "## Current Task",
            "**Completion**: 70%",
        ),
    ]
}

fn work() -> [Row; 7] {
    [
        (
            "completed",
            json!(["one"]),
            "### Completed Steps\n- [x] one",
            "### Completed Steps",
            "- [x] one",
        ),
        (
            "remaining",
            json!(["two"]),
            "### Remaining Steps\n- [ ] two",
            "### Remaining Steps",
            "- [ ] two",
        ),
        (
            "blockers",
            json!(["no key"]),
            "### Active Blockers\n- no key",
            "### Active Blockers",
            "- no key",
        ),
        (
            "files",
            json!([{ "path": "src/jwt.rs", "changes": "tokens" }]),
            "## Files Modified This Session\n| File | Changes |\n|---|---|\n| src/jwt.rs | tokens |",
            "## Files Modified This Session",
            "| `src/jwt.rs` | tokens | created |",
        ),
        (
            "decisions",
            json!([{ "decision": "JWT", "rationale": "stateless", "confidence": 90, "reversible": "Yes" }]),
            "## Key Decisions Made\n| Decision | Rationale | Confidence | Reversible |\n|---|---|---|---|\n\
             | JWT | stateless | 90% | Yes |",
            "## Key Decisions Made",
            "| JWT | stateless | 90% | Yes |",
        ),
        (
            "must_read",
            json!(["a.md - why"]),
            "### Must Read\n- a.md - why",
            "### Must Read",
            "- `a.md` - why",
        ),
        (
            "can_skip",
            json!(["b.md - done"]),
            "### Can Skip\n- b.md - done",
            "### Can Skip",
            "- `b.md` - done",
        ),
    ]
}

fn next_session() -> [Row; 7] {
    [
        (
            "skippable_summary",
            json!("It checks."),
            "### Summary of Skippable Content\nIt checks.",
            "### Summary of Skippable Content",
            "It checks.",
        ),
        (
            "recovery",
            json!(["look first"]),
            "## Recovery Instructions\n1. look first",
            "## Recovery Instructions",
            "1. look first",
        ),
        (
            "next_action",
            json!("Validate"),
            "**Recommended Next Action**: Validate",
            HANDOFF.0,
            "**Recommended Next Action**: Validate",
        ),
        (
            "remaining_work",
            json!("a day"),
            "**Estimated Remaining Work**: a day",
            HANDOFF.0,
            "**Estimated Remaining Work**: a day",
        ),
        (
            "risks",
            json!(["mail"]),
            "## Risk Areas\n- mail",
            HANDOFF.0,
            "**Risk Areas**: mail",
        ),
        (
            "dependencies",
            json!(["SMTP"]),
            "## Dependencies\n- SMTP",
            HANDOFF.0,
            "**Dependencies**: SMTP",
        ),
        (
            "notes",
            json!("by the way"),
            "## Notes\nby the way",
            "## Notes",
            "by the way",
        ),
    ]
}

/// Returns the text under a heading, up to the next one.
fn under<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text
        .find(&format!("{heading}\n"))
        .unwrap_or_else(|| panic!("no {heading} in\n{text}"));
    let rest = &text[start + heading.len()..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}

/// All judgments in one object.
fn all() -> String {
    let fields = judgments()
        .into_iter()
        .map(|(field, value, ..)| (field.to_owned(), value));
    Value::Object(fields.collect()).to_string()
}

#[test]
fn each_judgment_is_read_from_both_forms_and_stands_in_its_section() {
    let rows = judgments();
    let fields: Vec<_> = rows.iter().map(|(field, ..)| *field).collect();
    assert_eq!(fields, Judgments::FIELDS, "one row for each");
    for (field, value, markdown, heading, words) in rows {
        let from_json = read(&json!({ field: value }).to_string()).expect(field);
        assert_eq!(read(markdown).as_ref(), Ok(&from_json), "{field}");
        assert_ne!(from_json, Judgments::default(), "{field}");
        let text = render(&document(ProgressKind::Handoff, markdown));
        assert!(
            under(&text, heading).contains(words),
            "{field}: no {words:?} under {heading} in\n{text}"
        );
    }
}

#[test]
fn each_type_has_the_headings_and_labels_of_its_template_in_their_order() {
    for kind in ProgressKind::ALL {
        let mut document = document(kind, &all());
        let mut template = TEMPLATE.to_vec();
        match kind {
            ProgressKind::Incremental => {
                document.parent = Some(Parent {
                    seq: 1,
                    at: at(60),
                    tools: 4,
                    failed: 0,
                    decisions: Vec::new(),
                });
                template = vec![INCREMENTAL];
            }
            ProgressKind::Handoff => {
                template[0].0 = "# Session Handoff Checkpoint";
                template.insert(template.len() - 1, HANDOFF);
            }
            _ => {}
        }
        let text = render(&document);
        let mut from = 0;
        for (heading, labels) in template {
            let place = text[from..].find(&format!("{heading}\n"));
            from += place
                .unwrap_or_else(|| panic!("{}: no {heading} in its place in\n{text}", kind.word()));
            let mut part = under(&text[from..], heading);
            for label in labels {
                let place = part.find(&format!("\n{label}"));
                part = &part[place
                    .unwrap_or_else(|| panic!("{}: no {label} in\n{part}", kind.word()))
                    + 1..];
            }
        }
    }
}

#[test]
fn what_was_not_stated_is_said_so_in_every_section() {
    let text = render(&document(ProgressKind::Handoff, ""));
    let headings = [
        "## Executive Summary",
        "### Completed Steps",
        "### Remaining Steps",
        "### Active Blockers",
    ];
    let more = [
        "## Key Decisions Made",
        "### Must Read",
        "### Can Skip",
        "### Summary of Skippable Content",
    ];
    for heading in headings.iter().chain(&more) {
        assert!(under(&text, heading).contains("_Not stated._"), "{heading}");
    }
    for (heading, labels) in [(TEMPLATE[2].0, TEMPLATE[2].1), HANDOFF] {
        for label in labels {
            assert!(
                under(&text, heading).contains(&format!("{label}not stated")),
                "{label}"
            );
        }
    }
    assert!(!text.contains("Stated by the agent"), "{text}");
}
