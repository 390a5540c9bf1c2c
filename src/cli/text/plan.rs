//! A plan in words, as a diff, and as JSON.

use journal::Timestamp;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::install::{AgentPlan, Change, Status};
use crate::render::{self, Color};

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// The order in which states are printed.
const STATES: [Status; 5] = [
    Status::Added,
    Status::Updated,
    Status::Removed,
    Status::AlreadyThere,
    Status::Kept,
];

/// Prints what is done for an agent; with the diff of every file, if asked for.
pub(crate) fn print(plan: &AgentPlan, with_diff: bool) {
    println!("{}", render::paint(Color::Bold, &title(plan)));
    for change in &plan.changes {
        let verb = verb(change);
        if verb == "unchanged" && change.entries.is_empty() {
            continue;
        }
        println!("  {} ({verb})", render::path(&change.path));
        for state in STATES {
            let names: Vec<&str> = change
                .entries
                .iter()
                .filter(|entry| entry.status == state)
                .map(|entry| entry.name.as_str())
                .collect();
            if !names.is_empty() {
                print_names(state, &names);
            }
        }
        // A file that goes as a whole was made by us.
        if with_diff && change.is_needed() && change.after.is_some() {
            print_diff(change);
        }
    }
    for note in &plan.notes {
        println!(
            "  {} {}",
            render::paint(Color::Yellow, "note:"),
            render::printable(note)
        );
    }
}

/// Returns an agent's name, with its version if that is known.
fn title(plan: &AgentPlan) -> String {
    let version = plan.version.map(|version| format!(" {version}"));
    format!("{}{}", plan.agent.name(), version.unwrap_or_default())
}

/// Prints what is done for an agent, a line for each file.
pub(crate) fn print_short(plan: &AgentPlan) {
    let mut title = title(plan);
    for change in &plan.changes {
        let mut parts: Vec<String> = STATES
            .iter()
            .filter_map(|state| {
                let count = change
                    .entries
                    .iter()
                    .filter(|entry| entry.status == *state)
                    .count();
                (count > 0).then(|| format!("{count} {}", state.word()))
            })
            .collect();
        if parts.is_empty() && !change.is_needed() {
            continue;
        }
        if parts.is_empty() {
            parts.push(verb(change).to_owned());
        }
        let path = render::path(&change.path);
        println!("{title:26} {path}: {}", parts.join(", "));
        title.clear();
    }
    for note in &plan.notes {
        let note = render::printable(note);
        render::print_wrapped(&format!("{title:26} note: "), &note);
        title.clear();
    }
}

/// Prints the names of entries in a column of their own.
fn print_names(state: Status, names: &[&str]) {
    let color = match state {
        Status::Added => Color::Green,
        Status::Updated | Status::Removed => Color::Yellow,
        Status::AlreadyThere | Status::Kept => Color::Dim,
    };
    let word = render::paint(color, &format!("{:14}", state.word()));
    render::print_wrapped(
        &format!("    {word} "),
        &render::printable(&names.join(", ")),
    );
}

/// Returns a change as a unified diff.
fn diff(change: &Change) -> String {
    let [(before, old), (after, new)] = [&change.before, &change.after].map(|bytes| {
        let path = change.path.display();
        let name = bytes.as_ref().map(|_| path.to_string());
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
        (text, name.unwrap_or_else(|| "/dev/null".to_owned()))
    });
    TextDiff::from_lines(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(&old, &new)
        .to_string()
}

/// Prints the same in colors, with nothing in it that could act on the terminal.
fn print_diff(change: &Change) {
    for (number, line) in diff(change).lines().enumerate() {
        let shown = render::printable(line);
        let color = match line.as_bytes().first() {
            // The names of both sides.
            _ if number < 2 => Color::Bold,
            Some(b'+') => Color::Green,
            Some(b'-') => Color::Red,
            Some(b'@' | b'\\') => Color::Dim,
            _ => {
                println!("{shown}");
                continue;
            }
        };
        println!("{}", render::paint(color, &shown));
    }
}

fn verb(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, Some(_)) => "created",
        (Some(_), None) => "removed",
        (before, after) if before == after => "unchanged",
        _ => "changed",
    }
}

/// Returns plans for `--json`.
pub(crate) fn json(plans: &[AgentPlan], is_dry_run: bool) -> Value {
    let agents = plans.iter().map(|plan| {
        json!({
            "agent": plan.agent,
            "version": plan.version.map(|version| version.to_string()),
            "folder": plan.folder,
            "files": Vec::from_iter(plan.changes.iter().map(file)),
            "notes": plan.notes,
        })
    });
    json!({
        "at": Timestamp::now(),
        "dry_run": is_dry_run,
        "changed": is_needed(plans),
        "agents": Vec::from_iter(agents),
    })
}

/// Returns whether plans change anything.
pub(crate) fn is_needed(plans: &[AgentPlan]) -> bool {
    let mut changes = plans.iter().flat_map(|plan| &plan.changes);
    changes.any(Change::is_needed)
}

fn file(change: &Change) -> Value {
    let entries = change.entries.iter();
    let entries = entries.map(|it| json!({ "entry": it.name, "status": it.status.word() }));
    json!({
        "path": change.path,
        "kind": change.kind,
        "change": verb(change),
        "entries": Vec::from_iter(entries),
        "diff": change.is_needed().then(|| diff(change)),
    })
}
