//! The programs on a stage: those of an installation, and a client that counts its calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::agent::Agent;

/// After this long a call hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// The code of a process that was ended by SIGTERM, as a shell says it.
const ENDED: &str = "143";

/// Returns the path of a program that was installed from a package, if `CHECKPOINTD_PROGRAMS` names its folder, else of the
/// one that was built with the tests.
pub(crate) fn installed(name: &str, built: &str) -> PathBuf {
    let folder = std::env::var_os("CHECKPOINTD_PROGRAMS");
    folder.map_or_else(|| built.into(), |folder| PathBuf::from(folder).join(name))
}

/// Returns a script in the client's place that notes a call and then becomes the client, so that no call can go missing
/// unnoticed. If the agent ends its hooks, the script notes each client that was ended before it could take the signal.
pub(crate) fn counting_client(agent: Agent, fired: &Path, ended: &Path) -> String {
    let client = installed("checkpointd-hook", env!("CARGO_BIN_EXE_checkpointd-hook"));
    let (client, fired, ended) = (client.display(), fired.display(), ended.display());
    let note = format!("printf '%s\\n' \"${{2-$1}}\" >> '{fired}'");
    // What agents send can be kept, so that versions can be compared (`newest.sh`).
    let kept = std::env::var("CHECKPOINTD_AGENTS_PAYLOADS");
    if let Ok(folder) = kept {
        let keep = format!("tee \"{folder}/{}.$$\"", agent.name());
        format!("#!/bin/sh\ntrap : TERM\n{note}\n{keep} | '{client}' \"$@\"\n")
    } else if agent.ends_hooks() {
        format!("#!/bin/sh\ntrap : TERM\n{note}\n'{client}' \"$@\" || echo $? >> '{ended}'\n")
    } else {
        format!("#!/bin/sh\n{note}\nexec '{client}' \"$@\"\n")
    }
}

/// Returns how many clients were ended before they could take the signal. A client fails in no other way.
pub(crate) fn ended(file: &Path) -> usize {
    let codes = fs::read_to_string(file).unwrap_or_default();
    assert!(codes.lines().all(|code| code == ENDED), "{codes}");
    codes.lines().count()
}

/// Waits until no call of a hook is under way on a stage: an agent may end before its hooks do, and the daemon takes in later
/// what a busy machine had spooled.
pub(crate) fn settle(stage: &Path) {
    let began = Instant::now();
    while is_calling(stage) && began.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(50));
    }
}

fn is_calling(stage: &Path) -> bool {
    let client = stage.join("bin/checkpointd-hook");
    let client = client.as_os_str().as_encoded_bytes();
    let runs = |process: fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.windows(client.len()).any(|part| part == client)
    };
    let is_spooled = |file: fs::DirEntry| file.path().extension().is_some_and(|end| end == "spool");
    let list = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    list("/proc".into()).any(runs) || list(stage.join("data/spool")).any(is_spooled)
}
