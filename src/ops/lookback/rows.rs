//! One row for each turn, and their totals.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use checkpoint::config::Settings;
use checkpoint::demands;
use checkpoint::lookback::Judged;
use jiff::tz::TimeZone;
use journal::{Agent, Timestamp, Verdict};

use crate::ops::views::{
    DayCount, FileProblem, LookBack, LookBackGroup, PastTurnRow, RuleCount, TurnTotals,
};

/// How much of a message is shown.
const PROMPT_CHARS_MAX: usize = 160;

/// The data of a row besides the outcome of the turn.
pub(super) struct About<'a> {
    pub(super) agent: Agent,
    pub(super) project: &'a str,
    pub(super) session: &'a str,
    pub(super) transcript: &'a Path,
    pub(super) prompt: &'a str,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) interrupted: bool,
}

pub(super) fn row(about: &About<'_>, judged: &Judged) -> PastTurnRow {
    let decision = judged.decision.as_ref();
    let sent = decision.filter(|decision| decision.verdict == Verdict::Inject);
    let demands = sent.map(demands::of).unwrap_or_default();
    let files = judged.evidence.changes.files().unwrap_or_default();
    let ending = judged.ending;
    let mut rules: Vec<String> = Vec::new();
    for demand in &demands {
        if !rules.iter().any(|known| known == demand.rule) {
            rules.push(demand.rule.to_owned());
        }
    }
    let first = about.prompt.trim().lines().next().unwrap_or_default();
    PastTurnRow {
        at: about.began,
        agent: about.agent,
        project: about.project.to_owned(),
        session: about.session.to_owned(),
        prompt: first.chars().take(PROMPT_CHARS_MAX).collect(),
        length_ms: about.ended.millis_since(about.began),
        interrupted: about.interrupted,
        changed_files: files.len(),
        code_changed: ending.code_changed,
        nothing_run: ending.nothing_run,
        tests_failed: ending.tests_failed,
        error_left: ending.error_left,
        claimed: ending.claimed,
        verdict: decision.map(|decision| decision.verdict),
        reason: decision.map(|decision| decision.reason),
        asked: demands
            .iter()
            .map(|demand| demand.text.to_owned())
            .collect(),
        rules,
        transcript: about.transcript.to_owned(),
        open: None,
    }
}

/// Says how much a turn is worth reading: what it left open, and whether much changed.
fn worth(row: &PastTurnRow) -> u64 {
    let open = u64::from(row.tests_failed) * 8
        + u64::from(row.claimed) * 7
        + u64::from(row.nothing_run) * 6
        + u64::from(row.error_left) * 4
        + row.asked.len().min(4) as u64;
    // A turn that left nothing open is not worth it, however much changed.
    open * 4 + row.changed_files.min(12) as u64 * u64::from(open > 0)
}

/// Returns the turns most worth reading, and how to open them.
fn worth_reading(rows: &[PastTurnRow], limit: usize, settings: &Settings) -> Vec<PastTurnRow> {
    let mut best: Vec<&PastTurnRow> = rows
        .iter()
        .filter(|row| worth(row) > 0 && !row.interrupted)
        .collect();
    best.sort_by_key(|row| std::cmp::Reverse((worth(row), row.at)));
    let open = |row: &PastTurnRow| settings.resume_line(row.agent)?.for_session(&row.session);
    let best = best.into_iter().take(limit);
    best.map(|row| PastTurnRow {
        open: open(row),
        ..row.clone()
    })
    .collect()
}

/// What was read, without the rows.
pub(super) struct Reached {
    pub(super) since: Timestamp,
    pub(super) complete: bool,
    pub(super) files: usize,
    pub(super) bytes: u64,
    pub(super) problems: Vec<FileProblem>,
}

/// Counts the rows, which are in order of time.
pub(super) fn sum(
    rows: &[PastTurnRow],
    reached: Reached,
    limit: usize,
    settings: &Settings,
) -> LookBack {
    let zone = TimeZone::system();
    let mut total = TurnTotals::default();
    let mut groups: BTreeMap<(&str, Agent), (TurnTotals, BTreeSet<&str>)> = BTreeMap::new();
    let mut days: BTreeMap<(String, &str), TurnTotals> = BTreeMap::new();
    let mut rules: HashMap<&str, u64> = HashMap::new();
    for row in rows {
        total.add(row);
        let group = groups.entry((row.project.as_str(), row.agent)).or_default();
        group.0.add(row);
        group.1.insert(&row.session);
        let day = row.at.to_jiff().to_zoned(zone.clone()).date().to_string();
        let day = days.entry((day, row.project.as_str()));
        day.or_default().add(row);
        for rule in &row.rules {
            *rules.entry(rule).or_default() += 1;
        }
    }
    let mut groups: Vec<LookBackGroup> = groups
        .into_iter()
        .map(|((project, agent), (totals, sessions))| LookBackGroup {
            project: project.to_owned(),
            agent,
            totals: TurnTotals {
                sessions: sessions.len() as u64,
                ..totals
            },
        })
        .collect();
    total.sessions = groups.iter().map(|group| group.totals.sessions).sum();
    groups.sort_by_key(|group| std::cmp::Reverse(group.totals.turns));
    let mut rules: Vec<RuleCount> = rules
        .into_iter()
        .map(|(rule, turns)| RuleCount {
            rule: rule.to_owned(),
            turns,
        })
        .collect();
    rules.sort_by(|one, other| (other.turns, &one.rule).cmp(&(one.turns, &other.rule)));
    let days = days.into_iter().map(|((day, project), totals)| DayCount {
        day,
        project: project.to_owned(),
        totals,
    });
    LookBack {
        since: reached.since,
        complete: reached.complete,
        files: reached.files,
        bytes: reached.bytes,
        total,
        groups,
        rules,
        days: days.collect(),
        worth: worth_reading(rows, limit, settings),
        problems: reached.problems,
    }
}
