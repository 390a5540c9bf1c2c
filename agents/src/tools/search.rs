//! Programs that only show something answer by their exit code: `grep` that finds nothing has not failed.

use reading::catalogue::{Catalogue, Purpose};
use reading::shell::{self, Simple};

/// Returns whether `code` is the answer "nothing found" or "not the same" of the command that decided it, and `output`
/// says nothing else. Only the last command and those on whose success it depends can have decided.
pub(super) fn answered_no(command: &str, code: i64, output: &str) -> bool {
    if !matches!(code, 1 | 123) {
        return false;
    }
    let commands = shell::read(command).commands;
    let Some((last, before)) = commands.split_last() else {
        return false;
    };
    let catalogue = Catalogue::built_in();
    let at_most = |simple: &Simple, purpose| {
        let does = catalogue.command(&simple.words).and_then(|it| it.does);
        does.is_some_and(|does| does <= purpose)
    };
    // `xargs` turns the 1 of what it ran into 123. Another purpose of the line may have failed before.
    let is_its_code = code == 1 || !last.certain;
    let deciding = || before.iter().filter(|simple| simple.decides);
    is_its_code
        && at_most(last, Purpose::Show)
        && deciding().all(|simple| at_most(simple, Purpose::SetUp))
        && !deciding().chain([last]).any(|it| complains(it, output))
}

/// Returns whether a program says what went wrong, as programs do: `cat: a.txt: No such file or directory`.
fn complains(simple: &Simple, output: &str) -> bool {
    let name = simple.words.first().map_or("", String::as_str);
    let said = |line: &str| {
        let rest = line.strip_prefix(name)?.strip_prefix(": ")?;
        rest.contains(": ").then_some(())
    };
    output.lines().any(|line| said(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_finds_nothing_is_no_error() {
        for command in [
            "grep -rn foo src",
            "rg 'a && b; false' .",
            "cd sub && grep foo x.txt",
            "git grep foo",
            "git --no-pager diff --exit-code",
            "make; test -f out",
            "cargo test 2>&1 | grep FAILED",
            "echo a && cat log | grep -i error",
            "FOO=1 timeout 10 /usr/bin/grep x y",
            "command -v cargo",
            "[ -f x ]",
            "make; [[ -f out ]]",
            "grep a b ||\n  grep c d",
            "grep foo bar # nothing",
            "diff a b &>/dev/null",
            "! grep foo bar",
            "pytest | tail -3 && grep foo log",
            "cat <<EOF > x\ny\nEOF\ngrep foo x",
            "sudo -u me lsof -i :80",
            "npm outdated",
        ] {
            assert!(answered_no(command, 1, ""), "{command}");
        }
        assert!(answered_no("find . | xargs -n 10 grep foo", 123, ""));
        assert!(answered_no("which a", 1, "which: no a in (/bin)"));
    }

    #[test]
    fn other_failures_stay_errors() {
        for command in [
            "",
            "pytest",
            "pytest && grep foo log",
            "grep foo x && pytest",
            "grep foo x | python check.py",
            "set -o pipefail; pytest | grep foo",
            "python - <<'EOF'\ngrep\nEOF",
            "git push",
            "grep foo x; false",
            "some-tool grep foo",
        ] {
            assert!(!answered_no(command, 1, ""), "{command}");
        }
        assert!(!answered_no("grep foo missing.txt", 2, ""));
        assert!(!answered_no("grep foo", 123, ""));
        let output = "Exit code 1\ncat: a.txt: No such file or directory";
        assert!(!answered_no("cat a.txt", 1, output));
    }
}
