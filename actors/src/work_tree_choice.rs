//! Which work tree a turn is judged by (spec FILES-11).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use checkpoint::catalogue::Catalogue;
use checkpoint::config::Config;
use checkpoint::judging;
use checkpoint::policy::{Edition, Policy};
use checkpoint::shell::{self, Simple};
use checkpoint::state::SessionState;
use journal::{ToolCall, ToolKind};

use crate::git::{self, FILE_TICK};

/// Maximum number of folders above a file that are examined.
const LEVELS_MAX: usize = 64;
/// Maximum number of folders with edited files that are examined.
const FOLDERS_MAX: usize = 200;

/// A folder of the work tree by which a turn is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The folder.
    pub folder: PathBuf,
    /// The turn edited only there, and the session began elsewhere.
    pub is_elsewhere: bool,
}

/// Returns the folder whose settings count: the one that the agent names, else by the edition the one in which the
/// session began or the agent's own.
pub fn project<'a>(config: &Config, state: &'a SessionState) -> &'a str {
    let is_named = state.project() != state.place.cwd;
    if is_named || config.settings.judgment == Edition::Letter {
        state.project()
    } else {
        state.home()
    }
}

/// Returns the work tree that a policy wants to be examined.
pub fn of(state: &SessionState, policy: &Policy) -> Judged {
    let place = |folder: &str| Judged {
        folder: PathBuf::from(folder),
        is_elsewhere: false,
    };
    let cwd = Some(state.place.cwd.as_str()).filter(|cwd| !cwd.is_empty());
    let cwd = cwd.unwrap_or(state.project());
    if policy.is_letter() {
        return place(cwd);
    }
    let home = state.home();
    if !Path::new(home).is_dir()
        && let Some(folder) = left_for(&state.turn.calls, Path::new(home))
    {
        return Judged {
            folder,
            is_elsewhere: true,
        };
    }
    let own = work_tree(Path::new(home));
    let other = edited(state, home, own.as_deref());
    match (other, own) {
        (Some(folder), _) => Judged {
            folder,
            is_elsewhere: true,
        },
        // An agent that began above its repositories.
        (None, None) => place(cwd),
        (None, Some(_)) => place(home),
    }
}

/// Returns whether a command by which work leaves runs in another repository than the one with this git directory.
pub(crate) fn leaves_elsewhere(
    state: &SessionState,
    policy: &Policy,
    line: &str,
    git_dir: &str,
) -> bool {
    let commands = judging::leaving(&Catalogue::with(&policy.programs), line);
    let cwd = Path::new(&state.place.cwd);
    let other = |command: &Simple| {
        let folder = cwd.join(command.dir.as_deref().unwrap_or_default());
        let top = folder.canonicalize().ok().as_deref().and_then(work_tree)?;
        git::shared_dir(&top).filter(|other| other != git_dir)
    };
    !commands.is_empty() && commands.iter().all(|command| other(command).is_some())
}

/// Returns the work tree in which the turn's last edit is, if none is in the session's own.
fn edited(state: &SessionState, home: &str, own: Option<&Path>) -> Option<PathBuf> {
    let mut known: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
    let mut last = None;
    let calls = state.turn.calls.iter().rev();
    for path in calls.flat_map(|call| edits(call, state, home)) {
        let Some(folder) = path.parent() else {
            continue;
        };
        if known.len() >= FOLDERS_MAX {
            break;
        }
        let known = known.entry(folder.to_owned());
        let tree = known.or_insert_with(|| work_tree(folder)).as_deref();
        if tree.is_some() && tree == own {
            return None;
        }
        last = last.or_else(|| tree.map(Path::to_owned));
    }
    last
}

/// Returns the work tree in which a turn goes on whose own one is gone: that of the same repository, if it was looked at
/// before, else the last one in which its commands ran.
fn left_for(calls: &[ToolCall], home: &Path) -> Option<PathBuf> {
    let folders = |call: &ToolCall| {
        let line = shell::read(call.command.as_deref().unwrap_or_default());
        let dirs = line
            .commands
            .into_iter()
            .rev()
            .filter_map(|simple| simple.dir);
        dirs.map(PathBuf::from).collect::<Vec<_>>()
    };
    let shells = calls
        .iter()
        .rev()
        .filter(|call| call.kind == ToolKind::Shell);
    let mut ran = shells.flat_map(folders).filter(|folder| folder.is_dir());
    git::main_tree(home).or_else(|| ran.find_map(|folder| work_tree(&folder)))
}

/// Returns the files that a call has edited, the last first; none if it failed.
fn edits(call: &ToolCall, state: &SessionState, home: &str) -> Vec<PathBuf> {
    let home = Path::new(home);
    let mut paths = match call.kind {
        _ if call.is_error || call.refused => Vec::new(),
        ToolKind::Edit | ToolKind::Write => call.paths.iter().map(|path| home.join(path)).collect(),
        ToolKind::Shell => shell_edits(call.command.as_deref().unwrap_or_default(), state, home),
        ToolKind::Read | ToolKind::Other => Vec::new(),
    };
    paths.reverse();
    paths
}

/// Returns the files that a line has written. A relative path alone says little, since the shell may be in any folder: it
/// counts where such a file was written since the turn began.
fn shell_edits(line: &str, state: &SessionState, home: &Path) -> Vec<PathBuf> {
    let line = shell::read(line);
    let starts = [home, Path::new(&state.place.cwd)];
    let dirs = line
        .commands
        .iter()
        .filter_map(|simple| simple.dir.as_deref());
    let below = dirs.flat_map(|dir| starts.map(|start| start.join(dir)));
    let mut folders: Vec<_> = below.chain(starts.map(Path::to_owned)).collect();
    folders.retain(|folder| folder.is_absolute());
    let is_new = |path: &PathBuf| {
        let since = state.turn.started_at.unwrap_or_default();
        let is_later = |meta| git::written_at(&meta).plus(FILE_TICK) >= since;
        std::fs::symlink_metadata(path).is_ok_and(is_later)
    };
    let places = |path: &String| match Path::new(path) {
        path if path.is_absolute() => vec![path.to_owned()],
        path => folders
            .iter()
            .map(|folder| folder.join(path))
            .filter(is_new)
            .collect(),
    };
    line.writes.iter().flat_map(places).collect()
}

/// Returns the top of the work tree that a folder is in, without asking git. The folder may be missing.
fn work_tree(folder: &Path) -> Option<PathBuf> {
    let above = folder.ancestors().take(LEVELS_MAX);
    let mut above = above.filter(|above| above.is_absolute());
    let is_top = |above: &&Path| std::fs::symlink_metadata(above.join(".git")).is_ok();
    above.find(is_top).map(Path::to_owned)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]
mod tests {
    use checkpoint::rules::pack_names::ProjectFacts;
    use journal::{Agent, Stream};

    use super::*;

    /// Name of the case; where the session began, and where the agent is; its calls; whose files count, and whose count
    /// with `tree: cwd`.
    const CASES: &str = "
        nothing edited             | main | other    |                               | main     | other
        only looked                | main | other    | read other/a                  | main     | other
        a subfolder                | main | main/api | edit main/api/a               | main     | main/api
        edits at home              | main | other    | edit main/a, edit other/a     | main     | other
        a relative edit            | main | other    | relative api/a, edit other/a  | main     | other
        edits elsewhere, the last  | main | main     | edit other/a, edit linked/b/c | linked   | main
        by a shell                 | main | main     | shell linked/b/c              | linked   | main
        relative, and a note       | main | main     | ran api/new, edit other/a     | main     | main
        relative, in a subfolder   | main | main     | cd api > new, edit other/a    | main     | main
        relative, not at home      | main | other    | ran b                         | other    | other
        relative, nowhere          | main | main     | ran gone, edit other/a        | other    | main
        a failed edit              | main | main     | failed other/a                | main     | main
        in no work tree            | main | main     | edit loose/plan.md            | main     | main
        a repository inside        | main | main     | edit main/lib/a               | main/lib | main
        a file whose folder went   | main | main     | edit other/gone/a             | other    | main
        above repositories         | .    | other    |                               | other    | other
        above repositories, edits  | .    | other    | edit main/a                   | main     | other";

    fn call(what: &str, at: impl Fn(&str) -> String) -> Option<ToolCall> {
        let (how, path) = what.trim().split_once(' ')?;
        let kind = match how {
            "shell" | "ran" | "cd" => ToolKind::Shell,
            "read" => ToolKind::Read,
            _ => ToolKind::Edit,
        };
        let path = if matches!(how, "relative" | "ran" | "cd") {
            path.to_owned()
        } else {
            at(path)
        };
        let is_shell = kind == ToolKind::Shell;
        Some(ToolCall {
            kind,
            command: is_shell.then(|| match how {
                "cd" => format!("cd {}", path.replace(" >", " && echo 1 >")),
                _ => format!("echo 1 > {path}"),
            }),
            paths: Vec::from_iter((!is_shell).then_some(path)),
            is_error: how == "failed",
            finished: true,
            ..ToolCall::default()
        })
    }

    fn policy(yaml: &str) -> Policy {
        let config = Config::load(Some(("config.yml", yaml))).unwrap();
        let nowhere = ProjectFacts {
            path: String::new(),
            files: Vec::new(),
        };
        config.policy_for(&nowhere, None).unwrap()
    }

    #[test]
    fn the_turns_own_edits_lead_to_another_work_tree_and_cd_does_not() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path).to_str().unwrap().to_owned();
        for folder in [
            "main/.git",
            "main/api",
            "other/.git",
            "main/lib/.git",
            "linked/b",
            "loose",
        ] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        // A linked work tree has a file.
        std::fs::write(at("linked/.git"), "gitdir: elsewhere\n").unwrap();
        std::fs::write(at("main/api/new"), "1").unwrap();
        std::fs::write(at("other/b"), "1").unwrap();
        for case in CASES.lines().skip(1) {
            let cells: Vec<&str> = case.split('|').map(str::trim).collect();
            let [name, home, cwd, calls, found, by_cwd] = cells[..] else {
                panic!("{case}");
            };
            let mut state = SessionState::new(Stream::of_native(Agent::HOSTS[0], "a"));
            state.home = at(home);
            state.place.cwd = at(cwd);
            state.turn.calls = calls.split(',').filter_map(|what| call(what, at)).collect();
            for (yaml, expected) in [("", found), ("judgment: letter\n", by_cwd)] {
                let judged = of(&state, &policy(yaml)).folder;
                assert_eq!(judged, PathBuf::from(at(expected)), "{name} {yaml}");
            }
        }
    }
}
