//! What a person does on the page.

use std::process::Command;

use super::*;

/// What a person does from a line: each is one event that names the page, and can be taken back.
pub(crate) fn acts(stage: &Stage, browser: &Browser) {
    let mut told = Told::new(stage, "acted on", "parser", Duration::from_secs(200));
    told.turn(95, false);
    let id = told.session();
    let card = format!("document.querySelector('li[data-session=\"{id}\"]')");
    let press = |place: &str, name: &str| {
        let found = format!(
            "[...{place}.querySelectorAll('button')].find(it => it.textContent === {})",
            json!(name)
        );
        browser.wait(&found);
        browser.evaluate(&format!("{found}.click()"));
    };
    let noted = "document.getElementById('note')";
    browser.show("");
    browser.evaluate(&format!(
        "(() => {{ const it = {card}.querySelector('select'); it.value = '1h'; it.dispatchEvent(new Event('change')); }})()"
    ));
    browser.wait(&format!("{noted}.textContent.startsWith('It is muted')"));
    assert!(is_muted(stage, &id));
    press(noted, "Undo");
    browser.wait(&format!("{noted}.textContent.includes('no longer muted')"));
    assert!(!is_muted(stage, &id));
    press(&card, "Let next stop pass");
    browser.wait(&format!("{card}.textContent.includes('cleared')"));
    // The command goes to the project first.
    let granted = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    browser.browser_call("Browser.grantPermissions", granted);
    press(&card, "Copy command");
    browser.wait(&format!("{noted}.textContent.startsWith('Copied')"));
    assert_eq!(
        browser.text("navigator.clipboard.readText()"),
        format!("cd {} && claude --resume '{id}'", stage.project("parser"))
    );
    check_wrong(stage, browser, &id, &press);
    let events = stage.ask(&["timeline", &id, "--json"]);
    for kind in ["muted", "unmuted", "checkpoint_cleared", "marked_wrong"] {
        let event = events
            .iter()
            .find(|event| event["kind"] == kind)
            .expect(kind);
        browser.show(&format!("event/{}", event["seq"]));
        let whole = browser.text("document.querySelector('details pre').textContent");
        let whole: Value = serde_json::from_str(&whole).expect("JSON");
        assert_eq!(whole["payload"], json!({ "by": "page" }), "{kind}");
    }
    // What was switched off stays to be seen.
    browser.show(&format!("session/{id}"));
    for what in ["muted", "cleared"] {
        browser.wait(&format!(
            "[...document.querySelectorAll('main p.soft')].some(it => it.textContent.startsWith('Switched off by a person: {what}, '))"
        ));
    }
    told.end();
}

/// A session's page offers what its line in Now does, as it is at the moment.
fn check_own(stage: &Stage, browser: &Browser, id: &str, press: &dyn Fn(&str, &str)) {
    let own = "document.querySelector('main > .view > div .acts')";
    let offered = format!(
        "[...{own}.querySelectorAll(':scope > *')].map(it => it.tagName + (it.querySelector('summary') ?? it).textContent)"
    );
    browser.wait(own);
    let here = browser.evaluate(&offered);
    browser.evaluate(&format!(
        "(() => {{ const it = {own}.querySelector('select'); it.value = '1h'; it.dispatchEvent(new Event('change')); }})()"
    ));
    press(own, "Unmute");
    browser.wait(&format!("{own}?.querySelector('select')"));
    assert!(!is_muted(stage, id));
    press(own, "Copy message");
    browser.wait("document.getElementById('note').textContent.startsWith('Copied: message')");
    assert!(
        browser
            .text("navigator.clipboard.readText()")
            .contains("Run the tests")
    );
    browser.show("");
    let line = offered.replace(
        own,
        &format!("document.querySelector('li[data-session=\"{id}\"] .acts')"),
    );
    assert_eq!(browser.evaluate(&line), here);
    browser.show(&format!("session/{id}"));
}

/// A demand is marked wrong with a reason from the session's page, and the mark is taken back from the decision's.
fn check_wrong(stage: &Stage, browser: &Browser, id: &str, press: &dyn Fn(&str, &str)) {
    let sent = &stage.ask(&["audit", "--session", id, "--verdict", "inject", "--json"])[0];
    let marks =
        || stage.ask(&["explain", &sent["seq"].to_string(), "--json"])[0]["marked_wrong"].clone();
    browser.show(&format!("session/{id}"));
    check_own(stage, browser, id, press);
    let row = format!("document.querySelector('li[data-seq=\"{}\"]')", sent["seq"]);
    browser.evaluate(&format!("{row}.querySelector('details').open = true"));
    browser.wait(&format!("{row}.querySelector('form input')"));
    browser.evaluate(&format!(
        "{row}.querySelector('form input').value = 'I run them myself'"
    ));
    press(&row, "This was wrong");
    browser.wait("document.getElementById('note').textContent.includes('is marked wrong')");
    assert_eq!(marks()[0]["note"], "I run them myself");
    browser.show(&format!("decision/{}", sent["seq"]));
    browser.wait(
        "document.querySelector('main').textContent.includes('Marked wrong: I run them myself')",
    );
    press("document.querySelector('main')", "It was not wrong");
    browser.wait("document.querySelector('main form')");
    assert_eq!(marks(), json!([]));
}

/// A tmux server of the test's own, ended with it.
struct Tmux(tempfile::TempDir);

impl Tmux {
    fn socket(&self) -> String {
        self.0.path().join("tmux").display().to_string()
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8");
        command.args(["-S", &self.socket(), "-f", "/dev/null"]);
        let output = command.args(arguments).output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Starts a session that runs a command, and returns its pane.
    fn start(&self, command: &str) -> String {
        self.ask(&["new-session", "-d", "-P", "-F", "#{pane_id}", command])
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.ask(&["kill-server"]);
    }
}

/// A real tmux shows a session's pane; that no terminal is attached, or the pane is gone, is said.
pub(crate) fn pane(stage: &Stage, browser: &Browser) {
    let new = || Tmux(tempfile::tempdir().expect("a folder"));
    let (server, outer) = (new(), new());
    let (other, agent) = (server.start("exec cat"), server.start("exec cat"));
    let variables = json!({ "TMUX": format!("{},1,0", server.socket()), "TMUX_PANE": agent });
    let prompt = json!({ "session_id": "in a pane", "hook_event_name": "UserPromptSubmit", "cwd": stage.project("parser"), "prompt": "work in a pane" });
    stage.hook_in(&variables, Duration::ZERO, &prompt);
    browser.show("");
    let go = |said: &str| {
        let button = "[...document.querySelectorAll('li[data-session]')].find(it => it.textContent.includes('work in a pane'))?.querySelector('[aria-label^=\"Go to pane\"]')";
        browser.wait(button);
        browser.evaluate(&format!("{button}.click()"));
        browser.wait(&format!(
            "document.getElementById('note').textContent.includes({said:?})"
        ));
    };
    go("no terminal is attached");
    outer.start(&format!(
        "env -u TMUX tmux -S '{}' attach -t '{other}'",
        server.socket()
    ));
    let client = || server.ask(&["list-clients", "-F", "#{pane_id}"]);
    let wait_for = |pane: &str| {
        let began = Instant::now();
        while client() != pane {
            assert!(began.elapsed() < Duration::from_secs(60), "{}", client());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_for(&other);
    go("tmux shows pane");
    wait_for(&agent);
    server.ask(&["kill-pane", "-t", &agent]);
    go("the pane is gone");
    // A refusal is no error of the page.
    let problems = browser.problems();
    assert!(
        problems.iter().all(|problem| problem.contains("409")),
        "{problems:?}"
    );
    let mut shown = stage.ask(&["journal", "export"]);
    shown.retain(|it| it["kind"] == "pane_shown");
    assert!(
        shown.len() == 2
            && shown
                .iter()
                .all(|it| it["payload"] == json!({ "by": "page" })),
        "{shown:?}"
    );
}
