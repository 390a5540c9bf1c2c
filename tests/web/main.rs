//! The web page in a real browser, with a real daemon and recorded sessions. `tests/web/run.sh` installs chromium and
//! starts this. Arguments are words; only scenarios with one of them in their name are run.

mod axe;
mod browser;
mod fleet;
mod hostile;
mod pictures;
mod stage;
mod views;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

use browser::Browser;
use stage::Stage;

/// A scenario gets a page that was let in.
type Scenario = fn(&Stage, &Browser);

const SCENARIOS: &[(&str, Scenario)] = &[
    // First, while there is nothing yet that other scenarios made.
    ("pictures", pictures::take),
    (
        "questions: ten of them, each answered after two clicks",
        views::questions::answered,
    ),
    ("a browser without a token is not let in", views::entry),
    (
        "a page on another port gets neither key nor data",
        views::neighbor,
    ),
    ("a link opens in a new tab", views::tabs),
    ("a browser that is led here by a file is let in", views::led),
    ("now: what waits for a person comes first", views::now),
    (
        "now: a hook call shows within a second, without a reload",
        views::live,
    ),
    (
        "now: what is read stays while others change",
        views::gone::stays,
    ),
    (
        "acts: mute, pass, wrong with a reason, undo, copy",
        views::acts::acts,
    ),
    ("acts: a real tmux shows the pane", views::acts::pane),
    (
        "timeline: lanes, events, zoom, keyboard, live",
        views::history::timeline,
    ),
    (
        "decision: all that explain says, by a permanent link",
        views::history::decision,
    ),
    (
        "decisions: older ones are there too, up to all",
        views::history::decisions,
    ),
    (
        "event: all that was told, by a permanent link",
        views::history::event,
    ),
    (
        "what if: the same answer as replay, and a file to take away",
        views::what_if,
    ),
    (
        "trends: plots with axes and units, and their figures",
        views::trends,
    ),
    (
        "every view fits a narrow screen, in both colors",
        views::narrow,
    ),
    (
        "every control has a name and can be reached by the keyboard",
        views::reachable,
    ),
    (
        "keys: search, next line, what signs mean; filters",
        views::gone::keys,
    ),
    ("numbers of 64 bits are exact", views::gone::exact_numbers),
    (
        "a page that ssh -L brings to another port",
        views::gone::forwarded,
    ),
    (
        "axe finds nothing in any view, at three widths, in both colors",
        axe::every_view,
    ),
    ("what is hovered and drawn can be read", axe::hovered),
    ("fleet: machines and projects at a collector", fleet::fleet),
    (
        "what agents wrote is text wherever it is shown",
        hostile::text,
    ),
    // Last: it closes the page.
    (
        "the page survives the daemon's restart",
        views::gone::restart,
    ),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let stage = Stage::new();
    let mut failed = 0;
    for (name, scenario) in SCENARIOS.iter().filter(|(name, _)| wanted(name)) {
        let began = Instant::now();
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            let browser = Browser::start();
            browser.enter(&stage.url());
            scenario(&stage, &browser);
            assert_eq!(
                browser.problems(),
                Vec::<String>::new(),
                "the browser complained"
            );
        }));
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!(
            "{name:<66} {word:<6} {:>5.1} s",
            began.elapsed().as_secs_f64()
        );
        failed += usize::from(outcome.is_err());
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
