//! What ran of the project after an edit, and is believed to have used it (spec EVID-29).

use super::run::{Does, Run};
use super::{console, notebook, program, remote};
use crate::findings::trace::Outcome;
use crate::findings::turn::Turn;
use crate::project::resolve::{Map, Placed};
use crate::shell::Simple;

/// Programs that keep others running, and the words by which they start one.
const KEEPERS: [&str; 9] = [
    "docker",
    "docker-compose",
    "podman",
    "podman-compose",
    "pm2",
    "systemctl",
    "supervisorctl",
    "service",
    "kubectl",
];
const STARTS: [&str; 4] = ["up", "start", "restart", "rollout"];

/// Returns whether a command runs a changed file, or what is believed to use it.
pub(super) fn runs(turn: &Turn<'_>, placed: &Placed, path: &str, map: &Map<'_>) -> bool {
    let (simple, place) = (&placed.simple, placed.place.as_deref());
    program::runs(simple, place, path, map)
        || program::runs_companion(simple, turn.files, path, map)
        || (turn.believes_runners() && notebook::runs(simple, path))
        || (turn.believes_runs() && program::runs_in_package(simple, place, path, map))
        || (turn.believes_consoles() && console::evaluates(simple, place, path, map))
}

/// Adds the start of a service whose log was read later, as a request to a server, at the place of that start.
pub(super) fn add_service(turn: &Turn<'_>, index: usize, found: &mut Vec<Run>) {
    let calls = &turn.evidence.timeline.calls;
    let went_well = |at: usize| !calls[at].is_error && !calls[at].refused && calls[at].finished;
    let has = |at: usize, is_it: &dyn Fn(&Simple) -> bool| {
        let mut commands = turn.lines[at].commands.iter();
        commands.any(|simple| is_it(simple) || remote::all(turn, simple).iter().any(is_it))
    };
    if !turn.believes_runs() || !went_well(index) || !has(index, &shows_log) {
        return;
    }
    let started = (0..=index).rev().find(|at| has(*at, &starts));
    if let Some(at) = started.filter(|at| went_well(*at)) {
        found.push(Run {
            position: (at, 0),
            program: String::new(),
            does: Does::Asks,
            outcome: Outcome::Counts,
        });
    }
}

fn starts(simple: &Simple) -> bool {
    is_kept(simple, &STARTS)
}

fn shows_log(simple: &Simple) -> bool {
    is_kept(simple, &["logs", "log"])
        || simple
            .words
            .first()
            .is_some_and(|word| word == "journalctl")
}

fn is_kept(simple: &Simple, wanted: &[&str]) -> bool {
    let mut words = simple.words.iter().map(String::as_str);
    words.next().is_some_and(|word| KEEPERS.contains(&word))
        && words.any(|word| wanted.contains(&word))
}
