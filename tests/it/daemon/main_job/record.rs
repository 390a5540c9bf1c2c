//! A verification record: made of a session's work, checked with real keys and notes, and shown by CI to a forge.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::turns::Scene;
use crate::support::{git, program, run};

/// A repository with a commit whose file was tested, and its author's keys.
struct Work {
    scene: Scene,
}

impl Work {
    fn new() -> Self {
        let scene = Scene::new("");
        tested(&scene, "count = 2\n");
        std::fs::write(scene.project.join("notes.md"), "by hand\n").expect("writes");
        git::git(&scene.project, &["add", "-A"]);
        git::git(&scene.project, &["commit", "-qm", "next"]);
        for (key, value) in [("user.name", "n"), ("user.email", "e@x")] {
            git::git(&scene.project, &["config", key, value]);
        }
        let work = Self { scene };
        for key in ["own", "other"] {
            let file = work.key(key);
            let file = file.to_str().expect("text");
            let output = work.run(
                "ssh-keygen",
                &["-q", "-t", "ed25519", "-N", "", "-f", file],
                &[],
            );
            assert!(output.status.success(), "{output:?}");
        }
        work
    }

    /// Writes a file of another work tree and commits it, in a session of its own that tests it.
    fn elsewhere(&mut self, session: &'static str, folder: &str, text: &str) {
        let folder = self.key(folder);
        let project = std::mem::replace(&mut self.scene.project, folder);
        self.scene.session.set(session);
        tested(&self.scene, text);
        git::git(&self.scene.project, &["commit", "-qam", session]);
        self.scene.project = project;
    }

    fn key(&self, name: &str) -> PathBuf {
        self.scene.daemon.home.path().join(name)
    }

    fn run(
        &self,
        program: impl AsRef<Path>,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Output {
        let mut command = self.scene.daemon.home.command(program.as_ref(), arguments);
        command
            .current_dir(&self.scene.project)
            .envs(variables.iter().copied());
        run(&mut command, b"")
    }

    /// Where git and scripts find the program.
    fn path(&self) -> String {
        let programs = program("checkpointd");
        let programs = programs.parent().expect("a folder").display();
        let path = std::env::var("PATH").expect("a path");
        format!("{programs}:{path}")
    }

    fn ckd(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(program("checkpointd"), arguments, &[]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code().expect("no signal"), said)
    }

    /// Verifies a record, and returns whether it was accepted, with the checks that refuse it.
    fn verify(&self, record: &str, key: &str) -> (bool, Vec<String>, Value) {
        let key = format!("{}.pub", self.key(key).display());
        let arguments = ["record", "verify", record, "--key", &key, "--json"];
        let output = self.run(program("checkpointd"), &arguments, &[]);
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(output.status.success(), said["accepted"] == true, "{said}");
        let refusals = said["refusals"].as_array().expect("a list").iter();
        let checks = refusals.map(|one| one["check"].as_str().expect("a word").to_owned());
        (output.status.success(), checks.collect(), said)
    }
}

/// An agent writes a file, and tests it.
fn tested(scene: &Scene, text: &str) {
    scene.prompt("one", true);
    scene.write("one", &scene.project.join("stock.py"), text);
    let said = json!({ "stdout": "3 passed in 0.10s\n", "stderr": "", "interrupted": false });
    let line = json!({ "command": "pytest -q" });
    scene.tool_with("one", "Bash", line, said, || ());
    assert_eq!(scene.stop("one"), "silent_all_clear");
}

#[test]
fn a_record_is_made_signed_and_verified_against_repository_and_journal() {
    let work = Work::new();
    let (code, said) = work.ckd(&["open", "--range", "HEAD^..HEAD"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("2 changed files: 1 done, 1 unknown, 0 open"),
        "{said}"
    );
    let own = work.key("own");
    let own = own.to_str().expect("text");
    for level in ["summary", "commands", "full"] {
        let (code, said) = work.ckd(&[
            "record",
            "--key",
            own,
            "--level",
            level,
            "--output",
            "../record",
        ]);
        assert_eq!(code, 0, "{said}");
        let (is_good, refusals, answer) = work.verify("../record", "own");
        assert!(is_good, "{level}: {refusals:?}");
        assert_eq!(
            answer["recomputed"], true,
            "{level}: the journal gives the same bytes"
        );
        let text = std::fs::read_to_string(work.key("record")).expect("a record");
        assert_eq!(
            answer["statement"].to_string().contains("pytest"),
            level != "summary",
            "{text}"
        );
    }
    assert_eq!(work.verify("../record", "other").1, ["signature"]);
    let unit = &work.verify("../record", "own").2["statement"]["predicate"]["units"][1];
    assert_eq!(
        (&unit["file"], &unit["row"]),
        (&json!("stock.py"), &json!("tests passed"))
    );

    // The same work on another branch, and a file that changed after.
    git::git(&work.scene.project, &["checkout", "-qb", "later"]);
    assert!(work.verify("../record", "own").0);
    std::fs::write(work.scene.project.join("stock.py"), "count = 3\n").expect("writes");
    // A file that is newer, and the same.
    let notes = std::fs::File::options()
        .append(true)
        .open(work.scene.project.join("notes.md"))
        .expect("a file");
    notes
        .set_modified(SystemTime::now() + Duration::from_secs(9))
        .expect("is ours");
    let (code, said) = work.ckd(&["open", "--worktree"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 changed file: 0 done, 1 unknown"), "{said}");
    let long = work.scene.project.join("folder-".repeat(20));
    std::fs::create_dir(&long).expect("made");
    std::fs::write(long.join("same.md"), "new\n").expect("writes");
    let (_, said) = work.ckd(&["open", "--worktree"]);
    assert!(
        said.contains("…/same.md") && said.contains("WHAT RAN"),
        "{said}"
    );
    git::git(&work.scene.project, &["commit", "-qam", "after"]);
    let refusals = work.verify("../record", "own").1;
    assert!(refusals.contains(&"subject".to_owned()), "{refusals:?}");
    assert!(refusals.contains(&"content".to_owned()), "{refusals:?}");
}

#[test]
fn sessions_of_a_repository_count_wherever_its_work_trees_are() {
    const SIDE: &str = "6a1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a12";
    const MOVED: &str = "7b1c9f0e-0d7c-4a51-8f0e-3f1f0c7d2a12";
    let mut work = Work::new();
    let project = work.scene.project.clone();
    let count = |work: &Work| work.ckd(&["open", "--range", "HEAD^..HEAD"]).1;
    let is_good = |work: &Work| {
        for record in ["../summary", "../commands"] {
            let (code, said) = work.ckd(&["record", "verify", record, "--unsigned"]);
            let is_remade = said.contains("accepted, and the journal gives the same");
            assert!(code == 0 && is_remade, "{record}: {said}");
        }
    };

    // In a work tree that is removed after the merge.
    git::git(&project, &["worktree", "add", "-q", "../side"]);
    work.elsewhere(SIDE, "side", "count = 3\n");
    git::git(&project, &["merge", "-q", "--ff-only", "side"]);
    for level in ["summary", "commands"] {
        let file = format!("../{level}");
        let make = [
            "record",
            "--unsigned",
            "--level",
            level,
            "--range",
            "HEAD^..HEAD",
            "--output",
            &file,
        ];
        let (code, said) = work.ckd(&make);
        assert_eq!(code, 0, "{said}");
    }
    is_good(&work);
    git::git(&project, &["worktree", "remove", "../side"]);
    let said = count(&work);
    assert!(said.contains("1 changed file: 1 done"), "{said}");
    is_good(&work);

    // It becomes a clone of another one.
    let origin = "https://forge.example/team/shop";
    git::git(&project, &["remote", "add", "origin", origin]);
    is_good(&work);

    // Its git directory is outside.
    std::fs::create_dir(work.key("apart")).expect("a folder");
    let apart = work.key("apart");
    let git_dir = ["init", "-q", "-b", "main", "--separate-git-dir", "../git"];
    git::git(&apart, &git_dir);
    std::fs::write(apart.join("stock.py"), "count = 1\n").expect("writes");
    git::commit_all(&apart);
    work.elsewhere(MOVED, "apart", "count = 4\n");
    work.scene.project = apart;
    let said = count(&work);
    assert!(said.contains("1 changed file: 1 done"), "{said}");
}

#[test]
fn who_may_sign_is_read_as_git_reads_it() {
    let work = Work::new();
    let home = work.key("user");
    std::fs::create_dir(&home).expect("a folder");
    for key in ["own", "own.pub"] {
        std::fs::copy(work.key(key), home.join(key)).expect("a key");
    }
    let key = std::fs::read_to_string(home.join("own.pub")).expect("a key");
    let allow = |options: &str| {
        std::fs::write(home.join("allowed"), format!("n {options} {key}")).expect("writes");
    };
    for (name, value) in [
        ("gpg.format", "ssh"),
        ("user.signingkey", "~/own"),
        ("gpg.ssh.allowedSignersFile", "~/allowed"),
    ] {
        git::git(&work.scene.project, &["config", name, value]);
    }
    let own = home.join(".gitconfig");
    let own = ["--file", own.to_str().expect("text")];
    let ckd = |arguments: &[&str]| {
        let home = home.to_str().expect("text");
        let output = work.run(program("checkpointd"), arguments, &[("HOME", home)]);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.code().expect("no signal"), said)
    };
    let verified = || ckd(&["record", "verify", "--json"]);
    let (code, said) = ckd(&["record", "--notes"]);
    assert_eq!(code, 0, "{said}");

    // Whoever made the repository does not say who may sign.
    allow("");
    assert_eq!(verified().0, 1);
    std::fs::remove_file(home.join("allowed")).expect("removes");
    let set = ["gpg.ssh.allowedSignersFile", "~/allowed"];
    git::git(&work.scene.project, &[&["config"], &own[..], &set].concat());

    let (code, said) = verified();
    assert!(code == 2 && said.contains("No such file"), "{said}");
    for options in ["", "namespaces=\"git,checkpointd-record\""] {
        allow(options);
        let (code, said) = verified();
        assert_eq!(code, 0, "{options}: {said}");
    }
    allow("namespaces=\"git\"");
    let (code, said) = verified();
    let why = "not permitted for use in signature namespace";
    assert!(code == 1 && said.contains(why), "{said}");
}

#[test]
fn files_are_told_apart_whatever_bytes_their_names_have() {
    let work = Work::new();
    let project = &work.scene.project;
    // Not every file system has such names, but every index.
    let list = [
        &b"a\xe8.py"[..],
        b"a\xe9.py",
        b"a\\xE8.py",
        "a\u{e8}.py".as_bytes(),
    ];
    let blob = work.run("git", &["rev-parse", "HEAD:stock.py"], &[]).stdout;
    let blob = String::from_utf8(blob).expect("text");
    for name in list {
        let entry = format!("100644,{},", blob.trim());
        let entry = [entry.as_bytes(), name].concat();
        let mut add = std::process::Command::new("git");
        add.args(["update-index", "--add", "--cacheinfo"]);
        add.arg(OsStr::from_bytes(&entry)).current_dir(project);
        assert!(run(&mut add, b"").status.success());
    }
    git::git(project, &["commit", "-qm", "names"]);
    let (code, said) = work.ckd(&["open", "--range", "HEAD^..HEAD"]);
    assert_eq!(code, 0, "{said}");
    for name in [r"a\xE8.py", r"a\xE9.py", r"a\x5CxE8.py", "a\u{e8}.py"] {
        assert!(said.contains(&format!("  {name} ")), "{name}: {said}");
    }
    let make = ["record", "--unsigned", "--output", "../record"];
    assert_eq!(work.ckd(&make).0, 0);
    let verify = ["record", "verify", "../record", "--unsigned"];
    let (code, said) = work.ckd(&verify);
    assert!(code == 0 && said.contains("4 changed files"), "{said}");
}

#[test]
fn notes_hold_one_record_of_each_journal() {
    let work = Work::new();
    let own = work.key("own");
    let own = own.to_str().expect("text");
    let (code, said) = work.ckd(&["record", "verify"]);
    assert!(code == 1 && said.contains("has no record"), "{said}");
    for _ in 0..2 {
        let (code, said) = work.ckd(&["record", "--key", own, "--notes"]);
        assert_eq!(code, 0, "{said}");
    }
    assert!(work.verify("HEAD", "own").0);

    // Another record in the place of it: unsigned, and by another.
    let (code, said) = work.ckd(&["record", "--unsigned", "--notes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(work.verify("HEAD", "own").1, ["signature"]);
    let other = work.key("other");
    let other = other.to_str().expect("text");
    assert_eq!(work.ckd(&["record", "--key", other, "--notes"]).0, 0);
    assert_eq!(work.verify("HEAD", "own").1, ["signature"]);

    // Two of one journal: an older one may be among them.
    let (_, line) = work.ckd(&["record", "--key", own]);
    let twice = format!("{line}{line}");
    std::fs::write(work.key("twice"), twice).expect("writes");
    let (code, said) = work.ckd(&["record", "verify", "../twice", "--unsigned"]);
    assert!(
        code == 1 && said.contains("several records of one journal"),
        "{said}"
    );
}

#[test]
fn a_hook_of_git_notes_a_record_of_each_commit_and_changes_none() {
    let work = Work::new();
    let project = &work.scene.project;
    let own = work.key("own");
    let own = own.to_str().expect("text");
    let path = work.path();
    let git = |arguments: &[&str]| {
        let variables = [("PATH", path.as_str()), ("GIT_EDITOR", "true")];
        work.run("git", arguments, &variables)
    };
    let done = |arguments: &[&str]| {
        let output = git(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let change = |text: &str| std::fs::write(project.join("stock.py"), text).expect("writes");

    // Other repositories may use a folder outside, and a hook of one's own is kept.
    let install = ["record", "--install-hook", "--key", own];
    done(&["config", "core.hooksPath", "../hooks"]);
    let (code, said) = work.ckd(&install);
    assert!(
        code == 1 && said.contains("is not only of this repository"),
        "{said}"
    );
    done(&["config", "--unset", "core.hooksPath"]);
    let hook = project.join(".git/hooks/post-commit");
    std::fs::write(&hook, "#!/bin/sh\n").expect("writes");
    let (code, said) = work.ckd(&install);
    assert!(code == 1 && said.contains("is there already"), "{said}");
    assert_eq!(
        std::fs::read_to_string(&hook).expect("a hook"),
        "#!/bin/sh\n"
    );
    std::fs::remove_file(&hook).expect("ours");
    for _ in 0..2 {
        let (code, said) = work.ckd(&install);
        assert_eq!(code, 0, "{said}");
    }

    // The content that was tested, in another commit.
    change("count = 1\n");
    done(&["commit", "-qam", "back"]);
    change("count = 2\n");
    assert!(!git(&["commit", "-qa"]).status.success(), "no message");
    done(&["commit", "-qam", "again"]);
    assert_eq!(done(&["log", "-1", "--format=%B"]).trim(), "again");
    let is_done = |commit: &str| {
        let (is_good, refusals, said) = work.verify(commit, "own");
        assert!(is_good, "{commit}: {refusals:?}");
        assert_eq!(said["recomputed"], true);
        said["statement"]["predicate"]["totals"]["done"] == 1
    };
    assert!(is_done("HEAD"));
    assert_eq!(work.verify("HEAD", "other").1, ["signature"]);

    // The base is the parent of the commit that results. What git copies of the one before is not about it.
    done(&["config", "notes.rewriteRef", "refs/notes/*"]);
    done(&["commit", "-q", "--amend", "-m", "better"]);
    assert!(is_done("HEAD"));
    change("count = 3\n");
    done(&["commit", "-qam", "more"]);
    change("count = 4\n");
    done(&["commit", "-qa", "--fixup", "HEAD"]);
    done(&["rebase", "-qi", "--autosquash", "HEAD~2"]);
    assert_eq!(done(&["log", "-2", "--format=%s"]), "more\nbetter\n");
    assert!(!is_done("HEAD") && is_done("HEAD^"));

    // Another commit with the same tree takes no record away, and has none of another's.
    done(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    assert!(!is_done("HEAD") && !is_done("HEAD^"));
    done(&["checkout", "-qb", "side", "HEAD^"]);
    done(&["merge", "-q", "--no-ff", "-m", "merged", "HEAD@{1}"]);
    let (code, said) = work.ckd(&["record", "verify"]);
    assert!(code == 1 && said.contains("has no record"), "{said}");

    // An uninstallation takes it away, but not with what was added to it.
    let edited = std::fs::read_to_string(&hook).expect("a hook") + "echo mine\n";
    for (text, is_kept) in [(Some(edited), true), (None, false)] {
        if let Some(text) = text {
            std::fs::write(&hook, text).expect("writes");
        } else {
            std::fs::remove_file(&hook).expect("ours");
            assert_eq!(work.ckd(&install).0, 0);
        }
        let home = work.key("user");
        let home = home.to_str().expect("text");
        let uninstall = ["uninstall", "--keep-data", "--yes"];
        let output = work.run(program("checkpointd"), &uninstall, &[("HOME", home)]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(hook.exists(), is_kept, "{output:?}");
    }
    let (code, said) = work.ckd(&["open", "last", "--json"]);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    let off = said["switches"].as_array().expect("a list");
    let is_persons = |one: &Value| one["what"] == "uninstalled" && one["by"] == "person";
    assert!(
        code == 0 && off.len() == 2 && off.iter().all(is_persons),
        "{said}"
    );
}

#[test]
fn a_record_that_leaves_out_commits_is_refused() {
    let work = Work::new();
    let project = &work.scene.project;
    let own = work.key("own");
    let own = own.to_str().expect("text");
    let key = format!("{own}.pub");
    git::git(project, &["branch", "for", "HEAD^"]);
    std::fs::write(project.join("notes.md"), "more\n").expect("writes");
    git::git(project, &["commit", "-qam", "last"]);
    let verify = |more: &[&str]| {
        let verify = ["record", "verify", "--key", &key, "--base"];
        work.ckd(&[&verify, more].concat())
    };
    let note = |more: &[&str]| {
        let (code, said) = work.ckd(&[&["record", "--notes", "--key", own], more].concat());
        assert_eq!(code, 0, "{said}");
    };
    for range in [&[][..], &["--range", "HEAD..HEAD"]] {
        note(range);
        assert!(work.verify("HEAD", "own").0, "its own base holds");
        let (code, said) = verify(&["for"]);
        assert!(
            code == 1 && said.contains("it leaves out changes"),
            "{said}"
        );
    }
    assert_eq!(verify(&["nothing"]).0, 2, "no commit");
    note(&["--range", "for..HEAD"]);
    for base in ["for", "HEAD^"] {
        let (code, said) = verify(&[base]);
        assert!(code == 0 && said.contains("1 done"), "{said}");
    }

    // What is pushed already is in it, and in a clone without it nothing can be said.
    let path = work.path();
    let sh = |script: &str| {
        let output = work.run("sh", &["-ec", script], &[("PATH", &path)]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    sh(
        "git init -q --bare ../origin; git remote add origin ../origin
        git push -q origin for; git push -qu origin HEAD:refs/heads/pr
        git remote set-head origin for",
    );
    note(&[]);
    assert_eq!(verify(&["origin/for"]).0, 0);
    let made = sh("git push -q origin refs/notes/checkpointd
        git clone -q --depth 1 -b pr \"file://$PWD/../origin\" ../cut; cd ../cut
        git fetch -q origin refs/notes/checkpointd:refs/notes/checkpointd
        checkpointd record verify --unsigned || checkpointd record --unsigned || true");
    assert_eq!(
        made.matches("this clone lacks the older commits").count(),
        2,
        "{made}"
    );
}

/// Those who have no checkpointd check a record by the commands of its chapter.
#[test]
fn public_tools_accept_a_record_and_refuse_a_changed_one() {
    let work = Work::new();
    let chapter = include_str!("../../../../docs/record.md");
    let blocks = chapter.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let mut checks = blocks.filter(|block| block.contains("ssh-keygen -Y verify"));
    let check = checks.next().expect("a block that verifies");
    let home = work.key("reader");
    std::fs::create_dir_all(home.join(".ssh")).expect("a folder");
    std::fs::copy(work.key("own.pub"), home.join(".ssh/id_ed25519.pub")).expect("a key");
    let home = home.to_str().expect("text");
    let sh = |script: &str| work.run("sh", &["-ec", script], &[("HOME", home)]);
    let note = |key: &str| {
        let key = work.key(key);
        let made = work.ckd(&["record", "--notes", "--key", key.to_str().expect("text")]);
        assert_eq!(made.0, 0, "{}", made.1);
    };

    note("own");
    let output = sh(check);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("done\ttests passed\tstock.py"), "{said}");
    assert!(said.contains("unknown\tno record\tnotes.md"), "{said}");

    let changed = r#"git notes --ref checkpointd show HEAD |
        jq -c '.payload |= (@base64d | sub("\"unknown\""; "\"done\"") | @base64)' |
        git -c user.name=n -c user.email=e@x notes --ref checkpointd add --force --file - HEAD"#;
    assert!(sh(changed).status.success());
    assert!(!sh(check).status.success(), "another answer");
    note("other");
    assert!(!sh(check).status.success(), "another key");
    note("own");
    assert!(sh(check).status.success());
    let moved = "git notes --ref checkpointd show HEAD > ../moved
        git -c user.name=n -c user.email=e@x commit -q --allow-empty -m next
        echo more > more; git add more; git -c user.name=n -c user.email=e@x commit -q -m more
        git -c user.name=n -c user.email=e@x notes --ref checkpointd add --file ../moved HEAD";
    assert!(sh(moved).status.success());
    assert!(!sh(check).status.success(), "another commit");
}

/// A forge that keeps comments and checks.
struct Forge {
    port: u16,
    comments: Arc<Mutex<Vec<String>>>,
    checks: Arc<Mutex<Vec<Value>>>,
}

impl Forge {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let forge = Self {
            port: listener.local_addr().expect("an address").port(),
            comments: Arc::default(),
            checks: Arc::default(),
        };
        let (comments, checks) = (Arc::clone(&forge.comments), Arc::clone(&forge.checks));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(&stream, &comments, &checks);
            }
        });
        forge
    }
}

fn serve(mut stream: &TcpStream, comments: &Mutex<Vec<String>>, checks: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.parse::<usize>().expect("a number"))
    });
    let mut body = vec![0; length.unwrap_or_default()];
    reader.read_exact(&mut body).expect("a body");
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = || sent["body"].as_str().expect("a text").to_owned();
    assert!(head.contains("Authorization: Bearer t0ken"), "{head}");
    let mut comments = comments.lock().expect("no panic");
    let mut words = head.split(' ');
    let route = (
        words.next().expect("a method"),
        words.next().expect("a path"),
    );
    let answer = match route {
        ("GET", "/repos/o/r/issues/7/comments?per_page=100") => {
            let list = comments.iter().enumerate();
            list.map(|(id, body)| json!({ "id": id + 1, "body": body }))
                .collect()
        }
        ("POST", "/repos/o/r/issues/7/comments") => {
            comments.push(text());
            json!({})
        }
        ("PATCH", "/repos/o/r/issues/comments/2") => {
            comments[1] = text();
            json!({})
        }
        ("POST", "/repos/o/r/check-runs") => {
            checks.lock().expect("no panic").push(sent);
            json!({})
        }
        other => panic!("{other:?}"),
    };
    let answer = answer.to_string();
    let length = answer.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
    )
    .expect("writes");
}

#[test]
fn ci_says_once_what_is_in_a_record_and_fails_only_where_it_is_required() {
    let work = Work::new();
    let forge = Forge::new();
    forge
        .comments
        .lock()
        .expect("no panic")
        .push("a person's".to_owned());
    let api = format!("http://127.0.0.1:{}", forge.port);
    let path = work.path();
    let own = work.key("own");
    let own = own.to_str().expect("text");
    let summary = work.key("summary");
    let key = format!("{own}.pub");
    let verify = |require: &str| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/verify.sh");
        let output = work.run(
            script,
            &[],
            &[
                ("PATH", &path),
                ("RECORD_KEY", &key),
                ("RECORD_REQUIRE", require),
                ("RECORD_PULL", "7"),
                ("GITHUB_API_URL", &api),
                ("GITHUB_REPOSITORY", "o/r"),
                ("GITHUB_TOKEN", "t0ken"),
                ("GITHUB_STEP_SUMMARY", summary.to_str().expect("text")),
            ],
        );
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        let checks = forge.checks.lock().expect("no panic");
        let check = checks.last().expect("a check")["conclusion"].clone();
        (output.status.success(), check)
    };
    assert_eq!(
        verify("nothing"),
        (true, json!("neutral")),
        "there is no record"
    );
    assert_eq!(verify("record"), (false, json!("failure")));
    assert_eq!(work.ckd(&["record", "--key", own, "--notes"]).0, 0);
    assert_eq!(verify("nothing"), (true, json!("neutral")));
    assert_eq!(verify("record"), (true, json!("success")));
    assert_eq!(
        verify("tests"),
        (false, json!("failure")),
        "notes.md is unknown"
    );

    let comments = forge.comments.lock().expect("no panic");
    assert_eq!(comments.len(), 2, "one comment, updated: {comments:?}");
    assert_eq!(comments[0], "a person's");
    let row = "| done | `stock.py` | `pytest -q` at ";
    assert!(comments[1].contains(row), "{}", comments[1]);
    assert!(
        comments[1].contains("tests passed: 3 passed, 0 failed"),
        "{}",
        comments[1]
    );
    let summary = std::fs::read_to_string(summary).expect("a summary");
    assert_eq!(summary.matches("### Verification record of").count(), 5);
}

#[test]
fn ci_keeps_records_that_are_not_shared_and_says_what_failed() {
    let work = Work::new();
    let project = &work.scene.project;
    let own = work.key("own");
    let own = own.to_str().expect("text");
    let path = work.path();
    let sh = |script: &str| {
        let output = work.run("sh", &["-ec", script], &[("PATH", &path)]);
        assert!(output.status.success(), "{output:?}");
    };
    let note = |more: &[&str]| {
        let (code, said) = work.ckd(&[&["record", "--notes", "--key", own], more].concat());
        assert_eq!(code, 0, "{said}");
    };
    let ci = |require: &str, variables: &[(&str, &str)]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/verify.sh");
        let usual = [("PATH", path.as_str()), ("RECORD_REQUIRE", require)];
        let output = work.run(script, &[], &[&usual, variables].concat());
        let said = String::from_utf8(output.stdout).expect("text");
        (output.status.code().expect("no signal"), said)
    };

    // The record that is not pushed is still here afterward, and is not what others see.
    sh(
        "git init -q --bare ../origin; git remote add origin ../origin; git push -q origin HEAD:refs/heads/main",
    );
    note(&[]);
    sh("git push -q origin refs/notes/checkpointd
        git -c user.name=n -c user.email=e@x commit -q --allow-empty -m next");
    note(&[]);
    let (code, said) = ci("nothing", &[]);
    assert_eq!((code, said.contains("has no record")), (0, true), "{said}");
    assert!(work.verify("HEAD", "own").0);

    // The branch that a pull request is for decides who may sign, and has to be there.
    let signers = format!(
        "n@x {}",
        std::fs::read_to_string(work.key("own.pub")).expect("a key")
    );
    std::fs::write(project.join("signers"), signers).expect("writes");
    let pull = [
        ("GITHUB_BASE_REF", "main"),
        ("RECORD_ALLOWED_SIGNERS", "signers"),
    ];
    for (require, wanted) in [("nothing", 0), ("record", 1)] {
        let (code, said) = ci(require, &pull);
        assert_eq!(
            (code, said.contains("'signers' exists on disk")),
            (wanted, true),
            "{said}"
        );
    }
    sh("git add signers; git commit -qm signers; git push -q origin HEAD:refs/heads/main");
    for text in ["one", "two"] {
        std::fs::write(project.join("notes.md"), text).expect("writes");
        sh("git commit -qam change");
    }
    let shared = |range| {
        note(&["--range", range]);
        sh("git push -qf origin refs/notes/checkpointd; git fetch -q origin");
        ci("record", &pull)
    };
    let (code, said) = shared("HEAD^..HEAD");
    assert_eq!(
        (code, said.contains("it leaves out changes")),
        (1, true),
        "{said}"
    );
    let (code, said) = shared("origin/main..HEAD");
    assert_eq!(
        (code, said.contains("| unknown | `notes.md` |")),
        (0, true),
        "{said}"
    );

    // A forge that takes nothing, and a program that fails, are told.
    let mut forge = vec![
        ("GITHUB_TOKEN", "t"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("RECORD_PULL", "7"),
    ];
    forge.push(("GITHUB_API_URL", "http://127.0.0.1:1"));
    forge.extend(pull);
    let (code, said) = ci("record", &forge);
    assert_eq!(
        (code, said.matches("did not take this").count()),
        (0, 3),
        "{said}"
    );
    sh("mkdir ../broken; printf '#!/bin/sh\necho \"error: [no](https://x.example)\" >&2; exit 1' >../broken/checkpointd
        chmod +x ../broken/checkpointd");
    let broken = format!("{}:{path}", work.key("broken").display());
    let (code, said) = ci("nothing", &[("PATH", &broken)]);
    assert_eq!(
        (code, said.contains("- `error: [no](https://x.example)`")),
        (0, true),
        "{said}"
    );

    // What a record says is no markup of the report.
    sh(
        r#"git notes --ref checkpointd show HEAD | jq -c '.payload |= (@base64d | sub("notes.md"; "[x](https://x.example)") | @base64)' |
        git notes --ref checkpointd add --force --file - HEAD; git push -qf origin refs/notes/checkpointd"#,
    );
    let (code, said) = ci("nothing", &pull);
    let line = "- content: `[x](https://x.example): the tree holds another content`";
    assert_eq!((code, said.contains(line)), (0, true), "{said}");
}

#[test]
fn what_a_range_removes_is_listed_and_verified_by_what_ran_after() {
    let work = Work::new();
    let (scene, project) = (&work.scene, &work.scene.project);
    let path = work.path();
    let sh = |script: &str| {
        let output = work.run("sh", &["-ec", script], &[("PATH", &path)]);
        assert!(output.status.success(), "{output:?}");
    };
    // Whether the file is open by contents, and whether CI passes, each with what it says.
    let judged = |line: &str, code: i32| {
        let (open, said) = work.ckd(&["open", "--range", "HEAD^..HEAD"]);
        assert!(open == code && said.contains(line), "{open}: {said}");
        sh("checkpointd record --unsigned --output ../record");
        let (accepted, said) = work.ckd(&["record", "verify", "../record", "--unsigned"]);
        assert_eq!((accepted, said.contains(line)), (0, true), "{said}");
    };
    let ci = || {
        sh("checkpointd record --notes --key ../own");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/verify.sh");
        let key = format!("{}.pub", work.key("own").display());
        let variables = [
            ("PATH", path.as_str()),
            ("RECORD_KEY", &key),
            ("RECORD_REQUIRE", "tests"),
        ];
        let output = work.run(script, &[], &variables);
        (
            output.status.success(),
            String::from_utf8(output.stdout).expect("text"),
        )
    };
    sh(
        "echo 'def test_one(): pass' | tee test_stock.py > test_more.py; mkdir -p vendor/lib
        git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),vendor/lib
        git add test_stock.py test_more.py; git commit -qm tests",
    );

    // An agent removes tests, and runs nothing since.
    scene.prompt("two", true);
    let run = |line: &str, said: &str, work: &dyn Fn()| {
        let said = json!({ "stdout": said, "stderr": "", "interrupted": false });
        scene.tool_with("two", "Bash", json!({ "command": line }), said, work);
    };
    run("pytest -q", "2 passed in 0.10s\n", &|| ());
    run(
        "git rm -q test_stock.py && git commit -qm less",
        "",
        &|| sh("git rm -q test_stock.py; git commit -qm less"),
    );
    scene.stop("two");
    judged("test_stock.py (removed)  nothing ran", 1);
    let (passes, said) = ci();
    assert!(
        !passes && said.contains("| open | `test_stock.py` removed |"),
        "{said}"
    );
    run("pytest -q", "1 passed in 0.10s\n", &|| ());
    judged(
        "test_stock.py (removed)  tests passed, doubtful: it ran 1 tests, and 2 before",
        0,
    );
    let (passes, said) = ci();
    assert!(passes && said.contains("'test_stock.py' is gone"), "{said}");

    // A person removes more, and moves a submodule.
    sh("git rm -q test_more.py
        git update-index --cacheinfo 160000,$(git rev-parse HEAD),vendor/lib; git commit -qm more");
    judged("test_more.py (removed)", 0);
    judged("vendor/lib (submodule ", 0);
    assert!(!ci().0);
    sh(
        r#"jq -c '.payload |= (@base64d | fromjson | .predicate.units |= .[1:] | .predicate.totals |= (.units -= 1 | .unknown -= 1)
        | tojson | @base64)' ../record > ../less"#,
    );
    let (code, said) = work.ckd(&["record", "verify", "../less", "--unsigned"]);
    let refused = "test_more.py: it changed, and the record leaves it out";
    assert!(code == 1 && said.contains(refused), "{said}");

    std::fs::remove_file(project.join("stock.py")).expect("removes");
    let (_, said) = work.ckd(&["open", "--worktree"]);
    assert!(said.contains("stock.py (removed)"), "{said}");
}

#[test]
fn no_program_that_the_repository_names_is_run() {
    use std::os::unix::fs::PermissionsExt as _;

    let work = Work::new();
    let project = &work.scene.project;
    let ran = project.with_file_name("ran");
    let evil = project.with_file_name("evil");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", ran.display());
    std::fs::write(&evil, script).expect("writes");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::write(project.join(".git/info/attributes"), "* filter=e diff=e\n").expect("writes");
    let hook = project.join(".git/hooks/reference-transaction");
    std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    std::fs::copy(&evil, hook).expect("copies");
    let evil = evil.to_str().expect("text");
    // A content is missing, and its remote is asked by a program.
    let mut named = std::process::Command::new("git");
    named
        .args(["rev-parse", "HEAD:stock.py"])
        .current_dir(project);
    let blob = named.output().expect("git").stdout;
    let blob = String::from_utf8(blob).expect("an id");
    let (head, tail) = blob.trim().split_at(2);
    let _ = std::fs::remove_file(project.join(".git/objects").join(head).join(tail));
    for (name, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://localhost/x"),
        ("core.sshCommand", evil),
        ("core.fsmonitor", evil),
        ("gpg.program", evil),
        ("gpg.ssh.program", evil),
        ("log.showSignature", "true"),
        ("diff.e.textconv", evil),
        ("filter.e.clean", evil),
        ("filter.e.process", evil),
    ] {
        git::git(project, &["config", name, value]);
    }
    let _ = std::fs::remove_file(&ran);
    std::fs::write(project.join("stock.py"), "count = 7\n").expect("writes");
    let key = work.key("own");
    let key = key.to_str().expect("text");
    for arguments in [
        &["open", "--worktree"] as &[&str],
        &["open", "--range", "HEAD^..HEAD"],
        &["record", "--notes", "--key", key],
        &["record", "verify"],
    ] {
        work.run(program("checkpointd"), arguments, &[]);
        let said = std::fs::read_to_string(&ran).unwrap_or_default();
        assert_eq!(said, "", "{arguments:?}");
    }
}
