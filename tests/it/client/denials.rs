//! GitHub Copilot CLI denies a tool call whose `preToolUse` hook fails, or says so. Ours never does either.

use super::*;
use crate::support::machine::{Machine, RunningDaemon};

const CALL: &[u8] = br#"{"sessionId":"5e55","timestamp":1795372090062,"cwd":"/","toolName":"bash","toolArgs":{"command":"ls"}}"#;
/// Longer than the hook's own time limit, after which Copilot lets the tool run.
const SLOW: Duration = Duration::from_secs(2);

/// A machine where `init` has written Copilot's hooks, and the command line of the hook before a tool.
fn installed() -> (Machine, std::path::PathBuf, String) {
    let machine = Machine::with(&[]);
    // A path that a shell would take apart.
    let folder = machine.path("it's my bin");
    for folder in [&folder, &machine.home().join(".copilot")] {
        fs::create_dir_all(folder).expect("a folder");
    }
    for program in [
        env!("CARGO_BIN_EXE_checkpointd"),
        env!("CARGO_BIN_EXE_checkpointd-hook"),
    ] {
        let name = Path::new(program).file_name().expect("a name");
        copy_program(program, &folder.join(name));
    }
    let init = run(
        &mut machine.command(folder.join("checkpointd"), &["init"]),
        b"",
    );
    assert_eq!(init.status.code(), Some(0), "{init:?}");
    let hooks = machine.read(".copilot/hooks/checkpointd.json");
    let hooks: serde_json::Value = serde_json::from_str(&hooks).expect("JSON");
    let line = hooks["hooks"]["preToolUse"][0]["bash"].as_str();
    let line = line.expect("a command").to_owned();
    (machine, folder.join("checkpointd-hook"), line)
}

/// Runs the line as Copilot does, in both shells that it may be given, and checks that nothing denies the tool.
#[track_caller]
fn allows(machine: &Machine, line: &str) {
    for shell in ["sh", "bash"] {
        let began = Instant::now();
        let output = run(&mut machine.command(shell, &["-c", line]), CALL);
        assert_eq!(output.status.code(), Some(0), "{shell}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{shell}");
        assert!(
            began.elapsed() < SLOW,
            "{shell}: {} ms",
            began.elapsed().as_millis()
        );
    }
}

#[test]
fn a_client_that_is_missing_denies_no_tool() {
    let (machine, client, line) = installed();
    fs::remove_file(&client).expect("removes");
    allows(&machine, &line);
    // Neither does what cannot be run.
    fs::write(&client, "no program").expect("writes");
    allows(&machine, &line);
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).expect("sets");
    allows(&machine, &line);
}

#[test]
fn a_client_that_is_killed_denies_no_tool() {
    for signal in ["KILL", "TERM", "SEGV", "HUP"] {
        let (machine, client, line) = installed();
        let trace = machine.path("killed");
        fs::remove_file(&client).expect("removes");
        let script = format!("#!/bin/sh\n: >'{}'\nkill -s {signal} $$\n", trace.display());
        put_script(&client, &script);
        allows(&machine, &line);
        assert!(trace.exists(), "the client ran");
    }
}

#[test]
fn a_client_that_fails_denies_no_tool() {
    let (machine, client, line) = installed();
    for code in [1, 2, 127] {
        fs::remove_file(&client).expect("removes");
        put_script(&client, &format!("#!/bin/sh\nexit {code}\n"));
        allows(&machine, &line);
    }
}

#[test]
fn a_daemon_that_is_away_or_hangs_denies_no_tool() {
    let (machine, _, line) = installed();
    let spool = machine.home().join(".local/share/checkpointd/spool");
    let spooled = || fs::read_dir(&spool).map_or(0, Iterator::count);
    allows(&machine, &line);
    assert_eq!(spooled(), 2, "the calls of a daemon that is away are kept");

    let daemon = RunningDaemon::start(&machine);
    allows(&machine, &line);
    let began = Instant::now();
    while spooled() > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "not imported");
        thread::sleep(Duration::from_millis(10));
    }
    daemon.hang();
    allows(&machine, &line);
    assert_eq!(spooled(), 2, "so are those of one that hangs");
}
