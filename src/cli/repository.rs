//! What a repository holds, asked of git: the changed files of a range of commits or of a work tree, and the notes of a
//! commit. Only commands that run no program of the repository's settings.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use actors::git::{ask, guard};
use checkpoint::digest;
use checkpoint::record::{Content, Digest, Repository};

use crate::cli::shared::with_input;
use crate::error::{Failure, Result};
use crate::ops::query::Range;

/// The notes that hold records.
pub(crate) const NOTES: &str = "refs/notes/checkpointd";
/// The most time that git may take to look at a work tree.
const LOOK_WITHIN: Duration = Duration::from_secs(60);
/// The modes of a submodule, and of nothing.
const SUBMODULE: &str = "160000";
const NOTHING: &str = "000000";
/// What is said if the commits that changes are counted from may be missing for that.
pub(crate) const CUT: &str =
    "this clone lacks the older commits: `git fetch --unshallow` fetches them";
/// Larger contents are not read, as at a stop.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A repository, by a folder in it.
pub(crate) struct Git {
    top: PathBuf,
}

/// A range with its changed files.
#[derive(Clone)]
pub(crate) struct Looked {
    pub(crate) repository: Repository,
    git_dir: String,
}

impl Looked {
    /// Returns the question what the journal says about it.
    pub(crate) fn question(&self) -> Range {
        Range {
            files: self.repository.files.clone(),
            git_dir: self.git_dir.clone(),
            remote: self.repository.remote.clone(),
        }
    }
}

/// Returns what a command of git prints.
fn printed(command: Command, name: &str, input: &[u8]) -> Result<Vec<u8>> {
    let output = with_input(command, input)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::failed(format!("git {name}: {}", said.trim())))
}

impl Git {
    /// Finds the repository of a folder.
    ///
    /// # Errors
    ///
    /// If there is none, or no git.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let git = Self {
            top: folder.to_owned(),
        };
        let top = git.line(&["rev-parse", "--show-toplevel"])?;
        Ok(Self { top: top.into() })
    }

    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let program = actors::programs::find("git");
        let program = program.ok_or_else(|| Failure::failed("git was not found"))?;
        let mut command = Command::new(program);
        command.arg("-C").arg(&self.top).args(arguments);
        Ok(command)
    }

    /// Runs git with an input, and returns what it prints. What looks at files of the work tree is asked otherwise, since
    /// filters would run.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let mut command = self.command(arguments)?;
        let known = std::env::var("GIT_CONFIG_COUNT").ok();
        let known = known.and_then(|count| count.parse().ok());
        guard(&mut command, known.unwrap_or(0));
        printed(command, arguments[0], input)
    }

    fn line(&self, arguments: &[&str]) -> Result<String> {
        let text = String::from_utf8_lossy(&self.run(arguments, b"")?).into_owned();
        Ok(text.trim_end().to_owned())
    }

    /// Returns the id of a commit.
    ///
    /// # Errors
    ///
    /// If there is none of this name.
    pub(crate) fn commit(&self, name: &str) -> Result<String> {
        let wanted = format!("{name}^{{commit}}");
        self.line(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &wanted,
        ])
        .map_err(|_| Failure::usage(format!("there is no commit `{name}` in this repository")))
    }

    /// Returns whether a commit is the other one, or comes before it.
    pub(crate) fn is_before(&self, one: &str, other: &str) -> bool {
        self.line(&["merge-base", "--is-ancestor", one, other])
            .is_ok()
    }

    /// Returns whether this clone lacks the older commits.
    pub(crate) fn is_cut(&self) -> bool {
        self.line(&["rev-parse", "--is-shallow-repository"])
            .is_ok_and(|said| said == "true")
    }

    /// Returns a value of the user's own or the system's settings of git, whatever the repository has.
    pub(crate) fn setting_of_user(&self, name: &str) -> Option<String> {
        let of = |scope| self.line(&["config", scope, "--type=path", "--get", name]);
        of("--global").or_else(|_| of("--system")).ok()
    }

    /// Returns a value of git's settings; `~` at its beginning is a home folder, as git has it in paths.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        self.line(&["config", "--type=path", "--get", name])
            .ok()
            .filter(|value| !value.is_empty())
    }

    /// Returns base and end of a range; without one, what is not upstream yet, or the last commit.
    ///
    /// # Errors
    ///
    /// If it names no commits, or if they are not in this clone.
    pub(crate) fn ends(&self, range: Option<&str>) -> Result<(Option<String>, String)> {
        let (base, end) = match range {
            Some(range) => {
                let (base, end) = range.split_once("..").ok_or_else(|| {
                    Failure::usage(format!("`{range}` is not a range: BASE..HEAD"))
                })?;
                let end = end.trim_start_matches('.');
                let end = if end.is_empty() { "HEAD" } else { end };
                (Some(self.commit(base)?), self.commit(end)?)
            }
            None => {
                let end = self.commit("HEAD")?;
                // A pushed branch is its own upstream: what it is for comes first.
                let shared = ["origin/HEAD", "@{upstream}"].iter();
                let mut shared = shared.filter_map(|name| self.commit(name).ok());
                let base = shared.find(|one| !self.is_before(&end, one));
                let base = base.or_else(|| self.commit("HEAD^").ok());
                if base.is_none() && self.is_cut() {
                    return Err(Failure::failed(CUT));
                }
                (base, end)
            }
        };
        let shared = base.map(|base| {
            self.line(&["merge-base", &base, &end])
                .map_err(|_| Failure::usage("base and end of the range have no commit in common"))
        });
        Ok((shared.transpose()?, end))
    }

    /// Returns the files that differ between two commits.
    ///
    /// # Errors
    ///
    /// If git fails.
    pub(crate) fn range(&self, base: Option<&str>, end: &str) -> Result<Looked> {
        let raw = self.run(
            &[
                "diff-tree",
                "-r",
                "-z",
                "--raw",
                "--no-abbrev",
                "--no-renames",
                "--no-ext-diff",
                &self.tree(base)?,
                end,
            ],
            b"",
        )?;
        let files = changes(&raw).map(|change| change.content());
        let mut files: Vec<Content> = files.collect();
        files.sort_by(|one, other| one.file.cmp(&other.file));
        let blobs = files.iter().filter_map(|one| one.content.git_blob.as_ref());
        let mut hashes = self.hashes(blobs)?.into_iter();
        for one in files
            .iter_mut()
            .filter(|one| one.content.git_blob.is_some())
        {
            one.hash = hashes.next().flatten();
        }
        Ok(Looked {
            git_dir: self.git_dir()?,
            repository: Repository {
                commit: Some(end.to_owned()),
                tree: self.line(&["rev-parse", &format!("{end}^{{tree}}")])?,
                base: base.map(str::to_owned),
                remote: self.remote(),
                files,
            },
        })
    }

    /// Returns where git looks for a hook of this repository alone.
    ///
    /// # Errors
    ///
    /// If the settings of git name a folder that other repositories may use, too, or if git fails.
    pub(crate) fn hook(&self, name: &str) -> Result<PathBuf> {
        let hook = format!("hooks/{name}");
        let asked = [
            "rev-parse",
            "--path-format=absolute",
            "--git-path",
            &hook,
            "--git-common-dir",
            "--show-toplevel",
        ];
        // The hooks that git itself would run.
        let paths = printed(self.command(&asked)?, asked[0], b"")?;
        let paths = String::from_utf8_lossy(&paths).into_owned();
        let mut paths = paths.lines().map(Path::new);
        let hook = paths.next().unwrap_or(&self.top);
        if paths.any(|own| hook.starts_with(own)) {
            return Ok(hook.to_owned());
        }
        let text = format!("{} is not only of this repository", hook.display());
        Err(Failure::failed(text).hint("`core.hooksPath` of git names its folder"))
    }

    /// Returns the files of the work tree that are not committed.
    ///
    /// # Errors
    ///
    /// If git fails.
    pub(crate) fn work_tree(&self) -> Result<Looked> {
        let from = self.tree(self.commit("HEAD").ok().as_deref())?;
        let changed = [
            "diff-index",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=dirty",
            &from,
        ];
        let new = ["ls-files", "-z", "--others", "--exclude-standard"];
        let deadline = Instant::now() + LOOK_WITHIN;
        let printed = ask(&self.top, &[&changed, &new], deadline).map_err(Failure::failed)?;
        let [raw, new] = &printed[..] else {
            return Err(Failure::failed("git gave no answer"));
        };
        // Git says by the times of a file that it changed, without a look at it.
        let had = changes(raw).filter(|change| ![SUBMODULE, NOTHING].contains(&&*change.modes[0]));
        let (paths, blobs): (Vec<_>, Vec<_>) = had
            .filter(|change| change.modes[0] == change.modes[1])
            .map(|change| (change.path, change.blobs[0].clone()))
            .unzip();
        let had: HashMap<_, _> = paths.into_iter().zip(self.hashes(blobs.iter())?).collect();
        let mut files = BTreeMap::new();
        for change in changes(raw).filter(|change| change.modes[1] == NOTHING) {
            let content = change.content();
            files.insert(content.file.clone(), content);
        }
        let changed = changes(raw).map(|change| change.path);
        for raw in changed.chain(new.split(|byte| *byte == 0)) {
            let path = self.top.join(std::ffi::OsStr::from_bytes(raw));
            let meta = std::fs::symlink_metadata(&path);
            if let Ok(meta) = meta
                && meta.is_file()
            {
                let is_read = meta.len() <= FILE_BYTES_MAX;
                let bytes = is_read.then(|| std::fs::read(&path).ok()).flatten();
                let hash = bytes.map(|bytes| digest::of_bytes(&bytes));
                if hash.is_some() && had.get(raw) == Some(&hash) {
                    continue;
                }
                let content = Content {
                    file: path_text(raw),
                    content: Digest::blob(""),
                    was: None,
                    hash,
                };
                files.insert(content.file.clone(), content);
            }
        }
        Ok(Looked {
            git_dir: self.git_dir()?,
            repository: Repository {
                remote: self.remote(),
                files: files.into_values().collect(),
                ..Repository::default()
            },
        })
    }

    /// Returns the hashes of contents, as the journal has them; none for larger ones.
    fn hashes<'a>(&self, blobs: impl Iterator<Item = &'a String>) -> Result<Vec<Option<u64>>> {
        let broken = || Failure::failed("git cat-file: a content is missing");
        let names: Vec<&str> = blobs.map(String::as_str).collect();
        let check = ["cat-file", "--batch-check=%(objectsize)"];
        let sizes = self.run(&check, names.join("\n").as_bytes())?;
        let sizes = String::from_utf8_lossy(&sizes);
        let sizes: Vec<usize> = sizes.lines().map_while(|size| size.parse().ok()).collect();
        let is_read = |size: usize| size as u64 <= FILE_BYTES_MAX;
        let read = names.iter().zip(&sizes).filter(|(_, size)| is_read(**size));
        let read: Vec<&str> = read.map(|(name, _)| *name).collect();
        let printed = self.run(&["cat-file", "--batch"], read.join("\n").as_bytes())?;
        let mut rest = &printed[..];
        let mut hashes = Vec::with_capacity(names.len());
        for at in 0..names.len() {
            let size = *sizes.get(at).ok_or_else(broken)?;
            if !is_read(size) {
                hashes.push(None);
                continue;
            }
            // A line with name, type and size comes before each content, and a line end after it.
            let head = rest.iter().position(|byte| *byte == b'\n');
            let from = head.ok_or_else(broken)? + 1;
            let content = rest.get(from..from + size).ok_or_else(broken)?;
            hashes.push(Some(digest::of_bytes(content)));
            rest = rest.get(from + size + 1..).unwrap_or_default();
        }
        Ok(hashes)
    }

    /// Returns the git directory that all work trees of the repository share, as the journal has it.
    fn git_dir(&self) -> Result<String> {
        let folder = self.line(&["rev-parse", "--git-common-dir"])?;
        let folder = self.top.join(folder).canonicalize()?;
        Ok(folder.to_string_lossy().into_owned())
    }

    /// Returns a commit, or the empty tree without one.
    fn tree(&self, base: Option<&str>) -> Result<String> {
        match base {
            Some(base) => Ok(base.to_owned()),
            None => self.line(&["hash-object", "-t", "tree", "--stdin"]),
        }
    }

    fn remote(&self) -> Option<String> {
        checkpoint::project::remote(&self.setting("remote.origin.url")?)
    }

    /// Returns the notes of a commit that hold records, one a line.
    ///
    /// # Errors
    ///
    /// If it has none.
    pub(crate) fn notes(&self, name: &str, commit: &str) -> Result<String> {
        self.line(&["notes", "--ref", name, "show", commit]).map_err(|_| {
            Failure::failed(format!("{commit} has no record"))
                .hint("`git fetch origin refs/notes/checkpointd:refs/notes/checkpointd` fetches those of others")
        })
    }

    /// Replaces the notes of a commit.
    ///
    /// # Errors
    ///
    /// If git fails.
    pub(crate) fn write_notes(&self, commit: &str, lines: &str) -> Result<()> {
        let arguments = [
            "notes", "--ref", NOTES, "add", "--force", "--file", "-", commit,
        ];
        self.run(&arguments, lines.as_bytes()).map(drop)
    }
}

/// A changed file, before and after.
struct Change<'a> {
    modes: [String; 2],
    blobs: [String; 2],
    path: &'a [u8],
}

impl Change<'_> {
    /// Returns it as a record has it.
    fn content(&self) -> Content {
        let object = |at: usize| match &*self.modes[at] {
            SUBMODULE => Digest::commit(&self.blobs[at]),
            NOTHING => Digest::default(),
            _ => Digest::blob(&self.blobs[at]),
        };
        let (was, content) = (object(0), object(1));
        let is_file = content.git_blob.is_some();
        Content {
            file: path_text(self.path),
            was: (!is_file && was != Digest::default()).then_some(was),
            content,
            hash: None,
        }
    }
}

/// Reads what `--raw -z` prints.
fn changes(raw: &[u8]) -> impl Iterator<Item = Change<'_>> {
    let mut fields = raw.split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let (head, path) = (fields.next()?, fields.next()?);
        let head = String::from_utf8_lossy(head);
        let mut parts = head.trim_start_matches(':').split(' ').map(str::to_owned);
        let mut two = || Some([parts.next()?, parts.next()?]);
        Some(Change {
            modes: two()?,
            blobs: two()?,
            path,
        })
    })
}

/// Returns a path as text. Where it is not UTF-8, other bytes are written as `\xE8`, and backslashes, too: different paths
/// have different texts.
fn path_text(raw: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(raw)
        && !text.contains("\\x")
    {
        return text.to_owned();
    }
    let mut text = String::new();
    for chunk in raw.utf8_chunks() {
        text += &chunk.valid().replace('\\', "\\x5C");
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02X}");
        }
    }
    text
}
