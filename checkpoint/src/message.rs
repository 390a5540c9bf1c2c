//! The words of a checkpoint (spec MSG-1 to MSG-6). Equal findings give equal words.
//!
//! No text asks for a commit, and none begins with `!` or `/`, which agents take as commands of their own.

use std::fmt::Write;

use journal::Action;
use uuid::Uuid;

use crate::catalogue::Catalogue;
use crate::config::Template;
use crate::judging::{Findings, leaving};
use crate::policy::Policy;
use crate::rules::pack_names;
use crate::state::Leaving;

/// The longest message; Codex cuts what is longer than about 10 KB.
pub const BYTES_MAX: usize = 8 * 1024;

/// The longest prefix, category, action or observation; and the most that each list may take.
const PREFIX_BYTES_MAX: usize = 200;
const MARKER_BYTES_MAX: usize = 100;
const CLEAR_BYTES_MAX: usize = 300;
const ITEM_BYTES_MAX: usize = 600;
const CATEGORIES_BYTES_MAX: usize = 1024;
const ACTIONS_BYTES_MAX: usize = 3 * 1024;
const OBSERVATIONS_BYTES_MAX: usize = 2 * 1024;

const OPEN: &str = "Not verified yet";
const NOTHING_OPEN: &str = "Everything that was expected ran and passed.";
const UNCHANGED: &str = "Nothing changed that needs a check.";
const FIX: &str = "Fix what fails.";
const WAY_OUT: &str =
    "If the user asked you not to, or it cannot be done here, say what is unverified and why.";

// The words of TeleClaude, byte for byte (spec LETTER-1).
const HEADER: &str = "Context-aware checkpoint";
const ALL_CLEAR: &str = "All expected validations were observed.";
const DOCS_ONLY: &str = "No code changes were found.";
const GENERIC: &str = "Continue or validate your work if needed.";
const CAPTURE: &str = "Capture memories/bugs/ideas worth keeping.";
const SILENT: &str = "Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a \
                      decision you need. Leave checkpoint chores out of it.";

/// Returns the text of a checkpoint, in the variant that fits the findings. `leaves` is what is held.
pub fn compose(
    findings: &Findings,
    policy: &Policy,
    session: Uuid,
    leaves: Option<&Leaving>,
) -> String {
    let text = match leaves {
        Some(leaving) => held(findings, policy, leaving.command.as_deref()),
        None if policy.is_letter() => of_teleclaude(findings, policy, session),
        None => plain(findings, policy, session),
    };
    debug_assert!(
        text.len() <= BYTES_MAX,
        "the parts are bounded so that their sum is"
    );
    text
}

/// Returns what is not verified, what to run, and what to do instead (spec MSG-3, MSG-4).
fn plain(findings: &Findings, policy: &Policy, session: Uuid) -> String {
    let mut text = prefix(policy);
    let actions = findings.actions.iter().map(|action| action.text.as_str());
    let observations = findings.gaps.iter().chain(&findings.observations);
    let items: Vec<&str> = actions.chain(observations.map(String::as_str)).collect();
    if items.is_empty() {
        text.push_str(if findings.all_clear {
            NOTHING_OPEN
        } else if findings.generic {
            GENERIC
        } else {
            UNCHANGED
        });
    } else {
        text.push_str(OPEN);
        text.push_str("\n\n");
        if policy.message.is_empty() {
            push_items(&mut text, items);
            let _ = write!(text, "\n{FIX} {WAY_OUT}");
        } else {
            let mut open = String::new();
            push_items(&mut open, items);
            let words = clip(&policy.message, Template::BYTES_MAX);
            text.push_str(words.replacen(Policy::OPEN, open.trim_end(), 1).trim_end());
        }
    }
    // Otherwise the next stop passes anyway.
    if policy.max_blocks_per_turn > 1 && !findings.all_clear {
        let _ = write!(text, "\n\n{}", escape_hatch(policy, session));
    }
    text
}

/// Returns what was held, why, and how to go on (spec DECIDE-25, DECIDE-26).
fn held(findings: &Findings, policy: &Policy, line: Option<&str>) -> String {
    let catalogue = Catalogue::with(&policy.programs);
    let command = line.and_then(|line| leaving(&catalogue, line).into_iter().next());
    let command = command.map_or_else(
        || "This".to_owned(),
        |command| format!("`{}`", catalogue.parse(&command.words).name()),
    );
    let again = line.map_or("end", |_| "run it");
    let mut text = prefix(policy);
    let _ = writeln!(
        text,
        "{command} was held, because this is not verified yet:\n"
    );
    let actions = findings.actions.iter().map(|action| action.text.as_str());
    push_items(&mut text, actions.collect());
    let _ = write!(text, "\n{FIX} Then {again} again: it is held only once.");
    text
}

/// Adds one sentence, or a numbered list.
fn push_items(text: &mut String, items: Vec<&str>) {
    let is_one = items.len() == 1;
    let bytes_max = ACTIONS_BYTES_MAX + OBSERVATIONS_BYTES_MAX;
    let (lines, more) = fitting(items.into_iter(), bytes_max);
    for (index, line) in lines.iter().enumerate() {
        let (number, end) = if is_one {
            (String::new(), ".")
        } else {
            (format!("{}. ", index + 1), "")
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{number}{line}{end}");
    }
    if more > 0 {
        let _ = writeln!(text, "And {more} more.");
    }
}

fn of_teleclaude(findings: &Findings, policy: &Policy, session: Uuid) -> String {
    let mut text = prefix(policy);
    if findings.all_clear {
        text.push_str(ALL_CLEAR);
        return text;
    }
    if findings.generic {
        text.push_str(GENERIC);
    } else {
        text.push_str(HEADER);
        text.push_str("\n\n");
        body(&mut text, findings);
    }
    for line in [CAPTURE, SILENT, &escape_hatch(policy, session)] {
        text.push_str("\n\n");
        text.push_str(line);
    }
    text
}

/// Returns the line about the escape hatch (spec MSG-7).
fn escape_hatch(policy: &Policy, session: Uuid) -> String {
    let command = match clear_file(policy, session) {
        Some(path) => format!("touch '{path}'"),
        None => {
            let marker = clip(&policy.escape_marker, MARKER_BYTES_MAX);
            format!("touch \"$TMPDIR/{marker}\"")
        }
    };
    format!("Last resort, only if the above cannot be done: `{command}` lets the next stop pass.")
}

/// Returns the path of the file that is this session's escape hatch, if it can be quoted in a command. With the
/// `teleclaude` pack the marker in `TMPDIR` is named, as that program's own words do.
fn clear_file(policy: &Policy, session: Uuid) -> Option<String> {
    if policy
        .packs
        .iter()
        .any(|pack| pack == pack_names::TELECLAUDE)
    {
        return None;
    }
    let is_plain = |path: &String| {
        let breaks = |c: char| c.is_control() || matches!(c, '\'' | '`');
        path.len() <= CLEAR_BYTES_MAX && !path.contains(breaks)
    };
    policy.clear_file(session).filter(is_plain)
}

/// Returns the canonical prefix, made harmless in case a policy of another version let a bad one through.
fn prefix(policy: &Policy) -> String {
    let harmless = policy
        .prefix
        .trim_start_matches(|c: char| c == '!' || c == '/' || c.is_whitespace() || c.is_control());
    clip(harmless, PREFIX_BYTES_MAX).to_owned()
}

/// Categories, actions and observations (spec MSG-4).
fn body(text: &mut String, findings: &Findings) {
    if findings.docs_only {
        text.push_str(DOCS_ONLY);
    } else if findings.categories.is_empty() {
        text.push_str("Changed: nothing that a rule knows");
    } else {
        let (names, more) = fitting(
            findings.categories.iter().map(String::as_str),
            CATEGORIES_BYTES_MAX,
        );
        text.push_str("Changed: ");
        text.push_str(&names.join(", "));
        push_more(text, ", ", more);
    }
    if !findings.actions.is_empty() {
        text.push_str("\n\nRequired actions, in this order:");
        let (actions, more) = fitting(
            findings
                .actions
                .iter()
                .map(|action: &Action| action.text.as_str()),
            ACTIONS_BYTES_MAX,
        );
        for (index, action) in actions.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{}. {action}", index + 1);
        }
        push_more(text, "\n", more);
    }
    let observations: Vec<&str> = findings
        .gaps
        .iter()
        .chain(&findings.observations)
        .map(String::as_str)
        .collect();
    if !observations.is_empty() {
        text.push_str("\n\nObservations:");
        let (lines, more) = fitting(observations.into_iter(), OBSERVATIONS_BYTES_MAX);
        for line in lines {
            text.push_str("\n- ");
            text.push_str(&line);
        }
        push_more(text, "\n- ", more);
    }
}

/// Returns the items that fit, each on one line, and the number of the others.
fn fitting<'a>(
    items: impl ExactSizeIterator<Item = &'a str>,
    bytes_max: usize,
) -> (Vec<String>, usize) {
    let total = items.len();
    let mut left = bytes_max;
    let mut lines = Vec::new();
    for item in items {
        let line = crate::text::visible(&item.split_whitespace().collect::<Vec<_>>().join(" "));
        let line = if line.len() > ITEM_BYTES_MAX {
            format!("{}…", clip(&line, ITEM_BYTES_MAX))
        } else {
            line
        };
        // Numbers, bullets and separators take a few bytes more.
        let Some(rest) = left.checked_sub(line.len() + 6) else {
            break;
        };
        left = rest;
        lines.push(line);
    }
    let more = total - lines.len();
    (lines, more)
}

fn push_more(text: &mut String, before: &str, more: usize) {
    if more > 0 {
        let _ = write!(text, "{before}and {more} more");
    }
}

/// Returns the beginning of a text, cut between characters.
fn clip(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use journal::Step;

    use super::*;
    use crate::config::Config;
    use crate::rules::pack_names::ProjectFacts;

    fn policy() -> Policy {
        Config::default()
            .policy_for(&ProjectFacts::default(), None)
            .unwrap()
    }

    fn letter() -> Policy {
        Config::load(Some(("config.yml", "judgment: letter\n")))
            .unwrap()
            .policy_for(&ProjectFacts::default(), None)
            .unwrap()
    }

    fn action(text: &str) -> Action {
        Action {
            text: text.into(),
            category: "daemon code".into(),
            step: Step::Runtime,
        }
    }

    /// Messages of all kinds, each with the number of its words.
    #[test]
    fn plain_messages() {
        let tests = "Run the tests of `src/cart.py` (`pytest`): nothing that could show a mistake ran after the last change";
        let install = "Install updated dependencies: `npm ci`";
        let failed = "Test failures remain: `pytest -q` failed (`E   assert 3 == 4`), and nothing passed after it";
        let kinds: [(&[&str], &[&str]); 4] = [
            (&[tests], &[]),
            (&[tests, install], &[]),
            (&[], &[failed]),
            (&[install], &[failed]),
        ];
        let mut said = String::new();
        for (actions, observations) in kinds {
            let findings = Findings {
                actions: actions.iter().map(|text| action(text)).collect(),
                observations: observations.iter().map(|text| (*text).to_owned()).collect(),
                ..Findings::default()
            };
            let text = compose(&findings, &policy(), Uuid::nil(), None);
            let words = text.split_whitespace().count();
            let _ = write!(said, "{words} words\n{text}\n\n");
        }
        insta::assert_snapshot!(said, @r"
        43 words
        [checkpointd] Not verified yet

        Run the tests of `src/cart.py` (`pytest`): nothing that could show a mistake ran after the last change.

        Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

        50 words
        [checkpointd] Not verified yet

        1. Run the tests of `src/cart.py` (`pytest`): nothing that could show a mistake ran after the last change
        2. Install updated dependencies: `npm ci`

        Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

        42 words
        [checkpointd] Not verified yet

        Test failures remain: `pytest -q` failed (`E assert 3 == 4`), and nothing passed after it.

        Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.

        49 words
        [checkpointd] Not verified yet

        1. Install updated dependencies: `npm ci`
        2. Test failures remain: `pytest -q` failed (`E assert 3 == 4`), and nothing passed after it

        Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.
        ");
    }

    #[test]
    fn a_person_may_have_other_words() {
        let findings = Findings {
            actions: vec![action("Check the logs"), action("Run `make e2e`")],
            ..Findings::default()
        };
        let own = Policy {
            message: "Before you stop:\n{open}\nAnswer in one line.\n".into(),
            ..policy()
        };
        insta::assert_snapshot!(compose(&findings, &own, Uuid::nil(), None), @r"
        [checkpointd] Not verified yet

        Before you stop:
        1. Check the logs
        2. Run `make e2e`
        Answer in one line.
        ");
    }

    #[test]
    fn a_second_block_has_a_way_out() {
        let findings = Findings {
            actions: vec![action("Check the logs")],
            ..Findings::default()
        };
        let twice = Policy {
            max_blocks_per_turn: 2,
            ..policy()
        };
        assert!(compose(&findings, &twice, Uuid::nil(), None).contains("touch"));
        assert!(!compose(&findings, &policy(), Uuid::nil(), None).contains("touch"));
    }

    #[test]
    fn actions() {
        let findings = Findings {
            categories: vec!["daemon code".into(), "TUI code".into()],
            actions: vec![
                action("Run `make restart` then `make status`"),
                action("Check the logs"),
            ],
            observations: vec![
                "Daemon code was modified but `make restart` was not observed this turn".into(),
            ],
            ..Findings::default()
        };
        insta::assert_snapshot!(compose(&findings, &letter(), Uuid::nil(), None), @r#"
        [TeleClaude Checkpoint] - Context-aware checkpoint

        Changed: daemon code, TUI code

        Required actions, in this order:
        1. Run `make restart` then `make status`
        2. Check the logs

        Observations:
        - Daemon code was modified but `make restart` was not observed this turn

        Capture memories/bugs/ideas worth keeping.

        Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

        Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
        "#);
    }

    #[test]
    fn observations_only() {
        let findings = Findings {
            categories: vec!["hook runtime code".into()],
            observations: vec!["Python errors remain unresolved — verify they are fixed".into()],
            ..Findings::default()
        };
        insta::assert_snapshot!(compose(&findings, &letter(), Uuid::nil(), None), @r#"
        [TeleClaude Checkpoint] - Context-aware checkpoint

        Changed: hook runtime code

        Observations:
        - Python errors remain unresolved — verify they are fixed

        Capture memories/bugs/ideas worth keeping.

        Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

        Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
        "#);
    }

    #[test]
    fn all_clear() {
        let text = compose(
            &Findings {
                all_clear: true,
                ..Findings::default()
            },
            &letter(),
            Uuid::nil(),
            None,
        );
        insta::assert_snapshot!(text, @"[TeleClaude Checkpoint] - All expected validations were observed.");
        assert!(text.len() - letter().prefix.len() < 100);
    }

    #[test]
    fn documentation_only() {
        let findings = Findings {
            docs_only: true,
            actions: vec![action("Check the logs")],
            ..Findings::default()
        };
        insta::assert_snapshot!(compose(&findings, &letter(), Uuid::nil(), None), @r#"
        [TeleClaude Checkpoint] - Context-aware checkpoint

        No code changes were found.

        Required actions, in this order:
        1. Check the logs

        Capture memories/bugs/ideas worth keeping.

        Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

        Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
        "#);
    }

    #[test]
    fn generic() {
        insta::assert_snapshot!(compose(&Findings { generic: true, ..Findings::default() }, &letter(), Uuid::nil(), None), @r#"
        [TeleClaude Checkpoint] - Continue or validate your work if needed.

        Capture memories/bugs/ideas worth keeping.

        Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave checkpoint chores out of it.

        Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
        "#);
    }

    #[test]
    fn long_lists_are_cut() {
        let many = |words: &str| {
            (0..500)
                .map(|index| format!("{words} {index}"))
                .collect::<Vec<_>>()
        };
        let findings = Findings {
            categories: many("category"),
            actions: many("Do something about number")
                .iter()
                .map(|text| action(text))
                .collect(),
            observations: many("Something was seen,\nand it was number"),
            ..Findings::default()
        };
        let text = compose(&findings, &letter(), Uuid::nil(), None);
        let ends: Vec<_> = text
            .lines()
            .filter(|line| line.contains(" more"))
            .map(|line| clip_end(line, 30))
            .collect();
        insta::assert_snapshot!(format!("{} bytes\n{}", text.len(), ends.join("\n")), @r"
        6079 bytes
         58, category 59, and 440 more
        and 410 more
        - and 456 more
        ");
    }

    fn clip_end(line: &str, chars: usize) -> String {
        line.chars()
            .skip(line.chars().count().saturating_sub(chars))
            .collect()
    }

    fn any_findings() -> impl proptest::strategy::Strategy<Value = Findings> {
        use proptest::prelude::*;
        let texts = || proptest::collection::vec("\\PC{0,1000}", 0..30);
        (texts(), texts(), texts(), any::<[bool; 3]>()).prop_map(
            |(categories, actions, observations, flags)| Findings {
                categories,
                actions: actions.iter().map(|text| action(text)).collect(),
                observations,
                all_clear: flags[0],
                docs_only: flags[1],
                generic: flags[2],
                ..Findings::default()
            },
        )
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn every_message_is_bounded_and_harmless(findings in any_findings(), prefix in "[!/ \t\\PC]{0,300}") {
            let policy = Policy { prefix, ..policy() };
            let text = compose(&findings, &policy, Uuid::nil(), None);
            proptest::prop_assert!(text.len() <= BYTES_MAX);
            proptest::prop_assert!(!text.starts_with(['!', '/', ' ', '\n']));
            proptest::prop_assert!(!text.is_empty());
            proptest::prop_assert_eq!(&text, &compose(&findings, &policy, Uuid::nil(), None));
        }
    }
}
