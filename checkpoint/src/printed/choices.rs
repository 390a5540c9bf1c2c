//! What is chosen in a run in thought.

/// Whether the commands pass that something depends on, in the order in which it turns out to.
#[derive(Debug, Default)]
pub(super) struct Choices {
    made: Vec<bool>,
    at: usize,
}

impl Choices {
    pub(super) fn next(&mut self) -> bool {
        if self.at == self.made.len() {
            self.made.push(true);
        }
        self.at += 1;
        self.made[self.at - 1]
    }

    /// Moves to the next untried choices; returns whether there are any.
    pub(super) fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some(last) = self.made.pop() {
            if last {
                self.made.push(false);
                return true;
            }
        }
        false
    }
}
