//! Each view, as a person uses it.

pub(crate) mod acts;
pub(crate) mod gone;
pub(crate) mod history;
pub(crate) mod questions;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::stage::{CONFIG, Stage, Told};

/// A hook call has to be seen within this time.
const SEEN_WITHIN_MS: f64 = 1_000.0;
/// Every view, with what comes after its name.
pub(crate) fn all(stage: &Stage) -> Vec<String> {
    let session = stage.ask(&["sessions", "--json"])[0]["session"]
        .as_str()
        .expect("an id")
        .to_owned();
    let decision = last_checkpoint(stage)["seq"].clone();
    vec![
        String::new(),
        format!("session/{session}"),
        "decision".into(),
        format!("decision/{decision}"),
        format!("event/{decision}"),
        "what-if".into(),
        "trends".into(),
    ]
}

/// Returns the newest checkpoint that asked for something.
pub(crate) fn last_checkpoint(stage: &Stage) -> Value {
    let sent = stage.ask(&[
        "audit",
        "--verdict",
        "inject",
        "--reason",
        "actions_due",
        "--json",
    ]);
    sent.last().expect("a checkpoint").clone()
}

pub(crate) fn entry(stage: &Stage, browser: &Browser) {
    let url = stage.url();
    let (address, _) = url.split_once("#token").expect("a token");
    for refused in [address, &format!("{address}#token=0123")] {
        let seen = browser.seen_by_another(refused);
        assert!(seen.contains("checkpointd web --open"), "{seen}");
    }
    let seen = browser.seen_by_another(&url);
    assert!(seen.contains("needs you"), "a token opens the page: {seen}");
    let seen = browser.seen_by_another(&url);
    assert!(seen.contains("has been used"), "and does so once: {seen}");
    let complaints = browser.problems();
    assert!(
        complaints.iter().all(|text| text.contains("403")),
        "{complaints:?}"
    );
}

/// Another program of this machine serves a page too: it gets nothing of this one's.
pub(crate) fn neighbor(stage: &Stage, browser: &Browser) {
    let url = stage.url();
    let (address, _) = url.split_once('#').expect("a token");
    browser.go(&url);
    let there = "document.querySelector('.view')?.dataset.ready && location.hash === ''";
    browser.wait(there);
    let key = browser.text("sessionStorage.getItem('key')");
    assert_eq!(
        (key.len(), browser.text("document.cookie")),
        (64, String::new())
    );
    let kept = browser.call("Page.getNavigationHistory", json!({}));
    for entry in kept["entries"].as_array().expect("a list") {
        assert!(!entry["url"].to_string().contains("token"), "{kept}");
    }

    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = other.local_addr().expect("bound").port();
    let requests = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().expect("the browser comes");
        let mut request = [0; 8192];
        let length = stream.read(&mut request).expect("a request");
        let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<p>Hi</p>";
        stream.write_all(page.as_bytes()).expect("an answer");
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    browser.go(&format!("http://127.0.0.1:{port}/"));
    browser.wait("document.querySelector('p')");
    let request = requests.join().expect("it answered");
    assert!(
        !request.contains(&key) && !request.to_lowercase().contains("cookie:"),
        "{request}"
    );
    let stored = "JSON.stringify([document.cookie, sessionStorage.length, localStorage.length])";
    assert_eq!(browser.text(stored), r#"["",0,0]"#);
    for options in [
        "{}",
        "{credentials: 'include'}",
        "{mode: 'no-cors', credentials: 'include'}",
    ] {
        let read = format!(
            "fetch('{address}api/now', {options}).then(answer => answer.text()).then(text => text.length, () => 'refused')"
        );
        let got = browser.evaluate(&read);
        assert!(got == "refused" || got == 0, "{options}: {got}");
    }
    // Nor can it do anything: not even where the answer does not matter.
    let runs = Told::new(stage, "runs", "webshop", Duration::ZERO).session();
    let order = format!(
        "fetch('{address}api/sessions/{runs}/mute', {{ method: 'POST', mode: 'no-cors', body: '{{}}' }}).then(() => 0, () => 0)"
    );
    browser.evaluate(&order);
    assert!(!is_muted(stage, &runs));
    browser.problems();
    browser.go(address);
    browser.wait(there);
}

/// A link that is opened in a tab of its own works there: tabs of the page lend each other the key.
pub(crate) fn tabs(stage: &Stage, browser: &Browser) {
    let decision = last_checkpoint(stage)["seq"].to_string();
    let address = browser.text("location.origin");
    let seen = browser.seen_in_new_tab(&format!("{address}/#/decision/{decision}"));
    assert!(
        seen.contains("What if") && !seen.contains("no access"),
        "{seen}"
    );
}

fn is_muted(stage: &Stage, session: &str) -> bool {
    let rows = stage.ask(&["sessions", "--json"]);
    let row = rows.iter().find(|row| row["session"] == session);
    row.expect("a session")["muted"] == true
}

pub(crate) fn led(stage: &Stage, browser: &Browser) {
    browser.evaluate("sessionStorage.clear()");
    browser.go("about:blank");
    let (command, file) = stage.open();
    browser.go(&format!("file://{}", file.display()));
    let there = "location.protocol === 'http:' && location.hash === '' && document.querySelector('.view')?.dataset.ready";
    browser.wait(there);
    let output = command.wait_with_output().expect("it ends");
    assert!(
        output.status.success() && output.stdout.starts_with(b"opened "),
        "{output:?}"
    );
    assert!(!file.exists(), "the file is gone");
    browser.call("Page.reload", json!({}));
    browser.wait(there);
    browser.show("decision");
}

pub(crate) fn now(stage: &Stage, browser: &Browser) {
    browser.show("");
    let groups = browser.evaluate(
        "[...document.querySelectorAll('section.group')].map(group => group.classList[1])",
    );
    let order = ["you", "open", "running", "finished", "nothing"];
    let places: Vec<_> = groups
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| order.iter().position(|word| group == word))
        .collect();
    assert!(places.is_sorted() && places[0] == Some(0), "{groups}");
    let row = |name: &str| {
        let id = Told::new(stage, name, "webshop", Duration::ZERO).session();
        let text = format!("document.querySelector('li[data-session=\"{id}\"]').innerText");
        // It is laid out with the next frame.
        browser.wait(&format!("{text}.trim()"));
        browser.text(&text)
    };
    let asks = row("asks");
    for part in ["claude", "inventory", "main", "Bash", "rm -rf build dist"] {
        assert!(asks.contains(part), "{part}: {asks}");
    }
    let runs = row("runs");
    assert!(runs.contains("npm run lint …"), "it still runs: {runs}");
    // What is asked later stands below the title.
    let mut told = Told::new(stage, "runs", "webshop", Duration::from_secs(1));
    told.prompt("Now the tax, too");
    let card = format!(
        "document.querySelector('li[data-session=\"{}\"]')",
        told.session()
    );
    browser.wait(&format!(
        "{card}.querySelector('.asked')?.textContent === 'Now the tax, too'"
    ));
    assert!(row("runs").contains("Add a discount code to the basket"));
    let finished = row("finished");
    for part in ["Please make the next case work", "Done: the tests pass."] {
        assert!(finished.contains(part), "{part}: {finished}");
    }
    // What is open is said as the commands say it, and the order is that of `sessions`.
    let left = "[...document.querySelectorAll('.group.open li')].map(row => [row.dataset.session, row.querySelector('.open').textContent])";
    let left = browser.evaluate(left);
    let rows = stage.ask(&["sessions", "--json"]);
    let shown = browser.evaluate(
        "[...document.querySelectorAll('li[data-session]')].map(row => row.dataset.session)",
    );
    let listed: Vec<_> = rows.iter().map(|row| row["session"].clone()).collect();
    assert_eq!(shown, json!(listed[..shown.as_array().map_or(0, Vec::len)]));
    for line in left.as_array().expect("a list") {
        let row = rows.iter().find(|row| row["session"] == line[0]);
        let open = &row.expect("a session")["open"][0];
        let words = line[1].as_str().expect("words");
        assert!(
            words.starts_with(open["what"].as_str().expect("words")),
            "{words}: {open}"
        );
    }
    assert!(!left.as_array().expect("a list").is_empty());
    let shown = browser.text("document.querySelector('.summary').textContent");
    let known = stage.ask(&["sessions", "--json"]).len();
    assert!(
        shown.contains(&format!("{known} sessions known")) && shown.contains("1 running"),
        "{shown}"
    );
}

pub(crate) fn live(stage: &Stage, browser: &Browser) {
    browser.show("");
    browser.evaluate("window.unchanged = true");
    let mut best = f64::MAX;
    // A busy machine may take its time once; that it can be done at all is what counts.
    for number in 0..5 {
        let name = format!("live {number}");
        let mut told = Told::new(stage, &name, "webshop", Duration::ZERO);
        let row = format!(
            "document.querySelector('.group.you li[data-session=\"{}\"]')",
            told.session()
        );
        assert_eq!(browser.evaluate(&format!("Boolean({row})")), false);
        told.prompt("Please do it");
        let began = Instant::now();
        told.ask("Bash", &json!({ "command": "make release" }), 0);
        browser.wait(&row);
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
        told.stop(0, false, "Never mind.");
        let waits = row.replace(".you", ".finished");
        browser.wait(&waits);
        told.end();
    }
    println!("  a hook call was seen after {best:.0} ms");
    assert!(
        best < SEEN_WITHIN_MS,
        "a hook call was seen only after {best:.0} ms"
    );
    assert_eq!(
        browser.evaluate("window.unchanged"),
        true,
        "the page was not loaded anew"
    );
}

/// Each decision that would change names its project, and shows which lines of the message go and which come.
fn check_difference(browser: &Browser, changed: &Value) {
    let projects = browser.evaluate(
        "[...new Set([...document.querySelectorAll('.where .project')].map(it => it.title))].sort()",
    );
    let changed = changed.as_array().expect("a list");
    let known: std::collections::BTreeSet<_> = changed
        .iter()
        .filter_map(|it| it["project"].as_str())
        .collect();
    assert_eq!(projects, json!(known));
    let newest = changed.last().expect("one");
    let lines = |side: &str| {
        newest[side]["message"]
            .as_str()
            .map_or(0, |text| text.lines().count())
    };
    let shown = |tag: &str| {
        let card = format!("document.querySelector('li.card').querySelectorAll('{tag}').length");
        browser.evaluate(&card).as_u64().unwrap_or_default() as usize
    };
    assert!(shown("ins") + shown("del") > 0);
    assert_eq!(shown("ins") + shown(".difference span"), lines("now"));
    assert_eq!(shown("del") + shown(".difference span"), lines("was"));
}

pub(crate) fn what_if(stage: &Stage, browser: &Browser) {
    browser.show("what-if");
    let set = "(() => { const field = document.querySelector('[name=min_turn]'); field.value = '5m';
        field.dispatchEvent(new Event('change')); document.querySelector('form button').click(); })()";
    browser.evaluate(set);
    let heading = "[...document.querySelectorAll('h2')].map(h => h.textContent).find(text => text.includes('would change'))";
    browser.wait(heading);
    let text = &CONFIG.replace("30s", "5m");
    let file = stage.write("new.yml", text);
    let answer = &stage.ask(&["replay", "--policy", &file.display().to_string(), "--json"])[0];
    let changed = answer["changed"].as_array().expect("a list").len();
    assert!(changed > 0);
    assert_eq!(
        browser.text(heading),
        format!(
            "{changed} of {} decisions would change",
            answer["decisions"]
        )
    );
    assert_eq!(
        browser.evaluate("document.querySelectorAll('li.card').length"),
        changed
    );
    check_difference(browser, &answer["changed"]);
    assert_eq!(
        browser.text("document.querySelector('textarea').value"),
        *text
    );
    // The file that was tried can be taken away.
    let folder = browser.downloads();
    browser.evaluate(
        "[...document.querySelectorAll('button')].find(button => button.textContent.startsWith('Download')).click()",
    );
    let began = Instant::now();
    while std::fs::read_to_string(folder.join("config.yml"))
        .ok()
        .as_deref()
        != Some(text.as_str())
    {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "nothing was downloaded"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // Rules are tried too, and a mistake is named with its place.
    browser.evaluate("(() => { document.querySelector('textarea').value = 'min_trun: 5m'; document.querySelector('form button').click(); })()");
    browser.wait(
        "document.querySelector('pre.problem')?.textContent.includes('unknown key `min_trun`')",
    );
    let marked = "(() => { const box = document.querySelector('textarea'); return box.value.slice(box.selectionStart, box.selectionEnd); })()";
    assert_eq!(browser.text(marked), "min_trun: 5m");
}

pub(crate) fn trends(stage: &Stage, browser: &Browser) {
    browser.show("trends");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('figure').length"),
        6
    );
    let whole = "[...document.querySelectorAll('figure')].every(figure => figure.querySelectorAll('svg rect').length > 0
        && figure.querySelectorAll('svg .axis').length > 1 && figure.querySelectorAll('svg text').length > 4
        && figure.querySelectorAll('tbody tr').length > 1 && figure.querySelector('svg').getAttribute('aria-label').includes(', in '))";
    assert_eq!(browser.evaluate(whole), true);
    let stats = &stage.ask(&["stats", "--since", "29d", "--json"])[0];
    let caught = "[...document.querySelectorAll('.figure')].find(it => it.querySelector('dt').textContent === 'caught').querySelector('strong').textContent";
    assert_eq!(browser.text(caught), stats["caught"].to_string());
    assert!(stage.caught.get() > 0);
    assert_eq!(stats["caught"], stage.caught.get(), "by hand");
    let said = stage.ask(&["status", "--json"])[0]["caught"].clone();
    let said = said.as_str().expect("a sentence");
    assert!(said.contains("asked for failed at first"), "{said}");
    let total = &stats["total"];
    let sum = |figure: usize| {
        browser.evaluate(&format!(
            "[...document.querySelectorAll('figure')[{figure}].querySelectorAll('td.number')].reduce((sum, cell) => sum + Number(cell.textContent), 0)"
        ))
    };
    assert_eq!(
        [sum(0), sum(1), sum(2), sum(3)],
        [
            &total["injected"],
            &total["injected"],
            &total["passed"],
            &total["demands"]
        ]
        .map(Clone::clone)
    );
    assert_eq!(sum(4), total["turns"]);
    let met = format!("{} of {} demands met", total["met"], total["demands"]);
    assert!(
        browser
            .text("document.querySelector('.summary').textContent")
            .contains(&met),
        "{met}"
    );
    assert!(total["met"].as_u64() > Some(0), "{total}");
}

pub(crate) fn narrow(stage: &Stage, browser: &Browser) {
    for scheme in ["light", "dark"] {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", features);
        browser.size(360, 740);
        for view in all(stage) {
            browser.show(&view);
            let wide = browser.evaluate("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(360), "{view} is {wide} wide");
            // A line is as high as what it says, and nothing of it is beside the screen.
            let odd = "[...document.querySelectorAll('.events > li:not(:has(details[open])), li.card')].map(row => [row.offsetHeight, row.scrollWidth, row.innerText]).filter(([high, wide]) => high > 260 || wide > 360)";
            assert_eq!(browser.evaluate(odd), json!([]), "{view}");
            let aside = "[...document.querySelectorAll('.card .about, .checks p, .came, .outcome')].filter(it => it.getBoundingClientRect().right > innerWidth).map(it => it.innerText)";
            assert_eq!(browser.evaluate(aside), json!([]), "{view}");
        }
        let paper = browser.text("getComputedStyle(document.body).backgroundColor");
        let is_dark = paper
            .trim_start_matches("rgb(")
            .starts_with(['0', '1', '2', '3'])
            && !paper.starts_with("rgb(25");
        assert_eq!(is_dark, scheme == "dark", "{paper}");
    }
    // A choice of one's own counts more, and is kept.
    let before = browser.text("getComputedStyle(document.body).backgroundColor");
    browser.evaluate("document.getElementById('theme').click()");
    assert_eq!(
        browser.text("document.documentElement.dataset.theme"),
        "light"
    );
    assert_ne!(
        browser.text("getComputedStyle(document.body).backgroundColor"),
        before
    );
    browser.call("Page.reload", json!({}));
    browser.wait("document.querySelector('.view')?.dataset.ready");
    assert_eq!(
        browser.text("document.documentElement.dataset.theme"),
        "light"
    );
}

pub(crate) fn reachable(stage: &Stage, browser: &Browser) {
    browser.call("Accessibility.enable", json!({}));
    for view in all(stage) {
        browser.show(&view);
        assert_eq!(
            browser.evaluate("document.querySelectorAll('h1').length"),
            1,
            "{view}"
        );
        let tree = browser.call("Accessibility.getFullAXTree", json!({}));
        let roles = [
            "button",
            "link",
            "textbox",
            "searchbox",
            "combobox",
            "checkbox",
            "table",
            "region",
            "img",
            "application",
        ];
        for node in tree["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .filter(|node| node["ignored"] == false)
        {
            let role = node["role"]["value"].as_str().unwrap_or_default();
            let name = node["name"]["value"].as_str().unwrap_or_default();
            assert!(
                !roles.contains(&role) || !name.is_empty(),
                "{view}: a {role} without a name: {node}"
            );
        }
    }
    // From the top on: the way past the menu, then the menu.
    browser.show("");
    browser.call("Page.reload", json!({}));
    browser.wait("document.querySelector('.view')?.dataset.ready");
    let mut reached = Vec::new();
    for _ in 0..6 {
        browser.key("Tab");
        reached.push(browser.text("document.activeElement.textContent"));
        assert_ne!(
            browser.text("getComputedStyle(document.activeElement).outlineStyle"),
            "none",
            "{reached:?}"
        );
    }
    assert_eq!(
        reached,
        [
            "Skip to the content",
            "checkpointd",
            "Now",
            "Decisions",
            "What if",
            "Trends"
        ]
    );
}
