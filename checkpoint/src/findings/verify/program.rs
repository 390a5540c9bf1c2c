//! Runs of the changed program itself: its script, its server asked, its page looked at (spec EVID-24).

use journal::{ToolCall, ToolKind};

use super::inline;
use crate::project::covering::{Family, family, package_of, within};
use crate::project::resolve::Map;
use crate::project::{file_name, folder};
use crate::shell::{Simple, canonical_name};

/// Programs that run a script that is named to them.
const INTERPRETERS: [&str; 26] = [
    "python", "node", "deno", "bun", "tsx", "ts-node", "ruby", "php", "perl", "bash", "sh", "zsh",
    "fish", "Rscript", "julia", "lua", "swift", "java", "kotlin", "dart", "elixir", "groovy",
    "pwsh", "source", ".", "go",
];

/// Returns whether a command runs a changed file, or the program that it belongs to.
pub(super) fn runs(simple: &Simple, place: Option<&str>, path: &str, map: &Map<'_>) -> bool {
    let Some(program) = simple.words.first() else {
        return false;
    };
    if let Some(script) = given_inline(simple) {
        return inline::checks(script, path) && (inline::shows(script) || prints_by_itself(simple));
    }
    let script = if INTERPRETERS.contains(&canonical_name(program)) {
        let verbs = ["run", "exec"];
        let mut operands = simple
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.starts_with('-') && !verbs.contains(&word.as_str()));
        operands
            .find(|word| file_name(word).contains('.'))
            .map(String::as_str)
    } else {
        Some(program.as_str())
    };
    let Some(script) = script.filter(|_| !checks_only(simple)) else {
        return false;
    };
    is_same(script, path) || is_module(script, path) || leads_to(script, place, path, map)
}

fn checks_only(simple: &Simple) -> bool {
    simple.words.iter().skip(1).any(|word| {
        matches!(
            word.as_str(),
            "-n" | "--check" | "-c" | "--help" | "-h" | "--version" | "-l" | "py_compile"
        )
    }) && !simple
        .words
        .iter()
        .skip(1)
        .take_while(|word| !word.starts_with('-'))
        .any(|word| file_name(word).contains('.'))
}

/// Compares a script as it was called with a changed file. A shell that does not know `\\` took it off the path.
fn is_same(script: &str, path: &str) -> bool {
    let script = script.trim_start_matches("./").replace('\\', "/");
    let ends = |text: &str, end: &str| {
        text == end
            || text
                .strip_suffix(end)
                .is_some_and(|rest| rest.ends_with('/'))
    };
    let joined =
        || !script.contains('/') && path.contains('/') && script.ends_with(&path.replace('/', ""));
    ends(path, &script) || ends(&script, path) || joined()
}

/// `python -m package.module` runs that module, and what its package holds.
fn is_module(script: &str, path: &str) -> bool {
    let part = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '.';
    if family(path) != Family::Python || !script.chars().all(part) {
        return false;
    }
    let module = script.replace('.', "/");
    let stem = path.strip_suffix(".py").unwrap_or(path);
    let first = module.split('/').next().unwrap_or_default();
    stem == module
        || stem.ends_with(&format!("/{module}"))
        || (module.contains('/') && folder(path).split('/').any(|part| part == first))
        || folder(path).split('/').any(|part| part == module)
}

/// Returns whether a script of the same language lies beside a file or above it, in its package: it is what uses the file.
fn leads_to(script: &str, place: Option<&str>, path: &str, map: &Map<'_>) -> bool {
    if family(script) == Family::Other
        || family(script) != family(path)
        || crate::project::is_test(script)
    {
        return false;
    }
    let script = script.trim_start_matches("./");
    let at = match place {
        Some("") | None => folder(script).to_owned(),
        Some(place) if folder(script).is_empty() => place.to_owned(),
        Some(place) => format!("{place}/{}", folder(script)),
    };
    let at = if script.starts_with('/') {
        map.locate(folder(script)).unwrap_or_default()
    } else {
        at
    };
    let packages = &map.workspace.packages;
    within(path, &at) && package_of(packages, path) == package_of(packages, &format!("{at}/x"))
}

/// Returns the text of an inline script: `python -c TEXT`, `node -e TEXT`, `python - <<EOF`.
fn given_inline(simple: &Simple) -> Option<&str> {
    let program = canonical_name(simple.words.first()?);
    if !matches!(
        program,
        "python" | "node" | "ruby" | "perl" | "php" | "bun" | "deno" | "tsx" | "Rscript" | "lua"
    ) {
        return None;
    }
    let at = simple.words.iter().position(|word| {
        matches!(
            word.as_str(),
            "-c" | "-e" | "-pe" | "--eval" | "-r" | "-p" | "--print" | "eval"
        )
    });
    let given = at
        .and_then(|at| simple.words.get(at + 1))
        .map(String::as_str);
    let has_script = || {
        simple
            .words
            .iter()
            .skip(1)
            .any(|word| word != "-" && !word.starts_with('-'))
    };
    given.or_else(|| simple.input.as_deref().filter(|_| !has_script()))
}

/// Returns whether an interpreter prints the value of what it is given.
fn prints_by_itself(simple: &Simple) -> bool {
    let program = simple
        .words
        .first()
        .map_or("", |program| canonical_name(program));
    program == "Rscript"
        || simple
            .words
            .iter()
            .any(|word| word == "-p" || word == "--print")
}

/// What asks a running program something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A server on this machine.
    Local,
    /// Another one, which has the change only after a deployment.
    Remote,
}

/// Returns what a command asks.
pub(super) fn request(simple: &Simple) -> Option<Request> {
    let program = canonical_name(simple.words.first()?);
    if !matches!(
        program,
        "curl"
            | "wget"
            | "http"
            | "https"
            | "xh"
            | "grpcurl"
            | "websocat"
            | "Invoke-WebRequest"
            | "Invoke-RestMethod"
    ) {
        return None;
    }
    let hosts = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
    let is_local =
        |word: &String| hosts.iter().any(|host| word.contains(host)) || word.starts_with(":");
    let words = || simple.words.iter().skip(1);
    if words().any(is_local) {
        return Some(Request::Local);
    }
    words()
        .any(|word| word.contains("://") || word.contains('.'))
        .then_some(Request::Remote)
}

/// Returns whether a command brings the program to another machine.
pub(super) fn deploys(simple: &Simple) -> bool {
    let Some(program) = simple.words.first() else {
        return false;
    };
    let named = simple
        .words
        .iter()
        .take(4)
        .any(|word| word.contains("deploy") || word.contains("rollout"));
    named
        || matches!(
            canonical_name(program),
            "ssh"
                | "scp"
                | "rsync"
                | "vercel"
                | "fly"
                | "flyctl"
                | "wrangler"
                | "netlify"
                | "firebase"
                | "heroku"
                | "railway"
                | "eb"
                | "cap"
        )
        || (program == "kubectl" && simple.words.iter().any(|word| word == "apply"))
}

/// Returns whether a call looks at a page in a browser.
pub(in crate::findings) fn looks_at_page(call: &ToolCall) -> bool {
    const WORDS: [&str; 7] = [
        "playwright",
        "puppeteer",
        "browser_",
        "chrome",
        "screenshot",
        "computer-use",
        "webdriver",
    ];
    let name = call.tool.to_ascii_lowercase();
    call.kind == ToolKind::Other
        && call.finished
        && !call.refused
        && !call.is_error
        && WORDS.iter().any(|word| name.contains(word))
}

/// Returns whether a file is part of what a browser shows.
pub(super) fn is_front_end(path: &str) -> bool {
    let ending = file_name(path)
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending);
    family(path) == Family::Script
        || matches!(
            ending,
            "html" | "css" | "scss" | "sass" | "less" | "htm" | "erb" | "heex" | "cshtml" | "php"
        )
}

/// Returns whether a failed call is a program that started well and was then stopped.
pub(super) fn was_stopped(call: &ToolCall) -> bool {
    let output = call.output.to_lowercase();
    let stopped = [
        "timed out after",
        "command timed out",
        "exit code 124",
        "exit code 130",
        "exit code 143",
        "exit code: 124",
        "exit code: 130",
    ];
    let broke = [
        "traceback",
        "error:",
        "exception",
        "panicked",
        "cannot find",
        "eaddrinuse",
        "syntaxerror",
    ];
    call.is_error
        && stopped.iter().any(|word| output.contains(word))
        && !broke.iter().any(|word| output.contains(word))
}
