//! What must not change what an output says.

use proptest::prelude::*;
use regex::Regex;

use super::{SILENT, cases, read, shown, table};
use crate::outcome::{HEAD_BYTES, TAIL_BYTES};

/// Ways in which terminals, platforms and task runners present the same lines.
fn presented(output: &str, how: usize) -> String {
    let lines = output.lines();
    let each = |change: &dyn Fn(&str) -> String| lines.map(change).collect::<String>();
    match how {
        0 => each(&|line| format!("{line}\r\n")),
        1 => each(&|line| format!("\u{1b}[1m\u{1b}[38;5;10m{line}\u{1b}[0m\n")),
        2 => each(&|line| format!("\u{1b}[2K\u{1b}[1G{}\n", line.replace(' ', "\u{1b}[39m "))),
        3 => each(&|line| format!("[32m{line}[0m\n")),
        4 => each(&|line| format!("working 12%\rworking 99%\r{line}\n")),
        5 => each(&|line| format!("[test:unit] {line}\n")),
        6 => each(&|line| format!("web:test: {line}\n")),
        7 => each(&|line| format!("packages/a test: {line}\n")),
        8 => each(&|line| format!("db-1  | {line}\n")),
        9 => each(&|line| format!("2026-02-01T10:00:00.123Z {line}\n")),
        10 => each(&|line| format!("#12 3.456 {line}\n")),
        11 => each(&|line| format!("\u{1b}]8;;https://x.y/z\u{7}{line}\n")),
        12 => each(&|line| format!("Output: {line}\n")),
        _ => each(&|line| format!("  {line}   \n")),
    }
}

#[test]
fn presentation_changes_nothing() {
    for (expected, output) in cases() {
        for how in 0..=13 {
            let text = presented(output, how);
            assert_eq!(shown(&read(&text)), expected, "{how}: {text}");
        }
    }
}

#[test]
fn the_middle_of_a_long_output_is_not_read() {
    let filler = "nothing to see here\n".repeat((HEAD_BYTES + TAIL_BYTES) / 10);
    let summary = "5 passed in 0.12s\n";
    let expected = "pytest tests passed 5/-/-";
    assert_eq!(shown(&read(&format!("{summary}{filler}"))), expected);
    assert_eq!(shown(&read(&format!("{filler}{summary}"))), expected);
    assert_eq!(shown(&read(&format!("{filler}{summary}{filler}"))), "none");
}

/// Each number of times is a copy of the states, and all forms are one automaton: a form that counts to 80 at two places
/// made reading twenty times slower, and no result showed it.
#[test]
fn no_form_counts_far() {
    let counts = Regex::new(r"\{\d*,(\d+)\}").expect("a pattern");
    for at in 0..table::length() {
        let form = table::pattern(at);
        let far = counts
            .captures_iter(&form)
            .find(|found| found[1].parse::<usize>().is_ok_and(|times| times > 8));
        assert!(far.is_none(), "{form}");
    }
}

#[test]
fn a_long_line_of_no_certain_tool_is_prose() {
    let said = |before: &str| shown(&read(&format!("{before}found 0 errors\n")));
    assert_ne!(said("The check "), "none");
    assert_eq!(
        said(&"The check ran on every machine and ".repeat(4)),
        "none"
    );
}

fn silent_lines() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = SILENT.lines().collect();
    proptest::collection::vec(proptest::sample::select(lines), 0..6)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

proptest! {
    #[test]
    fn lines_around_an_output_change_nothing(
        at in 0..cases().len(),
        before in silent_lines(),
        after in silent_lines(),
    ) {
        let (expected, output) = cases()[at];
        prop_assert_eq!(shown(&read(&format!("{before}{output}{after}"))), expected);
    }

    #[test]
    fn any_text_gives_an_answer(text in "(?s)(.|[\u{1b}\r\n\\[\\]0-9;m@+ -]){0,300}") {
        prop_assert!(read(&text).len() <= 16);
    }
}
