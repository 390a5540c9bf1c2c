//! Which edits were of files that the agent had not seen (spec HYG-4, HYG-9).

use super::*;

fn says(changed: &str, lines: &[&str], read: ReadBeforeEdit, known: &[&str]) -> bool {
    let mut policy = policy("");
    policy.hygiene.read = read;
    let mut evidence = evidence(changed, lines);
    evidence.facts.known_files = known.iter().map(|path| (*path).to_owned()).collect();
    let observations = find(&evidence, None, PROJECT, &policy).observations;
    observations
        .iter()
        .any(|line| line.starts_with("Files were edited without being read first"))
}

#[test]
fn reads_of_the_turn_alone() {
    let table: [(&[&str], bool); 12] = [
        (&["edit src/a.rs"], true),
        (&["edit src/a.rs", "read src/a.rs"], true),
        (&["read src/b.rs", "edit src/a.rs"], true),
        (
            &["read /home/me/app/a/mod.rs", "edit /home/me/app/b/mod.rs"],
            true,
        ),
        (&["read src/a.rs", "edit src/a.rs"], false),
        (
            &[
                "read /home/me/app/src/a.rs",
                "edit ./src/a.rs",
                "edit src/a.rs",
            ],
            false,
        ),
        (&["write src/a.rs"], false),
        (&["write src/a.rs", "edit src/a.rs"], false),
        (&["$ cat src/a.rs", "edit src/a.rs"], false),
        (&["$ echo x > src/a.rs", "edit src/a.rs"], false),
        (&["$ ls src", "edit src/a.rs"], true),
        (&["read src/a.rs"], false),
    ];
    for (lines, expected) in table {
        // What changed does not matter to it.
        let fires = |read| says("notes.md", lines, read, &["src/a.rs"]);
        assert_eq!(fires(ReadBeforeEdit::Turn), expected, "{lines:?}");
        assert!(!fires(ReadBeforeEdit::Off));
    }
    insta::assert_snapshot!(show(&found("a.md", &["edit a.md"], &policy(""))), @r"
    [no code changes]
      - Files were edited without being read first — verify changes are correct
      = docs only
    ");
}

/// Each line shows, or gives, `app/src/user.ts` to the agent before it is edited.
#[test]
fn ways_to_see_a_file() {
    for line in [
        "read app/src/user.ts",
        "read ./app/src/user.ts",
        "read C:\\home\\me\\app\\app\\src\\user.ts",
        "write app/src/user.ts",
        "search app/src/user.ts",
        "search app",
        "$ nl -ba app/src/user.ts | sed -n '1,80p'",
        "$ for f in app/src/user.ts app/src/b.ts; do cat \"$f\"; done",
        "$ cat app/src/*.ts",
        "$ cd app && head -50 src/user.ts",
        "$ find app -name 'user.ts' -exec cat {} +",
        "$ find . -name '*.ts' | xargs sed -n 1,40p",
        "$ git show HEAD~2:app/src/user.ts",
        "$ git -C . diff -- app/src/user.ts",
        "$ git diff",
        "$ git log -p -3",
        "$ git grep -n token",
        "$ rg -n token",
        "$ rg -n token app/src",
        "$ grep -rn token app",
        "$ python3 - <<'EOF'\nprint(open('app/src/user.ts').read())\nEOF",
        "$ node -e \"console.log(require('fs').readFileSync('app/src/user.ts','utf8'))\"",
        "$ ssh box 'cat /srv/app/src/user.ts'",
        "$ Get-Content -Raw app\\src\\user.ts",
        "$ type app\\src\\user.ts",
        "$ Select-String -Path app\\src\\*.ts -Pattern token",
        "$ sed -i s/a/b/ app/src/user.ts",
        "! npx tsc -> app/src/user.ts(3,1): error TS2322: no",
    ] {
        let lines = [line, "edit app/src/user.ts"];
        assert!(
            !says("app/src/user.ts", &lines, ReadBeforeEdit::Session, &[]),
            "{line}"
        );
    }
}

#[test]
fn what_shows_no_file() {
    for line in [
        "read app/src/users.ts",
        "list app/src/user.ts",
        "!read app/src/user.ts -> not allowed",
        "$ ls -l app/src/user.ts",
        "$ git add app/src/user.ts",
        "$ git diff --stat",
        "$ git diff -- docs/a.md",
        "$ git log --oneline -- app/src/user.ts",
        "$ rg -l token",
        "$ rg -n token docs",
        "$ grep -n token docs/a.md",
        "$ cat lib/src/user.ts",
        "$ npm test",
        "$ Get-ChildItem app\\src",
    ] {
        // A read that failed quotes no path here.
        let lines = [line, "edit app/src/user.ts"];
        assert!(
            says("app/src/user.ts", &lines, ReadBeforeEdit::Session, &[]),
            "{line}"
        );
    }
}

#[test]
fn edits_that_do_not_count() {
    let edit = ["edit /home/me/app/src/a.rs"];
    let session = |changed, known: &[&str]| says(changed, &edit, ReadBeforeEdit::Session, known);
    assert!(session("src/a.rs", &[]));
    // Seen in an earlier turn, as the facts say.
    assert!(!session("src/a.rs", &["/home/me/app/src/a.rs"]));
    // Put back, or ignored by git.
    assert!(!session("src/b.rs", &[]));
    let outside = ["edit /home/me/.agent/plans/a.md"];
    assert!(!says("src/a.rs", &outside, ReadBeforeEdit::Session, &[]));
    let mut deleted = evidence("src/a.rs", &edit);
    deleted.changes = Changes::Known(vec![ChangedFile {
        path: "src/a.rs".into(),
        hash: None,
    }]);
    assert!(unread_files(&deleted, PROJECT).is_empty());
    let unread = evidence(
        "a.md b.md",
        &["edit a.md", "edit a.md", "read b.md", "edit b.md"],
    );
    assert_eq!(unread_files(&unread, PROJECT), ["a.md"]);
}

#[test]
fn files_of_prompts() {
    let known = |text: &str| {
        let files = ["src/a.rs".to_owned(), "src/b.rs".to_owned()];
        known_files(&[], std::iter::once(text), &files, PROJECT).join(" ")
    };
    assert_eq!(known("fix @src/a.rs please"), "src/a.rs");
    assert_eq!(known("see @src/"), "");
    assert_eq!(known("fix src/a.rs"), "");
    assert_eq!(known("src/b.rs is:\n```\nfn b() {}\n```"), "src/b.rs");
    assert_eq!(
        known("--- Content from referenced files ---\nContent from @src/a.rs:\n1\n2\n3\n4\n5\n6"),
        "src/a.rs"
    );
}
