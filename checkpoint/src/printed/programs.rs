//! What programs do with what they read and print.

use crate::shell::{Flow, Step};

use super::template;

/// The longest name of a program that is kept.
const PROGRAM_BYTES_MAX: usize = 40;

/// Programs that pass on what they read, or a part of it.
const PASSERS: [&str; 13] = [
    "tail",
    "head",
    "grep",
    "egrep",
    "rg",
    "tee",
    "cat",
    "sed",
    "sort",
    "uniq",
    "Select-Object",
    "Select-String",
    "Out-String",
];
/// Programs that end well and print nothing of interest.
pub(super) const PLAIN: [&str; 10] = [
    "cd", "pushd", "popd", "sleep", "export", "local", "declare", "readonly", "typeset", "set",
];

/// Returns whether a command matters only through others.
pub(super) fn is_plain(step: &Step) -> bool {
    let program = step.words.first().map_or("", String::as_str);
    template::prints(&step.words)
        || PLAIN.contains(&program)
        || PASSERS.contains(&program)
        || [
            "test", "[", "exit", "return", "true", "false", ":", "wait", "unset",
        ]
        .contains(&program)
}

/// Returns whether what a part of a pipeline reads can be seen behind it.
pub(super) fn passes(flow: &Flow<Step>) -> bool {
    let Flow::Run(step) = flow else {
        return false;
    };
    let program = step.words.first().map_or("", String::as_str);
    let quiet = step.words.iter().any(|word| {
        matches!(
            word.as_str(),
            "-q" | "-c" | "-l" | "-qE" | "-qi" | "--quiet" | "--count"
        )
    });
    // `uniq -c` counts lines, and shows them.
    PASSERS.contains(&program) && !step.away && (!quiet || program == "uniq")
}

/// Compilers and type checkers that say nothing when all is well, and whose failures have a known form.
const TELLING: [&str; 14] = [
    "tsc", "vue-tsc", "tsgo", "go", "gcc", "g++", "clang", "clang++", "cc", "c++", "javac", "mvn",
    "mvnw", "cargo",
];
/// How many last lines are enough to show a failure.
const LINES_ENOUGH: u32 = 5;

/// Returns whether a command would have printed a failure in a known form.
pub(super) fn is_telling(step: &Step) -> bool {
    step.words
        .first()
        .is_some_and(|program| TELLING.contains(&program.as_str()))
}

/// Returns whether a filter leaves what a compiler says of failures.
pub(super) fn keeps_failures(flow: &Flow<Step>) -> bool {
    let Flow::Run(step) = flow else {
        return false;
    };
    let Some((program, rest)) = step.words.split_first() else {
        return false;
    };
    let number = |word: &String| word.trim_start_matches(['-', 'n']).parse::<u32>().ok();
    match program.as_str() {
        "cat" | "tee" => true,
        "head" | "tail" => rest
            .iter()
            .find_map(number)
            .is_none_or(|count| count >= LINES_ENOUGH),
        "grep" | "egrep" | "rg" => rest
            .iter()
            .any(|word| word.to_lowercase().contains("error")),
        _ => false,
    }
}

/// Returns whether a command prints no summary of tests.
pub(super) fn is_mute(step: &Step) -> bool {
    let program = step.words.first().map_or("", String::as_str);
    is_plain(step) || ["git", "ls", "rm", "mkdir", "cp", "mv", "pkill", "kill"].contains(&program)
}

/// Returns whether it matters how a command ended, and its name can be kept.
pub(super) fn is_of_interest(step: &Step) -> bool {
    let program = step.words.first().map_or("", String::as_str);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-+:".contains(c);
    !is_plain(step) && program.len() <= PROGRAM_BYTES_MAX && program.chars().all(is_name)
}
