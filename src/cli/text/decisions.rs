//! Decisions as a table.

use crate::cli::text::{on_machine, short};
use crate::ops::views::DecisionRow;
use crate::render::{self, Color, Table};

/// Returns decisions as a table for `audit`.
pub(crate) fn with_projects(decisions: &[DecisionRow]) -> Table<10> {
    let head = [
        "SEQ",
        "AT",
        "AGENT",
        "SESSION",
        "TURN",
        "AFTER",
        "PROJECT",
        "CHECKPOINT",
        "REASON",
        "DELIVERY",
    ];
    let mut table = Table::new(head).optional(&[6, 5, 4, 2]).colored(color_of);
    for row in decisions {
        let [seq, at, agent, session, turn, verdict, reason, delivery] = cells(row);
        let after = row
            .elapsed_ms
            .map_or_else(|| "-".into(), render::duration_ms);
        let machine = row.source.as_ref().map(|source| source.machine.as_str());
        let project = on_machine(machine, row.project.as_deref().unwrap_or_default());
        table.row([
            seq, at, agent, session, turn, after, project, verdict, reason, delivery,
        ]);
    }
    table
}

/// Returns decisions as a table for a screen that shows other things too.
pub(crate) fn table(decisions: &[DecisionRow]) -> Table<8> {
    let mut table = Table::new([
        "SEQ",
        "AT",
        "AGENT",
        "SESSION",
        "TURN",
        "CHECKPOINT",
        "REASON",
        "DELIVERY",
    ])
    .optional(&[4, 3]);
    decisions.iter().for_each(|row| table.row(cells(row)));
    table
}

fn cells(row: &DecisionRow) -> [String; 8] {
    [
        row.seq.to_string(),
        render::local_time(&row.at.to_string()),
        row.agent.to_string(),
        short(row.session),
        row.turn.to_string(),
        row.verdict.to_string(),
        row.reason.to_string(),
        delivery(row),
    ]
}

/// Says how a delivery ended, and why.
fn delivery(row: &DecisionRow) -> String {
    match &row.delivery_reason {
        Some(why) => format!("{} ({why})", row.delivery.word()),
        None => row.delivery.word().into(),
    }
}

fn color_of(cell: &str) -> Option<Color> {
    match cell {
        "sent" | "confirmed" => Some(Color::Green),
        "let through" | "none" => Some(Color::Dim),
        "pending" => Some(Color::Yellow),
        lost if lost.starts_with("failed") || lost.starts_with("expired") => Some(Color::Red),
        _ => None,
    }
}
