//! `rules suggest` and `rules try`: rules against the turns of the past.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use actors::git::{self, Bounds};
use actors::trust::Trust;
use actors::{project, workspace};
use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::judging::{self, Imagined};
use checkpoint::suggest::{self, Habits, RuleHistory};
use journal::{Action, ChangedFile, Home};

use super::examples;
use crate::cli::commands::trust;
use crate::cli::connection;
use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::time as when;
use crate::error::{Failure, Result, exit};
use crate::ops::lookback::{self, PastTurnKept, Rules, Scope};
use crate::ops::query::{Audit, Query};
use crate::ops::views::{RuleTotals, Summary, WhatIf};
use crate::render::{self, Color};

/// The most turns whose evidence is kept.
const TURNS_MAX: usize = 1_000;
/// How often a file that is watched is looked at.
const WATCH_EVERY: Duration = Duration::from_millis(300);
/// How long git may take to list the project's files.
const LIST_WITHIN: Duration = Duration::from_secs(5);

/// Returns the latest turns of a project, the oldest first.
fn past(
    home: &Home,
    config: &Config,
    top: &Path,
    since: &str,
    turns: usize,
) -> Result<Vec<PastTurnKept>> {
    let wanted = Scope {
        since: when::read_now(since).map_err(Failure::usage)?.begin,
        agent: None,
        project: Some(top.to_string_lossy().into_owned()),
        limit: 0,
        within: None,
    };
    let rules = Rules {
        config,
        trust: &Trust::of(home),
    };
    let kept = lookback::keep(rules, &wanted, turns, &mut progress("reading"));
    progress_done();
    Ok(kept)
}

/// Prints a file of rules that fits the project, or writes it.
pub(super) fn suggest(
    home: &Home,
    config: &Config,
    top: &Path,
    since: &str,
    write: bool,
) -> Result<u8> {
    let policy = config.policy_with(&project::facts(top), None, false);
    let bounds = Bounds {
        within: LIST_WITHIN,
        files_max: usize::MAX,
    };
    let listed = git::listed(top, &["*"], bounds).paths;
    let files: Vec<ChangedFile> = listed
        .iter()
        .map(|path| ChangedFile {
            path: path.clone(),
            hash: None,
        })
        .collect();
    let tasks = workspace::for_past(top, &files, &config.redactor).tasks;
    let turns = past(home, config, top, since, TURNS_MAX)?;
    let mut habits = Habits::default();
    for turn in &turns {
        habits.add(&turn.evidence, turn.ending, turn.at, &policy, &tasks);
    }
    if habits.is_empty() {
        listed
            .iter()
            .for_each(|path| habits.add_file(path, &policy));
    }
    let known = rule_totals(home, top);
    let known: Vec<_> = known.iter().map(history).collect();
    // Turns say better than an example what a rule would change.
    let gains = |changed: &str, command: &str| {
        !turns.is_empty() || gains(config, top, &policy, changed, command)
    };
    let found = suggest::suggest(&habits, &tasks, &known, gains);
    let text = found.text;
    let name = project::FILE;
    let file = config.project_file(name, &text).map_err(Failure::failed)?;
    let with = config.policy_with(&project::facts(top), Some(&file), true);
    let same =
        |turn: &PastTurnKept| asked(turn, &policy).is_empty() == asked(turn, &with).is_empty();
    if found.rules == 0 || (!turns.is_empty() && turns.iter().all(same)) {
        let lines = text.lines().take_while(|line| line.starts_with('#'));
        lines.for_each(|line| println!("{}", render::printable(line)));
        if found.rules > 0 {
            println!("# Nothing to add: in these turns, the rules so far ask as often.");
        }
        return Ok(exit::OK);
    }
    let tested = examples::run(&file, &with, config, top);
    let failed = tested.iter().filter(|tested| !tested.passed).count();
    if write {
        return write_file(home, config, top, &text, found.rules);
    }
    print!("{}", render::printable_lines(&text));
    println!();
    effect(&turns, &policy, &with);
    if failed > 0 {
        eprintln!(
            "note: {failed} examples fail, because other rules ask for something too; see `rules test`"
        );
    }
    replay(home, &text);
    Ok(exit::OK)
}

/// Returns whether a rule that asks for a command after a change asks for something else than the policy.
fn gains(config: &Config, top: &Path, policy: &Policy, changed: &str, command: &str) -> bool {
    let files = [ChangedFile {
        path: changed.to_owned(),
        hash: None,
    }];
    let asks = |ran: &[String]| {
        let workspace =
            workspace::wanted(policy).then(|| workspace::for_past(top, &files, &config.redactor));
        let turn = Imagined {
            changed: &[changed.to_owned()],
            ran,
            failed: &[],
        };
        !judging::asked_after(turn, workspace, policy).is_empty()
    };
    !asks(&[]) || asks(&[command.to_owned()])
}

fn write_file(home: &Home, config: &Config, top: &Path, text: &str, rules: usize) -> Result<u8> {
    let path = top.join(project::FILE);
    if path.symlink_metadata().is_ok() {
        return Err(
            Failure::failed(format!("{} already exists", render::path(&path)))
                .hint("run it without --write, and copy what you need"),
        );
    }
    std::fs::write(&path, text)?;
    let rules = render::count(rules, "rule", "rules");
    println!("Wrote {rules} to {}", render::path(&path));
    trust::take(home, config, top)?.print();
    Ok(exit::OK)
}

/// Returns the outcomes of each rule's demands in this project, if there is a journal.
fn rule_totals(home: &Home, top: &Path) -> Vec<RuleTotals> {
    if connection::has_journal(home).is_err() {
        return Vec::new();
    }
    let filter = Audit {
        project: Some(top.to_string_lossy().into_owned()),
        ..Audit::default()
    };
    let summary = connection::ask_one::<Summary>(home, &Query::Summary(filter), |_, _| ());
    summary.map(|summary| summary.rules).unwrap_or_default()
}

fn history(totals: &RuleTotals) -> RuleHistory<'_> {
    RuleHistory {
        rule: &totals.rule,
        demanded: totals.demanded,
        met: totals.met,
        wrong: totals.wrong,
    }
}

/// Says what rules would have changed in turns of the past.
fn effect(turns: &[PastTurnKept], before: &Policy, after: &Policy) {
    let asks = |policy: &Policy| {
        let asking = turns.iter().filter(|turn| !asked(turn, policy).is_empty());
        asking.count()
    };
    println!(
        "# Of {}, {} would have been asked for something without it, {} with it.",
        render::count(turns.len(), "turn", "turns"),
        asks(before),
        asks(after)
    );
}

/// Says what rules would have changed of the decisions in the journal, if there is one.
fn replay(home: &Home, text: &str) {
    if connection::has_journal(home).is_err() {
        return;
    }
    let query = Query::WhatIf {
        machine: None,
        session: None,
        name: project::FILE.to_owned(),
        text: text.to_owned(),
    };
    let answer = connection::ask_one::<WhatIf>(home, &query, progress("deciding again"));
    progress_done();
    if let Ok(answer) = answer {
        println!(
            "# Of {} in the journal, {} would change (`checkpointd replay --policy FILE`).",
            render::count(answer.decisions, "decision", "decisions"),
            answer.changed.len()
        );
    }
}

fn asked(turn: &PastTurnKept, policy: &Policy) -> Vec<Action> {
    if turn.decided.is_none() {
        return Vec::new();
    }
    judging::find(&turn.evidence, turn.elapsed_ms, &turn.top, policy).actions
}

/// Shows what a file of rules asks for in the last turns, again after each change of it.
pub(super) fn try_out(
    home: &Home,
    config: &Config,
    top: &Path,
    file: Option<PathBuf>,
    last: usize,
    once: bool,
) -> Result<u8> {
    let path = file.unwrap_or_else(|| top.join(project::FILE));
    let turns = past(home, config, top, "365d", last)?;
    let before = config.policy_with(&project::facts(top), None, false);
    let mut seen: Option<SystemTime> = None;
    loop {
        let written = std::fs::metadata(&path).and_then(|meta| meta.modified());
        let written = written.map_err(|error| {
            Failure::usage(format!("cannot read {}: {error}", path.display()))
                .hint("`checkpointd rules new` writes a rule")
        });
        match written {
            Ok(at) if seen == Some(at) => {}
            Ok(at) => {
                seen = Some(at);
                if let Err(failure) = shown(config, top, &path, &turns, &before) {
                    if once {
                        return Err(failure);
                    }
                    eprintln!("{failure}");
                }
            }
            Err(failure) if seen.is_none() => return Err(failure),
            // Editors replace files.
            Err(_) => {}
        }
        if once {
            return Ok(exit::OK);
        }
        std::thread::sleep(WATCH_EVERY);
    }
}

fn shown(
    config: &Config,
    top: &Path,
    path: &Path,
    turns: &[PastTurnKept],
    before: &Policy,
) -> Result<()> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)?;
    let file = config.project_file(&name, &text).map_err(Failure::failed)?;
    let after = config.policy_with(&project::facts(top), Some(&file), true);
    println!(
        "{}",
        render::paint(
            Color::Bold,
            &format!(
                "{} over {}",
                render::path(path),
                render::count(turns.len(), "turn", "turns")
            )
        )
    );
    let (mut more, mut fewer) = (0, 0);
    for turn in turns {
        let (was, now) = (asked(turn, before), asked(turn, &after));
        let texts = |of: &[Action], other: &[Action]| -> Vec<String> {
            let new = of
                .iter()
                .filter(|action| !other.iter().any(|known| known.text == action.text));
            new.map(|action| render::printable(&action.text)).collect()
        };
        let (added, gone) = (texts(&now, &was), texts(&was, &now));
        if added.is_empty() && gone.is_empty() {
            continue;
        }
        more += usize::from(!added.is_empty());
        fewer += usize::from(!gone.is_empty());
        let at = render::local_time(&turn.at.to_string());
        println!("{at}  {}", render::printable(&turn.prompt));
        for text in added {
            println!("  {}", render::paint(Color::Green, &format!("+ {text}")));
        }
        for text in gone {
            println!("  {}", render::paint(Color::Red, &format!("- {text}")));
        }
    }
    let more = render::count(more, "turn is", "turns are");
    println!("{more} asked for more, {fewer} for less\n");
    effect(turns, before, &after);
    Ok(())
}
