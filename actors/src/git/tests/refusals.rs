//! Everything that can keep git from answering.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::command::Git;
use super::super::{Bounds, Tree, inspect, inspect_with};
use super::support::*;

fn with_program(program: &Path, repo: &Repo, within: Duration) -> Tree {
    let git = Git {
        program: Some(program.into()),
        ..bare_git(&repo.home())
    };
    inspect_with(
        &git,
        &repo.top,
        &wanted(turn()),
        Bounds { within, ..BOUNDS },
    )
}

/// Inspects with a program in git's place.
fn with_script(text: &str) -> Tree {
    let repo = Repo::new();
    let program = repo.beside("fake git");
    script(&program, text);
    with_program(&program, &repo, Duration::from_secs(20))
}

#[test]
fn folders_without_a_work_tree() {
    let repo = Repo::new();
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let broken = repo.beside("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join(".git"), "gitdir: /nowhere").unwrap();
    let git = bare_git(&repo.home());
    let look = |cwd: &Path| inspect_with(&git, cwd, &wanted(turn()), BOUNDS);
    assert_eq!(word(&look(&repo.home())), "not_a_repository");
    assert_eq!(word(&look(&repo.beside("nowhere"))), "not_a_repository");
    assert_eq!(word(&look(Path::new(""))), "not_a_repository");
    assert_eq!(word(&look(Path::new("."))), "not_a_repository");
    assert_eq!(word(&look(&repo.top.join("kept"))), "not_a_repository");
    assert_eq!(word(&look(&broken)), "not_a_repository");
    assert_eq!(word(&look(&bare)), "bare_repository");
    assert_eq!(word(&look(&bare.join("refs"))), "bare_repository");
    let inside = look(&repo.top.join(".git"));
    assert_eq!(word(&inside), "git_failed");
    assert_eq!(
        inside.notes,
        ["git: fatal: this operation must be run in a work tree"]
    );
}

#[test]
fn a_damaged_repository_says_what_git_says() {
    let repo = Repo::new();
    std::fs::write(repo.top.join(".git/index"), "garbage").unwrap();
    let tree = repo.inspect(turn());
    assert_eq!(word(&tree), "git_failed");
    assert!(
        tree.notes[0].starts_with("git: ") && tree.notes[0].contains("index"),
        "{:?}",
        tree.notes
    );
}

#[test]
fn a_history_that_cannot_be_read_leaves_the_rest() {
    let repo = Repo::new();
    repo.write("lost", "")
        .commit_at(AFTER)
        .write("later", "")
        .commit_at(AFTER)
        .write("new", "");
    let parent = setup(&repo.home(), &repo.top, AFTER, &["rev-parse", "HEAD~1"]).stdout;
    let parent = String::from_utf8(parent).unwrap();
    std::fs::remove_file(
        repo.top
            .join(".git/objects")
            .join(&parent[..2])
            .join(parent[2..].trim()),
    )
    .unwrap();
    let tree = repo.inspect(turn());
    assert_eq!(paths(&tree), ["new"]);
    assert!(tree.notes[0].starts_with("git log: "), "{:?}", tree.notes);
}

#[test]
fn no_git() {
    let repo = Repo::new();
    for program in ["/nowhere/git", "no-such-git-anywhere"] {
        let tree = with_program(Path::new(program), &repo, BOUNDS.within);
        assert_eq!((word(&tree), tree.notes.len()), ("git_missing", 0));
    }
    // A program that is there and cannot be run is another matter.
    let tree = with_program(&repo.top.join("kept"), &repo, BOUNDS.within);
    assert_eq!(word(&tree), "git_failed");
}

#[test]
fn programs_in_gits_place() {
    let garbage = with_script("#!/bin/sh\nprintf 'garbage\\0\\377\\n'");
    assert_eq!(
        (word(&garbage), &*garbage.notes[0]),
        ("git_failed", "git: the answer was not understood")
    );
    assert_eq!(word(&with_script("#!/bin/sh\nexit 0")), "git_failed");
    let failing = with_script("#!/bin/sh\nprintf '\\nfatal: no \\033[31mway\\nmore' >&2\nexit 128");
    assert_eq!(
        (word(&failing), &*failing.notes[0]),
        ("git_failed", "git: fatal: no [31mway")
    );
    let silent = with_script("#!/bin/sh\nexit 3");
    assert_eq!(
        (word(&silent), &*silent.notes[0]),
        ("git_failed", "git: exit status: 3")
    );
    let killed = with_script("#!/bin/sh\nkill -9 $$");
    assert!(killed.notes[0].contains("signal: 9"), "{:?}", killed.notes);
}

#[test]
fn endless_output_is_cut() {
    let name = "long/".repeat(200) + "name";
    let tree = with_script(&format!(
        "#!/bin/sh\ncase \"$*\" in\n\
         *config*) printf 'command\\0command line:\\0core.hookspath\\0';;\n\
         *rev-parse*) printf 'false\\n%s/.git\\ntrue\\n/\\n' \"$PWD\";;\n\
         *porcelain*) printf '# branch.oid x\\0'; yes '? {name}' | tr '\\n' '\\0';;\n\
         *) head -c 100000 /dev/zero >&2;;\nesac",
    ));
    assert_eq!(paths(&tree), [name]);
    assert!(
        tree.notes.iter().any(|note| note.contains("too long")),
        "{:?}",
        tree.notes
    );
}

#[test]
fn a_hanging_git_is_killed_with_all_it_started() {
    let repo = Repo::new();
    let (program, pids) = (repo.beside("fake git"), repo.beside("pids"));
    script(
        &program,
        &format!(
            "#!/bin/sh\nsleep 100 &\necho $! >> '{}'\nwait",
            pids.display()
        ),
    );
    let began = Instant::now();
    let tree = with_program(&program, &repo, Duration::from_millis(1_500));
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(
        (word(&tree), &*tree.notes[0]),
        ("timeout", "git: no answer within 1.5s")
    );
    let pids = std::fs::read_to_string(pids).unwrap();
    assert!(pids.lines().count() >= 1);
    for pid in pids.lines() {
        while is_running(pid) {
            assert!(began.elapsed() < Duration::from_secs(60), "{pid} lives");
            std::thread::yield_now();
        }
    }
}

#[test]
fn no_time_at_all() {
    let repo = Repo::new();
    assert_eq!(
        word(&with_program(Path::new("git"), &repo, Duration::ZERO)),
        "timeout"
    );
}

#[test]
fn a_git_that_closes_its_output_and_stays_is_killed() {
    let repo = Repo::new();
    let program = repo.beside("fake git");
    script(&program, "#!/bin/sh\nexec >&- 2>&-\nexec sleep 100");
    assert_eq!(
        word(&with_program(&program, &repo, Duration::from_millis(200))),
        "timeout"
    );
}

/// The daemon may have been started from within git, or by an attacker. The test starts itself again, because a process
/// cannot safely change its own environment.
#[test]
fn variables_of_the_daemon_do_not_mislead() {
    const REPO: &str = "CHECKPOINTD_TEST_REPO";
    if let Some(top) = std::env::var_os(REPO) {
        assert_eq!(
            paths(&inspect(Path::new(&top), &wanted(turn()), BOUNDS)),
            ["new"]
        );
        return;
    }
    let repo = Repo::new();
    let other = Repo::new();
    repo.write("new", "");
    let git_dir = other.top.join(".git");
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "git::tests::refusals::variables_of_the_daemon_do_not_mislead",
        ])
        .env(REPO, &repo.top)
        .env("HOME", repo.home())
        .env("GIT_DIR", &git_dir)
        .env("GIT_WORK_TREE", &other.top)
        .env("GIT_INDEX_FILE", git_dir.join("nowhere"))
        .env("GIT_OBJECT_DIRECTORY", "/nowhere")
        .env("GIT_EXTERNAL_DIFF", "/bin/false")
        .env("GIT_PAGER", "/bin/false")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .env("GIT_TRACE", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "true")
        .output()
        .unwrap();
    assert!(
        status.status.success(),
        "{}",
        String::from_utf8_lossy(&status.stdout)
    );
    assert!(String::from_utf8_lossy(&status.stdout).contains("1 passed"));
}

/// Whether a process is there and not merely waiting to be collected.
fn is_running(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let Ok(output) = output else { return false };
    let state = String::from_utf8_lossy(&output.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}
