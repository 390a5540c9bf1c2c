//! Errors of configuration files: the problem, its place, and a hint.

use std::fmt;

/// The reason why a file was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1; `None` when the error is about the whole file.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// The problem, in one sentence.
    pub message: String,
    /// The text of the line, or a window of a long one.
    pub snippet: Option<String>,
    /// The characters of the snippet before the place.
    pub before: usize,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ConfigError {
    /// Creates an error at a place in `text`.
    pub(super) fn at(file: &str, text: &str, line: u64, column: u64, message: String) -> Self {
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        let snippet = text
            .lines()
            .nth(line.wrapping_sub(1) as usize)
            .map(|text| window(text, column.saturating_sub(1) as usize));
        let (snippet, before) = snippet.unzip();
        Self {
            line: Some(line),
            column: Some(column),
            snippet,
            before: before.unwrap_or(0),
            ..Self::whole(file, message)
        }
    }

    /// Creates an error about a whole file.
    pub(super) fn whole(file: &str, message: String) -> Self {
        Self {
            file: file.to_owned(),
            message,
            ..Self::default()
        }
    }

    /// Returns the error in a form that may be stored although the file is not trusted and might be a list of
    /// passwords: with place and reason, without the line. Of a quotation in the reason, only a plain word stays.
    #[must_use]
    pub fn without_text(mut self) -> Self {
        const WORD_BYTES_MAX: usize = 40;
        self.snippet = None;
        let quotes = ['`', '"', '\''];
        if let (Some(start), Some(end)) = (self.message.find(quotes), self.message.rfind(quotes)) {
            let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-.".contains(char);
            let quoted = &self.message[start + 1..end.max(start + 1)];
            if quoted.len() > WORD_BYTES_MAX || !quoted.chars().all(is_plain) {
                self.message.replace_range(start + 1..end, "...");
            }
        }
        self
    }

    /// Adds what to do about it.
    pub(super) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

/// The most characters of a line that are quoted.
const SNIPPET_CHARS_MAX: usize = 100;
/// Of these, the most before the place.
const SNIPPET_CHARS_BEFORE: usize = 60;

/// Returns the part of a line around a place, and how many of its characters are before the place.
fn window(line: &str, place: usize) -> (String, usize) {
    let count = line.chars().count();
    let place = place.min(count);
    if count <= SNIPPET_CHARS_MAX {
        return (line.to_owned(), place);
    }
    let first = place.saturating_sub(SNIPPET_CHARS_BEFORE);
    let part: String = line.chars().skip(first).take(SNIPPET_CHARS_MAX).collect();
    let head = if first > 0 { "…" } else { "" };
    let tail = if first + SNIPPET_CHARS_MAX < count {
        "…"
    } else {
        ""
    };
    let before = place - first + head.chars().count();
    (format!("{head}{part}{tail}"), before)
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if let (Some(line), Some(snippet)) = (self.line, &self.snippet) {
            let gutter = " ".repeat(line.to_string().len());
            let indent = " ".repeat(self.before);
            write!(f, "\n{gutter} |\n{line} | {snippet}\n{gutter} | {indent}^")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// Returns "did you mean" with the known word that is closest to `word`, if one is close.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let distance = |known: &str| strsim::osa_distance(&plain(word), &plain(known));
    let limit = (word.chars().count() / 3).max(2);
    let (nearest, known) = known
        .into_iter()
        .map(|known| (distance(known), known))
        .min()?;
    (nearest <= limit).then(|| format!("did you mean `{known}`?"))
}
