//! The flow of a script: which command follows which, and on what condition.
//!
//! The reader leaves marks on its way; here they become a tree. What the tree cannot say (loops, cases, functions) is opaque.

/// A step of the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Command(usize),
    /// Assignments alone.
    Set(Vec<(String, String)>),
    And,
    Or,
    /// `|`; whether the failure of any part is the pipeline's.
    Pipe {
        fails: bool,
    },
    Not,
    Next,
    /// `&`.
    Behind,
    Braces,
    Subshell,
    /// The commands of a substitution, before the command whose word it is in.
    Substituted,
    If,
    Then,
    Elif,
    Else,
    Opaque,
    Close,
    /// What was closed writes to these files.
    Away(Vec<String>),
}

impl Mark {
    /// Returns the mark for a text whose commands come after `commands` others.
    pub(super) fn behind(self, commands: usize) -> Self {
        match self {
            Self::Command(index) => Self::Command(index + commands),
            mark => mark,
        }
    }
}

/// A part of a script; `T` is a simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Flow<T> {
    /// A simple command.
    Run(T),
    /// Assignments; their status is that of the last substitution.
    Set(Vec<(String, String)>, Option<Box<Flow<T>>>),
    /// A pipeline; whether the failure of any part is its own.
    Pipe(Vec<Flow<T>>, bool),
    /// Its status turned around.
    Not(Box<Flow<T>>),
    /// `a && b || c`: whether `||` is before each but the first.
    Chain(Box<Flow<T>>, Vec<(bool, Flow<T>)>),
    /// One after the other.
    Seq(Vec<Flow<T>>),
    /// Started in the background.
    Behind(Box<Flow<T>>),
    /// A subshell, which cannot end the script around it.
    Apart(Box<Flow<T>>),
    /// What writes to these files.
    Away(Box<Flow<T>>, Vec<String>),
    /// `if a; then b; else c; fi`.
    If(Box<Flow<T>>, Box<Flow<T>>, Option<Box<Flow<T>>>),
    /// Not followed.
    #[default]
    Opaque,
}

impl<T> Flow<T> {
    /// Puts another part in the place of each simple command.
    pub(super) fn map<U>(self, with: &mut impl FnMut(T) -> Flow<U>) -> Flow<U> {
        let mut boxed = |flow: Box<Self>| Box::new(flow.map(with));
        match self {
            Self::Set(values, by) => Flow::Set(values, by.map(boxed)),
            Self::Not(inner) => Flow::Not(boxed(inner)),
            Self::Behind(inner) => Flow::Behind(boxed(inner)),
            Self::Apart(inner) => Flow::Apart(boxed(inner)),
            Self::Away(inner, files) => Flow::Away(boxed(inner), files),
            Self::If(condition, then, other) => {
                Flow::If(boxed(condition), boxed(then), other.map(boxed))
            }
            Self::Run(command) => with(command),
            Self::Pipe(parts, fails) => Flow::Pipe(
                parts.into_iter().map(|part| part.map(with)).collect(),
                fails,
            ),
            Self::Chain(first, rest) => {
                let first = boxed(first);
                let rest = rest.into_iter().map(|(or, part)| (or, part.map(with)));
                Flow::Chain(first, rest.collect())
            }
            Self::Seq(items) => Flow::Seq(items.into_iter().map(|item| item.map(with)).collect()),
            Self::Opaque => Flow::Opaque,
        }
    }
}

/// Puts the marks of a script together.
pub(super) fn tree(marks: &[Mark]) -> Flow<usize> {
    let mut marks = Marks { marks, at: 0 };
    let tree = marks.seq();
    if marks.at == marks.marks.len() {
        tree
    } else {
        Flow::Opaque
    }
}

struct Marks<'a> {
    marks: &'a [Mark],
    at: usize,
}

impl<'a> Marks<'a> {
    fn peek(&self) -> Option<&'a Mark> {
        self.marks.get(self.at)
    }

    fn eat(&mut self, mark: &Mark) -> bool {
        let found = self.peek() == Some(mark);
        self.at += usize::from(found);
        found
    }

    fn seq(&mut self) -> Flow<usize> {
        let mut items = Vec::new();
        loop {
            while self.eat(&Mark::Next) || self.eat(&Mark::Behind) {}
            if matches!(
                self.peek(),
                None | Some(Mark::Close | Mark::Then | Mark::Elif | Mark::Else)
            ) {
                break;
            }
            let before = self.at;
            let item = self.chain();
            if self.at == before {
                // A mark that cannot stand here: the text is no valid shell.
                self.at += 1;
                items.push(Flow::Opaque);
                continue;
            }
            items.push(match self.peek() {
                Some(Mark::Behind) => Flow::Behind(Box::new(item)),
                _ => item,
            });
        }
        if items.len() == 1 {
            items.remove(0)
        } else {
            Flow::Seq(items)
        }
    }

    fn chain(&mut self) -> Flow<usize> {
        let first = self.pipeline();
        let mut rest = Vec::new();
        while let Some(Mark::And | Mark::Or) = self.peek() {
            let or = self.peek() == Some(&Mark::Or);
            self.at += 1;
            rest.push((or, self.pipeline()));
        }
        if rest.is_empty() {
            first
        } else {
            Flow::Chain(Box::new(first), rest)
        }
    }

    fn pipeline(&mut self) -> Flow<usize> {
        let mut negated = false;
        while self.eat(&Mark::Not) {
            negated = !negated;
        }
        let mut parts = vec![self.command()];
        let mut any = false;
        while let Some(Mark::Pipe { fails }) = self.peek() {
            self.at += 1;
            any = *fails;
            parts.push(self.command());
        }
        let pipe = if parts.len() == 1 {
            parts.remove(0)
        } else {
            Flow::Pipe(parts, any)
        };
        if negated {
            Flow::Not(Box::new(pipe))
        } else {
            pipe
        }
    }

    fn command(&mut self) -> Flow<usize> {
        let mut substituted = None;
        while self.eat(&Mark::Substituted) {
            substituted = Some(Box::new(Flow::Apart(Box::new(self.group()))));
        }
        let Some(mark) = self.peek() else {
            return Flow::Opaque;
        };
        let flow = match mark {
            Mark::Command(index) => Flow::Run(*index),
            Mark::Set(values) => Flow::Set(values.clone(), substituted),
            Mark::Braces | Mark::Subshell | Mark::If | Mark::Opaque => {
                self.at += 1;
                let flow = match mark {
                    Mark::Braces => self.group(),
                    Mark::Subshell => Flow::Apart(Box::new(self.group())),
                    Mark::If => self.condition(),
                    _ => {
                        self.group();
                        Flow::Opaque
                    }
                };
                return self.away(flow);
            }
            _ => return Flow::Opaque,
        };
        self.at += 1;
        flow
    }

    /// Takes the redirections of a group, with the commands that their words run.
    fn away(&mut self, mut flow: Flow<usize>) -> Flow<usize> {
        loop {
            match self.peek() {
                Some(Mark::Away(files)) => {
                    self.at += 1;
                    flow = Flow::Away(Box::new(flow), files.clone());
                }
                Some(Mark::Substituted) if self.leads_to_away() => {
                    self.at += 1;
                    self.group();
                }
                _ => return flow,
            }
        }
    }

    /// Returns whether a redirection follows the substitutions at the cursor.
    fn leads_to_away(&self) -> bool {
        let mut ahead = Marks {
            marks: self.marks,
            at: self.at,
        };
        while ahead.eat(&Mark::Substituted) {
            ahead.group();
        }
        matches!(ahead.peek(), Some(Mark::Away(_)))
    }

    /// Reads up to the mark that closes a group.
    fn group(&mut self) -> Flow<usize> {
        let flow = self.seq();
        if self.eat(&Mark::Close) {
            return flow;
        }
        // Parts of a condition where none is open.
        while let Some(Mark::Then | Mark::Elif | Mark::Else) = self.peek() {
            self.at += 1;
            self.seq();
        }
        self.eat(&Mark::Close);
        Flow::Opaque
    }

    fn condition(&mut self) -> Flow<usize> {
        let condition = Box::new(self.seq());
        if !self.eat(&Mark::Then) {
            self.eat(&Mark::Close);
            return Flow::Opaque;
        }
        let then = Box::new(self.seq());
        if self.eat(&Mark::Elif) {
            return Flow::If(condition, then, Some(Box::new(self.condition())));
        }
        let other = self.eat(&Mark::Else).then(|| Box::new(self.seq()));
        self.eat(&Mark::Close);
        Flow::If(condition, then, other)
    }
}
