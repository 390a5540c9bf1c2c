//! Texts that say nothing.

use super::{SILENT, cases, read, shown};

#[test]
fn prose_code_and_log_lines_say_nothing() {
    for line in SILENT.lines() {
        assert_eq!(shown(&read(line)), "none", "{line}");
    }
    assert_eq!(shown(&read(SILENT)), "none");
}

#[test]
fn a_diff_says_nothing_about_the_lines_it_shows() {
    for (_, output) in cases() {
        let length = output.lines().count();
        for sign in [" ", "+", "-"] {
            let shown_lines: String = output
                .lines()
                .map(|line| format!("{sign}{line}\n"))
                .collect();
            let (old, new) = match sign {
                "+" => (0, length),
                "-" => (length, 0),
                _ => (length, length),
            };
            let diff = format!("@@ -1,{old} +1,{new} @@ fn x()\n{shown_lines}");
            assert_eq!(shown(&read(&diff)), "none", "{diff}");
        }
    }
}

#[test]
fn a_summary_behind_a_diff_counts() {
    let output = "@@ -1,2 +1,2 @@\n 5 passed in 0.1s\n-a\n+b\n1 failed, 4 passed in 0.2s\n";
    assert_eq!(shown(&read(output)), "pytest tests failed 4/1/-");
}

#[test]
fn counts_that_do_not_say_what_passed_say_nothing() {
    for output in [
        "Total: 12\nFailed: 0\n",
        "Skipped: 3\n",
        "Passed: 5\n",
        " 5 pass\n",
    ] {
        assert_eq!(shown(&read(output)), "none", "{output}");
    }
}
