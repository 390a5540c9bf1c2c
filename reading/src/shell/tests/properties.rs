//! Hostile lines, and what holds for all of them.

use proptest::prelude::*;

use super::super::{Pattern, is_dry, read, shortened};

fn read_all(line: &str) {
    let pattern = Pattern::read("make restart -x *y").expect("a command");
    for simple in read(line).commands {
        let _ = (is_dry(&simple), pattern.fits(&simple));
    }
}

/// Beginnings of constructs that nothing closes, and separators.
const HOSTILE: &[&str] = &[
    "(",
    ")",
    "( ",
    "$(",
    "$((",
    "${",
    "`",
    "\"$(",
    "\"",
    "'",
    "\\",
    "<<",
    "<<a\n",
    "<(",
    "{ ",
    "if ",
    "a=(",
    "case x in ",
    "while ",
    "f() ",
    "! ",
    "[[ ",
    ";",
    "&",
    "|",
    "||",
    "&& ",
    "a;",
    "a|",
    "a||",
    "a&&",
    "cd a;",
    "=",
    "-=",
    "1",
    "#",
    "\n",
    "\0",
    "é",
    "sudo ",
    "env ",
    "eval ",
    "bash -c ",
    "$'",
    "!(",
    "a$(b)",
    "echo | sh|",
    "${a:-",
    "((",
    "pushd a;",
    "cat <<E\n$(",
    "time ",
    "uv run ",
    "xargs ",
    "docker ",
    "> ",
    "a (",
    "function ",
    "coproc ",
    "for ",
    "mise exec ",
];

#[test]
fn hostile_lines_end_soon() {
    for (index, piece) in HOSTILE.iter().enumerate() {
        // The first few get a whole megabyte; an answer in quadratic time shows with less.
        let size = if index < 3 { 1 << 20 } else { 1 << 17 };
        let line = piece.repeat(size / piece.len());
        // Time that grows with the square would take minutes here, so the test would not end.
        read_all(&line);
        read_all(&format!("a{line}"));
    }
}

#[test]
fn too_much_is_no_evidence() {
    let deep = format!(
        "make restart; {}a{}",
        "(".repeat(100).replace('(', "( "),
        " )".repeat(100)
    );
    assert!(
        read(&deep)
            .commands
            .iter()
            .all(|simple| !simple.certain && !simple.decides)
    );
    let long = "make restart && ".repeat(5_000);
    let found = read(&long).commands;
    assert!(
        found.len() <= 2_000
            && found
                .iter()
                .all(|simple| !simple.certain && !simple.decides)
    );
}

#[test]
fn scripts_in_scripts_are_not_read_twice() {
    let mut line = "a".to_owned();
    for _ in 0..12 {
        line = format!("bash -c \"$({line})\"");
    }
    assert!(read(&line).commands.len() < 30);
}

fn quoted(word: &str, style: u8) -> String {
    match style % 3 {
        0 => format!("'{}'", word.replace('\'', "'\\''")),
        1 => {
            let escaped: String = word
                .chars()
                .flat_map(|c| {
                    ("\"\\$`".contains(c))
                        .then_some('\\')
                        .into_iter()
                        .chain([c])
                })
                .collect();
            format!("\"{escaped}\"")
        }
        _ => {
            word.chars()
                .map(|c| {
                    if c == '\n' {
                        "'\n'".to_owned()
                    } else {
                        format!("\\{c}")
                    }
                })
                .collect::<String>()
                + "''"
        }
    }
}

const TOKENS: &[&str] = &[
    "a",
    "make",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "}",
    "$(",
    "`",
    "'",
    "\"",
    "\\",
    "<<EOF\n",
    "EOF\n",
    "EOF",
    "<",
    ">",
    "2>&1",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "case x in ",
    "esac",
    ";;",
    "while ",
    "for x in ",
    "f() ",
    "#",
    "$",
    "${",
    "}",
    "((",
    "[[ ",
    "]]",
    "!",
    "=",
    "x=",
    "é",
    "\0",
    "bash -c ",
    "eval ",
    "cd ",
    "exit 1",
    "sudo ",
    "-c",
    "apply_patch ",
    "sed -i ",
    "--",
    "-",
    "time ",
    "/",
    "$'",
    "echo ",
    "sh",
];

proptest! {
    #[test]
    fn any_text_is_read(line in "\\PC*") {
        read_all(&line);
    }

    #[test]
    fn any_characters_are_read(characters in prop::collection::vec(any::<char>(), 0..200)) {
        read_all(&characters.into_iter().collect::<String>());
    }

    #[test]
    fn any_shell_is_read(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        read_all(&tokens.concat());
    }

    #[test]
    fn a_shortened_line_runs_the_same_or_what_is_unknown(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60),
        bytes_max in 40_usize..120,
    ) {
        let line = tokens.concat();
        let short = shortened(&line, bytes_max);
        prop_assert!(short.len() <= bytes_max);
        let shown = |line: &str| -> Vec<_> {
            let commands = read(line).commands.into_iter();
            commands.map(|simple| (simple.words.len(), simple.certain, simple.decides)).collect()
        };
        let is_unknown = read(&short).commands.iter().any(|simple| simple.words == ["[..]"]);
        prop_assert!(is_unknown || shown(&line) == shown(&short), "{short}");
    }

    #[test]
    fn quoted_words_come_back(words in prop::collection::vec(("\\PC{0,8}|[ \n'\"\\\\$`;&|]{1,5}", 0u8..3), 0..6)) {
        let line: String = words.iter().map(|(word, style)| format!(" {}", quoted(word, *style))).collect();
        let found = read(&format!("zz{line}")).commands;
        let expected: Vec<&str> = std::iter::once("zz").chain(words.iter().map(|(word, _)| word.as_str())).collect();
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(&found[0].words, &expected);
        prop_assert!(found[0].certain && found[0].decides);
    }

    #[test]
    fn wrappers_keep_the_words(
        words in prop::collection::vec("[a-z $'\"]{0,6}", 0..4),
        wrappers in prop::collection::vec(
            prop::sample::select(vec![
                "sudo -u me", "doas", "timeout -k 1 5", "nice -n 3", "nohup", "stdbuf -oL", "setsid", "command", "env A=b",
                "uv run", "poetry run", "npx -y", "pnpm exec", "python3 -m", "direnv exec .", "docker exec -i c", "bash -c",
                "eval", "mise exec --", "time -p",
            ]),
            0..5,
        ),
    ) {
        let plain = words.iter().fold("zz".to_owned(), |line, word| format!("{line} {}", quoted(word, 0)));
        let line = wrappers.iter().rev().fold(plain.clone(), |line, wrapper| match *wrapper {
            "bash -c" | "eval" => format!("{wrapper} {}", quoted(&line, 1)),
            _ => format!("{wrapper} {line}"),
        });
        prop_assert_eq!(read(&line).commands, read(&plain).commands);
    }
}
