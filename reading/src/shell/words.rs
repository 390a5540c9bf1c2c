//! The lexical half of the shell reader: blanks, quotes, expansions, heredoc bodies.
//!
//! Substitutions (`$(..)`, backticks, `<(..)`) run commands, so reading a word can add commands. In
//! the word's text a substitution leaves only `$()`: its output is unknown, and a text that is read
//! a second time (as the argument of `bash -c`) must not run the same commands twice.

use super::reader::{Heredoc, Reader, Word};

impl Reader<'_> {
    /// Skips blanks, continued lines and a comment. Only called where a word may begin, which is where `#` is a comment.
    pub(super) fn blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.peek_at(1) == Some(b'\r') && self.peek_at(2) == Some(b'\n') => {
                    self.at += 3
                }
                Some(b'#') => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += length;
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends; a line end is where the bodies of announced heredocs begin.
    pub(super) fn newlines(&mut self) {
        self.blank();
        while self.peek() == Some(b'\n') {
            self.at += 1;
            self.heredoc_bodies();
            self.blank();
        }
    }

    /// Reads one word, or nothing if an operator or the end comes next.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let mut word = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escape(&mut word),
                b'\'' => self.single(&mut word),
                b'"' => self.double(&mut word),
                b'$' => self.dollar(&mut word, false),
                b'`' => self.backticks(&mut word),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => self.substitution(&mut word),
                b'(' if word.assigns && word.text.ends_with('=') => self.array(&mut word),
                b'(' if word.text.ends_with(['?', '*', '+', '@', '!']) => self.pattern(&mut word),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c | b'\n' | b';' | b'&' | b'|' | b'<' | b'>'
                | b'(' | b')' => break,
                b'=' => {
                    word.assigns |= !word.equals && !word.quoted && is_name(&word.text);
                    word.equals = true;
                    word.text.push('=');
                    self.at += 1;
                }
                _ => word.text.extend(self.next_char()),
            }
        }
        (self.at > start).then_some(word)
    }

    fn escape(&mut self, word: &mut Word) {
        self.at += 1;
        if self.eat("\n") || self.eat("\r\n") {
            return;
        }
        word.quoted = true;
        word.text.extend(self.next_char());
    }

    fn single(&mut self, word: &mut Word) {
        self.at += 1;
        word.quoted = true;
        let length = self.rest().find('\'').unwrap_or(self.rest().len());
        word.text.push_str(&self.rest()[..length]);
        self.inert.push(self.at..self.at + length);
        self.at = (self.at + length + 1).min(self.text.len());
    }

    fn double(&mut self, word: &mut Word) {
        self.at += 1;
        word.quoted = true;
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.note_inert(start..self.at);
                    self.at += 1;
                    return;
                }
                _ => self.soft(word, b'"'),
            }
        }
    }

    /// Takes one step inside double quotes or a heredoc body, where only `\`, `$` and backticks mean something. `quote` is
    /// the quote that a backslash may protect.
    fn soft(&mut self, word: &mut Word, quote: u8) {
        match self.peek() {
            Some(b'\\') => match self.peek_at(1) {
                Some(b'\n') => self.at += 2,
                Some(next) if matches!(next, b'$' | b'`' | b'\\') || next == quote => {
                    self.at += 1;
                    word.text.extend(self.next_char());
                }
                _ => word.text.extend(self.next_char()),
            },
            Some(b'$') => self.dollar(word, true),
            Some(b'`') => self.backticks(word),
            _ => word.text.extend(self.next_char()),
        }
    }

    fn dollar(&mut self, word: &mut Word, in_double: bool) {
        match (self.peek_at(1), self.peek_at(2)) {
            (Some(b'('), Some(b'(')) if self.is_arithmetic(1) => {
                self.at += 1;
                self.arithmetic();
                word.text.push_str("$(())");
            }
            (Some(b'('), _) => self.substitution(word),
            (Some(b'{'), _) => self.parameter(word, in_double),
            (Some(b'\''), _) if !in_double => {
                self.at += 2;
                self.ansi_c(word);
                return;
            }
            (Some(b'"'), _) if !in_double => {
                self.at += 1;
                self.double(word);
                return;
            }
            _ => word.text.extend(self.next_char()),
        }
        word.expands = true;
    }

    /// Reads `$(..)`, `<(..)` or `>(..)`. What is in it runs in a subshell.
    fn substitution(&mut self, word: &mut Word) {
        word.text.push_str("$()");
        self.at += 2;
        let start = self.commands.len();
        let pending = std::mem::take(&mut self.pending);
        // A substitution does not inherit `set -e`.
        let errexit = std::mem::take(&mut self.state.errexit);
        self.subshell();
        self.state.errexit = errexit;
        self.pending = pending;
        self.last_substitution = start;
    }

    /// Returns whether the `((` at offset `ahead` closes as `))`; otherwise it is a subshell in a
    /// subshell.
    pub(super) fn is_arithmetic(&self, ahead: usize) -> bool {
        let bytes = &self.text.as_bytes()[self.at + ahead..];
        let mut open = 0_usize;
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            // The second parenthesis has closed: the first has to close immediately.
            if *byte == b')' && open <= 1 {
                return bytes.get(index + 1) == Some(&b')');
            }
        }
        true
    }

    /// Reads `((..))`, with the cursor at the first parenthesis. Only substitutions inside it matter.
    pub(super) fn arithmetic(&mut self) {
        if !self.enter() {
            return;
        }
        let mut open = 0_usize;
        let mut scratch = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'$' => self.dollar(&mut scratch, true),
                b'`' => self.backticks(&mut scratch),
                _ => {
                    match byte {
                        b'(' => open += 1,
                        b')' => open = open.saturating_sub(1),
                        _ => {}
                    }
                    self.next_char();
                    if open == 0 {
                        break;
                    }
                }
            }
        }
        self.leave();
    }

    /// Reads `${..}`; it stays in the text nearly as written.
    fn parameter(&mut self, word: &mut Word, in_double: bool) {
        if !self.enter() {
            return;
        }
        word.text.push_str("${");
        self.at += 2;
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    word.text.extend(self.next_char());
                    break;
                }
                b'\\' => self.escape(word),
                b'\'' if !in_double => self.single(word),
                b'"' => self.double(word),
                _ => self.soft(word, b'"'),
            }
        }
        self.leave();
    }

    /// Reads the elements of `NAME=( .. )`.
    fn array(&mut self, word: &mut Word) {
        word.expands = true;
        self.at += 1;
        if !self.enter() {
            return;
        }
        loop {
            self.newlines();
            if self.eat(")") || self.peek().is_none() {
                break;
            }
            if self.word().is_none() {
                self.next_char();
            }
        }
        self.leave();
    }

    /// Reads the parenthesis of a file name pattern such as `*.!(md)`.
    fn pattern(&mut self, word: &mut Word) {
        let mut open = 0_usize;
        while self.peek().is_some_and(|byte| byte != b'\n') {
            let next = self.next_char();
            match next {
                Some('(') => open += 1,
                Some(')') => open = open.saturating_sub(1),
                _ => {}
            }
            word.text.extend(next);
            if open == 0 {
                return;
            }
        }
    }

    /// Reads `` `..` ``, whose text is a script once its own escapes are removed.
    fn backticks(&mut self, word: &mut Word) {
        self.at += 1;
        word.expands = true;
        word.text.push_str("$()");
        let mut script = String::new();
        while let Some(next) = self.next_char() {
            match next {
                '`' => break,
                '\\' if matches!(self.peek(), Some(b'`' | b'\\' | b'$')) => {
                    script.extend(self.next_char())
                }
                _ => script.push(next),
            }
        }
        let start = self.commands.len();
        self.read_apart(&script, |child| {
            child.state.errexit = false;
            child.list(&[]);
        });
        self.last_substitution = start;
    }

    /// Reads the rest of `$'..'`.
    fn ansi_c(&mut self, word: &mut Word) {
        word.quoted = true;
        while let Some(next) = self.next_char() {
            match next {
                '\'' => return,
                '\\' => word.text.extend(self.ansi_c_escape()),
                _ => word.text.push(next),
            }
        }
    }

    fn ansi_c_escape(&mut self) -> Option<char> {
        let code = match self.next_char()? {
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'r' => return Some('\r'),
            'a' => 0x07,
            'b' => 0x08,
            'e' | 'E' => 0x1b,
            'f' => 0x0c,
            'v' => 0x0b,
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            'c' => u32::from(self.next_char()?) & 0x1f,
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3)
            }
            other => return Some(other),
        };
        char::from_u32(code)
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self
                .peek()
                .and_then(|byte| char::from(byte).to_digit(radix))
            else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        value
    }

    /// Reads the bodies of the announced heredocs, with the cursor at the start of a line.
    fn heredoc_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.pending) {
            let start = self.at;
            let (raw, end) = self.heredoc_lines(&heredoc);
            let body = if heredoc.literal {
                self.inert.push(start..end);
                raw
            } else {
                self.note_inert(start..end);
                self.expanded(&raw)
            };
            self.bodies[heredoc.body] = body;
        }
    }

    /// Returns the lines of a heredoc, and where they end.
    fn heredoc_lines(&mut self, heredoc: &Heredoc) -> (String, usize) {
        let mut body = String::new();
        while self.at < self.text.len() {
            let length = self.rest().find('\n').unwrap_or(self.rest().len());
            let line = &self.rest()[..length];
            let line = if heredoc.strip_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            let end = line.strip_prefix(heredoc.delimiter.as_str());
            match end {
                Some("" | "\r") => {
                    let end = self.at;
                    self.at = (self.at + length + 1).min(self.text.len());
                    return (body, end);
                }
                // `EOF)` closes both the heredoc and the substitution around it, with a warning from bash.
                Some(more) if self.open_parens > 0 && more.starts_with(')') => {
                    let end = self.at;
                    self.at += length - more.len();
                    return (body, end);
                }
                _ => {}
            }
            body.push_str(line);
            body.push('\n');
            self.at = (self.at + length + 1).min(self.text.len());
        }
        (body, self.at)
    }

    /// Expands a heredoc body: its substitutions run, but decide nothing.
    fn expanded(&mut self, raw: &str) -> String {
        let start = self.commands.len();
        let mut word = Word::default();
        self.read_apart(raw, |child| {
            while child.peek().is_some() {
                child.soft(&mut word, b'\\');
            }
        });
        self.mask(start);
        word.text
    }
}

/// Returns whether `text` (before an `=`) can be assigned to: `NAME`, `NAME+`, `NAME[..]`.
pub(super) fn is_name(text: &str) -> bool {
    let text = text.strip_suffix('+').unwrap_or(text);
    let name = match text.split_once('[') {
        Some((name, index)) if index.ends_with(']') => name,
        Some(_) => return false,
        None => text,
    };
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|next| next.is_ascii_alphanumeric() || next == '_')
}
