//! `audit`: past decisions as a table, as CSV, or what they come to.

use std::path::Path;

use journal::Home;
use serde_json::Value;

use super::{answer, folder, text};
use crate::cli::args::{AuditFilter, Output};
use crate::cli::commands::{sql, status};
use crate::cli::connection;
use crate::cli::csv::Sheet;
use crate::cli::time as when;
use crate::error::{Failure, Result, exit};
use crate::ops::query::{Audit, Query};
use crate::render::{self, Colour, Table};

/// Lists past decisions.
pub(in crate::cli::commands) fn audit(
    home: &Home,
    filter: AuditFilter,
    output: Output,
) -> Result<u8> {
    let time = |text: &Option<String>| {
        text.as_deref()
            .map(when::read_now)
            .transpose()
            .map_err(Failure::usage)
    };
    let wanted = Audit {
        session: filter.session,
        agent: filter.agent.map(Into::into),
        project: filter.project.as_deref().map(folder).transpose()?,
        verdict: filter.verdict.map(Into::into),
        reason: filter.reason,
        since: time(&filter.since)?.map(|since| since.begin),
        until: time(&filter.until)?.map(|until| until.end),
        text: filter.text,
        before: None,
        limit: filter.limit,
    };
    if filter.summary {
        return summary(home, wanted, output);
    }
    if filter.csv {
        return csv(home, &Query::Audit(wanted));
    }
    answer(home, &Query::Audit(wanted), output, |lines| {
        if lines.is_empty() {
            println!("No decisions.")
        } else {
            table(&lines).print()
        }
    })
}

fn table(lines: &[Value]) -> Table<10> {
    let head = [
        "SEQ", "AT", "AGENT", "SESSION", "TURN", "AFTER", "PROJECT", "VERDICT", "REASON",
        "DELIVERY",
    ];
    let mut table = Table::new(head).optional(&[6, 5, 4, 2]).coloured(colour_of);
    for line in lines {
        table.row([
            line["seq"].to_string(),
            render::local_time(text(&line["at"])),
            text(&line["agent"]).into(),
            text(&line["session"]).chars().take(8).collect(),
            line["turn"].to_string(),
            line["elapsed_ms"]
                .as_u64()
                .map_or_else(|| "-".into(), render::duration_ms),
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

/// Prints decisions as CSV, with the columns that `sql` has for them.
fn csv(home: &Home, query: &Query) -> Result<u8> {
    let columns: Vec<_> = sql::columns_of("decisions").collect();
    let mut sheet = Sheet::new(std::io::stdout().lock(), columns.iter().copied())?;
    let mut written = Ok(());
    connection::ask(home, query, |line| {
        if written.is_ok() {
            written = sheet.row(columns.iter().map(|column| &line[*column]));
        }
    })?;
    written.and_then(|()| sheet.finish()).map(|()| exit::OK)
}

fn summary(home: &Home, wanted: Audit, output: Output) -> Result<u8> {
    let answer = connection::ask_one(home, &Query::AuditSummary(wanted), |_, _| ())?;
    if output.json {
        println!("{answer}");
        return Ok(exit::OK);
    }
    let total = &answer["total"];
    if total["decisions"] == 0 {
        println!("No decisions.");
        return Ok(exit::OK);
    }
    let head = [
        "AGENT",
        "STOPS",
        "ASKED",
        "PASSED",
        "CONFIRMED",
        "FAILED",
        "EXPIRED",
        "MET",
        "MEDIAN TURN",
        "PROJECT",
    ];
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
            line["median_turn_ms"]
                .as_u64()
                .map_or_else(|| "-".into(), render::duration_ms),
            project,
        ]);
    };
    for group in answer["groups"].as_array().into_iter().flatten() {
        row(
            text(&group["agent"]),
            render::path(Path::new(text(&group["project"]))),
            group,
        );
    }
    row("all", String::new(), total);
    table.print();
    let reasons = total["passed_by_reason"].as_object().into_iter().flatten();
    let reasons: Vec<_> = reasons
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    if !reasons.is_empty() {
        println!();
        render::print_wrapped("let pass: ", &reasons.join(", "));
    }
    Ok(exit::OK)
}
