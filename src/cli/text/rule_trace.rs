//! How each rule came to what it asks for, for people: the files that triggered it, what was looked for, what was found.

use serde_json::Value;

use crate::render::{self, Colour};

/// The most of a list that is shown on a line.
const LIST_CHARS_MAX: usize = 300;

/// Adds the trace of a decision's rules, as [`crate::ops::views::rules`] has it.
pub(crate) fn show(page: &mut Vec<String>, trace: &Value) {
    let rules: Vec<&Value> = trace.as_array().into_iter().flatten().collect();
    if rules.is_empty() {
        return;
    }
    page.extend([String::new(), render::paint(Colour::Bold, "rules")]);
    for rule in rules {
        let files = list(&rule["files"], " ");
        let files = if files.is_empty() {
            "every stop".to_owned()
        } else {
            files
        };
        let rule_name = format!(
            "  {:24} ",
            format!("{} ({})", word(&rule["rule"]), word(&rule["pack"]))
        );
        page.extend(render::wrapped(&rule_name, &files));
        for action in rule["actions"].as_array().into_iter().flatten() {
            show_action(page, action);
        }
    }
}

fn show_action(page: &mut Vec<String>, action: &Value) {
    let mut found = action["found"].as_array().into_iter().flatten();
    let mark = if action["stands"] == true {
        render::paint(Colour::Yellow, "due ")
    } else if found.any(|seen| seen["outcome"] == "counts") {
        render::paint(Colour::Green, "done")
    } else {
        // An action that stands asks for this one too.
        render::paint(Colour::Dim, "with")
    };
    let text = render::wrap(
        &render::printable(word(&action["text"])),
        render::width().saturating_sub(10).max(20),
    );
    let mut before = format!("    {mark}  ");
    for line in text {
        page.push(before + &line);
        before = " ".repeat(10);
    }
    page.extend(render::wrapped(
        "          looked for  ",
        &render::printable(word(&action["looked"])),
    ));
    for seen in action["seen"].as_array().into_iter().flatten() {
        page.extend(render::wrapped(
            "          found       ",
            &render::printable(word(seen)),
        ));
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(values: &Value, between: &str) -> String {
    let words: Vec<&str> = values.as_array().into_iter().flatten().map(word).collect();
    render::cut(&render::printable(&words.join(between)), LIST_CHARS_MAX)
}
