//! What a run in thought prints, compared with what was printed.

use crate::shell::Step;

use super::case::Shown;
use super::run::{Did, Run};
use super::template::Piece;

impl Run<'_> {
    pub(super) fn is_shown(&self, files: &[String]) -> bool {
        let Shown::File(shown) = self.case.shown else {
            return false;
        };
        let ends = |path: &str, end: &str| {
            path.strip_suffix(end)
                .is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        let shown = shown.trim_start_matches("./");
        files
            .iter()
            .map(|file| file.trim_start_matches("./"))
            .any(|file| ends(file, shown) || ends(shown, file))
    }

    /// Looks in the output for a text that a command prints.
    pub(super) fn print(&mut self, step: &Step) {
        let case = self.case;
        let at = case.steps.position(step);
        let Some(template) = case.steps.templates.get(at).and_then(Option::as_ref) else {
            return;
        };
        let is_file = matches!(case.shown, Shown::File(_));
        let is_visible = if step.away {
            self.is_shown(&step.outputs)
        } else if is_file {
            self.place.to_file
        } else {
            !self.place.hidden
        };
        self.reached.push((at, is_visible));
        if !is_visible || case.is_ambiguous(at) {
            return;
        }
        let rest = case.lines.iter().enumerate().skip(self.cursor);
        let found = rest
            .filter_map(|(line, text)| Some((line, template.values(text)?)))
            .next();
        let Some((line, values)) = found else {
            let is_glued = || case.lines.iter().any(|line| template.is_glued_to(line));
            let must = !case.cut && !self.place.filtered && template.ends_line;
            self.possible &= !must || is_glued();
            return;
        };
        self.cursor = line + 1;
        self.did.push(Did::Line(line));
        let open = template
            .pieces
            .iter()
            .filter(|piece| !matches!(piece, Piece::Text(_)));
        let fits: Vec<(&Piece, &str)> = open.zip(values).collect();
        for (piece, value) in fits {
            self.possible &= self.is_value(piece, value);
        }
    }

    fn is_value(&mut self, piece: &Piece, value: &str) -> bool {
        let status = match piece {
            Piece::Text(_) | Piece::Unknown => return true,
            Piece::Status => self.last.clone(),
            Piece::Part(part) => match self.parts.get(*part) {
                Some(status) => status.clone(),
                None => return false,
            },
            Piece::Parts => {
                let parts = self.parts.clone();
                let values: Vec<&str> = value.split_whitespace().collect();
                return parts.len() == values.len()
                    && parts
                        .iter()
                        .zip(values)
                        .all(|(part, value)| self.force(part) == (value == "0"));
            }
            Piece::Variable(name) => match self.variables.get(name) {
                Some(status) => status.clone(),
                None => return true,
            },
        };
        match value.parse::<i64>() {
            Ok(code) => self.force(&status) == (code == 0),
            Err(_) => false,
        }
    }
}
