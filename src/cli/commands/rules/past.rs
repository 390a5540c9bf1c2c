//! `rules try`: a file of rules against the turns of the past.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use actors::project;
use actors::trust::Trust;
use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::judging;
use journal::{Action, Home};

use crate::cli::text::progress_bar::{progress, progress_done};
use crate::cli::time as when;
use crate::error::{Failure, Result, exit};
use crate::ops::lookback::{self, PastTurnKept, Rules, Scope};
use crate::render::{self, Color};

/// How often a file that is watched is looked at.
const WATCH_EVERY: Duration = Duration::from_millis(300);

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
        let at = render::local_time(turn.at);
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
