//! What tasks and scripts do by their names.

use super::kind::Kind;
use crate::project::covering::Family::{self, Other};
use crate::shell::{Simple, canonical_name};

const ENDINGS: [&str; 12] = [
    ".sh", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".ps1", ".bash",
];
/// Programs that run a script.
const INTERPRETERS: [&str; 14] = [
    "bash", "sh", "zsh", "python", "node", "tsx", "ts-node", "bun", "ruby", "perl", "php", "pwsh",
    "fish", "deno",
];

/// Returns the name of the task or the script that a command runs, whose definition was not read.
pub(super) fn name_of(simple: &Simple) -> Option<&str> {
    let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [
            "npm" | "pnpm" | "yarn" | "bun" | "mise" | "rtx" | "pdm" | "hatch" | "composer",
            "run" | "r",
            name,
            ..,
        ]
        | [
            "yarn" | "pnpm" | "just" | "task" | "mise" | "poe" | "rake" | "melos" | "ddev" | "make"
            | "gmake" | "invoke" | "inv" | "doit",
            name,
            ..,
        ]
        | ["deno", "task", name, ..] => Some(name),
        [program, rest @ ..] => {
            let runs = INTERPRETERS.contains(&canonical_name(program));
            let script = if runs {
                rest.iter()
                    .find(|word| !word.starts_with('-') && **word != "run")?
            } else {
                program
            };
            let script = crate::project::file_name(script);
            ENDINGS
                .iter()
                .find_map(|ending| script.strip_suffix(ending))
        }
        [] => None,
    }
}

/// Returns what the call of a task or of a script does, by its name.
pub(super) fn called(simple: &Simple) -> Option<(Kind, Family)> {
    kind_of_name(name_of(simple)?)
}

/// Returns whether a name is that of a check, which prints what it checked.
pub(super) fn is_check_name(name: &str) -> bool {
    let words = [
        "check", "checks", "verify", "validate", "ci", "smoke", "selftest", "doctor", "all",
    ];
    name.split([':', '.', '-', '_', '/'])
        .any(|part| words.contains(&part))
}

/// Returns what a task does by its name, for want of anything better.
pub(super) fn kind_of_name(name: &str) -> Option<(Kind, Family)> {
    let has = |words: &[&str]| {
        name.split([':', '.', '-', '_', '/'])
            .any(|part| words.contains(&part))
    };
    if has(&["lint", "fmt", "format", "clean", "setup", "install"]) {
        Some((Kind::Lint, Other))
    } else if has(&[
        "test",
        "tests",
        "spec",
        "e2e",
        "unit",
        "integration",
        "pytest",
        "vitest",
        "jest",
    ]) {
        Some((Kind::Tests, Other))
    } else if has(&["build", "compile", "typecheck", "types", "tsc", "bundle"])
        || name.contains("type-check")
        || name == "check-types"
    {
        Some((Kind::Build, Other))
    } else if has(&["dev", "serve", "start", "preview", "watch"]) {
        Some((Kind::Serve, Other))
    } else {
        None
    }
}
