//! How evidence is judged. The default of each key is the judgment of policies that were journaled before the key
//! existed, and of projects with the `teleclaude` pack; `config.yml` has the values for all other projects.

use serde::{Deserialize, Serialize};

use crate::layered::layered;

layered! {
    /// What shows that a change was verified.
    #[derive(Copy, Default, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    Verify, VerifyLayer {
        /// How it is known whether a command passed.
        outcomes: Outcomes,
        /// Which commands verify a project.
        commands: Commands,
        /// What is enough for code that no test covers.
        uncovered: Uncovered,
        /// Which code a command verifies.
        scope: VerifiedCode,
        /// What a command of the project shows that is not known (spec EVID-25).
        unknown: Unknown,
        /// What is open (spec EVID-1).
        gaps: Gaps,
    }
}

layered! {
    /// What is said about the way the work was done.
    #[derive(Copy, Default, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    Hygiene, HygieneLayer {
        /// When a file counts as read before its edit (spec HYG-4).
        read: ReadBeforeEdit,
        /// When a change is wide (spec HYG-5).
        wide: Wide,
        /// Which edits keep a turn on its plan (spec HYG-6).
        drift: Drift,
        /// Which failed calls are errors (spec HYG-1).
        errors: Errors,
        /// Whether a tool that is missing is an error after the turn went on without it (spec HYG-12).
        missing_tools: MissingTools,
        /// Whether a failure is an error that the agent handed over to the person (spec HYG-13).
        handed_over: HandedOver,
        /// Whether a pass of some tests settles a failure of more (spec HYG-14).
        narrower: Narrower,
    }
}

layered! {
    /// Which changes count.
    #[derive(Copy, Default, Eq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    Changed, ChangedLayer {
        /// Whether settings, data and generated files count as code.
        data: Data,
        /// Whether a change of comments counts (spec RULE-23).
        comments: Comments,
        /// When a manifest counts as a change of dependencies.
        dependencies: Dependencies,
        /// Where a project's top folder is.
        root: Root,
        /// Where the files that switch on a pack are searched for (spec RULE-2).
        packs: PackSearch,
        /// Which commits are the turn's (spec FILES-4).
        commits: Commits,
        /// Which work tree is examined (spec FILES-11).
        tree: WorkTree,
    }
}

/// How it is known whether a command passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcomes {
    /// By its output, else by its exit status unless the line hides it.
    Output,
    /// By the status of its call.
    #[default]
    Status,
}

/// Which commands verify a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commands {
    /// Those that its own files define, besides those of the rules.
    Project,
    /// Those of the rules.
    #[default]
    Listed,
}

/// What is enough for code that no test covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncovered {
    /// A build, a type check or a run of the changed program.
    Build,
    /// Nothing less than a test run.
    #[default]
    Tests,
}

/// Which code a command verifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifiedCode {
    /// That of the package in which it ran, or which it names. If it runs tests that are named, a changed test only if it is
    /// one of them.
    Files,
    /// The same, where classes of tests that are chosen by their names are named, too, and a file that no test covers is
    /// verified by a test of the folder that mirrors its own.
    Named,
    /// That of the package in which it ran, or which it names.
    Package,
    /// All of it.
    #[default]
    Anywhere,
}

impl VerifiedCode {
    /// Returns whether a changed test is verified by its own run only.
    pub fn tells_tests_apart(self) -> bool {
        matches!(self, Self::Files | Self::Named)
    }
}

/// What a command of the project shows that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// That the code passed, if its name says that it checks, or if no command is known that would check the file.
    Counts,
    /// Nothing.
    #[default]
    Ignored,
}

/// What is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// What the record shows not to be done.
    Shown,
    /// What the record does not show to be done.
    #[default]
    Assumed,
    /// What the record shows not to be done, and nothing of the project ran after it that may have shown a mistake.
    Ran,
    /// The same, where what a test runner and a deployed service show is believed too.
    Open,
    /// The same, where code that was given to a console of the application is believed too.
    Evaluated,
}

/// When a file counts as read before its edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadBeforeEdit {
    /// If the session had its text, by any means.
    Session,
    /// If this turn read or wrote it.
    #[default]
    Turn,
    /// Never checked.
    Off,
}

/// When a change is wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wide {
    /// Never.
    Off,
    /// If it touches more than three packages.
    Packages,
    /// If it touches more than three top-level folders.
    #[default]
    Folders,
}

/// Which edits keep a turn on its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drift {
    /// Those of the files that the plan names.
    Plan,
    /// Those of the files that the plan names, and those below `todos/SLUG/`.
    #[default]
    PlanOrTodos,
}

/// Which failed calls are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errors {
    /// Those whose failure says that something is broken.
    Broken,
    /// All of them.
    #[default]
    All,
    /// Those of work on the project whose subject nothing later came back to.
    Open,
}

/// Whether a tool that is missing is an error after the turn went on without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingTools {
    /// It is not an error.
    PassedOver,
    /// It is one like any other.
    #[default]
    Errors,
}

/// Whether a failure is an error that the agent handed over to the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandedOver {
    /// It is none if its cause lies outside the project, and the agent's last message names it.
    Believed,
    /// It is one like any other.
    #[default]
    Errors,
    /// It is none, whatever its cause, if the agent told the person of it in any message after it.
    Told,
    /// The same, also of tests that are due but could not even begin.
    Reported,
}

/// Whether a pass of some tests settles a failure of more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Narrower {
    /// Only if they hold those that failed.
    Open,
    /// Any run of tests settles it.
    #[default]
    Settles,
}

/// Whether settings, data and generated files count as code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// They ask for nothing.
    Ignored,
    /// As code, if no rule takes them.
    #[default]
    Code,
}

/// Whether a change of comments counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comments {
    /// A file in which only comments changed asks for nothing.
    Ignored,
    /// It asks for what its rules ask for.
    #[default]
    Code,
}

/// When a manifest counts as a change of dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependencies {
    /// If the keys of its dependencies changed.
    Changed,
    /// If the file changed.
    #[default]
    Any,
}

/// Where a project's top folder is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// The nearest folder with `.git` or `.checkpointd.yml`, from the agent's folder upward.
    Found,
    /// The folder that the agent names.
    #[default]
    Named,
}

/// Where the files that switch on a pack are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackSearch {
    /// At the top, and in the folders above each changed file.
    Touched,
    /// At the top.
    #[default]
    Top,
}

/// Which commits are the turn's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commits {
    /// Those that HEAD did not have when the turn began.
    Head,
    /// Those whose time is in the turn.
    #[default]
    Time,
}

/// Which work tree is examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkTree {
    /// Those of the work tree in which the session began, or of the one that the turn edited instead.
    Session,
    /// Those of the work tree in which the agent is at the stop.
    #[default]
    Cwd,
}

/// What a message does that a person types while the agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steering {
    /// It is added to the turn.
    Joins,
    /// It begins a turn.
    #[default]
    Begins,
}

/// Which running background tasks let a stop pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// Those that bring another stop when they end, such as a subagent.
    Returning,
    /// All of them.
    #[default]
    Any,
}
