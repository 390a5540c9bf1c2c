//! What it costs to examine a call that has ended, once the files were read before, next to the `git status` that any
//! implementation has to run. No hook call waits for it.
//!
//! A generated repository of 5,000 files, with 20 of them changed, and with all of them. Prints medians; both ways take
//! turns, so that the machine's moods fall on both alike.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use actors::evidence::default_policy;
use actors::examine::contents;
use checkpoint::SessionState;
use checkpoint::config::Config;
use journal::{Agent, Stream, Timestamp};

const FILES: usize = 5_000;
const ROUNDS: usize = 40;

fn main() {
    for changed in [20, FILES] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let top = folder.path().canonicalize().expect("a path");
        (0..FILES).for_each(|count| write(&top, count, "one"));
        git(&top, "init -q");
        git(&top, "add -A");
        git(
            &top,
            "-c user.name=a -c user.email=a@example.org commit -q -m one",
        );
        (0..changed).for_each(|count| write(&top, count, "two"));
        measure(&top, changed);
    }
}

fn measure(top: &Path, changed: usize) {
    let config = Config::load(None).expect("the defaults");
    let policy = default_policy(&config);
    let mut state = SessionState::new(Stream::of_native(Agent::Claude, "bench"));
    state.place.cwd = top.to_string_lossy().into_owned();
    // What was written a moment ago is read again.
    std::thread::sleep(Duration::from_millis(100));
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let began = Instant::now();
        git(
            top,
            "--no-optional-locks status --porcelain=v2 -z --untracked-files=all",
        );
        let peer = began.elapsed();
        let began = Instant::now();
        let examined = contents(&config, &policy, &state, Timestamp::now()).expect("an answer");
        let own = began.elapsed();
        assert_eq!(examined.contents.len(), changed);
        assert!(examined.unknown.is_empty() && !examined.is_cut);
        if round == 0 {
            println!(
                "examine, {changed} of {FILES} files changed, cold {:?}",
                own
            );
        } else {
            ours.push(own);
            peers.push(peer);
        }
    }
    let (own, peer) = (median(ours), median(peers));
    println!(
        "examine, {changed} of {FILES} files changed, warm {own:.2} ms, git status {peer:.2} ms ({:.2} of it)",
        own / peer
    );
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

fn write(top: &Path, count: usize, word: &str) {
    let folder = top.join(format!("src/{:02}", count % 50));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(count.to_string()).with_extension("rs");
    let text = format!("fn {word}_{count}() {{ /* body */ }}\n").repeat(40);
    std::fs::write(path, text).expect("a file");
}

fn git(top: &Path, arguments: &str) {
    let output = Command::new("git")
        .args(arguments.split(' '))
        .current_dir(top)
        .stdin(Stdio::null())
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{arguments}");
}
