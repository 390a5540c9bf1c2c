//! What a stop costs an agent: the whole client process, from its start to its end, with the decision of the running
//! daemon in between, in a repository of 5,000 files and with a transcript of 20 MB; next to the two git commands that
//! any implementation has to run. And the reading of the transcript's end alone.
//!
//! `cargo bench --bench stop_path [-- --rounds N]`. Targets: at most 8 ms more than git at the median; 3 ms.

#[path = "support/daemon.rs"]
mod daemon;
#[path = "support/measure.rs"]
mod measure;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use checkpoint::transcript::{self, TAIL_BYTES};
use daemon::{Daemon, run};
use journal::Agent;
use measure::{median, ms, option, title};
use serde_json::{Value, json};

const FILES: usize = 5_000;
const CHANGED: usize = 20;
const TRANSCRIPT_BYTES: usize = 20 * 1024 * 1024;
const WARM_UP: usize = 5;
const PREFIX: &str = "[checkpointd] ";
const SESSION: &str = "10e54898-3d7e-4d3d-bff0-5aa71c2b471a";
/// Every stop is decided in full: no turn is too short, and no demand is held back because it was made before.
const CONFIG: &str = "min_turn: 0s\nrepeat: always\n";

const CLAUDE: &str = include_str!(
    "../tests/data/fixtures/claude/h-normal.transcripts/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl"
);
const CODEX: &str = include_str!(
    "../tests/data/fixtures/codex/h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl"
);
const GEMINI: &str = include_str!(
    "../tests/data/fixtures/gemini/h-normal.transcripts/session-2026-11-21T21-19-5c9c151e.jsonl"
);

fn main() {
    let rounds = option("--rounds", 40);
    passing(rounds * 5);
    stops(rounds, true);
    stops(rounds / 4, false);
    tails(rounds * 5);
}

/// Measures stops of a turn that is too short for a checkpoint, next to the cheapest process there is.
fn passing(rounds: usize) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    fs::create_dir_all(&home)
        .and_then(|()| fs::create_dir_all(&project))
        .expect("folders");
    let (daemon, _) = Daemon::start(&home);
    let transcript = folder.path().join("session.jsonl");
    fs::write(&transcript, CLAUDE).expect("a file");
    let agent = Claude {
        home,
        project,
        transcript,
    };
    title(&format!(
        "a stop below the threshold, {rounds} rounds, medians"
    ));
    let (mut stops, mut calls, mut least) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..WARM_UP + rounds {
        agent.call("UserPromptSubmit", round, json!({"prompt": "Hello"}));
        // The look at the beginning of the turn is not the stop's cost.
        std::thread::sleep(Duration::from_millis(60));
        let input = json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}});
        let (_, call) = agent.call("PostToolUse", round, input);
        let (answer, stop) = agent.call("Stop", round, json!({"stop_hook_active": false}));
        assert_eq!(answer, "");
        let began = Instant::now();
        Command::new("/bin/true").output().expect("a process");
        if round >= WARM_UP {
            least.push(ms(began.elapsed()));
            stops.push(ms(stop));
            calls.push(ms(call));
        }
    }
    daemon.stop();
    let (stop, call, least) = (median(stops), median(calls), median(least));
    println!(
        "  /bin/true {least:.2} ms, a tool call {call:.2} ms ({:.2} of that), the stop {stop:.2} ms ({:.2} of that)",
        call / least,
        stop / least
    );
}

/// Measures stops of a turn that began shortly before the transcript's end, or with the transcript.
fn stops(rounds: usize, is_short: bool) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (home, project) = (folder.path().join("home"), folder.path().join("project"));
    fs::create_dir_all(&home)
        .and_then(|()| fs::create_dir_all(&project))
        .expect("folders");
    fs::write(home.join("config.yml"), CONFIG).expect("a file");
    repository(&project);
    let transcript = folder.path().join("session.jsonl");
    let mut text = long(Agent::Claude, TRANSCRIPT_BYTES);
    if is_short {
        text.push_str(CLAUDE);
    }
    fs::write(&transcript, text).expect("a file");
    let (daemon, _) = Daemon::start(&home);
    let agent = Claude {
        home: home.clone(),
        project: project.clone(),
        transcript,
    };

    title(&format!(
        "a stop with {FILES} files ({CHANGED} changed) and {} MB of transcript, {}, {rounds} rounds",
        TRANSCRIPT_BYTES >> 20,
        if is_short {
            "the turn at its end"
        } else {
            "all of it one turn"
        }
    ));
    let (mut stops, mut in_turn, mut side_by_side, mut more) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let before = daemon.spent();
    for round in 0..WARM_UP + rounds {
        agent.work(round);
        let stop = ms(agent.stop(round));
        let one_by_one = ms(git_one_by_one(&project));
        let both = ms(git_side_by_side(&project));
        if round >= WARM_UP {
            stops.push(stop);
            in_turn.push(one_by_one);
            side_by_side.push(both);
            more.push(stop - one_by_one);
        }
    }
    let spent = daemon.spent() - before;
    let times = format!("{:.1} ms more than git one after the other", median(more));
    let (stop, one_by_one, both) = (median(stops), median(in_turn), median(side_by_side));
    println!(
        "  git status, git log   {one_by_one:6.1} ms one after the other, {both:.1} ms side by side"
    );
    println!(
        "  the whole stop        {stop:6.1} ms ({:.2} of git): {times}, {:.1} ms more than side by side",
        stop / one_by_one,
        stop - both
    );
    println!("  of that, looked up by the daemon: {}", steps(&home));
    let spent = ms(spent) / (WARM_UP + rounds) as f64;
    println!(
        "  its processor time for a turn's calls and its stop: {spent:.1} ms; its memory: {:.0} MB",
        daemon.memory().0
    );
    daemon.stop();
}

/// Returns the median time of each step of gathering, as the decisions' evidence has it.
fn steps(home: &Path) -> String {
    let lines = run(home, &["journal", "export"]);
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let evidence = lines
        .lines()
        .filter(|line| line.contains("\"evidence_gathered\""));
    for line in evidence.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        for step in line["evidence"]["steps"].as_array().into_iter().flatten() {
            let (name, micros) = (
                step[0].as_str().unwrap_or_default(),
                step[1].as_f64().unwrap_or_default(),
            );
            times.entry(name.to_owned()).or_default().push(micros / 1e3);
        }
    }
    let medians: Vec<_> = times
        .into_iter()
        .map(|(name, times)| format!("{name} {:.2} ms", median(times)))
        .collect();
    medians.join(", ")
}

/// An agent at work, as far as its hooks show it.
struct Claude {
    home: PathBuf,
    project: PathBuf,
    transcript: PathBuf,
}

impl Claude {
    /// A turn begins, and its tools change files.
    fn work(&self, round: usize) {
        self.call(
            "UserPromptSubmit",
            round,
            json!({"prompt": format!("Do number {round}")}),
        );
        // No agent uses a tool sooner, and where HEAD is counts only if it was recorded by then.
        std::thread::sleep(Duration::from_millis(60));
        for number in 0..4 {
            let file = self.project.join(format!("src/00/{}.rs", number * 50));
            fs::write(&file, format!("pub const ROUND: usize = {round};\n")).expect("a file");
            let id = format!("toolu_{round}_{number}");
            let input = json!({"file_path": file, "old_string": "a", "new_string": "b"});
            self.call(
                "PostToolUse",
                round,
                json!({"tool_name": "Edit", "tool_input": input, "tool_use_id": id}),
            );
        }
        // What the work left behind for the threads of the daemon is not the stop's cost.
        std::thread::sleep(Duration::from_millis(60));
    }

    fn stop(&self, round: usize) -> Duration {
        let (answer, time) = self.call("Stop", round, json!({"stop_hook_active": false}));
        assert!(answer.contains(PREFIX), "no checkpoint: {answer}");
        time
    }

    fn call(&self, event: &str, round: usize, mut payload: Value) -> (String, Duration) {
        payload["session_id"] = SESSION.into();
        payload["prompt_id"] = format!("turn-{round}").into();
        payload["hook_event_name"] = event.into();
        payload["cwd"] = self.project.to_string_lossy().into();
        payload["transcript_path"] = self.transcript.to_string_lossy().into();
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer
            .write_all(payload.to_string().as_bytes())
            .expect("room in the pipe");
        drop(writer);
        let mut client = Command::new(env!("CARGO_BIN_EXE_checkpointd-hook"));
        client
            .args(["claude", event])
            .env("CHECKPOINTD_HOME", &self.home)
            .env("CHECKPOINTD_AUTOSTART", "0");
        client
            .env_remove("CHECKPOINTD_SOCKET")
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("TMPDIR", &self.home);
        client
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .stdin(reader)
            .stderr(Stdio::null());
        let began = Instant::now();
        let output = client.output().expect("a process");
        let time = began.elapsed();
        assert!(output.status.success());
        (String::from_utf8(output.stdout).expect("text"), time)
    }
}

fn repository(top: &Path) {
    let write = |number: usize, text: &str| {
        let folder = top.join(format!("src/{:02}", number % 50));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(number.to_string()).with_extension("rs"), text).expect("a file");
    };
    fs::write(top.join("Cargo.toml"), "[package]\nname = \"generated\"\n").expect("a file");
    (0..FILES).for_each(|number| write(number, &format!("// {number}\n").repeat(40)));
    git(top, "init -q").status().expect("git");
    git(top, "add -A").status().expect("git");
    git(
        top,
        "-c user.name=a -c user.email=a@example.org commit -q -m one",
    )
    .status()
    .expect("git");
    (0..CHANGED).for_each(|number| {
        write(
            if number % 2 == 0 {
                number
            } else {
                FILES + number
            },
            "pub const CHANGED: bool = true;\n",
        )
    });
}

/// The two git commands of the target: differences from the last commit, and commits since a point in time.
fn commands(top: &Path) -> [Command; 2] {
    [
        "--no-optional-locks status --porcelain -z --untracked-files=all",
        "log -z --format= --name-only --since=1.hour.ago HEAD",
    ]
    .map(|arguments| git(top, arguments))
}

fn git_one_by_one(top: &Path) -> Duration {
    let began = Instant::now();
    commands(top)
        .iter_mut()
        .for_each(|command| drop(command.output().expect("git")));
    began.elapsed()
}

fn git_side_by_side(top: &Path) -> Duration {
    let began = Instant::now();
    let mut children =
        commands(top).map(|mut command| command.stdout(Stdio::null()).spawn().expect("git"));
    for child in &mut children {
        child.wait().expect("git");
    }
    began.elapsed()
}

fn git(top: &Path, arguments: &str) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(top)
        .args(arguments.split(' '))
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn tails(rounds: usize) {
    title(&format!(
        "reading the last {} KB of a transcript, {rounds} rounds, medians",
        TAIL_BYTES >> 10
    ));
    // The agents whose transcripts are recorded above.
    for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
        let text = long(agent, 2 * TAIL_BYTES);
        let tail = &text.as_bytes()[text.len() - TAIL_BYTES..];
        let (mut ours, mut peers, mut calls) = (Vec::new(), Vec::new(), 0);
        for _ in 0..rounds {
            let began = Instant::now();
            let facts =
                transcript::read(agent, tail, false, PREFIX, checkpoint::redact::built_in())
                    .expect("its own format");
            ours.push(ms(began.elapsed()));
            calls = facts.calls.len();
            peers.push(ms(parse_only(tail)));
        }
        assert!(calls > 50, "{agent}: {calls} calls");
        let (ours, peer) = (median(ours), median(peers));
        println!(
            "  {agent:7} {ours:5.2} ms, {calls} calls ({:.2} of parsing every line into a value, {peer:.2} ms)",
            ours / peer
        );
    }
}

fn parse_only(tail: &[u8]) -> Duration {
    let began = Instant::now();
    let lines = tail
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    assert!(lines.count() > 50);
    began.elapsed()
}

/// Returns a transcript of at least the given size: one long turn, made of recorded records.
fn long(agent: Agent, bytes: usize) -> String {
    let (recorded, id) = match agent {
        Agent::Claude => (CLAUDE, "toolu_mock_"),
        Agent::Codex => (CODEX, "call_mock_"),
        _ => (GEMINI, "\"id\": \""),
    };
    // Every recorded prompt begins like this, and Gemini CLI replaces all messages; without those the turn continues.
    let goes_on =
        |line: &&str| !line.contains("[script:") && !line.starts_with("{\"$set\": {\"messages\"");
    let turn: String = recorded
        .lines()
        .filter(goes_on)
        .map(|line| format!("{line}\n"))
        .collect();
    let mut text = format!("{recorded}\n");
    for round in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&turn.replace(id, &format!("{id}{round}_")));
    }
    text
}
