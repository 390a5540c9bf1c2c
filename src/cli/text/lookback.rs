//! A look back for people.

use std::path::Path;

use crate::ops::sessions_now::in_folder;
use crate::ops::views::{FileProblem, Imported, LookBack, PastTurnRow, TurnTotals};
use crate::render::{self, Color, Table};

/// The most transcripts with a problem that are named.
const PROBLEMS_MAX: usize = 8;
/// Maximum number of rules that are named.
const RULES_MAX: usize = 12;
/// The most demands of a turn that are named.
const ASKED_MAX: usize = 3;

/// Prints the totals of transcripts.
pub(crate) fn show(summary: &LookBack) {
    let total = &summary.total;
    let since = render::local_time(&summary.since.to_string());
    if total.turns == 0 {
        let files = render::count(summary.files, "transcript", "transcripts");
        println!("No turns since {since} in {files}.");
        problems(&summary.problems);
        return;
    }
    println!(
        "{} in {} since {since} ({}, {})\n",
        render::count(total.turns, "turn", "turns"),
        render::count(total.sessions, "session", "sessions"),
        render::count(summary.files, "transcript", "transcripts"),
        render::bytes(summary.bytes)
    );
    groups(summary);
    println!();
    let turns = render::count(total.turns, "turn", "turns");
    let of = |count: u64, what: &str| {
        println!("  {count:>6} of {turns} {what}");
    };
    of(
        total.nothing_run,
        "ended with code changed and nothing run after it",
    );
    of(total.tests_failed, "ended with failing tests");
    of(total.error_left, "ended with an error");
    of(total.asked, "would have been asked for something");
    if !summary.rules.is_empty() {
        heading("what would have been asked, by rule");
        let mut table = Table::new(["TURNS", "RULE"]);
        for rule in summary.rules.iter().take(RULES_MAX) {
            table.row([rule.turns.to_string(), render::printable(&rule.rule)]);
        }
        table.print();
    }
    if !summary.worth.is_empty() {
        heading("most worth reading");
        summary.worth.iter().for_each(turn);
    }
    problems(&summary.problems);
    println!();
    render::print_wrapped(
        "",
        "Only edits, shell writes and commits are counted as changes. Each turn is decided by today's rules.",
    );
}

fn heading(text: &str) {
    println!("\n{}", render::paint(Color::Bold, text));
}

fn groups(summary: &LookBack) {
    let mut table = Table::new([
        "AGENT", "SESSIONS", "TURNS", "TIME", "CODE", "NOT RUN", "FAILING", "ERROR", "ASKED",
        "PROJECT",
    ])
    .optional(&[1, 7]);
    let mut row = |agent: &str, totals: &TurnTotals, project: String| {
        table.row([
            agent.to_owned(),
            totals.sessions.to_string(),
            totals.turns.to_string(),
            render::duration_ms(totals.worked_ms),
            totals.code_changed.to_string(),
            totals.nothing_run.to_string(),
            totals.tests_failed.to_string(),
            totals.error_left.to_string(),
            totals.asked.to_string(),
            project,
        ]);
    };
    for group in &summary.groups {
        row(
            group.agent.word(),
            &group.totals,
            project_name(&group.project),
        );
    }
    if summary.groups.len() > 1 {
        row("all", &summary.total, String::new());
    }
    table.print();
}

/// Prints a turn that is worth reading.
fn turn(row: &PastTurnRow) {
    let at = render::local_time(&row.at.to_string());
    println!(
        "\n{} {} {}",
        render::paint(Color::Bold, &at),
        row.agent,
        project_name(&row.project)
    );
    render::print_wrapped("  ", &render::printable(&row.prompt));
    let open = [
        (row.nothing_run, "code changed, and nothing run after it"),
        (row.tests_failed, "tests fail"),
        (row.error_left, "an error was left open"),
    ];
    let open: Vec<_> = open
        .into_iter()
        .filter_map(|(is_so, what)| is_so.then_some(what))
        .collect();
    if !open.is_empty() {
        let open = render::paint(Color::Yellow, &open.join("; "));
        let files = if row.changed_files == 1 {
            "file"
        } else {
            "files"
        };
        println!("  {open} ({} {files} changed)", row.changed_files);
    }
    for asked in row.asked.iter().take(ASKED_MAX) {
        render::print_wrapped("  asks: ", &render::printable(asked));
    }
    let line = row.open.as_deref();
    match line.and_then(|line| in_folder(&row.project, line)) {
        Some(line) => println!("  open: {}", render::printable(&line)),
        None => println!("  file: {}", render::path(&row.transcript)),
    }
}

fn problems(problems: &[FileProblem]) {
    for problem in problems.iter().take(PROBLEMS_MAX) {
        eprintln!(
            "note: {}: {}",
            render::path(&problem.file),
            render::printable(&problem.problem)
        );
    }
    let more = problems.len().saturating_sub(PROBLEMS_MAX);
    if more > 0 {
        let more = render::count(more, "more transcript", "more transcripts");
        eprintln!("note: {more} cannot be read completely; --json lists them");
    }
}

/// Prints what was imported into the journal.
pub(crate) fn imported(imported: &Imported) {
    println!(
        "{} of {} imported ({}), {} already known",
        render::count(imported.turns, "turn", "turns"),
        render::count(imported.sessions, "session", "sessions"),
        render::count(imported.events, "event", "events"),
        imported.known
    );
    if imported.live > 0 {
        println!(
            "{} skipped because hooks reported them",
            render::count(imported.live, "session was", "sessions were")
        );
    }
    if imported.earlier > 0 {
        let hint = format!(
            "{} older than what was imported of the session; to get them, run `checkpointd journal forget --imported` and import from an earlier time",
            render::count(imported.earlier, "turn is", "turns are")
        );
        render::print_wrapped("", &hint);
    }
    problems(&imported.problems);
    if imported.turns > 0 {
        println!(
            "`checkpointd audit` and `checkpointd timeline SESSION` show them; `checkpointd journal forget --imported` removes them."
        );
    }
}

/// Returns the name of a project's folder.
fn project_name(project: &str) -> String {
    if project.is_empty() {
        "(no folder)".to_owned()
    } else {
        render::path(Path::new(project))
    }
}
