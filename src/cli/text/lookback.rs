//! A look back for people.

use std::path::Path;

use crate::ops::sessions_now::in_folder;
use crate::ops::views::{FileProblem, Imported, LookBack, PastTurnRow, TurnTotals};
use crate::render::{self, Color, Column, Table};

/// The most transcripts with a problem that are named.
const PROBLEMS_MAX: usize = 8;
/// Maximum number of rules that are named.
const RULES_MAX: usize = 12;
/// The most demands of a turn that are named.
const ASKED_MAX: usize = 3;
/// The turns that are named in short.
const WORST: usize = 3;

/// Prints what was left open in at most 12 lines.
pub(crate) fn in_short(summary: &LookBack) {
    let total = &summary.total;
    if total.turns == 0 {
        return show(summary);
    }
    begin(summary);
    let count = |count: u64, what: &str| println!("  {count:>6} {what}");
    count(total.nothing_run, NOTHING_RUN);
    count(total.claimed, CLAIMED);
    count(total.tests_failed, "ended with failing tests");
    for row in summary.worth.iter().take(WORST) {
        let day: String = render::local_time(row.at).chars().take(10).collect();
        let asked = || row.asked.first().map(|asked| render::printable(asked));
        let left = Some(left(row)).filter(|left| !left.is_empty());
        let left = left.or_else(asked).unwrap_or_default();
        let left = render::paint(Color::Yellow, &left);
        println!("{day} {} {}: {left}", row.agent, project_name(&row.project));
        println!("  {}", opened(row));
    }
    let asks = format!(
        "would have asked at {} of {} stops",
        total.asked, total.turns
    );
    println!(
        "{} {asks}; `checkpointd lookback --limit 10` shows more",
        render::paint(Color::Bold, "`checkpointd init`")
    );
    let problems = summary.problems.len();
    if problems > 0 {
        let problems = render::count(problems, "transcript", "transcripts");
        eprintln!("note: {problems} cannot be read completely");
    }
}

/// How turns ended, as people read it.
const NOTHING_RUN: &str = "ended with code changed and nothing run after it";
const CLAIMED: &str = "claim passing tests, but none passed after the last edit";

/// Prints what was read.
fn begin(summary: &LookBack) {
    println!(
        "{} in {} since {} ({}, {})",
        render::count(summary.total.turns, "turn", "turns"),
        render::count(summary.total.sessions, "session", "sessions"),
        render::local_time(summary.since),
        render::count(summary.files, "transcript", "transcripts"),
        render::bytes(summary.bytes)
    );
}

/// Prints the totals of transcripts.
pub(crate) fn show(summary: &LookBack) {
    let total = &summary.total;
    let since = render::local_time(summary.since);
    if total.turns == 0 {
        let files = match summary.files {
            0 => ": no agent has left a transcript".to_owned(),
            files => format!(" in {}", render::count(files, "transcript", "transcripts")),
        };
        println!("No turns since {since}{files}.");
        problems(&summary.problems);
        return;
    }
    begin(summary);
    println!();
    groups(summary);
    println!();
    let turns = render::count(total.turns, "turn", "turns");
    let of = |count: u64, what: &str| {
        println!("  {count:>6} of {turns} {what}");
    };
    of(total.nothing_run, NOTHING_RUN);
    of(total.claimed, CLAIMED);
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
    let all = (summary.groups.len() > 1).then_some(("all", &summary.total, String::new()));
    let groups = summary.groups.iter();
    let groups = groups.map(|it| (it.agent.word(), &it.totals, project_name(&it.project)));
    let rows: Vec<_> = groups.chain(all).collect();
    let columns: [Column<'_, (&str, &TurnTotals, String)>; 10] = [
        ("AGENT", &|(agent, ..)| (*agent).to_owned()),
        ("SESSIONS", &|(_, it, _)| it.sessions.to_string()),
        ("TURNS", &|(_, it, _)| it.turns.to_string()),
        ("TIME", &|(_, it, _)| render::duration_ms(it.worked_ms)),
        ("CODE", &|(_, it, _)| it.code_changed.to_string()),
        ("NOT RUN", &|(_, it, _)| it.nothing_run.to_string()),
        ("FAILING", &|(_, it, _)| it.tests_failed.to_string()),
        ("ERROR", &|(_, it, _)| it.error_left.to_string()),
        ("ASKED", &|(_, it, _)| it.asked.to_string()),
        ("PROJECT", &|(.., project)| project.clone()),
    ];
    Table::of(&rows, &columns).optional(&[1, 7]).print();
}

/// Prints a turn that is worth reading.
fn turn(row: &PastTurnRow) {
    let at = render::local_time(row.at);
    println!(
        "\n{} {} {}",
        render::paint(Color::Bold, &at),
        row.agent,
        project_name(&row.project)
    );
    render::print_wrapped("  ", &render::printable(&row.prompt));
    let left = left(row);
    if !left.is_empty() {
        println!("  {}", render::paint(Color::Yellow, &left));
    }
    for asked in row.asked.iter().take(ASKED_MAX) {
        render::print_wrapped("  asks: ", &render::printable(asked));
    }
    println!("  open: {}", opened(row));
}

/// Says what a turn left open; empty if it only would have been asked for something.
fn left(row: &PastTurnRow) -> String {
    let open = [
        (row.claimed, "claims passing tests that did not pass"),
        (row.nothing_run, "code changed, and nothing run after it"),
        (row.tests_failed, "tests fail"),
        (row.error_left, "an error was left open"),
    ];
    let open = open.into_iter().filter(|(is_so, _)| *is_so);
    let open: Vec<_> = open.map(|(_, what)| what).collect();
    if open.is_empty() {
        return String::new();
    }
    let files = render::count(row.changed_files, "file", "files");
    format!("{} ({files} changed)", open.join("; "))
}

/// Returns the command that resumes a turn's session, or where its transcript is.
fn opened(row: &PastTurnRow) -> String {
    let line = row.open.as_deref();
    match line.and_then(|line| in_folder(&row.project, line)) {
        Some(line) => render::printable(&line),
        None => render::path(&row.transcript),
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
