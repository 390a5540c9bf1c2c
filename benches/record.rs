//! Verifying a record of 1,000 and of 10,000 changed files, signed, beside `git` that prints these contents.
//!
//! `cargo bench --bench record`

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::{Home, git, program, run};

/// Numbers of changed files.
const SIZES: [usize; 2] = [1_000, 10_000];
const ROUNDS: usize = 5;
/// The history of a project, so that there is a journal to ask.
const HISTORY: &str = include_str!("../tests/data/audit.ndjson");

fn timed(
    home: &Home,
    folder: &Path,
    program: impl AsRef<std::ffi::OsStr>,
    arguments: &[&str],
) -> Duration {
    let mut command = home.command(program, arguments);
    command.current_dir(folder).stdout(Stdio::null());
    let began = Instant::now();
    assert!(command.status().expect("starts").success(), "{arguments:?}");
    began.elapsed()
}

fn main() {
    let home = Home::new();
    let folder = home.path().join("project");
    std::fs::create_dir_all(&folder).expect("a folder");
    let checkpointd = program("checkpointd");
    let mut import = home.command(&checkpointd, &["journal", "import"]);
    assert!(run(&mut import, HISTORY.as_bytes()).status.success());
    std::fs::write(folder.join("first"), "").expect("writes");
    git::commit_all(&folder);
    timed(
        &home,
        &folder,
        "ssh-keygen",
        &["-q", "-t", "ed25519", "-N", "", "-f", "../key"],
    );
    for size in SIZES {
        let below = folder.join(format!("of{size}"));
        std::fs::create_dir_all(&below).expect("a folder");
        for number in 0..size {
            let text = format!("def f{number}():\n    return {number}\n").repeat(40);
            std::fs::write(below.join(format!("m{number}.py")), text).expect("writes");
        }
        git::git(&folder, &["add", "-A"]);
        git::git(&folder, &["commit", "-qm", "more"]);
        timed(
            &home,
            &folder,
            &checkpointd,
            &["record", "--key", "../key", "--output", "../record"],
        );
        let verify = [
            "record",
            "verify",
            "../record",
            "--key",
            "../key.pub",
            "--json",
        ];
        let shortest = |program: &std::ffi::OsStr, arguments: &[&str]| {
            let all = (0..ROUNDS).map(|_| timed(&home, &folder, program, arguments));
            all.min().unwrap_or_default()
        };
        let ours = shortest(checkpointd.as_os_str(), &verify);
        let git = shortest("git".as_ref(), &["diff", "--no-ext-diff", "HEAD^", "HEAD"]);
        println!("{size:>6} files: verified in {ours:?}, `git diff` {git:?}");
    }
}
