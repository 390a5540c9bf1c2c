//! The files whose text an agent has: it read or wrote them, or a command, a prompt or an error showed them to it
//! (spec HYG-9).
//!
//! Whether a command showed a file is judged generously: it counts as not shown only if that is certain, because a
//! demand to read a file again that the agent has just seen is useless.

use journal::{ToolCall, ToolKind};

use super::paths::PathRef;
use crate::rules;
use crate::shell::{self, CommandLine, Simple};

/// Programs, and commands of PowerShell, that show what files hold.
const VIEWERS: [&str; 47] = [
    "cat",
    "bat",
    "batcat",
    "nl",
    "head",
    "tail",
    "less",
    "more",
    "tac",
    "pr",
    "fold",
    "cut",
    "sort",
    "uniq",
    "comm",
    "column",
    "paste",
    "strings",
    "xxd",
    "od",
    "hexdump",
    "sed",
    "gsed",
    "awk",
    "gawk",
    "mawk",
    "perl",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "diff",
    "colordiff",
    "delta",
    "jq",
    "yq",
    "xmllint",
    "glow",
    "get-content",
    "gc",
    "type",
    "select-string",
    "sls",
    "import-csv",
];
/// How scripts, given on a line, read a file.
const SCRIPT_READS: [&str; 12] = [
    "open(",
    "read_text",
    "readlines",
    "readFile",
    "File.read",
    "File.open",
    "IO.read",
    "ReadAll",
    "fs.read",
    "slurp",
    "file_get_contents",
    "Bun.file",
];
/// Programs that search folders by themselves.
const SEARCHES: [&str; 3] = ["rg", "ag", "ack"];
/// Options with which a search prints no text of the files.
const WITHOUT_TEXT: [&str; 12] = [
    "-l",
    "-L",
    "-c",
    "-q",
    "--files",
    "--files-with-matches",
    "--files-without-match",
    "--count",
    "--quiet",
    "--stat",
    "--name-only",
    "--name-status",
];
/// More options with which git prints no text of the files.
const GIT_WITHOUT_TEXT: [&str; 7] = [
    "--shortstat",
    "--numstat",
    "--dirstat",
    "--summary",
    "--check",
    "--no-patch",
    "-s",
];
/// Words in names of tools that change or list files without showing them.
const SILENT_TOOLS: [&str; 8] = [
    "delete",
    "remove",
    "move",
    "rename",
    "list",
    "glob",
    "mkdir",
    "create_dir",
];
/// A prompt of this many lines that names a file may hold its text.
const PASTE_LINES: usize = 8;

/// What an agent has seen so far.
#[derive(Default)]
pub(super) struct Known {
    files: Vec<PathRef>,
    /// Texts that showed, or were, the text of each file that they name.
    texts: Vec<String>,
    /// Folders whose files were searched; the empty one is the whole project.
    folders: Vec<String>,
}

impl Known {
    /// Adds what a call showed or wrote. A call that failed showed at most what its error quotes.
    pub(super) fn take(&mut self, call: &ToolCall, line: &CommandLine, project: &str) {
        if call.refused {
            return;
        }
        if call.is_error {
            self.texts.push(call.output.clone());
            if call.kind != ToolKind::Shell {
                return;
            }
        }
        let paths = call.paths.iter().map(|path| reference(path, project));
        match call.kind {
            ToolKind::Edit | ToolKind::Write => self.files.extend(paths),
            ToolKind::Read => {
                self.files.extend(paths);
                self.texts.extend(call.paths.iter().cloned());
                self.folders
                    .extend(call.paths.iter().map(|path| folder(path)));
            }
            ToolKind::Shell => {
                let named = line.reads.iter().chain(&line.writes);
                self.files
                    .extend(paths.chain(named.map(|path| reference(path, project))));
                self.take_line(call.command.as_deref().unwrap_or_default(), line);
            }
            ToolKind::Other => self.take_other(call, project),
        }
    }

    fn take_line(&mut self, text: &str, line: &CommandLine) {
        if shows_files(text) {
            self.texts.push(text.to_owned());
        }
        for simple in &line.commands {
            match searched(simple) {
                Searched::Nothing => {}
                Searched::Everything => self.folders.push(String::new()),
                Searched::Operands if line.reads.is_empty() => self.folders.push(String::new()),
                Searched::Operands => self
                    .folders
                    .extend(line.reads.iter().map(|path| folder(path))),
            }
        }
    }

    fn take_other(&mut self, call: &ToolCall, project: &str) {
        let name = call.tool.to_lowercase();
        if SILENT_TOOLS.iter().any(|word| name.contains(word)) {
            return;
        }
        self.files
            .extend(call.paths.iter().map(|path| reference(path, project)));
        let is_search = name.contains("grep")
            || name.contains("search_file")
            || name.contains("search_content");
        if is_search && call.paths.is_empty() {
            self.folders.push(String::new());
        } else if is_search {
            self.texts.extend(call.paths.iter().cloned());
            self.folders
                .extend(call.paths.iter().map(|path| folder(path)));
        }
    }

    /// Adds what a person said: files attached as `@path`, and pasted text with the name of its file.
    pub(super) fn take_prompt(&mut self, text: &str) {
        let is_paste = text.contains("```") || text.lines().count() >= PASTE_LINES;
        if is_paste {
            self.texts.push(text.to_owned());
        } else {
            let attached = text
                .split_whitespace()
                .filter_map(|word| word.strip_prefix('@'));
            self.texts.extend(attached.map(str::to_owned));
        }
    }

    /// Returns whether the agent has the text of a file.
    pub(super) fn has(&self, file: &PathRef) -> bool {
        self.files.iter().any(|known| known.same(file))
            || self.folders.iter().any(|folder| is_below(folder, file))
            || self.texts.iter().any(|text| names(text, file))
    }
}

/// Returns a path as an agent wrote it, in any shell.
pub(super) fn reference(path: &str, project: &str) -> PathRef {
    let path = path.replace('\\', "/");
    PathRef::written(without_drive(&path), project)
}

/// Returns the path without the letter of a Windows drive.
fn without_drive(path: &str) -> &str {
    match path.as_bytes() {
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => &path[2..],
        _ => path,
    }
}

fn folder(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = without_drive(&path)
        .trim_end_matches("**")
        .trim_end_matches('/');
    let path = path.trim_start_matches("./");
    if path == "." {
        String::new()
    } else {
        path.to_owned()
    }
}

/// Returns whether a file is below a folder, whose path may begin above the project or below its top.
fn is_below(folder: &str, file: &PathRef) -> bool {
    let whole = format!("/{}", file.path.trim_start_matches('/'));
    folder.is_empty()
        || whole.contains(&format!("/{}/", folder.trim_start_matches('/')))
        || (folder.starts_with('/')
            && folder
                .rsplit('/')
                .next()
                .is_some_and(|last| whole.contains(&format!("/{last}/"))))
}

/// Returns whether any command of a line, however it is nested, shows files.
fn shows_files(line: &str) -> bool {
    let words = line.split(|c: char| c.is_whitespace() || "\"'`;|&(){}$=".contains(c));
    let mut names = words.map(|word| {
        word.rsplit(['/', '\\'])
            .next()
            .unwrap_or(word)
            .to_lowercase()
    });
    SCRIPT_READS.iter().any(|read| line.contains(read))
        || is_git_view(line)
        || names.any(|name| VIEWERS.contains(&name.trim_end_matches(".exe")))
}

fn is_git_view(line: &str) -> bool {
    let has = |words: &[&str]| line.split_whitespace().any(|word| words.contains(&word));
    let views = has(&["show", "diff", "blame", "annotate", "cat-file", "grep"])
        || (has(&["log", "stash"]) && has(&["-p", "-u", "--patch"]));
    views && line.contains("git ") && !has(&GIT_WITHOUT_TEXT) && !has(&WITHOUT_TEXT[9..])
}

/// What a command searched.
enum Searched {
    Nothing,
    /// What it names, or everything if it names nothing.
    Operands,
    Everything,
}

fn searched(simple: &Simple) -> Searched {
    let Some((program, words)) = simple.words.split_first() else {
        return Searched::Nothing;
    };
    let silent = |option: &&str| words.iter().any(|word| word == option);
    if WITHOUT_TEXT.iter().any(silent) {
        return Searched::Nothing;
    }
    let is_recursive = || {
        words.iter().any(|word| {
            word == "--recursive"
                || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
        })
    };
    match program.as_str() {
        "git" => git_searched(words),
        "grep" | "egrep" | "fgrep" if is_recursive() => Searched::Operands,
        program if SEARCHES.contains(&program) => Searched::Operands,
        _ => Searched::Nothing,
    }
}

/// `git diff` and similar commands show the files that the line names, or everything.
fn git_searched(words: &[String]) -> Searched {
    let mut operands = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'));
    let verb = operands.next().unwrap_or_default();
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    let shows = match verb {
        "diff" | "show" | "grep" => true,
        "log" | "stash" => has(&["-p", "-u", "--patch"]),
        _ => false,
    };
    let names_files = words.iter().any(|word| word == "--")
        || operands.any(|word| word.contains(':') || word.ends_with('/') || has_ending(word));
    if !shows || (names_files && verb != "grep") || has(&GIT_WITHOUT_TEXT) {
        Searched::Nothing
    } else {
        Searched::Everything
    }
}

/// Returns whether a word ends like the name of a file.
fn has_ending(word: &str) -> bool {
    !word.contains("..")
        && word.rsplit_once('.').is_some_and(|(name, ending)| {
            !name.is_empty()
                && (1..=8).contains(&ending.len())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
        })
}

/// Returns whether a text names a file, by its path, the end of its path, or a pattern.
fn names(text: &str, file: &PathRef) -> bool {
    if !may_name(text, file) {
        return false;
    }
    let text = text.replace("\\[", "[").replace("\\]", "]");
    let text = text.replace('\\', "/");
    let separates = |c: char| c.is_whitespace() || "\"'`;|&<>=:".contains(c);
    let words = text.split(separates).flat_map(|word| {
        let parts = word.split(['(', ')']).chain(word.split(','));
        std::iter::once(word).chain(parts)
    });
    words
        .map(|word| {
            word.trim_matches(|c| "(),$@".contains(c))
                .trim_start_matches("a/")
                .trim_start_matches("b/")
        })
        .filter(|word| !word.is_empty())
        .any(|word| PathRef::written(word, "").same_end(file) || fits_pattern(word, file))
}

/// Returns whether a pattern fits a file, or a tail of its path.
/// Returns whether a text has the name of a file, or a sign of patterns. Others need not be taken apart.
fn may_name(text: &str, file: &PathRef) -> bool {
    let name = file.file_name();
    // Brackets may be written with backslashes.
    name.contains(['[', ']']) || text.contains(name) || text.contains(['*', '?', '{'])
}

fn fits_pattern(word: &str, file: &PathRef) -> bool {
    if !word.contains(['*', '?', '{']) || word.trim_matches(['*', '/', '.']).is_empty() {
        return false;
    }
    let word = word.trim_start_matches("./");
    let Ok(glob) = rules::glob(word) else {
        return false;
    };
    let matcher = glob.compile_matcher();
    let mut rest = Some(file.path.trim_start_matches('/'));
    while let Some(path) = rest {
        if matcher.is_match(path) {
            return true;
        }
        rest = path.split_once('/').map(|(_, below)| below);
    }
    false
}

/// Returns those of `files` whose text an agent had after these prompts and calls.
pub fn known_files<'a>(
    calls: &[ToolCall],
    prompts: impl Iterator<Item = &'a str>,
    files: &[String],
    project: &str,
) -> Vec<String> {
    let mut known = Known::default();
    prompts.for_each(|text| known.take_prompt(text));
    for call in calls {
        let command = call
            .command
            .as_deref()
            .filter(|_| call.kind == ToolKind::Shell);
        let line = command.map(shell::read).unwrap_or_default();
        known.take(call, &line, project);
    }
    files
        .iter()
        .filter(|path| known.has(&reference(path, project)))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_a_file_by_its_path_or_a_pattern() {
        let named = |text: &str, path: &str| names(text, &PathRef::changed(path));
        for (text, path) in [
            ("error in src/a.rs:3", "src/a.rs"),
            (r"cat C:\work\src\a.rs", "src/a.rs"),
            ("head -3 src/*.rs", "src/a.rs"),
            ("cat src/{a,b}.rs", "src/a.rs"),
            ("cat src/?.rs", "src/a.rs"),
            (r"cat pages/\[id\].ts", "pages/[id].ts"),
            ("cat 'pages/[id].ts'", "pages/[id].ts"),
        ] {
            assert!(named(text, path), "{text}: {path}");
        }
        for text in ["cat src/b.rs", "cat src", "cat aXrs", "cat src/*.ts", ""] {
            assert!(!named(text, "src/a.rs"), "{text}");
        }
    }
}
