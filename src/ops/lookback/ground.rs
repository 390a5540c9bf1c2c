//! The basis for judging past turns: each project's policy, its present task files, and its git history. Read once for
//! each project.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actors::draft::daemon_draft;
use actors::git::{self, Bounds, Listing};
use actors::project::{self, Project};
use actors::trust::Trust;
use actors::workspace;
use checkpoint::Policy;
use checkpoint::config::Config;
use checkpoint::lookback::{self, Ground, Repository};
use checkpoint::project::LISTED;
use checkpoint::transcript::turns::PastTurn;
use journal::{ChangedFile, Draft, Event, Journal, Timestamp, Workspace};
use parking_lot::Mutex;

/// The projects that were examined.
pub(super) struct Projects<'a> {
    config: &'a Config,
    trust: &'a Trust,
    since: Timestamp,
    /// The journal to write to, if any.
    journal: Option<&'a Journal>,
    /// The policies that the journal already has.
    adopted: Mutex<HashSet<u64>>,
    /// By the folder in which an agent ran.
    known: Mutex<HashMap<String, Arc<OnceLock<Known>>>>,
}

/// A policy with its fingerprint and the event that adopts it.
struct Adopted {
    policy: Policy,
    fingerprint: u64,
    adoption: Draft,
}

/// What is known about a project.
pub(super) struct Known {
    /// The top of its work tree, or the agent's folder; empty if the transcript names none.
    pub(super) top: String,
    repository: Repository,
    is_there: bool,
    /// Its present tests; empty if it is gone, or not a repository.
    tests: Listing,
    /// By folder, whether Rust files of the package have tests within them.
    rust_tests: Mutex<HashMap<String, bool>>,
    /// By the manifests in the folders above changed files.
    policies: Mutex<HashMap<Vec<String>, Arc<Adopted>>>,
    /// By the folders above changed files.
    workspaces: Mutex<HashMap<Vec<String>, Workspace>>,
}

impl<'a> Projects<'a> {
    pub(super) fn new(
        config: &'a Config,
        trust: &'a Trust,
        since: Timestamp,
        journal: Option<&'a Journal>,
    ) -> Self {
        Self {
            config,
            trust,
            since,
            journal,
            adopted: Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Looks at the project in which an agent ran, once.
    pub(super) fn of(&self, cwd: &str) -> Looked {
        let known = Arc::clone(self.known.lock().entry(cwd.to_owned()).or_default());
        known.get_or_init(|| self.look(cwd));
        Looked(known)
    }

    fn look(&self, cwd: &str) -> Known {
        let top = if cwd.is_empty() {
            Path::new("").to_owned()
        } else {
            project::root(self.config, Path::new(cwd))
        };
        let is_there = top.is_absolute() && top.is_dir();
        let is_repository = is_there && top.join(".git").symlink_metadata().is_ok();
        let limits = &self.config.settings.evidence_limits;
        let bounds = Bounds {
            within: Duration::from_millis(limits.git_timeout.as_millis()),
            files_max: limits.changed_files_max.get(),
        };
        let repository = if is_repository {
            Repository {
                commits: git::commits_since(&top, self.since, bounds),
                ignored: git::ignored(&top, bounds).into_iter().collect(),
            }
        } else {
            Repository::default()
        };
        let tests = if is_repository {
            git::listed(&top, LISTED, bounds)
        } else {
            Listing {
                paths: Vec::new(),
                complete: true,
            }
        };
        Known {
            tests,
            rust_tests: Mutex::default(),
            top: top.to_string_lossy().into_owned(),
            repository,
            is_there,
            policies: Mutex::default(),
            workspaces: Mutex::default(),
        }
    }

    fn policy(&self, known: &Known, files: &[ChangedFile]) -> Arc<Adopted> {
        let plain = self.policy_with(known, Vec::new());
        if !known.is_there || plain.policy.is_letter() {
            return plain;
        }
        match project::touched(Path::new(&known.top), files) {
            touched if touched.is_empty() => plain,
            touched => self.policy_with(known, touched),
        }
    }

    fn policy_with(&self, known: &Known, touched: Vec<String>) -> Arc<Adopted> {
        if let Some(adopted) = known.policies.lock().get(&touched) {
            return Arc::clone(adopted);
        }
        let mut project = Project::look(self.config, self.trust, &known.top);
        project.add_files(self.config, touched.clone());
        let policy = project.policy;
        let (fingerprint, text) = policy.to_text();
        let event = Event::PolicyAdopted { fingerprint, text };
        let adopted = Arc::new(Adopted {
            policy,
            fingerprint,
            adoption: daemon_draft(event, fingerprint),
        });
        known.policies.lock().insert(touched, Arc::clone(&adopted));
        adopted
    }

    /// Journals a policy once, if events are kept. Other threads wait: a decision must not be journaled before the
    /// policy that it is based on.
    fn adopt(&self, adopted: &Adopted) -> journal::Result<()> {
        let Some(journal) = self.journal else {
            return Ok(());
        };
        let mut known = self.adopted.lock();
        if !known.contains(&adopted.fingerprint) {
            journal.append_wait(vec![adopted.adoption.clone()])?;
            known.insert(adopted.fingerprint);
        }
        Ok(())
    }

    fn workspace(&self, known: &Known, files: &[ChangedFile]) -> Workspace {
        let top = Path::new(&known.top);
        let folders = checkpoint::project::folders(files);
        let found = known.workspaces.lock().get(&folders).cloned();
        let mut workspace = found.unwrap_or_else(|| {
            let read = workspace::for_past(top, files);
            known.workspaces.lock().insert(folders, read.clone());
            read
        });
        let has_tests = |folder: &str| {
            *known
                .rust_tests
                .lock()
                .entry(folder.to_owned())
                .or_insert_with(|| workspace::has_rust_tests(top, folder))
        };
        workspace::cover(&mut workspace, files, &known.tests, &has_tests);
        self.config.redactor.clean(workspace, &[])
    }
}

/// A project that was examined.
pub(super) struct Looked(Arc<OnceLock<Known>>);

impl Looked {
    pub(super) fn known(&self) -> &Known {
        self.0.get().expect("it was looked at")
    }

    /// Calls `judge` with a turn and what it is judged by.
    pub(super) fn stand<T>(
        &self,
        projects: &Projects<'_>,
        turn: PastTurn,
        transcript: &str,
        judge: impl FnOnce(PastTurn, Ground<'_>) -> journal::Result<T>,
    ) -> journal::Result<T> {
        let known = self.known();
        let cwd = turn.facts.cwd.as_deref().unwrap_or_default();
        let mut files: BTreeSet<String> =
            lookback::changed(&turn, cwd, &known.top, &known.repository);
        let files_max = projects.config.settings.evidence_limits.changed_files_max;
        while files.len() > files_max.get() {
            files.pop_last();
        }
        let changed: Vec<ChangedFile> = files
            .iter()
            .map(|path| ChangedFile {
                path: path.clone(),
                hash: None,
            })
            .collect();
        let adopted = projects.policy(known, &changed);
        projects.adopt(&adopted)?;
        let wants = !files.is_empty() && workspace::wanted(&adopted.policy);
        let ground = Ground {
            top: &known.top,
            transcript,
            files: files.into_iter().collect(),
            workspace: wants.then(|| projects.workspace(known, &changed)),
            policy: &adopted.policy,
            fingerprint: adopted.fingerprint,
        };
        judge(turn, ground)
    }
}
