//! What a person does on the page.

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
        format!("cd '{}' && claude --resume '{id}'", stage.project("parser"))
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
    told.end();
}

/// A demand is marked wrong with a reason from the session's page, and the mark is taken back from the decision's.
fn check_wrong(stage: &Stage, browser: &Browser, id: &str, press: &dyn Fn(&str, &str)) {
    let sent = &stage.ask(&["audit", "--session", id, "--verdict", "inject", "--json"])[0];
    let marks =
        || stage.ask(&["explain", &sent["seq"].to_string(), "--json"])[0]["marked_wrong"].clone();
    browser.show(&format!("session/{id}"));
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
