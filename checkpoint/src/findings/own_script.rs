//! Scripts that the agent wrote on its line to examine something: their mistakes are not the project's (spec HYG-10,
//! HYG-11).

use std::sync::LazyLock;

use journal::{ToolCall, ToolKind};
use regex::Regex;

use super::verify;
use crate::shell::CommandLine;

/// Modules with which scripts examine data. Other imports may belong to the project.
const MODULES: [&str; 62] = [
    "json",
    "sys",
    "os",
    "re",
    "csv",
    "io",
    "ast",
    "math",
    "time",
    "glob",
    "yaml",
    "toml",
    "tomllib",
    "sqlite3",
    "pathlib",
    "subprocess",
    "collections",
    "datetime",
    "itertools",
    "functools",
    "textwrap",
    "struct",
    "zipfile",
    "tarfile",
    "gzip",
    "hashlib",
    "base64",
    "html",
    "xml",
    "urllib",
    "requests",
    "httpx",
    "pandas",
    "numpy",
    "PIL",
    "pypdf",
    "PyPDF2",
    "fitz",
    "openpyxl",
    "docx",
    "bs4",
    "lxml",
    "statistics",
    "difflib",
    "string",
    "random",
    "tempfile",
    "platform",
    "socket",
    "configparser",
    "email",
    "shutil",
    "pprint",
    "typing",
    "operator",
    "decimal",
    "unicodedata",
    "importlib",
    "fs",
    "path",
    "http",
    "child_process",
];
/// Text that occurs in scripts that change something.
const CHANGES: [&str; 22] = [
    "write",
    "'w'",
    "\"w\"",
    "'a'",
    "\"a\"",
    "'wb'",
    "\"wb\"",
    "unlink",
    "remove(",
    "rename",
    "replace(",
    "mkdir",
    "rmtree",
    "rmSync",
    "save",
    "dump(",
    "to_csv",
    "commit",
    "post(",
    "put(",
    "delete",
    "subprocess",
];

static PYTHON_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*File "([^"]*)""#).expect("a constant that a test compiles")
});
static NODE_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*at .*?((?:file://)?/[^():\s]+):\d+")
        .expect("a constant that a test compiles")
});
static PYTHON_IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)(?:^|[;\n])\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))")
        .expect("a constant that a test compiles")
});
static NODE_IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:require\(|from |import\(?)\s*['"]([^'"]+)['"]"#)
        .expect("a constant that a test compiles")
});
static NO_MODULE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:No module named |Cannot find (?:module|package) |cannot load such file -- )'?([\w@./-]+)")
        .expect("a constant that a test compiles")
});

/// Returns the module of others that a failed script of the line needed itself, and that is missing.
pub(super) fn missing_module(call: &ToolCall, line: &CommandLine) -> Option<String> {
    let wanted = NO_MODULE.captures(&call.output)?.get(1)?.as_str();
    let top = wanted.split(['.', '/']).next().unwrap_or(wanted);
    let is_foreign = !top.is_empty() && !wanted.starts_with(['.', '/']);
    let asks = scripts(line).any(|script| {
        modules(script)
            .iter()
            .any(|module| *module == top || *module == wanted)
    });
    (is_foreign && asks && is_own_failure(&call.output)).then(|| top.to_owned())
}

/// Returns whether the line only asks whether a module is there: its script imports, and prints at most a version.
pub(super) fn asks_for_module(call: &ToolCall, line: &CommandLine) -> bool {
    let says_little = |script: &str| {
        script.split([';', '\n']).map(str::trim).all(|statement| {
            let is_import = statement.starts_with("import ")
                || statement.starts_with("from ")
                || statement.contains("require(");
            let is_print = statement.starts_with("print(") || statement.starts_with("console.log(");
            statement.is_empty() || is_import || is_print
        })
    };
    missing_module(call, line).is_some() && scripts(line).all(says_little)
}

/// Returns whether a script in the line failed by its own mistake and changed nothing.
pub(super) fn failed_looking(call: &ToolCall, line: &CommandLine) -> bool {
    let mut any = false;
    let looks = |script: &str| {
        any = true;
        modules(script)
            .iter()
            .all(|module| MODULES.contains(module))
            && !CHANGES.iter().any(|word| script.contains(word))
    };
    call.kind == ToolKind::Shell
        && scripts(line).all(looks)
        && any
        && !call.output.contains("AssertionError")
        && is_own_failure(&call.output)
}

fn scripts(line: &CommandLine) -> impl Iterator<Item = &str> {
    line.commands.iter().filter_map(verify::given_inline)
}

/// Returns whether a failure came from the script itself, and from no file of the project that it ran.
fn is_own_failure(output: &str) -> bool {
    let foreign = [
        "site-packages",
        "dist-packages",
        "/lib/python",
        "node_modules",
        "<frozen",
        "node:",
        "/usr/",
    ];
    let is_own = |path: &str| {
        path.starts_with('<')
            || path.contains("[eval")
            || foreign.iter().any(|part| path.contains(part))
    };
    let frames = PYTHON_FRAME
        .captures_iter(output)
        .chain(NODE_FRAME.captures_iter(output));
    let mut paths = frames
        .filter_map(|found| found.get(1))
        .map(|path| path.as_str());
    let is_script = ["<string>", "<stdin>", "[eval", "[stdin]"]
        .iter()
        .any(|mark| output.contains(mark));
    is_script && paths.all(is_own)
}

fn modules(script: &str) -> Vec<&str> {
    let python = PYTHON_IMPORT.captures_iter(script).flat_map(|found| {
        let names = found
            .get(1)
            .or(found.get(2))
            .map_or("", |names| names.as_str());
        names
            .split(',')
            .map(|name| name.trim().split([' ', '.']).next().unwrap_or_default())
    });
    let node = NODE_IMPORT
        .captures_iter(script)
        .filter_map(|found| found.get(1));
    let node = node.map(|name| {
        name.as_str()
            .trim_start_matches("node:")
            .split('/')
            .next()
            .unwrap_or_default()
    });
    python
        .chain(node)
        .filter(|name| !name.is_empty() || script.contains("./"))
        .collect()
}
