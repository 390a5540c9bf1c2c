//! Code that is given to a console of the application, which loads what the code names by itself (spec EVID-29).

use crate::project::covering::{Family, family, package_of};
use crate::project::resolve::Map;
use crate::shell::Simple;

/// Returns whether a command evaluates code in the application that a file belongs to. How the command ended has to be known.
pub(super) fn evaluates(simple: &Simple, place: Option<&str>, path: &str, map: &Map<'_>) -> bool {
    let packages = &map.workspace.packages;
    let given = || {
        let words = simple.words.iter().skip(1).chain(&simple.input);
        words.map(String::as_str).any(names_class)
    };
    simple.decides
        && language(simple) == Some(family(path))
        && package_of(packages, path) == package_of(packages, place.unwrap_or_default())
        && given()
}

/// Returns the language of an application whose console a command gives code to.
fn language(simple: &Simple) -> Option<Family> {
    let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
    let is_given = |option: &str| words.iter().any(|word| word.starts_with(option));
    let is_input = simple.input.is_some();
    match words.as_slice() {
        ["php" | "sail" | "ddev", "artisan", "tinker", ..] | ["artisan" | "sail", "tinker", ..] => {
            (is_given("--execute") || is_input).then_some(Family::Php)
        }
        ["wp", "eval" | "eval-file", _, ..]
        | ["drush", "php:eval" | "php-eval" | "eval" | "ev", _, ..] => Some(Family::Php),
        ["rails", "runner" | "r", _, ..] => Some(Family::Ruby),
        ["rails", "console" | "c", ..] => is_input.then_some(Family::Ruby),
        ["mix", "run", ..] => (is_given("-e") || is_given("--eval")).then_some(Family::Beam),
        _ => None,
    }
}

/// Returns whether code uses a class or a module: `Cart.new`, `Cart::find(2)`. `1 + 1` uses nothing of the application.
fn names_class(code: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    code.split(|char: char| !is_part(char))
        .any(|word| word.starts_with(char::is_uppercase) && word.chars().any(char::is_lowercase))
}
