//! What a session did, and why it was decided so.

use super::*;

/// Where the first point of a color is in a lane of the chart, by the place of the lane; -1 without one.
fn drawn(lane: u32, color: &str) -> String {
    format!(
            "(() => {{ const canvas = document.querySelector('canvas.chart'); const pen = canvas.getContext('2d');
              const wanted = getComputedStyle(document.documentElement).getPropertyValue('--{color}').trim();
              const [r, g, b] = [1, 3, 5].map(at => parseInt(wanted.slice(at, at + 2), 16));
              const y = 40 + {lane} * 31 + 15; const line = pen.getImageData(87, y, canvas.width - 87, 1).data;
              for (let x = 0; x < line.length; x += 4) if (line[x] === r && line[x + 1] === g && line[x + 2] === b) return 87 + x / 4;
              return -1; }})()"
        )
}

/// A click on what is drawn shows the event.
fn check_click(browser: &Browser, events: &[Value]) {
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
    browser.wait("document.querySelector('.detail h2')?.textContent === 'checkpointd'");
    let checkpoint = events
        .iter()
        .find(|event| event["kind"] == "decided")
        .expect("a decision");
    browser.wait(&format!(
        "document.querySelector('.detail a[href=\"#/decision/{}\"]')",
        checkpoint["seq"]
    ));
    assert_eq!(
        browser.evaluate("document.querySelector('.events li.chosen').dataset.seq"),
        checkpoint["seq"].to_string()
    );
    browser.wait(&format!(
        "document.querySelector('.detail a[href=\"#/event/{}\"]')",
        checkpoint["seq"]
    ));
}

/// The keyboard chooses an event too, and what it chooses is said. Zooming changes what is drawn, and Home takes it back.
fn check_keyboard(browser: &Browser) {
    browser.evaluate("document.querySelector('canvas.chart').focus()");
    browser.key("ArrowLeft");
    browser.wait("document.querySelector('.view > .unseen').textContent.startsWith('stopped')");
    browser.wait("document.querySelector('.detail h2').textContent === 'stopped'");
    browser.wait("document.querySelector('.detail details pre').textContent.includes('last_assistant_message')");
    let picture = "document.querySelector('canvas.chart').toDataURL()";
    let whole = browser.text(picture);
    browser.key("+");
    browser.wait(&format!("{picture} !== {}", json!(whole)));
    browser.key("Home");
    browser.wait(&format!("{picture} === {}", json!(whole)));
}

/// No more was read than all that was there before, and then what was new.
fn check_read(browser: &Browser, events: &[Value]) {
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
}

/// A turn is the message, one row for each call that is over, the stops, and what was checked at the last one. Its title is
/// the task, and beside it stands what the agent said last. The rest is shown on request.
fn check_turn(browser: &Browser, events: &[Value]) {
    assert_eq!(
        browser.text("document.querySelector('h1').textContent"),
        "Please make the next case work, and keep the tests green"
    );
    browser
        .wait("document.querySelector('.detail .text')?.textContent === 'Done: the tests pass.'");
    let shown =
        "[...document.querySelectorAll('.events > li')].map(row => Number(row.dataset.seq))";
    let seqs = |kinds: &[&str]| -> Vec<u64> {
        let of = events
            .iter()
            .filter(|event| kinds.iter().any(|kind| event["kind"] == *kind));
        of.filter_map(|event| event["seq"].as_u64()).collect()
    };
    let acts = [
        "prompt_submitted",
        "tool_finished",
        "tool_failed",
        "agent_stopped",
        "decided",
    ];
    assert_eq!(browser.evaluate(shown), json!(seqs(&acts)));
    let took =
        browser.text("document.querySelector('.events li:nth-child(2) .outcome').textContent");
    assert_eq!(took, "1.0s", "the time of a call");
    browser.wait("document.querySelector('.events details[open] .checks > li.bad')");
    // A stop that nobody has opened asks for nothing.
    let asked = "performance.getEntriesByType('resource').filter(it => it.name.includes('/api/decisions/')).length";
    assert_eq!(browser.evaluate(asked), 1);
    browser.evaluate("document.querySelectorAll('[type=checkbox]')[1].click()");
    let all = browser.evaluate(shown);
    let all = all.as_array().expect("a list");
    let inner = seqs(&["evidence_gathered", "delivery_confirmed"]);
    assert!(
        !inner.is_empty() && inner.iter().all(|seq| all.contains(&json!(seq))),
        "{all:?}"
    );
    browser.evaluate("document.querySelectorAll('[type=checkbox]')[1].click()");
}

pub(crate) fn timeline(stage: &Stage, browser: &Browser) {
    let mut told = Told::new(stage, "told on", "parser", Duration::from_secs(140));
    told.turn(95, true);
    browser.show(&format!("session/{}", told.session()));
    let events = stage.ask(&["timeline", &told.session(), "--json"]);
    let rows = "document.querySelectorAll('.events > li').length";
    check_turn(browser, &events);
    for (lane, color) in [
        (0, "accent"),
        (1, "accent"),
        (2, "accent"),
        (3, "accent"),
        (5, "ink"),
        (6, "warn"),
        (7, "good"),
    ] {
        browser.wait(&format!("{} > 0", drawn(lane, color)));
    }
    check_click(browser, &events);
    check_keyboard(browser);
    // What happens now is there without a reload.
    told.prompt("And one more thing");
    browser
        .wait("document.querySelector('.split h2:last-of-type').textContent.startsWith('Turn 2')");
    check_read(browser, &events);
    // Words narrow the list down.
    browser.evaluate("(() => { const box = document.querySelector('[type=search]'); box.value = 'one more'; box.dispatchEvent(new Event('input')); })()");
    browser.wait(&format!("{rows} === 1"));
}

/// What stands is a cross with its purpose, what was done a tick with its call; what was asked for says what came of it.
fn check_checks(browser: &Browser, explained: &Value) {
    let rules = explained["rules"]["trace"].as_array().expect("a list");
    let actions = rules
        .iter()
        .flat_map(|rule| rule["actions"].as_array().expect("a list"));
    let due = actions.filter(|action| action["stands"] == true);
    let mut due: Vec<_> = due.map(|action| action["text"].clone()).collect();
    due.dedup();
    let crossed = browser.evaluate("[...document.querySelectorAll('.checks > li.bad')].map(row => [row.querySelector('p').title, row.querySelector('.mark').textContent])");
    let crossed = crossed.as_array().expect("a list");
    assert!(
        !due.is_empty() && crossed.iter().all(|row| row[1] == "✗"),
        "{crossed:?}"
    );
    assert!(
        due.iter()
            .all(|text| crossed.iter().any(|row| row[0] == *text)),
        "{due:?} {crossed:?}"
    );
    let came = browser.text("document.querySelector('.came').textContent");
    let end = match explained["demand"]["end"].as_str().expect("an end") {
        "met" => "all of it was done afterward",
        "left" => "not done afterward",
        _ => "has not stopped again yet",
    };
    assert!(came.contains(end), "{came}");
    // Only what was checked, sent, and came of it is open.
    let seen = browser.text("document.querySelector('main').innerText");
    assert!(!seen.contains("stop journaled"), "{seen}");
}

pub(crate) fn decision(stage: &Stage, browser: &Browser) {
    let sent = last_checkpoint(stage);
    browser.show("decision");
    browser.wait(&format!(
        "document.querySelector('.card a[href=\"#/decision/{}\"]')",
        sent["seq"]
    ));
    browser.evaluate(&format!(
        "document.querySelector('.card a[href=\"#/decision/{}\"]').click()",
        sent["seq"]
    ));
    let check = || {
        browser.wait("document.querySelector('pre.message')");
        assert_eq!(
            browser.evaluate("document.querySelector('pre.message').textContent"),
            sent["message"]
        );
        // What is folded is there too.
        let text = browser.text("document.querySelector('main').textContent");
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
        parts.extend(["What came of it", "taken", "arrived", "stop journaled"].map(String::from));
        for part in parts {
            assert!(text.contains(&part), "{part}: {text}");
        }
        check_checks(browser, explained);
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
    let seqs = "[...document.querySelectorAll('li.card')].map(row => Number(row.dataset.seq))";
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
