//! What another configuration, or a file of rules, would have decided.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use actors::evidence;
use actors::project::Project;
use actors::trust::Trust;
use checkpoint::Policy;
use checkpoint::config::{Candidate, Config, PackName, Packs};
use checkpoint::replay::Past;
use checkpoint::rules::pack_names::ProjectFacts;
use journal::{Action, Changes, Decision, Journal, Reason, Verdict};
use parking_lot::Mutex;

use super::question::{Emit, Error, Result, send};
use super::redecide::judge_all;
use crate::ops::views::{ChangedDecision, ReadAs, Side, WhatIf};

/// Decides history again under a file, and emits what would change.
pub(super) fn what_if(
    journal: &Journal,
    trust: &Trust,
    whose: (Option<&str>, Option<&str>),
    (name, text): (&str, &str),
    emit: &mut Emit<'_>,
) -> Result<()> {
    let candidate =
        Candidate::read(name, text).map_err(|error| Error::NotFound(error.to_string()))?;
    let read_as = match candidate {
        Candidate::Config(_) => ReadAs::Config,
        Candidate::Rules(_) => ReadAs::Rules,
    };
    let waiting = Mutex::new(BTreeSet::new());
    let judged = judge_all(journal, whose, emit, || {
        let mut policies = Policies {
            candidate: &candidate,
            trust,
            waiting: &waiting,
            known: HashMap::new(),
        };
        move |past| {
            if past.is_withheld() {
                return None;
            }
            let (policy, fingerprint) = policies.of(&past);
            let (was, now) = (past.decision, past.under(policy, *fingerprint));
            let is_changed = asked(&now) != asked(was);
            let guessed =
                now.verdict == Verdict::Inject && past.evidence.changes == Changes::NotAsked;
            let changed = is_changed.then(|| ChangedDecision {
                seq: past.envelope.seq,
                at: past.envelope.at,
                session: past.envelope.stream.session,
                agent: past.envelope.stream.agent,
                project: past.state.project().to_owned(),
                was: Side::from(was),
                now: Side::from(&now),
                guessed,
            });
            Some((changed, past.is_earlier()))
        }
    })?;
    let decisions = judged.len();
    let withheld = judged.iter().filter(|judged| judged.is_none()).count() as u64;
    let judged = judged.into_iter().flatten();
    let (changed, earlier): (Vec<_>, Vec<_>) = judged.unzip();
    let changed: Vec<_> = changed.into_iter().flatten().collect();
    let earlier = earlier.into_iter().filter(|is_earlier| *is_earlier).count() as u64;
    send(
        emit,
        &WhatIf {
            decisions,
            read_as,
            changed,
            withheld,
            earlier,
            waiting: waiting.into_inner().into_iter().collect(),
        },
    )
}

/// What a decision asked for, whatever its words.
type Asked<'a> = (Verdict, Reason, Option<(&'a [Action], &'a [String])>);

fn asked(decision: &Decision) -> Asked<'_> {
    let is_asked = decision.verdict == Verdict::Inject;
    let asked = || (&decision.actions[..], &decision.observations[..]);
    (decision.verdict, decision.reason, is_asked.then(asked))
}

/// What the candidate makes of each past decision's policy, with the number that identifies it. Few differ.
struct Policies<'a> {
    candidate: &'a Candidate,
    trust: &'a Trust,
    /// What of projects' own files is not trusted.
    waiting: &'a Mutex<BTreeSet<String>>,
    /// Under a config.yml by project, under a file of rules by the policy of that time.
    known: HashMap<(String, u64), (Policy, u64)>,
}

impl Policies<'_> {
    fn of(&mut self, past: &Past<'_>) -> &(Policy, u64) {
        let key = match self.candidate {
            Candidate::Config(_) => (past.state.project().to_owned(), 0),
            Candidate::Rules(_) => (String::new(), past.decision.policy),
        };
        self.known.entry(key).or_insert_with(|| {
            let policy = match self.candidate {
                Candidate::Config(config) => {
                    in_project(config, past, self.trust, |project, note| {
                        self.waiting.lock().insert(format!("{project}: {note}"));
                    })
                }
                Candidate::Rules(rules) => {
                    let then = past.policy.cloned();
                    rules
                        .over(&then.unwrap_or_else(|| evidence::default_policy(&Config::default())))
                }
            };
            let fingerprint = policy.to_text().0;
            (policy, fingerprint)
        })
    }
}

/// Returns the policy of a decision's project: its own file lies over the configuration, as it does when it is live. Where
/// the project is no longer on this machine, the packs are those that it had.
fn in_project(
    config: &Config,
    past: &Past<'_>,
    trust: &Trust,
    waits: impl Fn(&str, &str),
) -> Policy {
    let project = past.state.project();
    let mut config = config.clone();
    // Where the way out is depends on the machine, not on the configuration that is tried.
    config.clear_folder = past.policy.and_then(|then| then.clear_folder.clone());
    if Path::new(project).is_dir() {
        let looked = Project::look(&config, trust, project);
        looked
            .waits()
            .into_iter()
            .for_each(|note| waits(project, &note));
        return looked.policy;
    }
    if let (Packs::Auto, Some(then)) = (&config.settings.packs, past.policy) {
        config.settings.packs = Packs::Only(then.packs.iter().cloned().map(PackName).collect());
    }
    let facts = ProjectFacts {
        path: project.to_owned(),
        files: Vec::new(),
    };
    config
        .policy_for(&facts, None)
        .unwrap_or_else(|_| evidence::default_policy(&config))
}
