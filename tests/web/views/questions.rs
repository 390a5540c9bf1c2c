//! Questions that people come with, each answered after at most two clicks from the first view. docs/watching.md has the
//! same table.

use std::fs;
use std::path::Path;

use crate::browser::Browser;
use crate::stage::Stage;

/// A question, what is clicked, and text of the answer. A click is the text of a link of the header, or a selector.
const QUESTIONS: [(&str, &[&str], &str); 10] = [
    ("Which agent needs me, and for what?", &[], "Needs you"),
    ("Which agent left something open?", &[], "Left open"),
    ("What is not verified?", &[], "tests not run: reorder.py"),
    ("What did the agent say last?", &[], "I echoed hi, wrote"),
    (
        "What was done in which turn?",
        &[".left a, [data-session] a"],
        "Turn 1",
    ),
    (
        "What did checkpoints ask for?",
        &["Decisions"],
        "Run the tests",
    ),
    (
        "Why was this sent?",
        &["Decisions", "li.card.inject a[href^='#/decision/']"],
        "Checks",
    ),
    (
        "Was it done, and by which call?",
        &["Decisions", "li.card.inject a[href^='#/decision/']"],
        "What came of it",
    ),
    (
        "Did it help: what was caught, and how often was it wrong?",
        &["Trends"],
        "marked wrong",
    ),
    (
        "Which past stops do other rules judge otherwise?",
        &["What if"],
        "config.yml",
    ),
];

pub(crate) fn answered(_: &Stage, browser: &Browser) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/watching.md");
    let documented = fs::read_to_string(page).expect("it is there");
    for (question, clicks, answer) in QUESTIONS {
        browser.show("");
        for click in clicks {
            let element = format!(
                "([...document.querySelectorAll('header a')].find(it => it.textContent.trim() === {click:?}) ?? document.querySelector({click:?}))"
            );
            browser.wait(&element);
            browser.evaluate(&format!("{element}.click()"));
        }
        browser.wait(&format!(
            "document.querySelector('.view')?.innerText.includes({answer:?})"
        ));
        assert!(clicks.len() <= 2, "{question}");
        assert!(
            documented.contains(&format!("| {question} |")),
            "{question}"
        );
    }
}
