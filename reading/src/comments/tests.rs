//! What is code, and what only comments and layout.

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

#[test]
fn layout_means_nothing_where_the_language_says_so() {
    let same: &[(&str, &str, &str)] = &[
        ("a.go", "f()\n", "f() // now\n"),
        ("a.go", "\tf(a,\n\t\tb)\n", "f(a, b)\n"),
        (
            "a.rs",
            "fn a(x: u8) -> u8 { x }\n",
            "fn a(\n    x: u8\n) -> u8 {\n    x\n}\n",
        ),
        (
            "a.rs",
            "let c = '\"'; // One.\nf::<'a>( );\n",
            "let c='\"';\nf::<'a>();\n",
        ),
        ("a.ts", "f( a );\n", "f(a);\n"),
        ("a.ts", "a\n  .b()\n  .c()\n", "a.b().c()\n"),
        (
            "a.ts",
            "const o = {\n  a: 1,\n};\n",
            "const o = { a: 1, };\n",
        ),
        (
            "a.java",
            "int a( ) {\n  return 1;\n}\n",
            "int a()\n{\n    return 1;\n}\n",
        ),
        (
            "a.c",
            "int *a;\n#define A 1\nf();\n",
            "int* a;\n\n#define A 1\n  f();\n",
        ),
        ("a.py", "x = 1\n", "x = 1  \n\n# One.\n"),
    ];
    for (path, before, now) in same {
        let digest = |text: &str| digest(path, text.as_bytes());
        assert_eq!(digest(before), digest(now), "{path}: {now}");
        assert!(same_code(path, before, now), "{path}: {now}");
    }
    let other: &[(&str, &str, &str)] = &[
        ("a.go", "f(\"a b\")\n", "f(\"a  b\")\n"),
        ("a.go", "return\nf()\n", "return f()\n"),
        ("a.go", "s := `\na b\n`\n", "s := `\na  b\n`\n"),
        ("a.go", "f() //nolint:a\n", "f() //nolint:b\n"),
        ("a.rs", "int a;\n", "inta;\n"),
        ("a.rs", "let s = \"\n  a\n\";\n", "let s = \"\n a\n\";\n"),
        ("a.rs", "let s = r#\"a  b\"#;\n", "let s = r#\"a b\"#;\n"),
        ("a.ts", "return\na;\n", "return a;\n"),
        ("a.ts", "a = b - -c;\n", "a = b --c;\n"),
        ("a.ts", "a = /x  y/;\n", "a = /x y/;\n"),
        ("a.ts", "f();\ng();\n", "g();\nf();\n"),
        ("a.tsx", "<b>a</b> <i>b</i>\n", "<b>a</b><i>b</i>\n"),
        ("a.js", "<b>a</b> c\n", "<b>a</b>c\n"),
        ("a.cs", "s = @\"a\n  b\";\n", "s = @\"a\n b\";\n"),
        ("a.c", "#define A (1)\n", "#define A(1)\n"),
        ("a.py", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("a.yml", "a: 1\n", "a:  1\n"),
        ("Makefile", "a:\n\tb\n", "a:\n    b\n"),
        ("a.md", "a\n", "a \n"),
        ("a.bin", "a", "a\n"),
    ];
    for (path, before, now) in other {
        let digest = |text: &str| digest(path, text.as_bytes());
        assert_ne!(digest(before), digest(now), "{path}: {now}");
    }
    assert_ne!(digest("a.rs", b"\xff"), digest("a.rs", b"\xfe"));
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
