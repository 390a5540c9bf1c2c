//! Decisions as a table.

use journal::Outcome;

use crate::cli::text::{on_machine, short, spaced};
use crate::ops::views::{DecisionRow, DemandEnd};
use crate::render::{self, Color, Column, Table};

/// Returns decisions as a table; where it has no room, the session, the project and the turn go, and then the delivery. Only
/// a collector's has the machine.
pub(crate) fn table(decisions: &[DecisionRow]) -> Table {
    let machine = |row: &DecisionRow| row.source.as_ref().map(|source| source.machine.clone());
    let columns: [Column<'_, DecisionRow>; 11] = [
        ("SEQ", &|row| row.seq.to_string()),
        ("AT", &|row| render::local_time(row.at)),
        ("MACHINE", &|row| machine(row).unwrap_or_default()),
        ("AGENT", &|row| row.agent.to_string()),
        ("SESSION", &|row| short(row.session)),
        ("TURN", &|row| row.turn.to_string()),
        ("AFTER", &|row| {
            render::or_dash(row.elapsed_ms, render::duration_ms)
        }),
        ("PROJECT", &|row| {
            on_machine(None, row.project.as_deref().unwrap_or_default())
        }),
        ("CHECKPOINT", &verdict),
        ("DELIVERY", &delivery),
        ("WHY", &|row| row.reason.words().to_owned()),
    ];
    Table::of(decisions, &columns)
        .optional(&[6, 5, 4, 7, 9, 2])
        .whole_last()
        .colored(color_of)
}

/// Says what was decided, what came of it, and if a checkpoint did not arrive, which narrow tables show nowhere else.
fn verdict(row: &DecisionRow) -> String {
    match row.delivery {
        Outcome::Failed | Outcome::Expired => format!("{}, lost", row.verdict),
        _ => match row.demand.and_then(DemandEnd::words) {
            Some(end) => format!("{}, {end}", row.verdict),
            None => row.verdict.to_string(),
        },
    }
}

/// Says how a delivery ended, and why.
fn delivery(row: &DecisionRow) -> String {
    match &row.delivery_reason {
        Some(why) => format!("{} ({})", row.delivery.word(), spaced(why)),
        None => row.delivery.word().into(),
    }
}

fn color_of(cell: &str) -> Option<Color> {
    match cell {
        "sent" | "sent, done" | "confirmed" => Some(Color::Green),
        "let through" | "none" => Some(Color::Dim),
        "pending" | "sent, pending" => Some(Color::Yellow),
        lost if lost.ends_with(", lost") || lost.ends_with("not done") => Some(Color::Red),
        lost if lost.starts_with("failed") || lost.starts_with("expired") => Some(Color::Red),
        _ => None,
    }
}
