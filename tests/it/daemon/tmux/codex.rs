//! Codex, which may have a notify program only, and a queue of its own.

use super::*;

/// Codex tells of its stops by `notify` alone: the turn's start, and that it has our text, stand in its rollout.
struct NotifyOnly {
    daemon: Daemon,
    thread: Uuid,
}

impl NotifyOnly {
    /// The Codex home is in the program's folder.
    fn new(home: Home, folder: &std::path::Path) -> Self {
        let thread = Uuid::now_v7();
        let day = folder.join("codex-home/sessions/2026/11/21");
        std::fs::create_dir_all(&day).expect("folders");
        let rollout = day.join(format!("rollout-2026-11-21T21-00-00-{thread}.jsonl"));
        let meta = json!({ "timestamp": "2026-11-21T21:00:00.000Z", "type": "session_meta",
            "payload": { "id": thread, "cwd": "/", "cli_version": "0.169.0", "source": "cli" } });
        std::fs::write(&rollout, format!("{meta}\n")).expect("writes");
        std::fs::write(folder.join("rollout"), rollout.display().to_string()).expect("writes");
        Self {
            daemon: Daemon::at(home),
            thread,
        }
    }

    /// Calls the client as Codex's background process does: not from the terminal that its environment tells of.
    fn notify_from_elsewhere(
        &self,
        turn: &str,
        env: &[(String, String)],
        folder: &std::path::Path,
    ) {
        let mut command = self
            .daemon
            .home
            .client(&["codex", &payload(turn, self.thread)]);
        command
            .envs(env.iter().cloned())
            .env("CODEX_HOME", folder.join("codex-home"));
        let output = crate::support::run(&mut command, b"");
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(0), &b""[..])
        );
    }

    fn decided(&self, count: usize) -> Vec<(String, String)> {
        let word = |value: &Value| value.as_str().expect("a word").to_owned();
        until("the stops are decided", || {
            let lines = self.daemon.ask(&["audit", "--json"]);
            let words = lines
                .iter()
                .map(|line| (word(&line["reason"]), word(&line["delivery"])));
            (lines.len() == count).then(|| words.collect())
        })
    }
}

/// What Codex tells its notify program.
fn payload(turn: &str, thread: Uuid) -> String {
    let payload = json!({ "type": "agent-turn-complete", "thread-id": thread, "turn-id": turn, "cwd": "/",
        "client": "codex-tui", "input-messages": [], "last-assistant-message": "Done." });
    payload.to_string()
}

const EVERY_NOTIFY: &str = "min_turn: 0s\nmax_blocks_per_turn: 2\nrepeat: always\n";

#[test]
fn codex_with_notify_alone_gets_its_checkpoint_typed_once_and_stops() {
    let server = Server::new();
    let home = home_with(&format!("{EVERY_NOTIFY}{QUICK}"));
    let agent = server.agent(&home, "codex", |setup| setup.notify_only = true);
    let codex = NotifyOnly::new(home, &agent.folder);
    // A hidden title thread has no rollout, and never a turn.
    agent.notifies(&payload("title", Uuid::now_v7()));
    assert_eq!(codex.decided(1), [("no_turn_start".into(), "none".into())]);
    terminal::program::write_rollout(&agent.folder, "please do it");
    agent.notifies(&payload("turn-1", codex.thread));
    until("it is confirmed", || {
        (codex.decided(2)[1] == ("generic".into(), "confirmed".into())).then_some(())
    });
    let told = codex.daemon.ask(&["audit", "--json"]).remove(1);
    assert_eq!(
        agent.submitted(),
        [told["message"].as_str().expect("a text")]
    );
    // The turn that our text began ends: no loop, though the budget would allow another one.
    agent.notifies(&payload("turn-2", codex.thread));
    assert_eq!(codex.decided(3)[2], ("own_prompt".into(), "none".into()));
    terminal::program::write_rollout(&agent.folder, "and again");
    agent.notifies(&payload("turn-3", codex.thread));
    until("it is confirmed", || {
        (codex.decided(4)[3] == ("generic".into(), "confirmed".into())).then_some(())
    });
    assert_eq!(agent.submitted().len(), 2);
    codex.daemon.verify();
}

#[test]
fn codex_takes_a_checkpoint_from_its_own_queue_where_that_is_wanted() {
    let home = Home::new();
    // A program named codex that keeps what it is given, and takes it up as the real one does.
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let script = "#!/bin/sh\nprintf '%s\\n' \"$1 $2 $3 $4\" >> \"$0.log\"\nprintf '%s' \"$5\" > \"$0.message\"\n";
    put_script(&bin.join("codex"), script);
    let config = format!(
        "{EVERY_NOTIFY}{QUICK}codex: {{delivery: queue}}\ndaemon: {{path: [{}]}}\n",
        bin.display()
    );
    std::fs::write(home.path().join("config.yml"), config).expect("writes");
    let folder = tempfile::tempdir().expect("a folder");
    let mut codex = NotifyOnly::new(home, folder.path());
    terminal::program::write_rollout(folder.path(), "please do it");
    codex.notify_from_elsewhere("turn-1", &[], folder.path());
    let message = until("it is handed over", || {
        std::fs::read_to_string(bin.join("codex.message")).ok()
    });
    assert_eq!(codex.decided(1), [("generic".into(), "pending".into())]);
    // A daemon that ends now does not hand it over again.
    codex.daemon.kill();
    codex.daemon.start();
    terminal::program::write_rollout(folder.path(), &message);
    until("it is confirmed", || {
        (codex.decided(1)[0].1 == "confirmed").then_some(())
    });
    let told = codex.daemon.ask(&["audit", "--json"]).remove(0);
    assert_eq!(told["message"], json!(message));
    let log = std::fs::read_to_string(bin.join("codex.log")).expect("was called");
    assert_eq!(log, format!("queue --thread {} --message\n", codex.thread));
}

/// Codex's background process keeps the environment of the terminal that it was started from, and serves others too.
#[test]
fn a_hook_that_was_not_called_from_the_pane_it_tells_of_types_nothing() {
    let server = Server::new();
    let home = home_with(&format!("{EVERY_NOTIFY}{IMPATIENT}"));
    let agent = server.agent(&home, "codex", |setup| setup.notify_only = true);
    let codex = NotifyOnly::new(home, &agent.folder);
    terminal::program::write_rollout(&agent.folder, "please do it");
    codex.notify_from_elsewhere("turn-1", &agent.env(), &agent.folder);
    until("it is given up", || {
        (codex.decided(1) == [("generic".into(), "failed".into())]).then_some(())
    });
    assert_eq!(
        (agent.log(), kinds(&codex.daemon, "delivery_attempted")),
        (Vec::<Value>::new(), 0)
    );
}
