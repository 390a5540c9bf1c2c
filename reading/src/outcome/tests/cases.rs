//! What outputs say.

use std::collections::BTreeSet;

use super::{cases, draft, lines, read, shown, table};

#[test]
fn every_output_says_what_its_tool_means() {
    let mut wrong = Vec::new();
    for (expected, output) in cases() {
        let said = shown(&read(output));
        if said != expected {
            wrong.push(format!("expected {expected}\n     got {said}\n{output}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_form_has_a_case() {
    let mut met = BTreeSet::new();
    for (_, output) in cases() {
        lines::each(output, |line| {
            let found = table::positions(line);
            met.extend(found.iter().copied());
            !found.is_empty()
        });
    }
    let missing: Vec<String> = (0..table::length())
        .filter(|position| !met.contains(position))
        .map(table::pattern)
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn an_output_has_few_summaries() {
    let many: String = cases().iter().map(|(_, output)| *output).collect();
    assert_eq!(read(&many).len(), draft::SUMMARIES_MAX);
}
