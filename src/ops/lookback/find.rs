//! Finds the agents' own transcripts on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use checkpoint::agents;
use checkpoint::agents::adapter::Library;
use checkpoint::config::DescribedAgents;
use journal::{Agent, Timestamp};

use super::database;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) agent: Agent,
    pub(super) path: PathBuf,
    /// The session, if the file is a database of many.
    pub(super) session: Option<String>,
    pub(super) bytes: u64,
    /// When the file was last written.
    pub(super) written: Timestamp,
}

/// Returns the transcripts that were written since a time, the newest first.
pub(super) fn find(
    only: Option<Agent>,
    since: Timestamp,
    described: &DescribedAgents,
) -> Vec<FoundFile> {
    let mut found = Vec::new();
    let mut walk_in = |agent: Agent, home: &Path, pattern: &str| {
        let segments: Vec<&str> = pattern.split('/').collect();
        walk(home, &segments, &mut |path| {
            let files = transcripts(agent, path);
            found.extend(files.into_iter().filter(|file| file.written >= since));
        });
    };
    let is_wanted = |agent: Agent| only.is_none_or(|only| only == agent);
    for adapter in agents::ALL {
        let (agent, library) = (adapter.agent, adapter.library);
        if let Some(home) = home(&library).filter(|_| is_wanted(agent)) {
            let patterns = library.patterns.iter();
            patterns.for_each(|pattern| walk_in(agent, &home, pattern));
        }
    }
    let user = std::env::var("HOME").ok();
    for (agent, described) in described.iter().filter(|(agent, _)| is_wanted(*agent)) {
        let pattern = described.transcripts.as_ref();
        if let Some(pattern) = pattern.and_then(|pattern| pattern.resolve(user.as_deref())) {
            walk_in(agent, Path::new("/"), pattern.trim_start_matches('/'));
        }
    }
    let key = |file: &FoundFile| (file.path.clone(), file.session.clone());
    found.sort_by(|one, other| {
        let newest_first = other.written.cmp(&one.written);
        newest_first.then_with(|| key(one).cmp(&key(other)))
    });
    found
}

fn home(library: &Library) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set(library.home_variable)
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(library.home_default)))
}

/// Hands each file below a folder whose path fits the pattern to `each`.
fn walk(folder: &Path, pattern: &[&str], each: &mut impl FnMut(PathBuf)) {
    let Some((segment, rest)) = pattern.split_first() else {
        return;
    };
    if !segment.contains('*') {
        let path = folder.join(segment);
        return if rest.is_empty() {
            each(path);
        } else {
            walk(&path, rest, each);
        };
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let fits = entry
            .file_name()
            .to_str()
            .is_some_and(|name| fits(name, segment));
        match rest {
            _ if !fits => {}
            [] => each(entry.path()),
            _ => walk(&entry.path(), rest, each),
        }
    }
}

/// Returns whether a name fits a pattern with one `*`.
fn fits(name: &str, pattern: &str) -> bool {
    pattern.split_once('*').is_some_and(|(before, after)| {
        name.len() >= before.len() + after.len()
            && name.starts_with(before)
            && name.ends_with(after)
    })
}

/// Returns the transcripts of a file: those of its sessions if it is a database. One that cannot be read is returned as
/// it is, so that reading it says why.
fn transcripts(agent: Agent, path: PathBuf) -> Vec<FoundFile> {
    let Some(file) = transcript(agent, path) else {
        return Vec::new();
    };
    let Some(questions) = agents::adapter(agent).and_then(|adapter| adapter.database) else {
        return vec![file];
    };
    let Ok(sessions) = database::sessions(&file.path, questions) else {
        return vec![file];
    };
    let session = |(id, changed, bytes): (String, i64, u64)| FoundFile {
        session: Some(id),
        bytes,
        written: Timestamp::from_micros(changed.saturating_mul(1000)),
        ..file.clone()
    };
    sessions.into_iter().map(session).collect()
}

fn transcript(agent: Agent, path: PathBuf) -> Option<FoundFile> {
    let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    Some(FoundFile {
        agent,
        path,
        session: None,
        bytes: meta.len(),
        written: meta.modified().ok()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns_with_a_star() {
        for (name, pattern, expected) in [
            ("a.jsonl", "*.jsonl", true),
            ("rollout-1.jsonl", "rollout-*.jsonl", true),
            ("rollout-.jsonl", "rollout-*.jsonl", true),
            ("rollout.jsonl", "rollout-*.jsonl", false),
            ("aa", "a*a", true),
            ("a", "a*a", false),
            ("x", "*", true),
            ("x", "y", false),
        ] {
            assert_eq!(fits(name, pattern), expected, "{name} {pattern}");
        }
    }
}
