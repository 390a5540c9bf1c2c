//! Runs of the changed program itself: its script, a request to its server, a visit to its page (spec EVID-24).

use journal::{ChangedFile, ToolCall, ToolKind};

use super::inline;
use crate::project::covering::{Family, family, is_only_test, package_of, within};
use crate::project::resolve::Map;
use crate::project::{file_name, folder};
use crate::shell::{Simple, canonical_name};

/// Programs that run a script that is named to them.
const INTERPRETERS: &[&str] = &[
    "python",
    "node",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "ruby",
    "php",
    "perl",
    "bash",
    "sh",
    "zsh",
    "fish",
    "Rscript",
    "julia",
    "lua",
    "swift",
    "java",
    "kotlin",
    "dart",
    "elixir",
    "groovy",
    "pwsh",
    "source",
    ".",
    "go",
    "ipython",
    "torchrun",
    "accelerate",
    "deepspeed",
    "spark-submit",
    "streamlit",
    "marimo",
    "papermill",
    "octave",
    "gnuplot",
    "tclsh",
    "expect",
    "racket",
    "guile",
    "bb",
    "clojure",
    "swipl",
    "crystal",
    "nim",
    "osascript",
    "powershell",
    "godot",
    "luajit",
    "nvim",
    "k6",
    "hurl",
    "manim",
    "awk",
    "nu",
    "ksh",
    "dash",
    "escript",
    "runghc",
    "runhaskell",
    "ocaml",
    "sbcl",
    "scala",
    "scala-cli",
    "zx",
    "esno",
    "vite-node",
    "jbang",
];

/// Files that hold the tasks of programs that run such.
const TASK_FILES: [(&str, &[&str]); 18] = [
    ("invoke", &["tasks.py"]),
    ("inv", &["tasks.py"]),
    ("fab", &["fabfile.py"]),
    ("doit", &["dodo.py"]),
    ("nox", &["noxfile.py"]),
    ("scons", &["SConstruct", "SConscript"]),
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile"]),
    ("gulp", &["gulpfile.js", "gulpfile.mjs", "gulpfile.ts"]),
    ("grunt", &["Gruntfile.js"]),
    ("mage", &["magefile.go"]),
    ("fastlane", &["Fastfile"]),
    ("vagrant", &["Vagrantfile"]),
    ("tilt", &["Tiltfile"]),
    ("earthly", &["Earthfile"]),
    ("ansible-playbook", &["site.yml", "playbook.yml"]),
];

/// Returns whether a command runs a changed file, or the program that it belongs to.
pub(super) fn runs(simple: &Simple, place: Option<&str>, path: &str, map: &Map<'_>) -> bool {
    let Some(program) = simple.words.first() else {
        return false;
    };
    if let Some(script) = given_inline(simple) {
        return inline::checks(script, path) && (inline::shows(script) || prints_by_itself(simple));
    }
    let holds_tasks =
        |(runner, files): &(&str, &[&str])| runner == program && files.contains(&file_name(path));
    if TASK_FILES.iter().any(holds_tasks) && !checks_only(simple) {
        return true;
    }
    if reads_scripts(simple, path) || migrates(simple, path) || executes_notebook(simple, path) {
        return true;
    }
    let Some(script) = script_of(simple) else {
        return false;
    };
    is_same(script, path) || is_module(script, path) || leads_to(script, place, path, map)
}

/// Programs of databases, which run the scripts that are named anywhere among their words.
fn reads_scripts(simple: &Simple, path: &str) -> bool {
    const DATABASES: [&str; 9] = [
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "duckdb",
        "sqlcmd",
        "clickhouse-client",
        "mongosh",
        "bq",
    ];
    let mut words = simple.words.iter();
    words
        .next()
        .is_some_and(|program| DATABASES.contains(&program.as_str()))
        && words.any(|word| {
            let word = word.strip_prefix(".read ").unwrap_or(word);
            file_name(word).contains('.') && is_same(word, path)
        })
}

/// Returns whether a command runs the migrations of a database, and a file is one.
fn migrates(simple: &Simple, path: &str) -> bool {
    const FOLDERS: [&str; 4] = ["migrations", "migrate", "migration", "versions"];
    // What one word says, or two do.
    const RUNS: [(&str, &str); 19] = [
        ("migrate", ""),
        ("db:migrate", ""),
        ("db:prepare", ""),
        ("ecto.migrate", ""),
        ("migrate:latest", ""),
        ("migrate:up", ""),
        ("migrate:fresh", ""),
        ("migration:run", ""),
        ("doctrine:migrations:migrate", ""),
        ("alembic", "upgrade"),
        ("db", "upgrade"),
        ("db", "push"),
        ("db", "reset"),
        ("dbmate", "up"),
        ("goose", "up"),
        ("liquibase", "update"),
        ("migration", "run"),
        ("migration", "up"),
        ("migrations", "apply"),
    ];
    const OTHER: [&str; 10] = [
        "status", "list", "new", "create", "add", "diff", "info", "--plan", "--check", "--fake",
    ];
    let has = |word: &str| word.is_empty() || simple.words.iter().any(|given| given == word);
    folder(path).split('/').any(|part| FOLDERS.contains(&part))
        && RUNS.iter().any(|(one, two)| has(one) && has(two))
        && !OTHER.iter().any(|word| has(word))
}

/// `jupyter nbconvert --execute a.ipynb` runs that notebook.
fn executes_notebook(simple: &Simple, path: &str) -> bool {
    let mut words = simple.words.iter().map(String::as_str);
    let is_jupyter = words.next().is_some_and(|word| word.starts_with("jupyter"));
    is_jupyter
        && words
            .clone()
            .any(|word| matches!(word, "--execute" | "execute" | "run"))
        && words.any(|word| word.ends_with(".ipynb") && is_same(word, path))
}

/// Returns the script that a command runs.
pub(super) fn script_of(simple: &Simple) -> Option<&str> {
    let program = simple.words.first()?;
    let script = if INTERPRETERS.contains(&canonical_name(program)) {
        let verbs = ["run", "exec"];
        let mut operands = simple
            .words
            .iter()
            .skip(1)
            .filter(|word| !word.starts_with('-') && !verbs.contains(&word.as_str()));
        let is_file = |word: &&String| {
            file_name(word).contains('.') || (word.contains('/') && is_executable(word))
        };
        operands.find(is_file).map(String::as_str)
    } else {
        Some(program.as_str())
    };
    script.filter(|_| !checks_only(simple))
}

/// Returns whether a file is a program whose name tells no language, like `bin/shop`.
fn is_executable(path: &str) -> bool {
    let place = folder(path).rsplit('/').next().unwrap_or_default();
    !file_name(path).contains('.') && ["bin", "exe"].contains(&place)
}

/// Returns whether a command runs a script of the same language and package that changed together with a file: it was
/// written to use it.
pub(super) fn runs_companion(
    simple: &Simple,
    changed: &[ChangedFile],
    path: &str,
    map: &Map<'_>,
) -> bool {
    let Some(script) = script_of(simple).filter(|_| given_inline(simple).is_none()) else {
        return false;
    };
    let packages = &map.workspace.packages;
    let home = package_of(packages, path);
    family(path) != Family::Other
        && (family(script) == family(path) || is_executable(script))
        && changed.iter().any(|file| {
            file.hash.is_some()
                && is_same(script, &file.path)
                && package_of(packages, &file.path) == home
        })
}

/// Returns the language of the script that a command runs.
pub(super) fn language_of_script(simple: &Simple) -> Option<Family> {
    let script = script_of(simple).filter(|_| given_inline(simple).is_none())?;
    Some(family(script)).filter(|family| *family != Family::Other)
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

/// Returns whether a command runs a script that is another test than a changed one.
pub(super) fn runs_other_test(simple: &Simple, path: &str) -> bool {
    is_only_test(path)
        && script_of(simple).is_some_and(|script| is_only_test(script) && !is_same(script, path))
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

/// Returns whether a script of the same language is beside a file or above it, in its package: such a script uses the
/// file.
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
        match map.locate(folder(script)) {
            Some(at) => at,
            None => return false,
        }
    } else {
        at
    };
    let packages = &map.workspace.packages;
    within(path, &at) && package_of(packages, path) == package_of(packages, &format!("{at}/x"))
}

/// Returns whether a command runs a script of the same language and package, anywhere in it. A file of tests that its
/// interpreter runs is such a script too. How the command ended has to be known.
pub(super) fn runs_in_package(
    simple: &Simple,
    place: Option<&str>,
    path: &str,
    map: &Map<'_>,
) -> bool {
    let script = script_of(simple).filter(|_| simple.decides && given_inline(simple).is_none());
    let Some(script) = script else {
        return false;
    };
    let in_top = |script: &'_ str| -> Option<String> {
        if script.starts_with('/') {
            let rest = script.strip_prefix(map.top)?.strip_prefix('/')?;
            return Some(rest.to_owned());
        }
        let from = format!("{}/{script}", place.unwrap_or_default());
        Some(from.trim_start_matches('/').to_owned())
    };
    if family(script) == Family::Other
        || family(script) != family(path)
        || script.starts_with(['~', '$'])
    {
        return false;
    }
    let packages = &map.workspace.packages;
    in_top(script).is_some_and(|script| package_of(packages, path) == package_of(packages, &script))
}

/// Returns the text of an inline script: `python -c TEXT`, `node -e TEXT`, `python - <<EOF`.
pub(in crate::findings) fn given_inline(simple: &Simple) -> Option<&str> {
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

/// Returns whether an interpreter prints the value of its code without being told to.
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
    /// To a server on this machine.
    Local,
    /// Another one, which has the change only after a deployment.
    Remote,
}

/// Returns the request that a command makes.
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

/// Returns whether a command asks a server of this machine.
pub(in crate::findings) fn asks_server(simple: &Simple) -> bool {
    request(simple) == Some(Request::Local)
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

/// Returns whether a call opens or reads a page in a browser.
pub(in crate::findings) fn looks_at_page(call: &ToolCall) -> bool {
    call.finished && !call.refused && !call.is_error && is_browser(call)
}

/// Returns whether a call is one of a browser's tools.
pub(in crate::findings) fn is_browser(call: &ToolCall) -> bool {
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
    call.kind == ToolKind::Other && WORDS.iter().any(|word| name.contains(word))
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
