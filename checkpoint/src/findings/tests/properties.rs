//! Properties of any turn (spec EVID-1).

use proptest::prelude::*;

use super::*;
use crate::policy::EvidenceRule;

/// Everything that an agent may have done in a turn of the property tests.
const MOVES: [&str; 16] = [
    "$ make restart",
    "! make restart -> failed",
    "$ make status",
    "$ pytest",
    "! pytest -> 1 failed",
    "$ telec init",
    "$ pip install -e .",
    "$ kill -USR2 1",
    "$ telec agent-restart",
    "$ instrukt-ai-logs",
    "$ echo make restart",
    "read teleclaude/a.py",
    "edit teleclaude/a.py",
    "write config.yml",
    "$ ls",
    "$ make restart && make status",
];
const FILES: [&str; 10] = [
    "teleclaude/a.py",
    "teleclaude/hooks/b.py",
    "teleclaude/cli/tui/c.py",
    ".gitattributes",
    "tests/test_a.py",
    "agents/d.md",
    "config.yml",
    "pyproject.toml",
    "docs/e.md",
    "src/f.sh",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn calls_only_take_away(
        moves in proptest::sample::subsequence(&MOVES, 0..=MOVES.len()).prop_shuffle(),
        files in proptest::sample::subsequence(&FILES, 0..=FILES.len()),
        substring in any::<bool>(),
    ) {
        let mut policy = teleclaude();
        if substring {
            policy.evidence = EvidenceRule::Substring;
        }
        let files = files.join(" ");
        let mut blind = evidence(&files, &[]);
        blind.timeline.source = TimelineSource::None;
        let all = find(&blind, None, PROJECT, &policy);
        let some = find(&evidence(&files, &moves), None, PROJECT, &policy);
        // spec EVID-1: what was seen only suppresses. A separate status was part of the restart's text before.
        let texts = |findings: &Findings| findings.actions.iter().map(|action| action.text.clone()).collect::<Vec<_>>();
        for text in texts(&some) {
            let status = text == "Run `make status`" && texts(&all).iter().any(|text| text.contains("make restart"));
            prop_assert!(status || texts(&all).contains(&text), "{}", text);
        }
        let order: Vec<_> = some.actions.iter().map(|action| action.step).collect();
        prop_assert!(order.is_sorted());
        prop_assert_eq!(&some.categories, &all.categories);
        // One more sign of success at the end never asks for more.
        let mut more = moves.clone();
        more.push("$ make restart; make status; pytest; telec init; pip install -e .; instrukt-ai-logs");
        let after = find(&evidence(&files, &more), None, PROJECT, &policy);
        prop_assert!(after.actions.len() <= some.actions.len());
        let again = find(&evidence(&files, &moves), None, PROJECT, &policy);
        prop_assert_eq!(compose(&again, &policy, uuid::Uuid::nil()), compose(&some, &policy, uuid::Uuid::nil()));
        prop_assert_eq!(again, some);
    }

    #[test]
    fn any_plan_is_answered(text in "[-|#`a-z./: \n]{0,200}") {
        let _ = plan_files(&text);
    }
}
