//! Scripts that are given within a command line: whether they checked a changed file (spec EVID-24).

use crate::project::file_name;

/// Functions by which a program is started; what they do is up to them.
const STARTS: [&str; 6] = ["main", "run", "cli", "start", "execute", "app"];
/// What asks about a thing without running it.
const LOOKS: [&str; 13] = [
    "hasattr",
    "callable",
    "dir",
    "help",
    "type",
    "typeof",
    "inspect",
    "getsource",
    "signature",
    "keys",
    "repr",
    "id",
    "vars",
];
/// What prints something, or ends the script if something is wrong.
const SHOWS: [&str; 24] = [
    "print",
    "pprint",
    "console",
    "stdout",
    "expect",
    "puts",
    "pp",
    "p",
    "echo",
    "var_dump",
    "print_r",
    "printf",
    "println",
    "say",
    "warn",
    "die",
    "raise",
    "throw",
    "exit",
    "cat",
    "stopifnot",
    "message",
    "unittest",
    "doctest",
];

/// Returns whether a script imports a file and then calls what it imported, or shows a constant of it.
pub(super) fn checks(script: &str, path: &str) -> bool {
    let stem = file_name(path).split('.').next().unwrap_or_default();
    if stem.is_empty() || script.contains("py_compile") || script.contains("ast.parse") {
        return false;
    }
    let statements: Vec<&str> = script.split(['\n', ';']).map(str::trim).collect();
    let (imports, rest): (Vec<&str>, Vec<&str>) = statements
        .iter()
        .copied()
        .partition(|line| is_import(line, stem));
    // `import(..).then(m => m.run())`, `require('./x').run()`.
    let at_once = |line: &&str| {
        let is_call = line.contains("require(") || line.contains("import(");
        line.split_once(").")
            .is_some_and(|(_, after)| is_call && after.contains('('))
    };
    if imports.iter().any(at_once) {
        return true;
    }
    // What is required without a name is known by that of its file: `Cart` of `cart.rb`.
    let plain = |word: &str| word.replace('_', "").to_lowercase();
    let alike = rest
        .iter()
        .flat_map(|line| words(line))
        .filter(|word| plain(word) == plain(stem));
    let imported = imports.iter().flat_map(|line| names_of(line));
    let names: Vec<&str> = imported
        .chain(alike.filter(|_| !imports.is_empty()))
        .collect();
    rest.iter()
        .any(|line| names.iter().any(|name| reaches(line, name)))
}

/// Returns whether a script prints or asserts something, or starts the program; a script that swallows every failure
/// shows nothing.
pub(super) fn shows(script: &str) -> bool {
    let has = |known: &[&str]| words(script).any(|word| known.contains(&word));
    let asserts = words(script).any(|word| word.starts_with("assert"));
    let catches = ["except:", "except Exception", "except BaseException"];
    let swallows = catches.iter().any(|catch| script.contains(catch))
        && !asserts
        && !has(&["raise", "exit", "traceback"]);
    let starts = || STARTS.iter().any(|start| calls(script, start));
    !swallows && (asserts || has(&SHOWS) || starts())
}

fn is_import(line: &str, stem: &str) -> bool {
    let begins = [
        "import", "from ", "use ", "source ", "load ", "include", "require", "library(",
    ];
    let is_import = begins.iter().any(|word| line.starts_with(word));
    words(line).any(|word| word == stem)
        && (is_import || line.contains("require") || line.contains("import("))
}

/// Returns the names that an import line may define.
fn names_of(line: &str) -> impl Iterator<Item = &str> {
    const KEYWORDS: [&str; 10] = [
        "import",
        "from",
        "require",
        "const",
        "let",
        "var",
        "as",
        "await",
        "default",
        "require_relative",
    ];
    words(line).filter(|word| !KEYWORDS.contains(word))
}

/// Returns whether a statement calls a name or something within it, or uses a constant, and does not only read it.
fn reaches(line: &str, name: &str) -> bool {
    let only_looks = words(line).any(|word| LOOKS.contains(&word));
    let is_constant = name.len() > 1
        && name
            .chars()
            .all(|char| char.is_ascii_uppercase() || char == '_' || char.is_ascii_digit());
    !only_looks && (calls(line, name) || (is_constant && words(line).any(|word| word == name)))
}

/// Returns whether a text calls `name(..)`, `name.part(..)`, `Name.new`, or `name ..` in a language without brackets.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_start = !text[..at].chars().next_back().is_some_and(is_part);
        let rest = text[at + name.len()..].trim_start_matches(|char: char| {
            is_part(char) || matches!(char, '.' | ':' | '?' | '!')
        });
        let ends = text[at + name.len()..]
            .chars()
            .next()
            .is_none_or(|next| !is_part(next));
        is_start
            && ends
            && (rest.starts_with('(')
                || text[at + name.len()..].starts_with(".new")
                || text[at + name.len()..].starts_with("::"))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !is_part(char))
        .filter(|word| !word.is_empty())
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}
