//! Each view, as a person uses it.

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
    let (address, _) = url.split_once("?token").expect("a token");
    for refused in [address, &format!("{address}?token=0123")] {
        let seen = browser.seen_by_another(refused);
        assert!(seen.contains("checkpointd web --open"), "{seen}");
    }
    let seen = browser.seen_by_another(&url);
    assert!(seen.contains("Now"), "a token opens the page: {seen}");
    let seen = browser.seen_by_another(&url);
    assert!(seen.contains("used already"), "and does so once: {seen}");
    let complaints = browser.problems();
    assert!(
        complaints.iter().all(|text| text.contains("403")),
        "{complaints:?}"
    );
    // The script cannot see the cookie.
    assert_eq!(browser.text("document.cookie"), "");
}

pub(crate) fn led(stage: &Stage, browser: &Browser) {
    browser.go("about:blank");
    browser.call("Network.clearBrowserCookies", json!({}));
    let (command, file) = stage.open();
    browser.go(&format!("file://{}", file.display()));
    let there = "location.protocol === 'http:' && location.search === '' && document.querySelector('.view')?.dataset.ready";
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
    let groups = browser
        .evaluate("[...document.querySelectorAll('.now tbody')].map(body => body.className)");
    let order = [
        "needs_you",
        "waiting",
        "running",
        "idle",
        "ended",
        "earlier",
    ];
    let places: Vec<_> = groups
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| order.iter().position(|word| group == word))
        .collect();
    assert!(places.is_sorted() && places[0] == Some(0), "{groups}");
    let row = |name: &str| {
        let id = Told::new(stage, name, "webshop", Duration::ZERO).session();
        browser.text(&format!(
            "document.querySelector('tr[data-session=\"{id}\"]').innerText"
        ))
    };
    let asks = row("asks");
    for part in [
        "Claude Code",
        "inventory",
        "master",
        "Bash",
        "rm -rf build dist",
        "of 30s",
    ] {
        assert!(asks.contains(part), "{part}: {asks}");
    }
    let runs = row("runs");
    assert!(runs.contains("npm run lint …"), "it still runs: {runs}");
    // The clock of a turn that goes on goes on.
    let id = Told::new(stage, "runs", "webshop", Duration::ZERO).session();
    let clock = format!("document.querySelector('tr[data-session=\"{id}\"] .elapsed').textContent");
    let before = browser.text(&clock);
    browser.wait(&format!("{clock} !== {}", json!(before)));
    assert_eq!(
        browser.evaluate(&format!(
            "document.querySelector('tr[data-session=\"{id}\"] .clock').className"
        )),
        "clock due"
    );
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
            "document.querySelector('tbody.needs_you tr[data-session=\"{}\"]')",
            told.session()
        );
        assert_eq!(browser.evaluate(&format!("Boolean({row})")), false);
        told.prompt("Please do it");
        let began = Instant::now();
        told.ask("Bash", &json!({ "command": "make release" }), 0);
        browser.wait(&row);
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
        told.stop(0, false, "Never mind.");
        let waits = row.replace("needs_you", "waiting");
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

pub(crate) fn timeline(stage: &Stage, browser: &Browser) {
    let mut told = Told::new(stage, "told on", "parser", Duration::from_secs(140));
    told.turn(95, true);
    browser.show(&format!("session/{}", told.session()));
    let events = stage.ask(&["timeline", &told.session(), "--json"]);
    let rows = "document.querySelectorAll('.events tbody tr').length";
    assert_eq!(browser.evaluate(rows), events.len());
    // What is drawn: points of a colour in a lane, by the place of the lane.
    let drawn = |lane: u32, colour: &str| {
        format!(
            "(() => {{ const canvas = document.querySelector('canvas.chart'); const pen = canvas.getContext('2d');
              const wanted = getComputedStyle(document.documentElement).getPropertyValue('--{colour}').trim();
              const [r, g, b] = [1, 3, 5].map(at => parseInt(wanted.slice(at, at + 2), 16));
              const y = 40 + {lane} * 31 + 15; const line = pen.getImageData(87, y, canvas.width - 87, 1).data;
              for (let x = 0; x < line.length; x += 4) if (line[x] === r && line[x + 1] === g && line[x + 2] === b) return 87 + x / 4;
              return -1; }})()"
        )
    };
    for (lane, colour) in [
        (0, "accent"),
        (1, "accent"),
        (2, "accent"),
        (3, "accent"),
        (5, "ink"),
        (6, "warn"),
        (7, "good"),
    ] {
        browser.wait(&format!("{} > 0", drawn(lane, colour)));
    }
    // A click gives the event.
    let corner = browser.evaluate(
        "(({x, y}) => [x, y])(document.querySelector('canvas.chart').getBoundingClientRect())",
    );
    let x = browser
        .evaluate(&drawn(6, "warn"))
        .as_f64()
        .expect("a place");
    browser.click(
        corner[0].as_f64().expect("a place") + x + 1.0,
        corner[1].as_f64().expect("a place") + 40.0 + 6.0 * 31.0 + 15.0,
    );
    browser.wait("document.querySelector('.detail h2')?.textContent === 'decided'");
    let checkpoint = events
        .iter()
        .find(|event| event["kind"] == "decided")
        .expect("a decision");
    browser.wait(&format!(
        "document.querySelector('.detail a[href=\"#/decision/{}\"]')",
        checkpoint["seq"]
    ));
    assert_eq!(
        browser.evaluate("document.querySelector('.events tr[aria-selected]').dataset.seq"),
        checkpoint["seq"].to_string()
    );
    browser.wait(&format!(
        "document.querySelector('.detail a[href=\"#/event/{}\"]')",
        checkpoint["seq"]
    ));
    // So does the keyboard, and what it chooses is said.
    browser.evaluate("document.querySelector('canvas.chart').focus()");
    browser.key("ArrowLeft");
    browser
        .wait("document.querySelector('.view > .unseen').textContent.startsWith('agent stopped')");
    browser.wait("document.querySelector('.detail h2').textContent === 'agent stopped'");
    browser.wait("document.querySelector('.detail details pre').textContent.includes('last_assistant_message')");
    // Zooming changes what is drawn, and Home takes it back.
    let picture = "document.querySelector('canvas.chart').toDataURL()";
    let whole = browser.text(picture);
    browser.key("+");
    browser.wait(&format!("{picture} !== {}", json!(whole)));
    browser.key("Home");
    browser.wait(&format!("{picture} === {}", json!(whole)));
    // What happens now is there without a reload.
    told.prompt("And one more thing");
    browser.wait(&format!("{rows} === {}", events.len() + 1));
    // No more was read for it than what is new.
    let last = events
        .last()
        .and_then(|event| event["seq"].as_u64())
        .expect("a number");
    let read = browser.evaluate("performance.getEntriesByType('resource').filter(it => it.name.includes('/timeline?')).map(it => [new URL(it.name).search, it.decodedBodySize])");
    let read = read.as_array().expect("a list");
    assert_eq!(read[0][0], "?from=1", "{read:?}");
    assert!(
        read[1..].iter().all(|it| it[1].as_u64() < Some(1_000)),
        "{read:?}"
    );
    assert!(
        read.iter().any(|it| it[0] == format!("?from={}", last + 1)),
        "{read:?}"
    );
    // Words narrow the list down.
    browser.evaluate("(() => { const box = document.querySelector('[type=search]'); box.value = 'one more'; box.dispatchEvent(new Event('input')); })()");
    browser.wait(&format!("{rows} === 1"));
}

pub(crate) fn decision(stage: &Stage, browser: &Browser) {
    let sent = last_checkpoint(stage);
    browser.show("decision");
    browser.wait(&format!(
        "document.querySelector('td a[href=\"#/decision/{}\"]')",
        sent["seq"]
    ));
    browser.evaluate(&format!(
        "document.querySelector('td a[href=\"#/decision/{}\"]').click()",
        sent["seq"]
    ));
    let check = || {
        browser.wait("document.querySelector('pre.message')");
        assert_eq!(
            browser.evaluate("document.querySelector('pre.message').textContent"),
            sent["message"]
        );
        let text = browser.text("document.querySelector('main').innerText");
        let explained = &stage.ask(&["explain", &sent["seq"].to_string(), "--json"])[0];
        let strings = |list: &Value, field: &str| -> Vec<String> {
            let list = list.as_array().cloned().unwrap_or_default();
            list.iter()
                .map(|item| {
                    item[field]
                        .as_str()
                        .or(item.as_str())
                        .unwrap_or_default()
                        .to_owned()
                })
                .collect()
        };
        let mut parts = strings(&sent["actions"], "text");
        parts.extend(strings(&sent["observations"], ""));
        parts.extend(strings(&explained["considered"], "why"));
        parts.extend(strings(&explained["rules"]["trace"], "rule"));
        for rule in explained["rules"]["trace"].as_array().expect("a list") {
            parts.extend(strings(&rule["actions"], "looked"));
            let actions = rule["actions"].as_array().expect("a list");
            actions
                .iter()
                .for_each(|action| parts.extend(strings(&action["seen"], "")));
        }
        parts.extend(strings(&explained["evidence"]["changes"]["known"], "path"));
        parts.extend(["due", "taken", "arrived", "stop journaled"].map(String::from));
        for part in parts {
            assert!(text.contains(&part), "{part}: {text}");
        }
    };
    check();
    // The address of a decision is for ever.
    browser.call("Page.reload", json!({}));
    browser.wait("document.querySelector('.view')?.dataset.ready");
    check();
    browser.show("decision/999999");
    assert!(
        browser
            .text("document.querySelector('.problem').textContent")
            .contains("no decision")
    );
    // That there is none is no fault of the page.
    assert!(
        browser
            .problems()
            .iter()
            .all(|problem| problem.contains("404"))
    );
}

pub(crate) fn decisions(stage: &Stage, browser: &Browser) {
    let count = |arguments: &[&str]| stage.ask(&[&["audit", "--json"], arguments].concat()).len();
    let mut told = Told::new(stage, "many stops", "parser", Duration::from_secs(60));
    for number in 0..240_usize.saturating_sub(count(&[])) {
        // The same words again within a second would be taken for one call that came twice.
        told.prompt(&format!("part {number}"));
        told.stop(0, false, &format!("Part {number} is done."));
    }
    let seqs = "[...document.querySelectorAll('tbody tr')].map(row => Number(row.querySelector('a').textContent))";
    let rows = format!("{seqs}.length");
    let older =
        "[...document.querySelectorAll('button')].find(button => button.textContent === 'Older')";
    let to_the_end = |all: usize| {
        for shown in (100..all).step_by(100) {
            browser.wait(&format!(
                "{rows} === {shown} && !{older}.hidden && !{older}.disabled"
            ));
            browser.evaluate(&format!("{older}.click()"));
        }
        browser.wait(&format!("{rows} === {all} && {older}.hidden"));
    };
    let check = |arguments: &[&str]| {
        let listed = stage.ask(&[&["audit", "--json"], arguments].concat());
        let newest_first: Vec<_> = listed
            .iter()
            .rev()
            .map(|line| line["seq"].clone())
            .collect();
        assert_eq!(browser.evaluate(seqs), Value::Array(newest_first));
    };
    browser.show("decision");
    let all = count(&[]);
    assert!(all > 200 && !all.is_multiple_of(100), "{all}");
    to_the_end(all);
    check(&[]);
    // What is decided now comes on top, and what was shown stays.
    told.prompt("one more");
    told.stop(0, false, "Done.");
    browser.wait(&format!("{rows} === {}", all + 1));
    check(&[]);
    assert!(
        browser
            .text("document.querySelector('.summary').textContent")
            .contains("all there are")
    );
    browser.evaluate("(() => { const choice = document.querySelector('select'); choice.value = 'inject'; choice.dispatchEvent(new Event('change')); })()");
    browser.wait(&format!(
        "{rows} < {all} && document.querySelectorAll('.verdict.pass').length === 0"
    ));
    let sent = count(&["--verdict", "inject"]);
    to_the_end(sent);
    check(&["--verdict", "inject"]);
}

pub(crate) fn event(stage: &Stage, browser: &Browser) {
    let mut told = Told::new(stage, "one event", "parser", Duration::from_secs(30));
    told.prompt("A prompt of its own");
    let event = &stage.ask(&["timeline", &told.session(), "--json"])[0];
    let check = || {
        browser.wait(&format!(
            "document.querySelector('h1')?.textContent === 'Event {}: prompt submitted'",
            event["seq"]
        ));
        let text = browser.text("document.querySelector('main').textContent");
        assert!(
            text.contains("A prompt of its own") && text.contains("UserPromptSubmit"),
            "{text}"
        );
        browser.wait(&format!(
            "document.querySelector('.summary a[href=\"#/session/{}\"]')",
            told.session()
        ));
    };
    // The table of the timeline leads there.
    browser.show(&format!("session/{}", told.session()));
    let link = format!(
        "document.querySelector('.events a[href=\"#/event/{}\"]')",
        event["seq"]
    );
    browser.wait(&link);
    browser.show(&format!("event/{}", event["seq"]));
    check();
    browser.call("Page.reload", json!({}));
    browser.wait("document.querySelector('.view')?.dataset.ready");
    check();
    // What the daemon did by itself is of no session.
    browser.show("event/1");
    browser.wait("document.querySelector('h1').textContent.startsWith('Event 1: ')");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('.summary a').length"),
        0
    );
    for (wrong, said) in [
        ("999999", "there is no event 999999"),
        ("seven", "“seven” is none"),
        ("", "is none"),
    ] {
        browser.show(&format!("event/{wrong}"));
        let text = browser.text("document.querySelector('.problem').textContent");
        assert!(text.contains(said), "{text}");
    }
    assert!(
        browser
            .problems()
            .iter()
            .all(|problem| problem.contains("404")),
        "a number that is not there"
    );
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
        browser.evaluate("document.querySelectorAll('main tbody tr').length"),
        changed
    );
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
    browser
        .wait("document.querySelector('.problem')?.textContent.includes('unknown key `min_trun`')");
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
    let total = &stage.ask(&["audit", "--summary", "--since", "29d", "--json"])[0]["total"];
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
