//! `audit`: past decisions as a table, as CSV, or what they come to.

use std::path::Path;

use journal::{Home, Reason};
use serde_json::Value;

use super::{answer, folder, text};
use crate::cli::{AuditFilter, Output};
use crate::commands::status;
use crate::failure::{Failure, Result, exit};
use crate::query::{Audit, Query};
use crate::render::{self, Colour, Table};
use crate::{source, when};

/// The columns of the CSV form.
const CSV_COLUMNS: [&str; 19] = [
    "seq",
    "at",
    "session",
    "native_session",
    "agent",
    "project",
    "turn",
    "trigger",
    "verdict",
    "reason",
    "route",
    "elapsed_ms",
    "delivery",
    "delivery_reason",
    "categories",
    "actions",
    "observations",
    "all_clear",
    "message",
];

/// Lists past decisions.
pub(in crate::commands) fn audit(home: &Home, filter: AuditFilter, output: Output) -> Result<u8> {
    let time = |text: &Option<String>| text.as_deref().map(when::read_now).transpose().map_err(Failure::usage);
    let wanted = Audit {
        session: filter.session,
        agent: filter.agent.map(Into::into),
        project: filter.project.as_deref().map(folder).transpose()?,
        verdict: filter.verdict.map(Into::into),
        reason: filter.reason.map(|word| reason_of(&word)).transpose()?,
        since: time(&filter.since)?.map(|since| since.begin),
        until: time(&filter.until)?.map(|until| until.end),
        text: filter.text,
        limit: filter.limit,
    };
    if filter.summary {
        return summary(home, wanted, output);
    }
    if filter.csv {
        return csv(home, &Query::Audit(wanted));
    }
    answer(home, &Query::Audit(wanted), output, |lines| {
        if lines.is_empty() { println!("No decisions.") } else { table(&lines).print() }
    })
}

fn reason_of(word: &str) -> Result<Reason> {
    Reason::ALL.into_iter().find(|reason| reason.word() == word).ok_or_else(|| {
        let words: Vec<_> = Reason::ALL.iter().map(|reason| reason.word()).collect();
        Failure::usage(format!("there is no reason `{word}`")).hint(format!("reasons are {}", words.join(", ")))
    })
}

fn table(lines: &[Value]) -> Table<10> {
    let head = ["SEQ", "AT", "AGENT", "SESSION", "TURN", "AFTER", "PROJECT", "VERDICT", "REASON", "DELIVERY"];
    let mut table = Table::new(head).optional(&[6, 5, 4, 2]).coloured(colour_of);
    for line in lines {
        table.row([
            line["seq"].to_string(),
            render::local_time(text(&line["at"])),
            text(&line["agent"]).into(),
            text(&line["session"]).chars().take(8).collect(),
            line["turn"].to_string(),
            line["elapsed_ms"].as_u64().map_or_else(|| "-".into(), render::duration_ms),
            render::path(Path::new(text(&line["project"]))),
            text(&line["verdict"]).into(),
            text(&line["reason"]).into(),
            status::delivery(line),
        ]);
    }
    table
}

fn colour_of(cell: &str) -> Option<Colour> {
    match cell {
        "inject" | "confirmed" => Some(Colour::Green),
        "pass" | "none" => Some(Colour::Dim),
        "pending" => Some(Colour::Yellow),
        lost if lost.starts_with("failed") || lost.starts_with("expired") => Some(Colour::Red),
        _ => None,
    }
}

fn csv(home: &Home, query: &Query) -> Result<u8> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    let mut broken = out.write_record(CSV_COLUMNS).err();
    source::ask(home, query, |line| {
        if broken.is_none() {
            broken = out.write_record(CSV_COLUMNS.map(|column| field(&line[column]))).err();
        }
    })?;
    let broken = broken.map(std::io::Error::from).or_else(|| out.flush().err());
    match broken {
        Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(exit::OK),
    }
}

/// Returns a value as a field of CSV: nothing for null, a list line by line.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(field).collect::<Vec<_>>().join("\n"),
        // An action.
        Value::Object(fields) if fields.contains_key("text") => field(&fields["text"]),
        other => other.to_string(),
    }
}

fn summary(home: &Home, wanted: Audit, output: Output) -> Result<u8> {
    let answer = source::ask_one(home, &Query::AuditSummary(wanted), |_, _| ())?;
    if output.json {
        println!("{answer}");
        return Ok(exit::OK);
    }
    let total = &answer["total"];
    if total["decisions"] == 0 {
        println!("No decisions.");
        return Ok(exit::OK);
    }
    let head = ["AGENT", "STOPS", "ASKED", "PASSED", "CONFIRMED", "FAILED", "EXPIRED", "MET", "MEDIAN TURN", "PROJECT"];
    let mut table = Table::new(head).optional(&[6, 5]);
    let mut row = |agent: &str, project: String, line: &Value| {
        table.row([
            agent.into(),
            line["decisions"].to_string(),
            line["injected"].to_string(),
            line["passed"].to_string(),
            line["confirmed"].to_string(),
            line["failed"].to_string(),
            line["expired"].to_string(),
            format!("{} of {}", line["met"], line["demands"]),
            line["median_turn_ms"].as_u64().map_or_else(|| "-".into(), render::duration_ms),
            project,
        ]);
    };
    for group in answer["groups"].as_array().into_iter().flatten() {
        row(text(&group["agent"]), render::path(Path::new(text(&group["project"]))), group);
    }
    row("all", String::new(), total);
    table.print();
    let reasons = total["passed_by_reason"].as_object().into_iter().flatten();
    let reasons: Vec<_> = reasons.map(|(reason, count)| format!("{count} {reason}")).collect();
    if !reasons.is_empty() {
        println!();
        render::print_wrapped("let pass: ", &reasons.join(", "));
    }
    Ok(exit::OK)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_fields_of_several_lines() {
        let actions = json!([{ "text": "one", "step": "observe" }, { "text": "two" }]);
        assert_eq!([field(&actions), field(&json!(null)), field(&json!(7))], ["one\ntwo", "", "7"]);
    }
}
