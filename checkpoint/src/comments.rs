//! Whether two versions of a file of code differ in comments only (spec RULE-23).
//!
//! Only comments that fill their lines are known. What may be text of the program is code: lines within strings, directives to
//! tools, and examples in documentation that run as tests.

/// How a language writes comments, and text that fills whole lines.
struct Syntax {
    /// Start of a comment that ends with the line.
    line: &'static str,
    /// Whether the language has `/* .. */` comments.
    blocks: bool,
    /// How a string begins and ends that may continue over several lines.
    strings: &'static [&'static str],
    /// What begins texts over lines that cannot be followed here.
    unknown: &'static [&'static str],
    /// Whether a string that is a statement of its own at the beginning of a block is
    /// documentation.
    docstrings: bool,
}

const fn syntax(line: &'static str, blocks: bool, strings: &'static [&'static str]) -> Syntax {
    Syntax {
        line,
        blocks,
        strings,
        unknown: &[],
        docstrings: false,
    }
}

const TRIPLE: &[&str] = &["\"\"\""];

/// Languages by file extension.
const LANGUAGES: &[(&[&str], Syntax)] = &[
    (
        &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go"],
        syntax("//", true, &["`"]),
    ),
    (&["rs"], syntax("//", true, &["\""])),
    (
        &["java", "kt", "kts", "scala", "swift", "cs", "dart"],
        syntax("//", true, TRIPLE),
    ),
    (
        &["c", "cc", "cpp", "cxx", "h", "hpp", "hh", "m", "mm", "zig"],
        Syntax {
            unknown: &["R\"", "\\\n"],
            ..syntax("//", true, &[])
        },
    ),
    (
        &["php"],
        Syntax {
            unknown: &["<<<", "?>"],
            ..syntax("//", true, &[])
        },
    ),
    (
        &["py", "pyi"],
        Syntax {
            docstrings: true,
            ..syntax("#", false, &["\"\"\"", "'''"])
        },
    ),
    (
        &["rb", "sh", "bash", "zsh"],
        Syntax {
            unknown: &["<<", "=begin", "__END__"],
            ..syntax("#", false, &["\""])
        },
    ),
    (&["ex", "exs", "jl"], syntax("#", false, TRIPLE)),
    (
        &["sql", "hs"],
        Syntax {
            unknown: &["$$", "{-"],
            ..syntax("--", false, &[])
        },
    ),
    (
        &["lua"],
        Syntax {
            unknown: &["[["],
            ..syntax("--", false, &[])
        },
    ),
    (&["clj", "cljs", "cljc"], syntax(";", false, &["\""])),
];

/// What comments say to compilers, interpreters and other tools.
const DIRECTIVES: [&str; 26] = [
    "#!",
    "//go:",
    "// +build",
    "//export",
    "//line",
    "#cgo",
    "@ts-",
    "@jsx",
    "@flow",
    "@vite",
    "webpack",
    "frozen_string_literal",
    "coding",
    "encoding:",
    "swift-tools-version",
    "type:",
    "noqa",
    "nosec",
    "nolint",
    "pragma",
    "pylint",
    "eslint",
    "istanbul",
    "c8 ",
    "/// <reference",
    "sourceMappingURL",
];

/// Returns whether the comments of a file can be separated from its code, by its name.
pub fn are_known(path: &str) -> bool {
    of(path).is_some()
}

fn of(path: &str) -> Option<&'static Syntax> {
    let (_, ending) = path.rsplit_once('.')?;
    LANGUAGES
        .iter()
        .find(|(endings, _)| endings.contains(&ending))
        .map(|(_, syntax)| syntax)
}

/// Returns whether two versions of a file hold the same code, so that at most comments and blank lines differ.
pub fn same_code(path: &str, before: &str, now: &str) -> bool {
    let Some(syntax) = of(path) else {
        return false;
    };
    let cannot = |text: &str| syntax.unknown.iter().any(|mark| text.contains(mark));
    before != now
        && !cannot(before)
        && !cannot(now)
        && match (code(syntax, before), code(syntax, now)) {
            (Some(before), Some(now)) => before == now,
            _ => false,
        }
}

/// Returns the lines of code; none if a string or a comment has no end.
fn code<'a>(syntax: &Syntax, text: &'a str) -> Option<Vec<&'a str>> {
    let mut reader = Reader {
        syntax,
        open: None,
        block: Block::None,
        example: false,
        last: "",
    };
    let mut lines = Vec::new();
    for line in text.lines() {
        if reader.is_code(line) {
            lines.push(line.trim_end());
        }
    }
    (reader.open.is_none() && reader.block == Block::None).then_some(lines)
}

/// Text over several lines in which a line begins.
#[derive(PartialEq)]
enum Block<'a> {
    None,
    /// `/* .. */`
    Comment,
    /// Documentation between such marks.
    Docstring(&'a str),
}

struct Reader<'s, 'a> {
    syntax: &'s Syntax,
    /// The mark that ends the string in which the next line begins.
    open: Option<&'static str>,
    block: Block<'static>,
    /// Within an example in documentation.
    example: bool,
    /// The last line that has code.
    last: &'a str,
}

impl<'a> Reader<'_, 'a> {
    fn is_code(&mut self, line: &'a str) -> bool {
        let text = line.trim();
        if self.open.is_some() {
            self.follow(line);
            return true;
        }
        match self.block {
            Block::Comment => {
                let ends = text.find("*/");
                if ends.is_some() {
                    self.block = Block::None;
                }
                // What follows a comment on its last line is code.
                return ends.is_some_and(|at| at + 2 < text.len()) || is_directive(text);
            }
            Block::Docstring(mark) => {
                if text.contains(mark) {
                    self.block = Block::None;
                    return !text.ends_with(mark);
                }
                return text.starts_with(">>>") || text.starts_with("...");
            }
            Block::None => {}
        }
        if text.is_empty() {
            return false;
        }
        if text.starts_with(self.syntax.line) {
            return self.is_example(text) || is_directive(text);
        }
        if self.syntax.blocks && text.starts_with("/*") {
            let ends = text[2..].find("*/").map(|at| at + 4);
            if ends.is_none() {
                self.block = Block::Comment;
            }
            if ends.is_none_or(|at| at == text.len()) {
                return is_directive(text);
            }
        }
        if let Some(mark) = self.docstring(text) {
            let rest = &text[text.find(mark).unwrap_or_default() + mark.len()..];
            match rest.find(mark) {
                None => self.block = Block::Docstring(mark),
                Some(at) if at + mark.len() == rest.len() => {}
                Some(_) => {
                    self.follow(line);
                    return true;
                }
            }
            return rest.starts_with(">>>");
        }
        self.follow(line);
        self.last = text;
        true
    }

    /// Returns whether a line of documentation is part of an example that runs as a test.
    fn is_example(&mut self, text: &str) -> bool {
        let is_documentation = text.starts_with("///") || text.starts_with("//!");
        let is_fence = is_documentation && text[3..].trim_start().starts_with("```");
        let is_within = self.example && is_documentation;
        self.example = is_within != is_fence;
        is_fence || is_within
    }

    /// Returns the mark with which documentation begins: at the begin of a file, or after the head of a block.
    fn docstring(&self, text: &str) -> Option<&'static str> {
        let heads = ["def ", "class ", "async def ", ")"];
        let is_head = self.last.is_empty()
            || (self.last.ends_with(':') && heads.iter().any(|head| self.last.starts_with(head)));
        let text = text.trim_start_matches(['r', 'R', 'u', 'U']);
        let mut marks = self.syntax.strings.iter().copied();
        marks
            .find(|mark| text.starts_with(mark))
            .filter(|_| self.syntax.docstrings && is_head)
    }

    fn follow(&mut self, line: &str) {
        let mut rest = line;
        loop {
            let next = match self.open {
                Some(mark) => rest.find(mark).map(|at| (at, mark)),
                None => {
                    let marks = self.syntax.strings.iter();
                    marks
                        .filter_map(|mark| Some((rest.find(mark)?, *mark)))
                        .min()
                }
            };
            let Some((at, mark)) = next else {
                return;
            };
            let is_escaped = rest[..at].ends_with('\\') && !rest[..at].ends_with("\\\\");
            // The mark as a single character: `'"'`.
            let is_character =
                rest[..at].ends_with('\'') && rest[at + mark.len()..].starts_with('\'');
            if !is_escaped && !is_character {
                self.open = match self.open {
                    Some(_) => None,
                    None => Some(mark),
                };
            }
            rest = &rest[at + mark.len()..];
        }
    }
}

fn is_directive(text: &str) -> bool {
    DIRECTIVES.iter().any(|said| text.contains(said))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comments_and_blank_lines_are_no_code() {
        let table: &[(&str, &str, &str)] = &[
            (
                "a.go",
                "// Old.\nfunc A() {}\n",
                "// New.\n// More.\n\nfunc A() {}\n",
            ),
            ("a.ts", "f();\n", "/** Does f. */\nf();\n"),
            ("a.ts", "/*\n * one\n */\nf();\n", "/*\n * two\n */\nf();\n"),
            ("a.rs", "fn a() {}\n", "/// Does a.\nfn a() {}\n"),
            ("a.cs", "int A;\n", "/// <summary>A.</summary>\nint A;\n"),
            (
                "a.py",
                "def f():\n    return 1\n",
                "def f():\n    \"\"\"One.\"\"\"\n    return 1\n",
            ),
            (
                "a.py",
                "\"\"\"Old.\n\ntext\n\"\"\"\nx = 1\n",
                "\"\"\"New.\"\"\"\nx = 1\n",
            ),
            ("a.py", "x = 1\n", "# One.\nx = 1\n"),
            ("a.sh", "#!/bin/sh\nls\n", "#!/bin/sh\n# Lists.\nls\n"),
            ("a.sql", "select 1;\n", "-- One.\nselect 1;\n"),
            ("a.clj", "(f)\n", ";; Calls f.\n(f)\n"),
            ("a.rb", "f\n", "# Calls f.\n\nf\n"),
        ];
        for (path, before, now) in table {
            assert!(same_code(path, before, now), "{path}: {now}");
            assert!(same_code(path, now, before), "{path}: {now}");
        }
    }

    #[test]
    fn what_may_run_or_be_text_of_the_program_is_code() {
        let table: &[(&str, &str, &str)] = &[
            ("a.go", "f()\n", "g()\n"),
            ("a.go", "f()\n", "f() // now\n"),
            (
                "a.go",
                "//go:build linux\nf()\n",
                "//go:build darwin\nf()\n",
            ),
            ("a.go", "s := `\n// one\n`\n", "s := `\n// two\n`\n"),
            (
                "a.ts",
                "const p = `\n# one\n// one\n`;\n",
                "const p = `\n# one\n// two\n`;\n",
            ),
            ("a.ts", "// @ts-expect-error\nf();\n", "f();\n"),
            ("a.ts", "/* one */ f();\n", "/* one */ g();\n"),
            ("a.ts", "/* one\n*/ f();\n", "/* one\n*/ g();\n"),
            (
                "a.rs",
                "/// ```\n/// a(1);\n/// ```\nfn a() {}\n",
                "/// ```\n/// a(2);\n/// ```\nfn a() {}\n",
            ),
            (
                "a.rs",
                "let s = \"\n// one\n\";\n",
                "let s = \"\n// two\n\";\n",
            ),
            (
                "a.rs",
                "let q = '\"';\nlet s = \"\n// 1\n\";\n",
                "let q = '\"';\nlet s = \"\n// 2\n\";\n",
            ),
            (
                "a.py",
                "p = \"\"\"\n# one\n\"\"\"\n",
                "p = \"\"\"\n# two\n\"\"\"\n",
            ),
            (
                "a.py",
                "run(\n    \"\"\"one\"\"\"\n)\n",
                "run(\n    \"\"\"two\"\"\"\n)\n",
            ),
            (
                "a.py",
                "def f():\n    \"\"\"\n    >>> f()\n    1\n    \"\"\"\n",
                "def f():\n    \"\"\"\n    >>> f(2)\n    1\n    \"\"\"\n",
            ),
            ("a.py", "if a:\n    f()\n", "if a:\n        f()\n"),
            (
                "a.py",
                "def f():\n    \"\"\"One.\"\"\".x()\n",
                "def f():\n    \"\"\"Two.\"\"\".x()\n",
            ),
            ("a.sh", "cat <<X\n# one\nX\n", "cat <<X\n# two\nX\n"),
            ("a.sh", "#!/bin/sh\nls\n", "#!/bin/bash\nls\n"),
            ("a.c", "#define A 1\n", "#define A 2\n"),
            ("a.ts", "f();\n/* one\n", "f();\n/* two\n"),
            ("a.vue", "// one\n", "// two\n"),
            ("Makefile", "# one\n", "# two\n"),
            ("a.go", "f()\n", "f()\n"),
        ];
        for (path, before, now) in table {
            assert!(!same_code(path, before, now), "{path}: {now}");
        }
    }

    proptest! {
        /// A line of code that is added, in whatever file, is never taken for a comment.
        #[test]
        fn a_new_statement_is_code(lines in prop::collection::vec("[ -~]{0,12}", 0..8), at in 0usize..8) {
            for path in ["a.go", "a.ts", "a.rs", "a.py", "a.rb", "a.sql"] {
                let before = lines.join("\n");
                let at = at.min(lines.len());
                let mut more = lines.clone();
                more.insert(at, "zz(1)".into());
                let is_in_comment = code(of(path).unwrap(), &more[..at].join("\n")).is_none();
                prop_assert!(is_in_comment || !same_code(path, &before, &more.join("\n")));
            }
        }

        /// It ends for every text, and gives the same result whichever version came first.
        #[test]
        fn the_order_of_the_versions_does_not_matter(one in ".{0,80}", two in ".{0,80}") {
            for path in ["a.go", "a.ts", "a.rs", "a.py", "a.sh", "a.clj"] {
                prop_assert_eq!(same_code(path, &one, &two), same_code(path, &two, &one));
            }
        }
    }
}
