//! Reserved words and redirections.

use super::reader::{Heredoc, Io, Reader, Word};

/// Reserved words, first those that end a part of a compound command.
const RESERVED: [&str; 20] = [
    "then", "done", "do", "fi", "else", "elif", "esac", "}", "{", "!", "if", "while", "until",
    "for", "select", "case", "function", "coproc", "time", "in",
];

/// Returns whether a word ends a part of a compound command.
pub(super) fn closes(word: &str) -> bool {
    RESERVED[..8].contains(&word)
}

impl Reader<'_> {
    /// Reads one redirection, or nothing if none comes next.
    pub(super) fn redirect(&mut self, io: &mut Io) -> bool {
        const OPERATORS: [&str; 12] = [
            "<<<", "<<-", "<<", "<&", "<>", "<", "&>>", "&>", ">>", ">|", ">&", ">",
        ];
        let rest = self.rest();
        let behind = rest.trim_start_matches(|next: char| next.is_ascii_digit());
        let number = rest.len() - behind.len();
        let mut operators = OPERATORS.into_iter();
        let Some(operator) = operators.find(|operator| behind.starts_with(operator)) else {
            return false;
        };
        let substitutes = number == 0 && operator.len() == 1 && behind[1..].starts_with('(');
        if substitutes || (number > 0 && operator.starts_with('&')) {
            return false;
        }
        self.at += number + operator.len();
        self.blank();
        let word = self.word().unwrap_or_default();
        match operator {
            "<<<" => io.stdin = Some(self.body(word.text)),
            "<<" | "<<-" => {
                let body = self.body(String::new());
                let heredoc = Heredoc::new(word, operator == "<<-", body);
                self.pending.push(heredoc);
                io.stdin = Some(body);
            }
            "<" => io.inputs.extend(file(word)),
            "<&" | "<>" => {}
            ">&" if is_descriptor(&word.text) => {}
            _ => io.outputs.extend(file(word)),
        }
        true
    }

    fn body(&mut self, text: String) -> usize {
        self.bodies.push(text);
        self.bodies.len() - 1
    }

    /// Returns the reserved word at the cursor, without taking it.
    pub(super) fn reserved(&self) -> Option<&'static str> {
        let rest = self.rest();
        RESERVED.into_iter().find(|word| {
            let after = rest.strip_prefix(word);
            after.is_some_and(|after| !after.starts_with(continues_word))
        })
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.reserved() == Some(word) && self.eat(word)
    }
}

fn continues_word(next: char) -> bool {
    !matches!(
        next,
        ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

/// Returns the path of a redirection, unless it is a device or a substitution.
fn file(word: Word) -> Option<String> {
    let is_none = matches!(word.text.as_str(), "" | "$()") || word.text.starts_with("/dev/");
    (!is_none).then_some(word.text)
}

fn is_descriptor(text: &str) -> bool {
    let mut chars = text.chars();
    chars.all(|next| next.is_ascii_digit() || next == '-')
}
