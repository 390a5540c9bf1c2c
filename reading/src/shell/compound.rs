//! Compound commands: braces, `if`, loops, `case`, functions, `[[ .. ]]`.

use super::reader::{Kind, Reader};

impl Reader<'_> {
    pub(super) fn compound(&mut self, word: &str) -> Kind {
        let certain = self.certain;
        let start = self.commands.len();
        match word {
            "{" => {
                self.at += 1;
                self.list(&["}"]);
                self.eat_word("}");
                return Kind::Braces;
            }
            "if" => self.conditional(),
            "while" | "until" => self.condition_loop(word),
            "for" | "select" => self.word_loop(word),
            "case" => self.case(),
            "function" => {
                self.at += word.len();
                self.blank();
                let name = self.word();
                self.blank();
                if self.eat("(") {
                    self.blank();
                    self.eat(")");
                }
                self.function_body(start);
                self.state.defined.extend(name.map(|name| name.text));
            }
            "coproc" => {
                self.at += word.len();
                self.command();
                self.mask(start);
            }
            // `in` and stray closers are ordinary words here.
            _ => return self.simple(),
        }
        self.certain = certain;
        Kind::Other
    }

    fn conditional(&mut self) {
        self.eat_word("if");
        loop {
            let start = self.commands.len();
            self.list(&["then", "fi"]);
            self.mask(start);
            self.eat_word("then");
            self.certain = false;
            self.list(&["elif", "else", "fi"]);
            if self.eat_word("elif") {
                continue;
            }
            if self.eat_word("else") {
                self.list(&["fi"]);
            }
            self.eat_word("fi");
            return;
        }
    }

    fn condition_loop(&mut self, word: &str) {
        self.at += word.len();
        let start = self.commands.len();
        self.list(&["do"]);
        // A loop of `until` only ends once its condition has succeeded.
        if word == "while" {
            self.mask(start);
        }
        self.certain = false;
        self.loop_body();
    }

    fn word_loop(&mut self, word: &str) {
        self.at += word.len();
        self.blank();
        let mut runs = false;
        let start = self.commands.len();
        if self.rest().starts_with("((") {
            self.arithmetic();
        } else {
            self.word();
            self.newlines();
            if self.eat_word("in") {
                self.blank();
                while let Some(item) = self.word() {
                    runs |= !item.expands && word == "for";
                    self.blank();
                }
            }
        }
        self.mask(start);
        self.blank();
        self.eat(";");
        self.newlines();
        self.certain &= runs;
        self.loop_body();
    }

    fn loop_body(&mut self) {
        let braces = !self.eat_word("do") && self.eat_word("{");
        let stop = if braces { "}" } else { "done" };
        self.list(&[stop]);
        self.eat_word(stop);
    }

    fn case(&mut self) {
        self.eat_word("case");
        self.blank();
        let start = self.commands.len();
        self.word();
        self.mask(start);
        self.newlines();
        self.eat_word("in");
        self.certain = false;
        loop {
            self.newlines();
            if self.eat_word("esac") || self.peek().is_none() {
                return;
            }
            let before = self.at;
            self.eat("(");
            loop {
                self.blank();
                if self.eat(")") || !(self.word().is_some() || self.eat("|")) {
                    break;
                }
            }
            self.list(&["esac"]);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if self.at == before {
                self.next_char();
            }
        }
    }

    /// Reads the body of a function, which may never be called.
    pub(super) fn function_body(&mut self, start: usize) {
        self.newlines();
        let certain = self.certain;
        let state = self.state.clone();
        self.certain = false;
        self.command();
        (self.certain, self.state) = (certain, state);
        self.mask(start);
    }
}
