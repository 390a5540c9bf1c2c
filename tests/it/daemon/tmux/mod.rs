//! Checkpoints typed into real terminals: exactly, once, and never where it does harm.

mod codex;

use journal::{
    Agent, Decision, Draft, Event, Host, Journal, Place, Reason, Route, Stream, Timestamp, Verdict,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::daemon::Daemon;
use crate::support::terminal::program::session_of;
use crate::support::terminal::{self, Server, until};
use crate::support::{Home, put_script};

/// Quick, and patient enough for a slow machine.
const QUICK: &str = "tmux: {settle: 120ms, confirm_timeout: 60s, draft_wait: 60s, hold_for: 10m, send_timeout: 20s}\n";
/// Gives up soon.
const IMPATIENT: &str =
    "tmux: {settle: 120ms, confirm_timeout: 2s, draft_wait: 1s, hold_for: 2s, send_timeout: 20s}\n";

/// A checkpoint that was decided and is to be typed, and the session that it is for.
struct Written {
    session: Uuid,
    message: String,
    decision: u64,
}

/// Opens the journal of a daemon that does not run. A process that another test is just starting may have its lock still.
fn open(home: &Home) -> Journal {
    let path = home.path().join("journal");
    until("the journal opens", || {
        Journal::open(&path, journal::Options::default()).ok()
    })
    .0
}

/// Writes sessions into a journal whose agents have one checkpoint each on its way, as a daemon leaves them that ended
/// right after deciding. The texts begin like ours and name their session.
fn write(home: &Home, agent: Agent, env: &[(String, String)], bodies: &[String]) -> Vec<Written> {
    let journal = open(home);
    let write_one = |body: &String| {
        let session = Uuid::now_v7();
        let message = format!("[TeleClaude Checkpoint] - session={session} {body}");
        let stream = Stream::of_native(agent, &session.to_string());
        let place = Place {
            cwd: "/".into(),
            transcript: None,
            env: env.to_vec(),
        };
        let host = Host {
            hook: "SessionStart".into(),
            place: Some(place),
            ..Host::default()
        };
        let draft = |event| Draft {
            stream: stream.clone(),
            at: Timestamp::now(),
            id: Uuid::now_v7(),
            event,
            payload: None,
        };
        let started = draft(Event::SessionStarted {
            host,
            source: "startup".into(),
        });
        let decided = draft(Event::Decided(Box::new(decision(&message))));
        let appended = journal
            .append_wait(vec![started, decided])
            .expect("appends");
        Written {
            session,
            message,
            decision: appended[1].seq,
        }
    };
    let written = bodies.iter().map(write_one).collect();
    journal.close();
    written
}

fn decision(message: &str) -> Decision {
    Decision {
        trigger: 0,
        basis: 0,
        turn: 1,
        verdict: Verdict::Inject,
        reason: Reason::Generic,
        route: Some(Route::Tmux),
        form: None,
        elapsed_ms: None,
        categories: Vec::new(),
        actions: Vec::new(),
        observations: Vec::new(),
        all_clear: false,
        message: Some(message.to_owned()),
        demand: None,
        policy: 0,
        version: journal::DECISION_VERSION,
    }
}

fn append(home: &Home, written: &Written, agent: Agent, event: Event) {
    let journal = open(home);
    let stream = Stream::of_native(agent, &written.session.to_string());
    let draft = Draft {
        stream,
        at: Timestamp::now(),
        id: Uuid::now_v7(),
        event,
        payload: None,
    };
    journal.append_wait(vec![draft]).expect("appends");
    journal.close();
}

fn of_word(word: &str) -> Agent {
    Agent::host(word).expect("an agent")
}

/// A daemon that is not started yet.
fn home_with(config: &str) -> Home {
    let home = Home::new();
    std::fs::write(home.path().join("config.yml"), config).expect("writes");
    home
}

/// Returns how a delivery stands: the outcome, and the word for it.
fn delivery(daemon: &Daemon, decision: u64) -> (String, String) {
    let lines = daemon.ask(&["audit", "--json"]);
    let line = lines
        .into_iter()
        .find(|line| line["seq"] == json!(decision))
        .expect("a decision");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (word(&line["delivery"]), word(&line["delivery_reason"]))
}

fn kinds(daemon: &Daemon, kind: &str) -> usize {
    daemon
        .ask(&["journal", "tail", "--json", "--kind", kind, "-n", "1000"])
        .len()
}

/// Texts of all sizes: one line, several, with everything that could be taken for something else, and large ones.
fn bodies(count: usize) -> Vec<String> {
    let several =
        "first\n\nChanged: \"x\" 'y' $HOME `z` \\n\n/help\n# a\n@file\n! ls\nüñï 🚀 — end";
    let large = |bytes: usize| {
        (0..bytes / 32)
            .map(|line| format!("{line:06} goes on and on and on\n"))
            .collect::<String>()
    };
    let body = |number: usize| match number % 10 {
        9 => format!("{number}\n{}end", large(20 * 1024)),
        7 => format!("{number}\n{}end", large(4 * 1024)),
        1 | 3 | 5 => format!("{number} All expected validations were observed."),
        _ => format!("{number} {several}"),
    };
    (0..count).map(body).collect()
}

#[test]
fn a_hundred_checkpoints_in_a_row_are_typed_exactly_and_once() {
    let (server, home) = (Server::new(), home_with(QUICK));
    let agents = ["claude", "gemini", "codex"].map(|agent| server.agent(&home, agent, |_| {}));
    // Many sessions share each pane, so that their checkpoints have to be typed one after the other.
    let written = agents
        .each_ref()
        .map(|agent| write(&home, of_word(&agent.name), &agent.env(), &bodies(34)));
    let daemon = Daemon::at(home);
    for (agent, written) in agents.iter().zip(&written) {
        for one in written {
            until("the checkpoint is confirmed", || {
                let state = delivery(&daemon, one.decision);
                assert!(
                    state.0 == "pending" || state.0 == "confirmed",
                    "{}: {state:?}\n{}",
                    agent.name,
                    agent.screen()
                );
                (state.0 == "confirmed").then_some(())
            });
        }
        let mut submitted = agent.submitted();
        submitted.sort_by_key(|text| session_of(text).to_owned());
        let expected: Vec<_> = written.iter().map(|one| one.message.clone()).collect();
        assert_eq!(submitted, expected, "{}", agent.name);
    }
}

/// An agent that no checkpoint may be typed into, how its delivery ends, and which word is journaled for it.
type Hindered<'a> = (terminal::Agent<'a>, &'static str, &'static str);

/// Everything that can be in the way.
fn hindered<'a>(server: &'a Server, home: &Home, name: &str) -> [Hindered<'a>; 6] {
    let agent = || server.agent(home, name, |_| {});
    let dialog = agent();
    dialog.switch("dialog", true);
    until("the dialog is up", || {
        dialog.screen().contains("1. Yes").then_some(())
    });
    let draft = agent();
    draft.types("half a draft");
    let copying = agent();
    server.tmux(&["copy-mode", "-t", &copying.pane]);
    let gone = agent();
    server.tmux(&["kill-pane", "-t", &gone.pane]);
    let other = agent();
    // The pane's shell goes on with another program.
    let pid = server.tmux(&["list-panes", "-t", &other.pane, "-F", "#{pane_tty}"]);
    end_agent(&pid, name);
    until("the other program runs", || {
        let command = server.tmux(&[
            "display-message",
            "-p",
            "-t",
            &other.pane,
            "#{pane_current_command}",
        ]);
        (command == "cat").then_some(())
    });
    [
        (dialog, "expired", "dialog"),
        (draft, "failed", "draft_present"),
        (copying, "expired", "copy_mode"),
        (gone, "failed", "pane_gone"),
        (other, "failed", "pane_other"),
        // The screen looks harmless, but the agent told of a question.
        (agent(), "expired", "dialog"),
    ]
}

#[test]
fn where_it_could_do_harm_nothing_is_typed() {
    let server = Server::new();
    let home = home_with(IMPATIENT);
    let agents = ["claude", "gemini", "codex"];
    let cases: Vec<_> = agents
        .into_iter()
        .flat_map(|name| hindered(&server, &home, name))
        .collect();
    let bodies = ["All expected validations were observed.".to_owned()];
    let written: Vec<_> = cases
        .iter()
        .map(|(agent, ..)| write(&home, of_word(&agent.name), &agent.env(), &bodies).remove(0))
        .collect();
    for (at, (agent, ..)) in cases.iter().enumerate().filter(|(at, _)| at % 6 == 5) {
        let host = Host {
            hook: "PermissionRequest".into(),
            ..Host::default()
        };
        let asked = Event::PermissionAsked {
            host,
            call: journal::ToolCall::default(),
        };
        append(&home, &written[at], of_word(&agent.name), asked);
    }
    let nowhere = write(&home, Agent::Codex, &[], &bodies).remove(0);
    let daemon = Daemon::at(home);
    for ((agent, outcome, word), one) in cases.iter().zip(&written) {
        until("it is given up", || {
            let state = delivery(&daemon, one.decision);
            (state == ((*outcome).to_owned(), (*word).to_owned()))
                .then_some(())
                .or_else(|| {
                    assert!(state.0 == "pending", "{} {word}: {state:?}", agent.name);
                    None
                })
        });
        assert_eq!(agent.log(), Vec::<Value>::new(), "{} {word}", agent.name);
    }
    assert_eq!(
        delivery(&daemon, nowhere.decision),
        ("failed".into(), "no_terminal".into())
    );
    assert_eq!(
        (
            kinds(&daemon, "delivery_attempted"),
            kinds(&daemon, "delivery_pasted")
        ),
        (0, 0)
    );
    let status = daemon.ask(&["status", "--json"]);
    let last = status[0]["last_decisions"].as_array().expect("decisions");
    assert!(
        last.iter()
            .any(|line| line["delivery_reason"] == json!("no_terminal")),
        "{last:?}"
    );
}

/// Ends the agent of a pane, and nothing else.
fn end_agent(tty: &str, name: &str) {
    let output = std::process::Command::new("ps")
        .args(["-ww", "-o", "pid=,args=", "-t", tty])
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_agent = |line: &&str| {
        line.split_whitespace()
            .nth(1)
            .is_some_and(|program| program.ends_with(&format!("/{name}")))
    };
    let line = text
        .lines()
        .find(is_agent)
        .unwrap_or_else(|| panic!("no agent: {text}"));
    let pid = line.split_whitespace().next().expect("a pid");
    assert!(
        std::process::Command::new("kill")
            .args(["-9", pid])
            .status()
            .expect("runs")
            .success()
    );
}

#[test]
fn what_stood_in_the_way_is_waited_for() {
    let (server, home) = (Server::new(), home_with(QUICK));
    let agents: Vec<_> = ["claude", "gemini", "codex", "claude"]
        .map(|agent| server.agent(&home, agent, |_| {}))
        .into();
    agents[0].switch("dialog", true);
    until("the dialog is up", || {
        agents[0].screen().contains("1. Yes").then_some(())
    });
    agents[1].types("half a draft");
    server.tmux(&["copy-mode", "-t", &agents[2].pane]);
    agents[3].switch("busy", true);
    let bodies = ["one\n\ntwo\nthree".to_owned()];
    let written: Vec<_> = agents
        .iter()
        .map(|agent| write(&home, of_word(&agent.name), &agent.env(), &bodies).remove(0))
        .collect();
    let daemon = Daemon::at(home);
    for (one, word) in written.iter().zip(["dialog", "draft_present", "copy_mode"]) {
        until("it waits", || {
            (delivery(&daemon, one.decision) == ("pending".into(), word.into())).then_some(())
        });
    }
    for agent in &agents[..3] {
        assert_eq!(agent.log(), Vec::<Value>::new());
    }
    agents[0].switch("dialog", false);
    server.tmux(&["send-keys", "-t", &agents[1].pane, "C-u"]);
    server.tmux(&["send-keys", "-t", &agents[2].pane, "-X", "cancel"]);
    for (agent, one) in agents.iter().zip(&written) {
        until("it is confirmed", || {
            (delivery(&daemon, one.decision).0 == "confirmed").then_some(())
        });
        assert_eq!(agent.submitted(), [one.message.as_str()], "{}", agent.name);
    }
}

#[test]
fn a_draft_is_cleared_where_that_is_wanted_and_a_busy_agent_queues_once() {
    let config = QUICK.replace("}", ", draft: clear}");
    let (server, home) = (Server::new(), home_with(&config));
    let drafted = ["claude", "gemini", "codex"].map(|agent| server.agent(&home, agent, |_| {}));
    let busy = ["gemini", "codex"].map(|agent| server.agent(&home, agent, |_| {}));
    // Without bracketed paste, line breaks are typed ones.
    let plain = server.agent(&home, "codex", |setup| setup.brackets = false);
    drafted.iter().for_each(|agent| agent.types("half a draft"));
    busy.iter().for_each(|agent| agent.switch("busy", true));
    let bodies = ["one\n\ntwo\nthree".to_owned()];
    let agents: Vec<_> = drafted.iter().chain(&busy).chain([&plain]).collect();
    let written: Vec<_> = agents
        .iter()
        .map(|agent| write(&home, of_word(&agent.name), &agent.env(), &bodies).remove(0))
        .collect();
    let daemon = Daemon::at(home);
    for (agent, one) in agents.iter().zip(&written) {
        until("it is submitted", || {
            (!agent.log().is_empty()).then_some(())
        });
        if busy.iter().any(|busy| busy.pane == agent.pane) {
            assert_eq!(
                delivery(&daemon, one.decision).0,
                "pending",
                "nobody has it yet"
            );
            agent.switch("busy", false);
        }
        until("it is confirmed", || {
            (delivery(&daemon, one.decision).0 == "confirmed").then_some(())
        });
        assert_eq!(agent.submitted(), [one.message.as_str()], "{}", agent.name);
    }
}

/// The daemon is killed in every phase. The text is there once, whatever the next one finds.
#[test]
fn a_daemon_killed_in_mid_delivery_types_nothing_twice() {
    for name in ["claude", "gemini", "codex"] {
        for (settle, tell_after_ms, phase) in [
            ("1500ms", 0, "delivery_pasted"),
            ("120ms", 1_500, "delivery_entered"),
        ] {
            let config = QUICK.replace("120ms", settle);
            let (server, home) = (Server::new(), home_with(&config));
            let agent = server.agent(&home, name, |setup| setup.tell_after_ms = tell_after_ms);
            let one = write(
                &home,
                of_word(name),
                &agent.env(),
                &["one\n\ntwo\nthree".to_owned()],
            )
            .remove(0);
            let mut daemon = Daemon::at(home);
            until(phase, || (kinds(&daemon, phase) > 0).then_some(()));
            if phase == "delivery_entered" {
                until("the text is submitted", || {
                    (!agent.log().is_empty()).then_some(())
                });
            }
            daemon.kill();
            assert_eq!(
                agent.log().len(),
                usize::from(phase == "delivery_entered"),
                "{name} {phase}"
            );
            daemon.start();
            until("it is confirmed", || {
                (delivery(&daemon, one.decision).0 == "confirmed").then_some(())
            });
            assert_eq!(agent.submitted(), [one.message.as_str()], "{name} {phase}");
            assert_eq!(
                (kinds(&daemon, "delivery_attempted"), kinds(&daemon, phase)),
                (1, 1),
                "{name} {phase}"
            );
        }
    }
}

/// The journal says that a paste was begun, and not whether it was done.
#[test]
fn a_paste_that_nobody_knows_of_is_looked_for_first() {
    for (name, was_pasted) in [
        ("claude", true),
        ("gemini", true),
        ("codex", true),
        ("claude", false),
        ("codex", false),
    ] {
        let (server, home) = (Server::new(), home_with(QUICK));
        let agent = server.agent(&home, name, |_| {});
        let one = write(
            &home,
            of_word(name),
            &agent.env(),
            &["one\n\ntwo\nthree".to_owned()],
        )
        .remove(0);
        let begun = Event::DeliveryAttempted {
            decision: one.decision,
            route: Route::Tmux,
            attempt: 1,
        };
        append(&home, &one, of_word(name), begun);
        if was_pasted {
            server.tmux(&["set-buffer", "-b", "x", &one.message]);
            server.tmux(&["paste-buffer", "-p", "-r", "-b", "x", "-t", &agent.pane]);
        }
        let daemon = Daemon::at(home);
        until("it is confirmed", || {
            (delivery(&daemon, one.decision).0 == "confirmed").then_some(())
        });
        assert_eq!(agent.submitted(), [one.message.as_str()], "{name}");
        assert_eq!(
            kinds(&daemon, "delivery_attempted"),
            if was_pasted { 1 } else { 2 },
            "{name}"
        );
    }
}
