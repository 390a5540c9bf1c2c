//! Prints how each rule came to its actions: the files that triggered it, the expected calls, the findings.

use checkpoint::judging::Outcome;

use crate::ops::views::{ActionTrace, RuleTrace};
use crate::render::{self, Color};

/// The most of a list that is shown on a line.
const LIST_CHARS_MAX: usize = 300;

/// Adds the trace of a decision's rules.
pub(crate) fn show(page: &mut Vec<String>, rules: &[RuleTrace]) {
    if rules.is_empty() {
        return;
    }
    page.extend([String::new(), render::paint(Color::Bold, "rules")]);
    for rule in rules {
        let files = if rule.files.is_empty() {
            "every stop".to_owned()
        } else {
            render::cut(&render::printable(&rule.files.join(" ")), LIST_CHARS_MAX)
        };
        let name = format!("{} ({})", rule.rule, rule.pack);
        page.extend(render::wrapped(&format!("  {name:24} "), &files));
        rule.actions
            .iter()
            .for_each(|action| show_action(page, action));
    }
}

fn show_action(page: &mut Vec<String>, trace: &ActionTrace) {
    let action = &trace.action;
    let mut found = action.found.iter();
    let mark = if action.stands {
        render::paint(Color::Yellow, "to do")
    } else if found.any(|seen| seen.outcome == Outcome::Counts) {
        render::paint(Color::Green, "done ")
    } else {
        // Another action that is due asks for this one too.
        render::paint(Color::Dim, "with ")
    };
    page.extend(render::wrapped(
        &format!("    {mark}  "),
        &render::printable(&action.text),
    ));
    page.extend(render::wrapped(
        "           looked for  ",
        &render::printable(&trace.looked),
    ));
    for seen in &trace.seen {
        page.extend(render::wrapped(
            "           found       ",
            &render::printable(seen),
        ));
    }
}
