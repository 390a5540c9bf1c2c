//! The daemon ends and starts again; the page is reached through another port; keys.

use std::io::copy;
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::*;

pub(crate) fn restart(stage: &Stage, browser: &Browser) {
    browser.show("");
    browser.evaluate("window.unchanged = true");
    let key = browser.text("sessionStorage.getItem('key')");
    stage.kill();
    browser.wait("document.getElementById('link').textContent.includes('the daemon is away')");
    // Where something is asked for meanwhile, that is said in words.
    browser.evaluate("location.hash = '#/trends'");
    browser.wait(
        "document.querySelector('.problem')?.textContent.includes('The daemon does not answer')",
    );
    stage.start();
    browser.wait("document.getElementById('note').textContent.includes('was restarted')");
    browser.wait("document.getElementById('link').textContent === 'live'");
    browser.wait("document.querySelectorAll('figure').length === 6");
    assert_ne!(
        browser.text("sessionStorage.getItem('key')"),
        key,
        "a key ends with its daemon"
    );
    assert_eq!(
        browser.evaluate("window.unchanged"),
        true,
        "the page was not loaded anew"
    );
    // It is live as before.
    browser.show("");
    let mut told = Told::new(stage, "after the restart", "webshop", Duration::ZERO);
    told.prompt("Go on");
    browser.wait(&format!(
        "document.querySelector('.group.running li[data-session=\"{}\"]')",
        told.session()
    ));
    told.end();
    let problems = browser.problems();
    let is_away = |problem: &String| {
        problem.contains("ERR_CONNECTION_REFUSED")
            || problem.contains("ERR_INCOMPLETE_CHUNKED_ENCODING")
            || problem.contains("ERR_CONNECTION_RESET")
            || problem.contains("ERR_EMPTY_RESPONSE")
    };
    assert!(problems.iter().all(is_away), "{problems:?}");
    // Whoever closes the page closes it for the next daemon too.
    stage.ask(&["web", "--stop", "--json"]);
    stage.kill();
    stage.start();
    let refused = "fetch('/').then(() => false, () => true)";
    assert_eq!(browser.evaluate(refused), true);
    browser.problems();
}

/// What `ssh -L` does: it brings the page to another port.
pub(crate) fn forwarded(stage: &Stage, browser: &Browser) {
    let url = stage.url();
    let rest = url.strip_prefix("http://127.0.0.1:").expect("an address");
    let (port, token) = rest.split_once('/').expect("a token");
    let port: u16 = port.parse().expect("a port");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let other = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let far = TcpStream::connect(("127.0.0.1", port)).expect("the page");
            for (mut from, mut to) in [
                (
                    near.try_clone().expect("a copy"),
                    far.try_clone().expect("a copy"),
                ),
                (far, near),
            ] {
                thread::spawn(move || {
                    let _ = copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    browser.go(&format!("http://localhost:{other}/{token}"));
    browser.wait("location.hash === '' && document.querySelector('.view')?.dataset.ready");
    browser.show("decision");
    browser.wait("document.querySelectorAll('li.card').length > 0");
}

pub(crate) fn keys(stage: &Stage, browser: &Browser) {
    browser.show("");
    let titles =
        "[...document.querySelectorAll('li[data-session]')].map(row => row.dataset.session)";
    let all = browser.evaluate(titles);
    let all = all.as_array().expect("rows");
    let at = "document.activeElement.closest('li')?.dataset.session";
    browser.key("j");
    assert_eq!(browser.evaluate(at), all[0]);
    browser.key("j");
    assert_eq!(browser.evaluate(at), all[1]);
    browser.key("k");
    assert_eq!(browser.evaluate(at), all[0]);
    browser.key("/");
    assert_eq!(browser.text("document.activeElement.type"), "search");
    let search = |text: &str| {
        browser.evaluate(&format!("(() => {{ const box = document.activeElement; box.value = {}; box.dispatchEvent(new Event('input')); }})()", json!(text)));
    };
    search("webshop running");
    let runs = Told::new(stage, "runs", "webshop", Duration::ZERO).session();
    browser.wait(&format!("{titles}.join() === {}", json!(runs)));
    // A letter that is typed is no key.
    browser.key("?");
    assert_eq!(
        browser.evaluate("document.querySelector('dialog')"),
        Value::Null
    );
    search("no such session at all");
    browser.wait("document.querySelector('.empty')?.textContent === 'No session is like that.'");
    search("");
    browser.wait(&format!("{titles}.length === {}", all.len()));
    browser.evaluate("(() => { const agent = document.querySelector('[aria-label=Agent]'); agent.value = 'gemini'; agent.dispatchEvent(new Event('change')); })()");
    let rows = stage
        .ask(&["sessions", "--agent", "gemini", "--json"])
        .len();
    browser.wait(&format!("{titles}.length === {rows}"));
    browser.evaluate("document.activeElement.blur()");
    browser.key("?");
    let said = browser.text("document.querySelector('dialog[open]').innerText");
    for part in [
        "to the search box",
        "it is not announced",
        "a checkpoint that arrived",
        "Finished",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Decisions of one agent, and of one project.
    browser.show("decision");
    let choose = |field: &str, value: &str| {
        browser.evaluate(&format!("(() => {{ const field = document.querySelector('[aria-label=\"{field}\"]'); field.value = {}; field.dispatchEvent(new Event('change')); }})()", json!(value)));
    };
    let shown = "[...document.querySelectorAll('li.card')].length";
    choose("Agent", "codex");
    let count = |arguments: &[&str]| stage.ask(&[&["audit", "--json"], arguments].concat()).len();
    browser.wait(&format!(
        "{shown} === {}",
        count(&["--agent", "codex"]).min(100)
    ));
    choose("Agent", "");
    let project = stage.project("parser");
    choose("Folder of the project", &project);
    browser.wait(&format!(
        "{shown} === {}",
        count(&["--project", &project]).min(100)
    ));
}

/// JavaScript rounds what is larger than 2^53.
pub(crate) fn exact_numbers(stage: &Stage, browser: &Browser) {
    let mut told = Told::new(stage, "large numbers", "parser", Duration::from_secs(20));
    told.prompt("A prompt with a digest");
    let event = stage.ask(&["timeline", &told.session(), "--json"])[0].clone();
    let digest = event["digest"].as_u64().expect("a digest");
    assert!(digest > 1 << 53, "it is not large: {digest}");
    browser.show(&format!("event/{}", event["seq"]));
    let text = browser.text("document.querySelector('main').textContent");
    assert!(text.contains(&digest.to_string()), "{digest}: {text}");
}

/// What is read stays where it is while sessions above it come and go.
pub(crate) fn stays(stage: &Stage, browser: &Browser) {
    browser.show("");
    browser.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
    let read = browser.evaluate(
        "(() => { const card = [...document.querySelectorAll('.card')].find(it => it.getBoundingClientRect().top >= innerHeight / 3);
        return [scrollY, card.getBoundingClientRect().top, card.dataset.session]; })()",
    );
    assert!(read[0].as_f64() > Some(0.0), "{read}");
    for number in 0..3 {
        let mut told = Told::new(stage, &format!("above {number}"), "webshop", Duration::ZERO);
        let card = format!(
            "document.querySelector('li[data-session=\"{}\"]')",
            told.session()
        );
        told.prompt("Please go on");
        browser.wait(&format!("{card}?.closest('.group.running')"));
        told.ask("Bash", &json!({ "command": "make" }), 0);
        browser.wait(&format!("{card}?.closest('.group.you')"));
        let now = browser.evaluate(&format!(
            "document.querySelector('[data-session=\"{}\"]').getBoundingClientRect().top - {}",
            read[2].as_str().expect("a session"),
            read[1]
        ));
        let moved = now.as_f64().expect("a figure").abs();
        // A browser rounds where it scrolls to.
        assert!(moved <= 2.0, "what is read moved by {moved} px");
        let counts = browser.evaluate(
            "[...document.querySelectorAll('.group')].every(it => Number(it.querySelector('.count').textContent) === it.querySelectorAll('.card').length)",
        );
        assert_eq!(counts, true);
        told.stop(0, false, "Done.");
        told.end();
    }
}
