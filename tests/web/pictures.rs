//! The pictures of docs/watching.md: taken where somebody asks for them, so that a run of the tests changes no file.

use std::path::PathBuf;

use serde_json::json;

use crate::browser::Browser;
use crate::stage::Stage;

/// Names the folder that the pictures go to.
const FOLDER: &str = "CHECKPOINTD_SCREENSHOTS";
/// A window, a tablet and a phone, with the endings of their pictures' names.
const SCREENS: [(&str, u32, u32); 3] =
    [("", 1440, 900), ("-tablet", 820, 900), ("-phone", 390, 844)];
/// The largest picture that belongs into a repository.
const BYTES_MAX: u64 = 150 * 1024;

pub(crate) fn take(stage: &Stage, browser: &Browser) {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    for (scheme, ending) in [("light", ""), ("dark", "-dark")] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.call("Emulation.setEmulatedMedia", media);
        take_all(stage, browser, &|name| {
            for (screen, width, height) in SCREENS {
                browser.size(width, height);
                // Two frames on, everything has been drawn in its new size.
                browser.evaluate(
                    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 400))))",
                );
                let file = folder.join(format!("{name}{screen}{ending}.png"));
                browser.picture(&file);
                let size = file.metadata().expect("a file").len();
                assert!(size < BYTES_MAX, "{name}{screen}{ending} has {size} bytes");
            }
        });
    }
}

fn take_all(stage: &Stage, browser: &Browser, take: &dyn Fn(&str)) {
    browser.show("");
    take("now");
    // A recorded session.
    let recorded = &stage.ask(&["audit", "--verdict", "inject", "--json"])[0];
    browser.show(&format!(
        "session/{}",
        recorded["session"].as_str().expect("an id")
    ));
    browser.wait("document.querySelector('.detail .text')");
    take("session");
    browser.show(&format!("decision/{}", recorded["seq"]));
    take("decision");
    browser.show("what-if");
    browser.evaluate(
        "(() => { document.querySelector('textarea').rows = 5; const field = document.querySelector('[name=min_turn]'); field.value = '5m';
         field.dispatchEvent(new Event('change')); document.querySelector('form button').click(); })()",
    );
    browser.wait("document.querySelector('.card')");
    browser.evaluate("document.querySelector('.card details').open = true");
    take("what-if");
    browser.show("trends");
    take("trends");
}
