//! The files that a line reads and writes, as far as its words name them.

use std::collections::HashSet;

use super::argv::is_dry;
use super::simple::Run;
use crate::catalogue::{Arg, Catalogue, Kind, file_name};

/// Returns the paths that the commands of a line show to the agent.
pub(super) fn reads(runs: &[Run]) -> Vec<String> {
    let runs = runs.iter();
    distinct(runs.flat_map(|run| run.inputs.iter().cloned().chain(read_by(run))))
}

/// Returns the paths that the commands of a line write.
pub(super) fn writes(runs: &[Run]) -> Vec<String> {
    distinct(runs.iter().flat_map(|run| {
        let written = if is_dry(&run.simple) {
            Vec::new()
        } else {
            written_by(run)
        };
        run.outputs.iter().cloned().chain(written)
    }))
}

fn distinct(paths: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let new = paths.filter(|path| is_path(path) && seen.insert(path.clone()));
    new.collect()
}

fn is_path(text: &str) -> bool {
    !matches!(text, "" | "-" | "$()") && !text.starts_with("/dev/")
}

/// The options and operands of one command.
#[derive(Default)]
struct Parts<'a> {
    options: Vec<Arg<'a>>,
    operands: Vec<&'a str>,
    /// The operands after `--`.
    passed: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn of<S: AsRef<str>>(words: &'a [S]) -> Self {
        let args = Catalogue::built_in().parse(words).args;
        let (options, others): (Vec<_>, Vec<_>) =
            args.into_iter().partition(|arg| arg.kind == Kind::Option);
        let passed = others.iter().filter(|arg| arg.kind == Kind::Passed);
        Self {
            options,
            operands: others.iter().map(|arg| arg.text).collect(),
            passed: passed.map(|arg| arg.text).collect(),
        }
    }

    fn has(&self, letter: char, name: &str) -> bool {
        self.options.iter().any(|arg| arg.is(letter, name))
    }

    fn value(&self, letter: char, name: &str) -> Option<&'a str> {
        let mut named = self.options.iter().filter(|arg| arg.is(letter, name));
        named.find_map(|arg| arg.value)
    }

    /// Returns the operands, without the first if it is a program text.
    fn behind_text(&self, given: bool) -> Vec<String> {
        owned(&self.operands, usize::from(!given))
    }
}

fn owned(words: &[&str], from: usize) -> Vec<String> {
    let words = words.iter().skip(from);
    words.map(|word| (*word).to_owned()).collect()
}

fn read_by(run: &Run) -> Vec<String> {
    let Some(program) = run.simple.words.first().map(String::as_str) else {
        return Vec::new();
    };
    let mut parts = Parts::of(&run.simple.words);
    match program {
        "cat" | "bat" | "batcat" | "nl" | "wc" | "od" | "xxd" | "hexdump" | "tac" | "cut"
        | "sort" | "uniq" | "strings" | "diff" | "cmp" | "comm" => owned(&parts.operands, 0),
        "head" | "tail" | "less" | "more" => {
            parts.operands.retain(|word| !word.starts_with('+'));
            owned(&parts.operands, 0)
        }
        "sed" | "gsed" if !edits_in_place(&parts, "sed") => {
            parts.behind_text(parts.has('e', "--expression") || parts.has('f', "--file"))
        }
        "awk" | "gawk" | "mawk" | "nawk" => parts.behind_text(parts.has('f', "--file")),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            let given = parts.has('e', "--regexp")
                || parts.has('f', "--file")
                || parts.has('\0', "--files");
            parts.behind_text(given)
        }
        "jq" | "yq" => jq_files(&run.simple.words),
        _ => Vec::new(),
    }
}

/// `jq` has options with two values, which nothing else has.
fn jq_files(words: &[String]) -> Vec<String> {
    let mut plain: Vec<&str> = Vec::new();
    let mut skip = 0_usize;
    for word in words {
        match word.as_str() {
            _ if skip > 0 => skip -= 1,
            "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => skip = 2,
            word => plain.push(word),
        }
    }
    let parts = Parts::of(&plain);
    parts.behind_text(parts.has('f', "--from-file"))
}

fn written_by(run: &Run) -> Vec<String> {
    let Some(program) = run.simple.words.first().map(String::as_str) else {
        return Vec::new();
    };
    let words = &run.simple.words;
    let mut parts = Parts::of(words);
    match program {
        "tee" | "touch" | "truncate" => owned(&parts.operands, 0),
        "sed" | "gsed" if edits_in_place(&parts, "sed") => {
            // BSD wants the suffix as a word of its own.
            parts.operands.retain(|word| !word.is_empty());
            parts.behind_text(parts.has('e', "--expression") || parts.has('f', "--file"))
        }
        "perl" | "ruby" if edits_in_place(&parts, "perl") => parts.behind_text(parts.has('e', "")),
        "cp" | "mv" | "install" => destinations(&parts),
        "dd" => {
            let files = words.iter().filter_map(|word| word.strip_prefix("of="));
            files.map(str::to_owned).collect()
        }
        "sort" | "curl" => owned(parts.value('o', "--output").as_slice(), 0),
        "wget" => owned(parts.value('O', "--output-document").as_slice(), 0),
        "patch" => match parts.operands.first() {
            Some(_) => owned(&parts.operands[..1], 0),
            None => {
                let level = parts.value('p', "--strip");
                let level = level.and_then(|level| level.parse().ok());
                diff_paths(run.stdin.as_deref().unwrap_or_default(), level)
            }
        },
        "git" => git_writes(&parts, run.stdin.as_deref().unwrap_or_default()),
        "apply_patch" | "applypatch" => {
            let texts = words[1..].iter().chain(&run.stdin);
            let lines = texts.flat_map(|text| text.lines());
            lines.filter_map(patched_path).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether `-i` is among the options; the rest of its cluster is a suffix.
fn edits_in_place(parts: &Parts<'_>, program: &str) -> bool {
    parts.options.iter().any(|arg| {
        let before = if program == "sed" {
            "nrsuzE"
        } else {
            "pnlwaW0123456789"
        };
        let letters = arg.letters;
        let flag = letters.trim_start_matches(|letter| before.contains(letter));
        arg.text == "--in-place" || flag.starts_with('i')
    })
}

fn destinations(parts: &Parts<'_>) -> Vec<String> {
    let within = |dir: &str, files: &[&str]| {
        let dir = dir.trim_end_matches('/');
        let names = files
            .iter()
            .map(|file| file_name(file.trim_end_matches('/')));
        names.map(|name| format!("{dir}/{name}")).collect()
    };
    if let Some(dir) = parts.value('t', "--target-directory") {
        return within(dir, &parts.operands);
    }
    match parts.operands.split_last() {
        Some((dir, sources))
            if sources.len() > 1 || (sources.len() == 1 && (dir.ends_with('/') || *dir == ".")) =>
        {
            within(dir, sources)
        }
        Some((file, [_])) => vec![(*file).to_owned()],
        _ => Vec::new(),
    }
}

fn git_writes(parts: &Parts<'_>, stdin: &str) -> Vec<String> {
    let Some((verb, operands)) = parts.operands.split_first() else {
        return Vec::new();
    };
    match *verb {
        "apply" if !parts.has('\0', "--check") && !parts.has('\0', "--stat") => {
            let mut options = parts.options.iter();
            let level = options.find_map(|arg| arg.text.strip_prefix("-p")?.parse().ok());
            diff_paths(stdin, Some(level.unwrap_or(1)))
        }
        "checkout" | "restore" if parts.has('\0', "--staged") && !parts.has('W', "--worktree") => {
            Vec::new()
        }
        "checkout" => owned(&parts.passed, 0),
        "restore" => owned(operands, usize::from(parts.has('s', ""))),
        "mv" => destinations(&Parts {
            operands: operands.to_vec(),
            ..Parts::default()
        }),
        _ => Vec::new(),
    }
}

/// Returns the paths of a unified diff, `level` leading parts removed; without a level, only an `a/` or `b/`.
fn diff_paths(diff: &str, level: Option<usize>) -> Vec<String> {
    let lines = diff.lines();
    let paths = lines.filter_map(|line| behind(line, ["+++ ", "--- "]));
    let paths = paths
        .map(|path| path.split('\t').next().unwrap_or(path).trim())
        .filter(|path| *path != "/dev/null");
    let stripped = paths.map(|path| match level {
        Some(level) => path.splitn(level + 1, '/').last().unwrap_or(path),
        None => behind(path, ["b/", "a/"]).unwrap_or(path),
    });
    stripped.map(str::to_owned).collect()
}

fn behind<'t>(text: &'t str, openings: [&str; 2]) -> Option<&'t str> {
    let mut openings = openings.into_iter();
    openings.find_map(|opening| text.strip_prefix(opening))
}

fn patched_path(line: &str) -> Option<String> {
    let (what, path) = line.strip_prefix("*** ")?.split_once(": ")?;
    let is_file = matches!(what, "Add File" | "Update File" | "Delete File" | "Move to");
    is_file.then(|| path.trim().to_owned())
}
