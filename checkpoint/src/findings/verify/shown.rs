//! Tests that are seen by the output of what started them (spec EVID-17).

use super::kind::Kind;
use super::reach::Reach;
use super::run::{Does, Run};
use crate::findings::outcomes::last_executed;
use crate::findings::proof::shows;
use crate::findings::turn::Turn;
use crate::project::covering::Family;

/// Adds the tests that the output of a call shows, if no command of the line is known to run tests (spec EVID-17).
pub(super) fn add(turn: &Turn<'_>, index: usize, found: &mut Vec<Run>) {
    let call = &turn.evidence.timeline.calls[index];
    let known = |run: &Run| {
        let tests = matches!(&run.does, Does::Tool { kind, .. } if *kind == Kind::Tests);
        tests && run.position.0 == index
    };
    let Some(outcomes) = turn.outcomes.as_ref().filter(|_| !call.refused) else {
        return;
    };
    let commands = &turn.lines[index].commands;
    let Some(place) = last_executed(commands).filter(|_| !found.iter().any(known)) else {
        return;
    };
    for (language, verdict) in outcomes.languages(index) {
        if let Some(outcome) = shows(call, &commands[place], verdict) {
            found.push(Run {
                position: (index, place),
                program: commands[place].words.first().cloned().unwrap_or_default(),
                does: Does::Tool {
                    kind: Kind::Tests,
                    family: language.map_or(Family::Other, family_of),
                    reach: Reach::All,
                },
                outcome,
            });
        }
    }
}

/// Languages of test runners, and of the packs of that name.
const LANGUAGES: [(&str, Family); 17] = [
    ("python", Family::Python),
    ("rust", Family::Rust),
    ("go", Family::Go),
    ("node", Family::Script),
    ("ruby", Family::Ruby),
    ("php", Family::Php),
    ("java", Family::Jvm),
    ("dotnet", Family::DotNet),
    ("swift", Family::Swift),
    ("erlang", Family::Beam),
    ("dart", Family::Dart),
    ("haskell", Family::Haskell),
    ("zig", Family::Zig),
    ("r", Family::R),
    ("julia", Family::Julia),
    ("ocaml", Family::OCaml),
    ("terraform", Family::Terraform),
];

fn family_of(language: &str) -> Family {
    let known = LANGUAGES.iter().find(|(name, _)| *name == language);
    known.map_or(Family::Other, |(_, family)| *family)
}

/// Returns the pack of a language, or `generic`.
pub(super) fn pack_of(family: Family) -> &'static str {
    let known = LANGUAGES.iter().find(|(_, known)| *known == family);
    known.map_or("generic", |(name, _)| name)
}
