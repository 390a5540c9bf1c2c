//! axe-core looks at every view, on a desk, in a narrow window, and on a phone, in light and in dark.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::stage::Stage;
use crate::views::all;

/// Names the file of axe-core; `tests/web/run.sh` installs it.
const FILE: &str = "CHECKPOINTD_AXE";
const WIDTHS: [u32; 3] = [390, 820, 1440];
const SCHEMES: [&str; 2] = ["light", "dark"];
/// All that axe can tell of the guidelines and of good practice. The size of targets is off unless it is asked for.
const RUN: &str = "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] })
    .then(found => found.violations.map(it => [it.id, it.nodes.map(node => node.target.join(' ') + ': ' + (node.any[0] ?? node.all[0] ?? node.none[0])?.message).slice(0, 3)]))";

/// What a person does in a view before it is looked at again; and when that is done.
const DONE: [(&str, &str, &str); 5] = [
    (
        "decision",
        "document.querySelectorAll('details').forEach(it => { it.open = true; })",
        "document.querySelector('li.card, details[open] table')",
    ),
    (
        "",
        "document.getElementById('keys').click()",
        "document.querySelector('dialog[open]')",
    ),
    (
        "session",
        "document.querySelector('.events li').click()",
        "document.querySelector('.detail dd')",
    ),
    (
        "what-if",
        "(() => { const field = document.querySelector('[name=min_turn]'); field.value = '5m'; field.dispatchEvent(new Event('change'));
         document.querySelector('form button').click(); })()",
        "document.querySelector('.card')",
    ),
    (
        "",
        "(() => { const box = document.querySelector('[type=search]'); box.value = 'nothing like that'; box.dispatchEvent(new Event('input')); })()",
        "document.querySelector('.empty')",
    ),
];

fn axe() -> String {
    let file = std::env::var_os(FILE).map_or_else(
        || PathBuf::from("target/axe/node_modules/axe-core/axe.min.js"),
        PathBuf::from,
    );
    std::fs::read_to_string(&file).unwrap_or_else(|error| {
        panic!(
            "{}: {error}: `tests/web/run.sh` installs it",
            file.display()
        )
    })
}

fn look(browser: &Browser, axe: &str, what: &str, found: &mut Vec<String>) {
    if browser.evaluate("typeof axe") != "object" {
        browser.evaluate(&format!("{axe}; 0"));
    }
    let violations = browser.evaluate(RUN);
    for violation in violations.as_array().expect("a list") {
        found.push(format!("{what}: {violation}"));
    }
}

pub(crate) fn every_view(stage: &Stage, browser: &Browser) {
    let axe = axe();
    let mut found = Vec::new();
    // It does find what is there to be found.
    browser.show("trends");
    browser.evaluate("document.querySelector('main').append(document.createElement('button'))");
    look(browser, &axe, "a button without a name", &mut found);
    assert!(
        found.len() == 1 && found[0].contains("button-name"),
        "{found:?}"
    );
    let mut seen = all(stage);
    seen.push("lookback".into());
    seen.push("event/999999".into());
    views(browser, &seen);
    // An event that is not there is no fault of the page.
    let problems = browser.problems();
    assert!(
        problems.iter().all(|problem| problem.contains("404")),
        "{problems:?}"
    );
}

/// Looks at views at each width, in light or in dark: colors do not depend on the width, nor obstacles on colors.
pub(crate) fn views(browser: &Browser, views: &[String]) {
    let (axe, mut found) = (axe(), Vec::new());
    for (width, scheme) in WIDTHS.into_iter().zip(["light", "dark", "light"]) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", features);
        browser.size(width, 900);
        for view in views {
            browser.show(view);
            let what = format!("#/{view} at {width} px, {scheme}");
            look(browser, &axe, &what, &mut found);
            let name = view.split('/').next().unwrap_or_default();
            for (_, act, done) in DONE.iter().filter(|(of, _, _)| *of == name) {
                // A state of its own, not of the one before it.
                browser.show("event/1");
                browser.show(view);
                browser.evaluate(act);
                browser.wait(done);
                look(
                    browser,
                    &axe,
                    &format!("{what}, after {act:.40}"),
                    &mut found,
                );
            }
            let wide = browser.evaluate("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(width.into()), "{what} is {wide} wide");
        }
    }
    assert!(
        found.is_empty(),
        "{} violations:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// axe cannot point at anything: what is under the pointer is looked at here. The letters of plots are measured too.
pub(crate) fn hovered(_: &Stage, browser: &Browser) {
    let contrast = "(() => { const style = getComputedStyle(document.querySelector('button.main'));
        const light = text => { const [r, g, b] = color(text).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const color = text => { const canvas = document.createElement('canvas').getContext('2d'); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255); };
        const [one, other] = [light(style.color), light(style.backgroundColor)].sort((a, b) => b - a); return (one + 0.05) / (other + 0.05); })()";
    for scheme in SCHEMES {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", features);
        browser.show("what-if");
        let place = browser.evaluate(
            "(() => { const button = document.querySelector('button.main'); button.scrollIntoView(); const at = button.getBoundingClientRect(); return [at.x + 9, at.y + 9]; })()",
        );
        let moved = json!({ "type": "mouseMoved", "x": place[0], "y": place[1] });
        browser.call("Input.dispatchMouseEvent", moved);
        browser.wait("document.querySelector('button.main').matches(':hover')");
        let contrast = browser.evaluate(contrast).as_f64().expect("a number");
        assert!(contrast >= 4.5, "{scheme}: {contrast:.2} to 1");
    }
    for width in WIDTHS {
        browser.size(width, 900);
        browser.show("trends");
        let least = browser.evaluate(
            "Math.min(...[...document.querySelectorAll('figure svg')].map(svg => parseFloat(getComputedStyle(svg.querySelector('text')).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))",
        );
        assert!(least.as_f64() >= Some(11.99), "{least} px at {width}");
    }
    let seen: Value = browser.evaluate("document.querySelector('select').value");
    assert_eq!(seen, "30", "the shortest span that has two weeks");
}
