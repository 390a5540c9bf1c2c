//! Code without its layout, for languages in which white space between tokens means nothing.
//!
//! A line that cannot be told into tokens stays as it is, and so do lines that begin or end within a string. Two versions
//! that are taken for different only cost a check more; taken for the same, they could hide a change.

use super::line::{Line, is_directive};
use crate::catalogue::Layout;

/// How the tokens of a language are told apart, by its layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spacing(pub(super) Layout);

impl Spacing {
    /// Returns whether the end of a line may end a statement.
    fn ends_lines(self) -> bool {
        matches!(self.0, Layout::Lines | Layout::Script)
    }

    /// Returns whether `/` may begin a pattern that is not followed.
    fn has_patterns(self) -> bool {
        self.0 == Layout::Script
    }

    /// Returns whether `'` may stand alone.
    fn has_ticks(self) -> bool {
        self.0 == Layout::Ticks
    }

    /// Returns whether a line has a mark with which a text keeps its layout.
    fn is_fixed(self, line: &Line<'_>) -> bool {
        let marks: &[&str] = match self.0 {
            Layout::Free => &["@\"", "\"\"\"", "'''", "@$"],
            Layout::Lines => &["#\""],
            Layout::Ticks => &["r#\"", "r##", "r\""],
            Layout::Script => &["</", "/>", "<>"],
        };
        marks.iter().any(|mark| line.text.contains(mark))
    }

    /// Returns lines of code in one form for all layouts; none if the text keeps its own.
    pub(super) fn normal(self, lines: &[Line<'_>], strings: &[String]) -> Option<String> {
        if lines.iter().any(|line| self.is_fixed(line)) {
            return None;
        }
        let mut normal = String::new();
        let mut goes_on = true;
        for line in lines {
            let tokens = self.tokens(line, strings)?;
            let Some(tokens) = tokens else {
                separate(&mut normal, goes_on);
                normal.push_str(line.text);
                normal.push('\n');
                goes_on = true;
                continue;
            };
            if tokens.is_empty() {
                continue;
            }
            if !goes_on && self.ends_lines() && !begins_within(&tokens) && !ends_within(&normal) {
                normal.push('\n');
            }
            join(&mut normal, &tokens);
            goes_on = false;
        }
        Some(normal)
    }

    /// Returns the tokens of a line, with white space only where it separates two; `None` within if it stays as it is, and
    /// without if the text cannot be followed.
    fn tokens(self, line: &Line<'_>, strings: &[String]) -> Option<Option<String>> {
        let text = line.text.trim();
        // A comment that counts as code is a directive or an example.
        let is_whole = text.starts_with(['#', '\\']) || text.starts_with("//");
        if is_whole || line.within != [false, false] {
            return Some(None);
        }
        let mut tokens = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let taken = match next {
                '"' | '`' => match string(rest, next) {
                    Some(taken) => taken,
                    // The reader took this line for one without an open string.
                    None => return strings.is_empty().then_some(None),
                },
                '\'' => match (self.tick(rest), self.has_ticks()) {
                    (Some(taken), _) => taken,
                    (None, true) => 1,
                    (None, false) => return Some(None),
                },
                '/' if rest.starts_with("//") => {
                    if is_directive(rest) {
                        return Some(None);
                    }
                    break;
                }
                '/' if rest.starts_with("/*") || self.has_patterns() => {
                    let is_odd = strings.iter().any(|mark| rest.contains(mark.as_str()));
                    return (!is_odd).then_some(None);
                }
                _ if next.is_whitespace() => {
                    rest = rest.trim_start();
                    let first = rest.chars().next().unwrap_or(' ');
                    if ends_apart(&tokens, first) {
                        tokens.push(' ');
                    }
                    continue;
                }
                _ => next.len_utf8(),
            };
            tokens.push_str(&rest[..taken]);
            rest = &rest[taken..];
        }
        tokens.truncate(tokens.trim_end().len());
        Some(Some(tokens))
    }

    /// Returns the length of a text in single quotes.
    fn tick(self, text: &str) -> Option<usize> {
        if !self.has_ticks() {
            return string(text, '\'');
        }
        // A character, or a lifetime.
        let mut chars = text[1..].char_indices();
        let (_, first) = chars.next()?;
        if first == '\\' {
            return string(text, '\'');
        }
        let (at, next) = chars.next()?;
        (next == '\'').then_some(at + 2)
    }
}

/// Returns the length of a string that ends on its line.
fn string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if char == quote => return Some(at + char.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Returns whether two tokens would become another one without the white space between them.
fn parts(last: char, first: char) -> bool {
    let is_word =
        |char: char| char.is_alphanumeric() || matches!(char, '_' | '$' | '"' | '\'' | '`');
    let is_sign = |char: char| "+-*/%&|<>=!~^?:.@#".contains(char);
    // `1 .x` and `a ?.5:1` have digits beside their signs.
    (is_word(last) && is_word(first))
        || (is_sign(last) && is_sign(first))
        || (last.is_ascii_digit() && first == '.')
        || (last == '.' && first.is_ascii_digit())
}

/// Adds tokens, separated if they would become one.
fn join(normal: &mut String, tokens: &str) {
    let first = tokens.chars().next().unwrap_or(' ');
    if ends_apart(normal, first) {
        normal.push(' ');
    }
    normal.push_str(tokens);
}

fn separate(normal: &mut String, goes_on: bool) {
    if !goes_on {
        normal.push('\n');
    }
}

/// Returns whether a blank parts the end of a text from what follows.
fn ends_apart(text: &str, first: char) -> bool {
    let last = text.chars().next_back();
    last.is_some_and(|last| parts(last, first))
}

/// Returns whether a line cannot begin a statement, so that it belongs to the one before.
fn begins_within(tokens: &str) -> bool {
    tokens.starts_with([')', ']', '}', ',', ';', '.', '?', ':'])
        || ["&&", "||", "=="].iter().any(|it| tokens.starts_with(it))
}

/// Returns whether a line cannot end a statement, so that the next one belongs to it.
fn ends_within(normal: &str) -> bool {
    let is_step = normal.ends_with("++") || normal.ends_with("--");
    let ends = [
        '(', '[', '{', ',', ';', '=', '&', '|', '+', '-', '*', '<', '%', '^', '.', ':',
    ];
    normal.ends_with(ends) && !is_step
}
