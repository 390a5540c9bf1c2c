//! What an inspection of a work tree costs on top of the git commands that any implementation has to run.
//!
//! A generated repository of 5,000 files with 20 of them changed; with no commit in the turn, a small one, and the one
//! that added everything, where the time goes into hashing. Prints medians; the three ways take turns, so that the
//! machine's moods fall on all alike.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use actors::git::{Bounds, Request, inspect};
use journal::{Changes, Timestamp};

const FILES: usize = 5_000;
const CHANGED: usize = 20;
const ROUNDS: usize = 60;
/// When the repository's first commit was made; the second, small one is ten seconds younger.
const FIRST: i64 = 1_700_000_000;
const SECOND: i64 = FIRST + 10;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path();
    generate(top);
    for (name, since) in [
        ("no commit", SECOND + 1),
        ("a small commit", SECOND),
        ("all committed", FIRST),
    ] {
        measure(name, top, since);
    }
}

fn measure(name: &str, top: &Path, since: i64) {
    let log = format!("log -z --format= --name-only --max-age={since} HEAD");
    let calls = [
        "--no-optional-locks status --porcelain -z --untracked-files=all",
        &log,
    ];
    let diff = [
        "diff --name-only HEAD",
        "ls-files --others --exclude-standard",
    ];
    let bounds = Bounds {
        within: Duration::from_secs(30),
        files_max: FILES,
    };
    let wanted = Request {
        head: None,
        since: Some(Timestamp::from_micros(since * 1_000_000)),
        contents: true,
        ..Request::default()
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let began = Instant::now();
        calls.iter().for_each(|call| git(top, SECOND, call));
        times[0].push(began.elapsed());
        let began = Instant::now();
        diff.iter().for_each(|call| git(top, SECOND, call));
        times[1].push(began.elapsed());
        let began = Instant::now();
        let tree = inspect(top, &wanted, bounds);
        times[2].push(began.elapsed());
        assert!(matches!(tree.changes, Changes::Known(files) if files.len() >= CHANGED));
    }
    for (what, times) in ["status, log", "diff, ls-files", "inspect"]
        .iter()
        .zip(&mut times)
    {
        times.sort();
        println!(
            "{name:<15} {what:<15} median {:>7.2} ms",
            times[ROUNDS / 2].as_secs_f64() * 1_000.0
        );
    }
}

fn generate(top: &Path) {
    for count in 0..FILES {
        write(
            top,
            &count.to_string(),
            count,
            &format!("// {count}\n").repeat(40),
        );
    }
    git(top, FIRST, "init -q");
    commit(top, FIRST);
    (100..100 + CHANGED).for_each(|count| write(top, &count.to_string(), count, "committed\n"));
    commit(top, SECOND);
    for count in 0..CHANGED {
        let name = if count % 2 == 0 {
            count.to_string()
        } else {
            format!("new{count}")
        };
        write(top, &name, count, "changed\n");
    }
}

fn write(top: &Path, name: &str, count: usize, text: &str) {
    let folder = top.join(format!("src/{:02}", count % 50));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(name).with_extension("rs"), text).expect("a file");
}

fn commit(top: &Path, at: i64) {
    git(top, at, "add -A");
    git(
        top,
        at,
        "-c user.name=a -c user.email=a@example.org commit -q -m one",
    );
}

fn git(top: &Path, at: i64, arguments: &str) {
    let output = Command::new("git")
        .args(arguments.split(' '))
        .current_dir(top)
        .env("GIT_COMMITTER_DATE", format!("@{at} +0000"))
        .stdin(Stdio::null())
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "{arguments}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
