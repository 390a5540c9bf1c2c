//! Prints one decision with its inputs, on one screen.

use std::collections::BTreeMap;
use std::path::Path;

use checkpoint::demands;
use checkpoint::judging::{Answer, Verified};
use journal::{Changes, Evidence, Outcome, Reason, Timestamp, Verdict};

use super::{event_line, rule_trace, short, spaced, word};
use crate::ops::views::{DecisionRow, Demand, DemandEnd, Explanation, StateView};
use crate::render::{self, Color};

/// The most characters of the list of changed files that are shown.
const LIST_CHARS_MAX: usize = 400;
/// The most rows of the answer table in the first lines, and the most files that one of them names.
const ANSWERS_MAX: usize = 3;
const FILES_MAX: usize = 3;
/// The most tool calls that are shown, the newest.
const CALLS_MAX: usize = 12;

fn heading(page: &mut Vec<String>, text: &str) {
    page.extend([String::new(), render::paint(Color::Bold, text)]);
}

/// Adds a labeled line of a section, broken where it is too long.
fn entry(page: &mut Vec<String>, label: &str, text: &str) {
    page.extend(render::wrapped(&format!("  {label:22} "), text));
}

/// Returns what a decision came to, in a few lines: what was asked, why, whether it was done, and what would change it.
pub(crate) fn summary(answer: &Explanation) -> Vec<String> {
    let decision = &answer.decision;
    let mut page = Vec::new();
    let project = render::path(Path::new(&answer.state.project));
    let head = format!(
        "decision {}: {}, {}, {} {}, turn {}, {project}",
        decision.seq,
        decision.verdict,
        render::local_time(decision.at),
        decision.agent,
        short(decision.session),
        decision.turn,
    );
    page.extend(render::wrapped("", &head));
    page[0] = render::paint(Color::Bold, &page[0]);
    let demands = demands::of_parts(&decision.actions, &decision.observations);
    for demand in &demands {
        labeled(&mut page, "asked", &render::printable(demand.text));
    }
    let shown = whys(answer, demands.is_empty());
    if shown.is_empty() {
        let exit = answer.considered.last();
        let exit = exit.map(|exit| with_figures(exit.reason, &exit.why));
        labeled(
            &mut page,
            "why",
            exit.as_deref().unwrap_or("it is not in the journal"),
        );
    }
    for line in &shown {
        labeled(&mut page, "why", &render::printable(line));
    }
    if !demands.is_empty() {
        labeled(&mut page, "then", &then(answer));
    }
    for mark in &answer.marked_wrong {
        let note = render::printable(&mark.note);
        labeled(&mut page, "marked", &format!("wrong: {note}"));
    }
    labeled(&mut page, "change", &change(answer));
    page
}

/// Says why a stop was treated so, with the figures if there are any.
pub(crate) fn with_figures(reason: Reason, why: &str) -> String {
    let words = reason.words();
    match reason {
        Reason::BackgroundTasks
        | Reason::BelowThreshold
        | Reason::BlockBudget
        | Reason::Muted
        | Reason::Superseded => format!("{words} ({})", render::printable(why)),
        _ => words.to_owned(),
    }
}

fn labeled(page: &mut Vec<String>, label: &str, text: &str) {
    page.extend(render::wrapped(&format!("{label:7} "), text));
}

/// Returns the answers of a decision about each changed file.
fn answers(answer: &Explanation) -> impl Iterator<Item = &Answer> {
    let rules = answer.rules.iter().flat_map(|rules| &rules.trace);
    let actions = rules.flat_map(|rule| &rule.actions);
    actions.flat_map(|action| &action.action.answers)
}

/// Returns the rows of the answer table, each with the files that it holds for.
fn whys(answer: &Explanation, with_done: bool) -> Vec<String> {
    let mut rows: Vec<(&Answer, Vec<&str>)> = Vec::new();
    for answer in answers(answer) {
        if answer.verified == Verified::Done && !with_done {
            continue;
        }
        let is_same =
            |(row, _): &&mut (&Answer, _)| (&row.row, &row.why) == (&answer.row, &answer.why);
        match rows.iter_mut().find(is_same) {
            Some((_, files)) => files.push(&answer.file),
            None => rows.push((answer, vec![&answer.file])),
        }
    }
    let line = |(row, files): (&Answer, Vec<&str>)| {
        let named = files[..files.len().min(FILES_MAX)].join(", ");
        let more = match files.len().saturating_sub(FILES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let row = if row.why.starts_with(&row.row) {
            row.why.clone()
        } else {
            format!("{}: {}", row.row, row.why)
        };
        format!("{row} ({named}{more})")
    };
    rows.into_iter().take(ANSWERS_MAX).map(line).collect()
}

/// Says whether what was asked for was done, and by which call.
fn then(answer: &Explanation) -> String {
    let Some(demand) = &answer.demand else {
        return "it is not known whether it was done".to_owned();
    };
    match demand.end {
        DemandEnd::Open => "the agent has not stopped again yet".to_owned(),
        DemandEnd::Met if demand.done_by.is_empty() => "done".to_owned(),
        DemandEnd::Met => {
            let by = demand.done_by.iter().map(|done| {
                let at = render::time_of_day(done.at);
                format!("`{}` at {at}", render::printable(&done.command))
            });
            format!("done: {}", by.collect::<Vec<_>>().join("; "))
        }
        DemandEnd::Left => format!(
            "not done: {} of {}",
            demand.left.len(),
            answer.decision.actions.len()
        ),
        DemandEnd::Unknown => "it is not known whether it was done".to_owned(),
        DemandEnd::Withheld => "whether it was done is withheld".to_owned(),
    }
}

/// Returns the command that would have made this decision another one.
fn change(answer: &Explanation) -> String {
    let decision = &answer.decision;
    let seq = decision.seq;
    let session = short(decision.session);
    let is_clear = answer.rules.as_ref().is_some_and(|rules| rules.all_clear);
    match decision.reason {
        Reason::Muted => format!("`checkpointd mute --off {session}`"),
        Reason::ProjectOff => "`enabled: true` in the project's .checkpointd.yml".to_owned(),
        Reason::BlockBudget => "`checkpointd config set max_blocks_per_turn 2`".to_owned(),
        Reason::BelowThreshold => "`checkpointd config set min_turn 10s`".to_owned(),
        Reason::Repeated => "`checkpointd config set repeat always`".to_owned(),
        Reason::SilentAllClear | Reason::Headless
            if is_clear && answers(answer).any(|it| it.verified == Verified::Unknown) => {
            "`checkpointd config set ask likely` also asks where the record does not say".to_owned()
        }
        Reason::Headless if is_clear => {
            "`checkpointd config set headless always` and `checkpointd config set all_clear message`"
                .to_owned()
        }
        Reason::Headless => "`checkpointd config set headless always`".to_owned(),
        Reason::SilentAllClear => "`checkpointd config set all_clear message`".to_owned(),
        Reason::SilentUnchanged => "`checkpointd config set unchanged message`".to_owned(),
        Reason::ExitsOff => "`checkpointd config set hooks.exits hold`".to_owned(),
        Reason::HeldOut => "`checkpointd config set experiment.holdout 0`".to_owned(),
        Reason::SilentDocsOnly => "`checkpointd config set docs_only message`".to_owned(),
        reason if decision.verdict == Verdict::Pass => {
            format!("nothing: {}", reason.words())
        }
        _ => format!(
            "`checkpointd wrong {seq}` if it was not warranted; `checkpointd mute {session}` for silence"
        ),
    }
}

/// Returns an explanation as lines for people.
pub(crate) fn explanation(answer: &Explanation) -> Vec<String> {
    let mut page = vec![String::new()];
    show_decision(&mut page, &answer.decision);
    show_source(&mut page, &answer.decision);
    show_others(&mut page, answer);
    if let Some(stop) = &answer.event {
        heading(&mut page, "what happened");
        let line = event_line::in_tail(&stop.event);
        let line = render::fit(&line, render::width().saturating_sub(2));
        page.push(format!("  {line}"));
    }
    show_state(&mut page, &answer.state);
    if let Some(evidence) = &answer.evidence {
        show_evidence(&mut page, evidence, &answer.subagents, &answer.state.cwd);
    }
    if let Some(rules) = &answer.rules {
        rule_trace::show(&mut page, &rules.trace);
    }
    heading(&mut page, "what could have let it through, in order");
    for exit in &answer.considered {
        let mark = if exit.taken {
            render::paint(Color::Green, "this")
        } else {
            "    ".into()
        };
        let why = render::printable(&exit.why);
        let line = format!("  {mark}  {:35} {why}", exit.reason.words());
        page.push(render::fit(&line, render::width()));
    }
    show_demands(&mut page, &answer.decision, answer.demand.as_ref());
    show_marks(&mut page, answer);
    show_times(&mut page, answer);
    if let Some(message) = &answer.decision.message {
        heading(&mut page, "message");
        render::printable_lines(message)
            .lines()
            .for_each(|line| page.extend(render::wrapped("  ", line)));
    }
    page
}

/// Returns which machine a decision came from, and which parts are missing here.
fn show_source(page: &mut Vec<String>, decision: &DecisionRow) {
    let Some(source) = &decision.source else {
        return;
    };
    page.push(format!(
        "from {}, there event {} of journal {}",
        render::printable(&source.machine),
        source.journal_seq,
        source.journal
    ));
    if !source.withheld.is_empty() {
        let fields = render::printable(&source.withheld.join(", "));
        page.extend(render::wrapped("withheld: ", &fields));
    }
}

fn show_decision(page: &mut Vec<String>, decision: &DecisionRow) {
    let color = match decision.verdict {
        Verdict::Inject => Color::Green,
        Verdict::Pass => Color::Yellow,
    };
    let verdict = render::paint(color, &decision.verdict.to_string());
    page.push(format!(
        "decision {}: {verdict}, {}",
        decision.seq,
        decision.reason.words()
    ));
    page.push(format!(
        "{} session {}, turn {}, {}",
        decision.agent,
        short(decision.session),
        decision.turn,
        render::local_time(decision.at),
    ));
}

/// Names the turn's other stops, so that one can ask for them.
fn show_others(page: &mut Vec<String>, answer: &Explanation) {
    for other in &answer.others {
        let own = &answer.decision;
        let when = if other.seq < own.seq {
            format!(
                "{} before",
                render::duration_ms(own.at.millis_since(other.at))
            )
        } else {
            format!(
                "{} later",
                render::duration_ms(other.at.millis_since(own.at))
            )
        };
        let what = if other.turn == own.turn {
            "the turn's other stop"
        } else {
            "the session's last stop"
        };
        let said = format!(
            "{what}, {when}: {}, {} (`checkpointd explain {}`)",
            other.verdict,
            other.reason.words(),
            other.seq
        );
        page.extend(render::wrapped("  ", &said));
    }
}

fn show_state(page: &mut Vec<String>, state: &StateView) {
    heading(page, "the session at the stop");
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), render::local_time);
    entry(page, "project", &render::printable(&state.project));
    for (label, at) in [
        ("last message", state.last_message_sent_at),
        ("last checkpoint", state.last_checkpoint_at),
        ("last tool call", state.last_tool_use_at),
    ] {
        entry(page, label, &time(at));
    }
    let blocks = state.blocks_this_turn.to_string();
    entry(page, "asked in this turn", &blocks);
    if state.cleared {
        entry(page, "cleared", "its next stop passes");
    }
    if state.muted {
        let until = state.muted_until;
        let text = until.map_or_else(
            || "until it is unmuted".to_owned(),
            |until| format!("until {}", render::local_time(until)),
        );
        entry(page, "muted", &text);
    }
}

fn show_evidence(
    page: &mut Vec<String>,
    evidence: &Evidence,
    subagents: &BTreeMap<String, String>,
    folder: &str,
) {
    heading(page, "what git and the transcript said");
    let files = match &evidence.changes {
        Changes::Known(files) if files.is_empty() => "none".to_owned(),
        Changes::Known(files) => {
            let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
            render::printable(&render::cut(&paths.join(" "), LIST_CHARS_MAX))
        }
        Changes::Unknown(why) => format!("unknown: {why}"),
        Changes::NotAsked => "not asked for".to_owned(),
    };
    entry(page, "changed files", &files);
    let timeline = &evidence.timeline;
    let calls = &timeline.calls;
    let source = spaced(&word(timeline.source));
    let said = format!("{}, from: {source}", calls.len());
    entry(page, "tool calls", &said);
    let first = calls.len().saturating_sub(CALLS_MAX);
    if first > 0 {
        page.push(format!("    {first} more before these"));
    }
    for (index, call) in calls.iter().enumerate().skip(first) {
        let by = call.id.as_ref().and_then(|id| subagents.get(id));
        let by = by.map_or_else(String::new, |name| {
            format!("  {}: ", render::printable(name))
        });
        page.push(render::fit(
            &format!(
                "    {:>3} {by}{}",
                index + 1,
                event_line::tool(call, folder)
            ),
            render::width(),
        ));
    }
    for note in &evidence.notes {
        entry(page, "note", &render::printable(note));
    }
}

fn show_demands(page: &mut Vec<String>, decision: &DecisionRow, demand: Option<&Demand>) {
    if !decision.actions.is_empty() {
        let all = decision.actions.len();
        let end = match demand.map(|demand| (demand.end, demand.left.len())) {
            Some((DemandEnd::Met, _)) => ": all were done afterward".to_owned(),
            Some((DemandEnd::Left, left)) => {
                format!(": {left} of {all} were not done afterward")
            }
            Some((DemandEnd::Open, _)) => ": the agent has not stopped again yet".to_owned(),
            Some((DemandEnd::Withheld, _)) => ": whether they were done is withheld".to_owned(),
            Some((DemandEnd::Unknown, _)) | None => String::new(),
        };
        heading(page, &format!("actions{end}"));
        for action in &decision.actions {
            let text = render::printable(&action.text);
            page.extend(render::wrapped(
                &format!("  {:10} ", word(action.step)),
                &format!("{text}  ({})", action.category),
            ));
        }
    }
    if !decision.observations.is_empty() {
        heading(page, "observations");
        let lines = decision.observations.iter();
        lines.for_each(|line| page.extend(render::wrapped("  ", &render::printable(line))));
    }
}

/// Shows which demands a person marked wrong, by the numbers that `wrong --item` takes.
fn show_marks(page: &mut Vec<String>, answer: &Explanation) {
    if answer.marked_wrong.is_empty() {
        return;
    }
    heading(page, "marked wrong");
    let decision = &answer.decision;
    let all = demands::of_parts(&decision.actions, &decision.observations);
    for mark in &answer.marked_wrong {
        let demand = mark
            .item
            .and_then(|item| all.iter().find(|demand| demand.item == item));
        let label = mark
            .item
            .map_or_else(|| "all".to_owned(), |item| item.to_string());
        let mut text = demand.map_or("", |demand| demand.text).to_owned();
        if !mark.note.is_empty() {
            text = format!("{text}  ({})", mark.note);
        }
        entry(page, &label, &render::printable(text.trim_start()));
    }
}

/// Shows how long each step took, and when each event was in the journal after the stop.
fn show_times(page: &mut Vec<String>, answer: &Explanation) {
    let title = match answer.decision.delivery {
        Outcome::None => "times".to_owned(),
        outcome => format!("times, and the delivery: {}", outcome.word()),
    };
    heading(page, &title);
    let steps = answer.evidence.iter().flat_map(|evidence| &evidence.steps);
    let steps: Vec<_> = steps
        .map(|(step, us)| format!("{step} {}", micros(i64::try_from(*us).unwrap_or(i64::MAX))))
        .collect();
    if !steps.is_empty() {
        entry(page, "looking things up", &steps.join(", "));
    }
    for (index, time) in answer.times.iter().flatten().enumerate() {
        let what = match index {
            0 => "stop journaled".to_owned(),
            1 => "decision journaled".to_owned(),
            _ => time.kind.replace('_', " "),
        };
        // The first two are the stop and the decision.
        let said = index
            .checked_sub(2)
            .and_then(|index| answer.delivery.get(index))
            .map(|line| event_line::said(&line.event.event))
            .filter(|said| !said.is_empty())
            .map(|said| format!("  ({said})"))
            .unwrap_or_default();
        let after = micros(time.after_us);
        entry(page, &what, &format!("{after} after the stop{said}"));
    }
}

fn micros(us: i64) -> String {
    match us {
        ..0 => format!("-{}", micros(-us)),
        0..1_000 => format!("{us}us"),
        1_000..10_000 => format!("{}.{}ms", us / 1_000, us % 1_000 / 100),
        _ => render::duration_ms(us.unsigned_abs() / 1_000),
    }
}
