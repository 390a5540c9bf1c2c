//! Counts in a line: `5 passed, 1 failed` or `Passed: 5, Failed: 1`.

use crate::catalogue::{Catalogue, Counted};

/// The position of a count relative to its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `5 passed`.
    Before,
    /// `Passed: 5`.
    After,
    /// In the pattern's groups `passed`, `failed`, `skipped`, `total`.
    Groups,
}

/// Returns what a word counts.
pub(super) fn what(word: &str) -> Option<Counted> {
    let languages = Catalogue::built_in().languages().iter();
    let counts = languages.flat_map(|it| &it.counts);
    let is = |known: &String| known.eq_ignore_ascii_case(word);
    let known = counts.into_iter().find(|(_, words)| words.iter().any(is));
    known.map(|(what, _)| *what)
}

/// Calls `note` for each count of a line.
pub(super) fn each(line: &str, style: Style, mut note: impl FnMut(Counted, &str, u64)) {
    let tokens: Vec<Token<'_>> = Tokens(line).collect();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Number(number) = *token else {
            continue;
        };
        let word = |at: usize| match tokens.get(at) {
            Some(Token::Word(word)) => Some(*word),
            _ => None,
        };
        let named = match style {
            Style::Before => {
                let first = word(at + 1);
                // `5 tests passed`: the unit comes between the number and what is counted.
                let second = word(at + 2).filter(|word| {
                    matches!(
                        what(word),
                        Some(Counted::Passed | Counted::Failed | Counted::Skipped)
                    ) && first.is_some_and(is_unit)
                });
                second.or(first)
            }
            Style::After => {
                // Also `"passed": 5` and `passed="5"`.
                let before = [&['"'][..], &[':', '='], &['"']].iter().fold(at, |at, signs| {
                    let is_one = |before: &usize| {
                        matches!(tokens[*before], Token::Sign(sign) if signs.contains(&sign))
                    };
                    at.checked_sub(1).filter(is_one).unwrap_or(at)
                });
                before.checked_sub(1).and_then(word)
            }
            Style::Groups => None,
        };
        if let Some((what, word)) = named.and_then(|word| Some((what(word)?, word))) {
            note(what, word, number);
        }
    }
}

fn is_unit(word: &str) -> bool {
    matches!(what(word), Some(Counted::Total))
        || ["scenario", "scenarios", "feature", "features", "suites"].contains(&word)
}

#[derive(Clone, Copy, Debug)]
enum Token<'a> {
    /// A whole number by itself: not `0.5`, `12ms`, `4/5` or `80%`.
    Number(u64),
    Word(&'a str),
    Sign(char),
}

/// The parts of a line; blanks are left out.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.0 = self.0.trim_start();
        let first = self.0.chars().next()?;
        let end =
            |inside: &dyn Fn(char) -> bool| self.0.find(|c| !inside(c)).unwrap_or(self.0.len());
        let length = if first.is_ascii_digit() {
            end(&|c| c.is_alphanumeric() || matches!(c, '.' | ',' | '/' | '%' | '_'))
        } else if first.is_alphabetic() {
            end(&|c| c.is_alphabetic())
        } else {
            first.len_utf8()
        };
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(if first.is_ascii_digit() {
            let digits = text.trim_end_matches([',', '.', '/']);
            match digits.replace(',', "").parse() {
                Ok(number) => Token::Number(number),
                Err(_) => Token::Sign('#'),
            }
        } else if first.is_alphabetic() {
            Token::Word(text)
        } else {
            Token::Sign(first)
        })
    }
}
