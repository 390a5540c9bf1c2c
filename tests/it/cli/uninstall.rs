//! `uninstall` on a terminal: it asks twice, and only a yes deletes anything.

use crate::support::machine::Machine;
use crate::support::terminal::{Server, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_checkpointd");
const DATA: &str = ".local/share/checkpointd/journal";
const DRAFT: &str = ".config/checkpointd/config.yml.draft";

/// A command in a terminal of its own, and a shell that says afterward how it ended.
struct Terminal<'a> {
    server: &'a Server,
    pane: String,
}

impl<'a> Terminal<'a> {
    fn run(server: &'a Server, machine: &Machine, arguments: &str) -> Self {
        let home = machine.home().display().to_string();
        let path = machine.path("bin").display().to_string();
        let shell = format!(
            "env -i HOME='{home}' PATH='{path}:/usr/bin:/bin' TERM=screen CHECKPOINTD_AUTOSTART=0 '{PROGRAM}' {arguments}; echo \"code $?\"; exec cat"
        );
        let start = [
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "50",
            "-P",
            "-F",
            "#{pane_id}",
            &shell,
        ];
        let pane = server.tmux(&start);
        Self { server, pane }
    }

    /// Waits until the screen ends with a text, and returns the screen.
    fn says(&self, last: &str) -> String {
        until(last, || {
            let screen = self.server.tmux(&["capture-pane", "-p", "-t", &self.pane]);
            screen.trim_end().ends_with(last).then_some(screen)
        })
    }

    fn answers(&self, text: &str) {
        self.server
            .tmux(&["send-keys", "-t", &self.pane, "-l", text]);
        self.server.tmux(&["send-keys", "-t", &self.pane, "Enter"]);
    }
}

/// A machine on which checkpointd is installed and has a journal.
fn installed() -> Machine {
    let machine = Machine::all();
    machine.ok(&["init"]);
    machine.write(DRAFT, "min_turn: banana\n");
    let call = r#"{"agent":"claude","payload":{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x","cwd":"/"}}"#;
    let mut append = machine.command(PROGRAM, &["journal", "append"]);
    let output = crate::support::run(&mut append, call.as_bytes());
    assert!(output.status.success(), "{output:?}");
    assert!(has_hooks(&machine) && has_data(&machine));
    machine
}

fn has_hooks(machine: &Machine) -> bool {
    let settings = machine.home().join(".claude/settings.json");
    std::fs::read_to_string(settings).is_ok_and(|text| text.contains("checkpointd-hook"))
}

/// Returns whether journal and the edit of a configuration that was not used are there: both or none.
fn has_data(machine: &Machine) -> bool {
    let [journal, draft] = [DATA, DRAFT].map(|path| machine.home().join(path).exists());
    assert_eq!(journal, draft, "journal, draft");
    journal
}

#[test]
fn who_does_not_go_on_changes_nothing() {
    let server = Server::new();
    for answer in ["n", "", "maybe"] {
        let machine = installed();
        let before = machine.tree();
        let terminal = Terminal::run(&server, &machine, "uninstall");
        let screen = terminal.says("Continue? [y/N]");
        let file = ".claude/settings.json (removed)";
        assert!(
            screen.contains(file),
            "what is asked about is in sight: {screen}"
        );
        terminal.answers(answer);
        let screen = terminal.says("code 1");
        assert!(screen.contains("Nothing was changed."), "{screen}");
        assert!(!screen.contains("Delete them?"), "{screen}");
        assert_eq!(machine.tree(), before, "after `{answer}`");
    }
}

#[test]
fn data_stay_unless_a_second_yes_deletes_them() {
    let server = Server::new();
    for (answer, stays) in [("n", true), ("", true), ("yes", false)] {
        let machine = installed();
        let terminal = Terminal::run(&server, &machine, "uninstall");
        terminal.says("Continue? [y/N]");
        terminal.answers("y");
        let screen = terminal.says("Delete them? [y/N]");
        assert!(
            screen.contains("Journal, configuration and logs are kept"),
            "{screen}"
        );
        terminal.answers(answer);
        let screen = terminal.says("code 0");
        assert!(screen.contains("Done."), "{screen}");
        assert_eq!(
            (has_hooks(&machine), has_data(&machine)),
            (false, stays),
            "{screen}"
        );
        assert_eq!(screen.contains("--purge"), stays, "{screen}");
    }
}

#[test]
fn what_was_said_is_not_asked() {
    let server = Server::new();
    for (arguments, asks, stays) in [
        ("uninstall --yes", false, true),
        ("uninstall --yes --purge", false, false),
        ("uninstall --keep-data", true, true),
        ("uninstall --purge", true, false),
    ] {
        let machine = installed();
        let terminal = Terminal::run(&server, &machine, arguments);
        if asks {
            terminal.says("Continue? [y/N]");
            terminal.answers("y");
        }
        let screen = terminal.says("code 0");
        assert!(!screen.contains("Delete them?"), "{arguments}: {screen}");
        assert_eq!(
            (has_hooks(&machine), has_data(&machine)),
            (false, stays),
            "{arguments}: {screen}"
        );
    }
}
