//! Whether two versions of a file of code differ in comments and layout only (spec RULE-23).
//!
//! What may be text of the program is code: lines within strings, directives to tools, and examples in documentation that
//! run as tests. Where layout means nothing, comments behind code are known too (`layout.rs`); elsewhere only comments
//! that fill their lines.

mod layout;
mod line;
#[cfg(test)]
mod tests;

use crate::catalogue::{Catalogue, Comments};
use crate::digest;
use layout::Spacing;
use line::{Line, is_directive};

/// Returns whether the comments of a file can be separated from its code, by its name.
pub fn are_known(path: &str) -> bool {
    of(path).is_some()
}

fn of(path: &str) -> Option<&'static Comments> {
    Catalogue::built_in().comments(path)
}

/// Returns whether two versions of a file hold the same code, so that at most comments and layout differ.
pub fn same_code(path: &str, before: &str, now: &str) -> bool {
    let same = || Some(text_of_code(path, before)? == text_of_code(path, now)?);
    before != now && same() == Some(true)
}

/// Returns a hash of the code that a file holds: comments, blank lines and layout are left out where they can be
/// separated from it.
pub fn digest(path: &str, bytes: &[u8]) -> u64 {
    let text = str::from_utf8(bytes).ok();
    let code = text.and_then(|text| text_of_code(path, text));
    code.map_or_else(|| digest::of_bytes(bytes), |code| digest::of_text(&code))
}

/// Returns the code of a file in one form for all its layouts; none if it cannot be separated from the comments.
fn text_of_code(path: &str, text: &str) -> Option<String> {
    let syntax = of(path)?;
    if syntax
        .unknown
        .iter()
        .any(|mark| text.contains(mark.as_str()))
    {
        return None;
    }
    let lines = code(syntax, text)?;
    let layout = syntax.layout.map(Spacing);
    let free = layout.and_then(|layout| layout.normal(&lines, &syntax.strings));
    Some(free.unwrap_or_else(|| {
        let lines: Vec<&str> = lines.iter().map(|line| line.text).collect();
        lines.join("\n")
    }))
}

/// Returns the lines of code; none if a string or a comment has no end.
fn code<'a>(syntax: &'static Comments, text: &'a str) -> Option<Vec<Line<'a>>> {
    let mut reader = Reader {
        syntax,
        open: None,
        block: Block::None,
        example: false,
        last: "",
    };
    let mut lines = Vec::new();
    for line in text.lines() {
        let begins = reader.open.is_some();
        if reader.is_code(line) {
            lines.push(Line {
                text: line.trim_end(),
                within: [begins, reader.open.is_some()],
            });
        }
    }
    (reader.open.is_none() && reader.block == Block::None).then_some(lines)
}

/// Text over several lines in which a line begins.
#[derive(PartialEq)]
enum Block<'a> {
    None,
    /// `/* .. */`
    Comment,
    /// Documentation between such marks.
    Docstring(&'a str),
}

struct Reader<'a> {
    syntax: &'static Comments,
    /// The mark that ends the string in which the next line begins.
    open: Option<&'static str>,
    block: Block<'static>,
    /// Within an example in documentation.
    example: bool,
    /// The last line that has code.
    last: &'a str,
}

impl<'a> Reader<'a> {
    fn is_code(&mut self, line: &'a str) -> bool {
        let text = line.trim();
        if self.open.is_some() {
            self.follow(line);
            return true;
        }
        match self.block {
            Block::Comment => {
                let ends = text.find("*/");
                if ends.is_some() {
                    self.block = Block::None;
                }
                // What follows a comment on its last line is code.
                return ends.is_some_and(|at| at + 2 < text.len()) || is_directive(text);
            }
            Block::Docstring(mark) => {
                if text.contains(mark) {
                    self.block = Block::None;
                    return !text.ends_with(mark);
                }
                return text.starts_with(">>>") || text.starts_with("...");
            }
            Block::None => {}
        }
        if text.is_empty() {
            return false;
        }
        if text.starts_with(&self.syntax.line) {
            return self.is_example(text) || is_directive(text);
        }
        if self.syntax.blocks && text.starts_with("/*") {
            let ends = text[2..].find("*/").map(|at| at + 4);
            if ends.is_none() {
                self.block = Block::Comment;
            }
            if ends.is_none_or(|at| at == text.len()) {
                return is_directive(text);
            }
        }
        if let Some(mark) = self.docstring(text) {
            let rest = &text[text.find(mark).unwrap_or_default() + mark.len()..];
            match rest.find(mark) {
                None => self.block = Block::Docstring(mark),
                Some(at) if at + mark.len() == rest.len() => {}
                Some(_) => {
                    self.follow(line);
                    return true;
                }
            }
            return rest.starts_with(">>>");
        }
        self.follow(line);
        self.last = text;
        true
    }

    /// Returns whether a line of documentation is part of an example that runs as a test.
    fn is_example(&mut self, text: &str) -> bool {
        let is_documentation = text.starts_with("///") || text.starts_with("//!");
        let is_fence = is_documentation && text[3..].trim_start().starts_with("```");
        let is_within = self.example && is_documentation;
        self.example = is_within != is_fence;
        is_fence || is_within
    }

    /// Returns the mark with which documentation begins: at the begin of a file, or after the head of a block.
    fn docstring(&self, text: &str) -> Option<&'static str> {
        let heads = ["def ", "class ", "async def ", ")"];
        let is_head = self.last.is_empty()
            || (self.last.ends_with(':') && heads.iter().any(|head| self.last.starts_with(head)));
        let text = text.trim_start_matches(['r', 'R', 'u', 'U']);
        let mut marks = self.syntax.strings.iter().map(String::as_str);
        marks
            .find(|mark| text.starts_with(mark))
            .filter(|_| self.syntax.docstrings && is_head)
    }

    fn follow(&mut self, line: &str) {
        let mut rest = line;
        loop {
            let next = match self.open {
                Some(mark) => rest.find(mark).map(|at| (at, mark)),
                None => {
                    let marks = self.syntax.strings.iter();
                    marks
                        .filter_map(|mark| Some((rest.find(mark.as_str())?, mark.as_str())))
                        .min()
                }
            };
            let Some((at, mark)) = next else {
                return;
            };
            let is_escaped = rest[..at].ends_with('\\') && !rest[..at].ends_with("\\\\");
            // The mark as a single character: `'"'`.
            let is_character =
                rest[..at].ends_with('\'') && rest[at + mark.len()..].starts_with('\'');
            if !is_escaped && !is_character {
                self.open = match self.open {
                    Some(_) => None,
                    None => Some(mark),
                };
            }
            rest = &rest[at + mark.len()..];
        }
    }
}
