//! Searches and comparisons answer by their exit code: `grep` that finds nothing exits with 1, and nothing is wrong.
//!
//! Only the command that decides the line's exit code counts. If that one is not certain, the exit code is
//! an error, as the agent says.

use reading::catalogue::Catalogue;

/// The operator before a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// `;`, `&`, a line break, or nothing before it.
    Sequence,
    And,
    Or,
    Pipe,
}

/// One simple command of a line.
#[derive(Debug)]
struct Simple {
    join: Join,
    words: Vec<String>,
}

/// Returns whether `code` is the answer "nothing found" or "not the same" of the command that decided it.
pub(super) fn found_nothing(command: &str, code: i64) -> bool {
    if !matches!(code, 1 | 123) || command.contains("pipefail") {
        return false;
    }
    let Some(line) = split(command) else {
        return false;
    };
    let Some((last, before)) = line.split_last() else {
        return false;
    };
    // `xargs` turns the 1 of what it ran into 123.
    let through_xargs = last.words.iter().any(|word| word == "xargs");
    is_search(&last.words)
        && through_xargs == (code == 123)
        && nothing_else_decides(last.join, before)
}

/// Returns whether none of the commands before the last can have ended the line with its exit code.
fn nothing_else_decides(mut join: Join, mut before: &[Simple]) -> bool {
    // Whether the command at hand is the last of its pipeline; the others do not decide.
    let mut decides = false;
    loop {
        match join {
            Join::Sequence | Join::Or => return true,
            Join::And => decides = true,
            Join::Pipe => {}
        }
        let Some((previous, rest)) = before.split_last() else {
            return true;
        };
        if decides && !is_search(&previous.words) && !is_harmless(&previous.words) {
            return false;
        }
        (join, before, decides) = (previous.join, rest, false);
    }
}

fn is_harmless(words: &[String]) -> bool {
    program(words).is_none_or(|(name, _)| Catalogue::built_in().is_harmless(name))
}

fn is_search(words: &[String]) -> bool {
    let Some((name, rest)) = program(words) else {
        return false;
    };
    match name {
        "git" => rest
            .iter()
            .find(|word| !word.starts_with('-'))
            .is_some_and(|word| matches!(word.as_str(), "grep" | "diff")),
        "command" => rest.first().is_some_and(|word| word == "-v"),
        _ => Catalogue::built_in().is_search(name),
    }
}

/// Returns the program and its arguments, wrappers and assignments taken off; none if nothing is left.
fn program(words: &[String]) -> Option<(&str, &[String])> {
    let mut words = words;
    loop {
        let (first, rest) = words.split_first()?;
        let name = first.rsplit('/').next().unwrap_or(first);
        let assigns = first.split_once('=').is_some_and(|(key, _)| {
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        words = match name {
            _ if assigns => rest,
            "!" | "time" | "nohup" | "builtin" | "(" | "{" => rest,
            "command" if rest.first().is_none_or(|word| word != "-v") => rest,
            "env" | "sudo" | "nice" | "xargs" => skip_options(rest),
            "timeout" => skip_options(rest).get(1..)?,
            _ => return Some((name, rest)),
        };
    }
}

/// Skips words that begin with `-`, and the number that follows a short one (`-n 10`).
fn skip_options(mut words: &[String]) -> &[String] {
    while let Some((first, rest)) = words.split_first() {
        let is_option = first.starts_with('-');
        if !is_option {
            break;
        }
        let value = first.len() == 2
            && rest
                .first()
                .is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
        words = if value { &rest[1..] } else { rest };
    }
    words
}

/// Splits a command line into its simple commands; none if it has a part that is not read here (a here-document).
fn split(command: &str) -> Option<Vec<Simple>> {
    let mut line = vec![Simple {
        join: Join::Sequence,
        words: Vec::new(),
    }];
    let mut word = String::new();
    let mut chars = command.chars().peekable();
    let end_word = |word: &mut String, line: &mut Vec<Simple>| {
        if let Some(last) = line.last_mut()
            && !word.is_empty()
        {
            last.words.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().filter(|&c| c != '\n')),
            '\'' | '"' => quoted(c, &mut chars, &mut word),
            '<' if chars.peek() == Some(&'<') => return None,
            '#' if word.is_empty() => while chars.next_if(|&c| c != '\n').is_some() {},
            '&' if word.ends_with(['>', '<']) || chars.peek() == Some(&'>') => word.push(c),
            ';' | '\n' | '&' | '|' => {
                end_word(&mut word, &mut line);
                let doubled = c != '\n' && chars.next_if_eq(&c).is_some();
                let join = match (c, doubled) {
                    ('&', true) => Join::And,
                    ('|', true) => Join::Or,
                    ('|', false) => Join::Pipe,
                    _ => Join::Sequence,
                };
                // A line may end in an operator and continue below it; an empty command takes the last one.
                match line.last_mut() {
                    Some(last) if last.words.is_empty() => {
                        if c != '\n' {
                            last.join = join;
                        }
                    }
                    _ => line.push(Simple {
                        join,
                        words: Vec::new(),
                    }),
                }
            }
            c if c.is_whitespace() => end_word(&mut word, &mut line),
            c => word.push(c),
        }
    }
    end_word(&mut word, &mut line);
    line.retain(|simple| !simple.words.is_empty());
    Some(line)
}

/// Reads a quoted part, up to the closing quote.
fn quoted(quote: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return,
            '\\' if quote == '"' => word.extend(chars.next()),
            c => word.push(c),
        }
    }
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
            "grep a b ||\n  grep c d",
            "grep foo bar # nothing",
            "diff a b &>/dev/null",
            "! grep foo bar",
        ] {
            assert!(found_nothing(command, 1), "{command}");
        }
        assert!(found_nothing("find . | xargs -n 10 grep foo", 123));
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
            "echo 'grep foo'",
            "python - <<'EOF'\ngrep\nEOF",
            "git push",
            "pytest | tail -3 && grep foo log",
        ] {
            assert!(!found_nothing(command, 1), "{command}");
        }
        assert!(!found_nothing("grep foo missing.txt", 2));
        assert!(!found_nothing("grep foo", 123));
    }
}
