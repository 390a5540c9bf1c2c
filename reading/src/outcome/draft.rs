//! Summaries in the making: lines that belong together become one.

use journal::{Summary, SummaryKind, SummaryVerdict};

use super::counts::{self, Style};
use super::table::{Row, Says};
use crate::catalogue::Counted;

/// The most summaries of one output.
pub(super) const SUMMARIES_MAX: usize = 16;
/// The most lines of one output that are remembered before they are put together.
const DRAFTS_MAX: usize = 4_096;

/// Counted one or several lines say.
#[derive(Debug)]
struct Draft {
    tool: &'static str,
    kind: SummaryKind,
    counted: [Option<u64>; 4],
    /// The verdict, if it does not follow from the counts.
    fixed: Option<SummaryVerdict>,
    /// Of one item among others; summaries of the same kind say more.
    weak: bool,
    /// More lines may belong to it; the words that were counted so far.
    parts: Option<Vec<String>>,
    /// Its lines name every count, so a missing one was cut away.
    full: bool,
    /// A later line says how it ended.
    open: bool,
    /// Counted item by item, against a plan.
    tally: bool,
}

/// The summaries in the making of one output.
#[derive(Debug, Default)]
pub(super) struct Drafts(Vec<Draft>);

impl Drafts {
    /// Adds what a line says.
    pub(super) fn add(&mut self, row: &Row, line: &str) {
        if self.0.len() >= DRAFTS_MAX {
            return;
        }
        let mut draft = Draft::new(row);
        match row.says {
            Says::Counts(style) => draft.count(row, line, style),
            Says::Part(style) | Says::Full(style) => {
                draft.parts = Some(Vec::new());
                draft.full = matches!(row.says, Says::Full(_));
                draft.count(row, line, style);
                if self.joins(&draft) {
                    return;
                }
            }
            Says::Suites(style) => {
                draft.count(row, line, style);
                if draft.counted[Counted::Failed as usize].is_none_or(|failed| failed == 0) {
                    return;
                }
                draft.counted = [None; 4];
                draft.fixed = Some(SummaryVerdict::Failed);
            }
            Says::Verdict(verdict) => draft.fixed = Some(verdict),
            Says::Item(verdict) => {
                draft.weak = true;
                draft.fixed = Some(verdict);
            }
            Says::Opens(style) => {
                draft.open = true;
                draft.count(row, line, style);
            }
            Says::Closes(verdict) => return self.close(row, line, verdict),
            Says::Tally(what) => return self.tally(draft, row, line, what),
        }
        self.0.push(draft);
    }

    /// Adds a part to the summary before it, unless that one has this part already.
    fn joins(&mut self, part: &Draft) -> bool {
        let mut upward = self.0.iter_mut().rev();
        let known = upward.find(|known| known.kind == part.kind);
        let Some(known) = known.filter(|known| known.tool == part.tool) else {
            return false;
        };
        let (Some(words), Some(more)) = (&mut known.parts, &part.parts) else {
            return false;
        };
        if more.iter().any(|word| words.contains(word)) {
            return false;
        }
        words.extend(more.iter().cloned());
        add_counts(&mut known.counted, &part.counted);
        true
    }

    /// Says how what is open ended.
    fn close(&mut self, row: &Row, line: &str, verdict: SummaryVerdict) {
        let is_open = |draft: &&mut Draft| draft.open && draft.tool == row.tool;
        for draft in self.0.iter_mut().filter(is_open) {
            draft.open = false;
            draft.count(row, line, Style::After);
            let is_empty = draft.counted[Counted::Total as usize] == Some(0);
            draft.fixed = (!is_empty).then_some(verdict);
        }
    }

    /// Counts one item of a list with a plan.
    fn tally(&mut self, mut draft: Draft, row: &Row, line: &str, what: Counted) {
        if what == Counted::Total {
            draft.count(row, line, Style::Groups);
        } else {
            draft.counted[what as usize] = Some(1);
        }
        let known = self.0.iter_mut().rev().find(|known| known.tally);
        // The plan comes before the items or after them; two plans are two lists.
        let known = known.filter(|known| {
            what != Counted::Total || known.counted[Counted::Total as usize].is_none()
        });
        match known {
            Some(known) => add_counts(&mut known.counted, &draft.counted),
            None => {
                draft.tally = true;
                draft.weak = true;
                self.0.push(draft);
            }
        }
    }

    pub(super) fn finish(self) -> Vec<Summary> {
        let drafts = self.0.into_iter();
        let drafts = drafts.filter_map(|draft| draft.verdict().map(|verdict| (draft, verdict)));
        let drafts: Vec<(Draft, SummaryVerdict)> = drafts.collect();
        let strong = |kind| (drafts.iter()).any(|(draft, _)| draft.kind == kind && !draft.weak);
        let mut summaries: Vec<Summary> = Vec::new();
        for (draft, verdict) in &drafts {
            if draft.weak && strong(draft.kind) {
                continue;
            }
            if summaries.len() >= SUMMARIES_MAX {
                break;
            }
            let known = summaries.iter().position(|known| {
                (known.kind, known.verdict, known.tool.as_str())
                    == (draft.kind, *verdict, draft.tool)
            });
            let mut summary = draft.summary(*verdict);
            if let Some(known) = known {
                summary = summaries.remove(known);
                draft.add_to(&mut summary);
            }
            summaries.push(summary);
        }
        summaries
    }
}

impl Draft {
    fn new(row: &Row) -> Self {
        Self {
            tool: row.tool,
            kind: row.kind,
            counted: [None; 4],
            fixed: None,
            weak: false,
            parts: None,
            full: false,
            open: false,
            tally: false,
        }
    }

    fn count(&mut self, row: &Row, line: &str, style: Style) {
        if style == Style::Groups {
            row.groups(line, |what, number| self.note(what, number));
            return;
        }
        counts::each(line, style, |what, word, number| {
            self.note(what, number);
            if let Some(words) = &mut self.parts {
                words.push(word.to_ascii_lowercase());
            }
        });
    }

    fn note(&mut self, what: Counted, number: u64) {
        let counted = &mut self.counted[what as usize];
        *counted = match what {
            Counted::Total => (*counted).max(Some(number)),
            _ => added(*counted, Some(number)),
        };
    }

    /// Returns how it ended; none if the lines do not say.
    fn verdict(&self) -> Option<SummaryVerdict> {
        let [passed, failed, skipped, total] = self.counted;
        if self.open {
            return None;
        }
        if let Some(fixed) = self.fixed {
            return Some(fixed);
        }
        let some = |count: Option<u64>| count.is_some_and(|count| count > 0);
        if some(failed) {
            return Some(SummaryVerdict::Failed);
        }
        let skips = skipped.unwrap_or_default();
        let counted = passed.unwrap_or_default().saturating_add(skips);
        if self.tally {
            total.filter(|total| counted >= *total)?;
        }
        if self.full {
            let complete = failed.is_some() || total.is_some_and(|total| total <= counted);
            // Words that anyone may use have to say that something passed.
            let said = passed.is_some() || !self.tool.is_empty();
            if !complete || !said {
                return None;
            }
        }
        if let (Some(total), Some(passed), None) = (total, passed, failed)
            && total > passed.saturating_add(skips)
        {
            return Some(SummaryVerdict::Failed);
        }
        match (passed, total) {
            (Some(0), _) | (None, Some(0)) => Some(SummaryVerdict::RanNothing),
            (Some(_), _) => Some(SummaryVerdict::Passed),
            (None, Some(total)) if total > skips => Some(SummaryVerdict::Passed),
            (None, Some(_)) => Some(SummaryVerdict::RanNothing),
            (None, None) => some(skipped).then_some(SummaryVerdict::RanNothing),
        }
    }

    fn summary(&self, verdict: SummaryVerdict) -> Summary {
        let [passed, failed, skipped, _] = self.counts(verdict);
        Summary {
            kind: self.kind,
            tool: self.tool.to_owned(),
            verdict,
            passed,
            failed,
            skipped,
        }
    }

    /// Returns the counts, with what follows from the total.
    fn counts(&self, verdict: SummaryVerdict) -> [Option<u64>; 4] {
        let [passed, failed, skipped, total] = self.counted;
        if self.weak && !self.tally {
            let is = |wanted| (verdict == wanted).then_some(1);
            let (passed, failed) = (is(SummaryVerdict::Passed), is(SummaryVerdict::Failed));
            return [passed, failed, None, None];
        }
        let rest = |known: Option<u64>| {
            let others = known.unwrap_or_default() + skipped.unwrap_or_default();
            total.map(|total| total.saturating_sub(others))
        };
        let passed = passed.or_else(|| rest(failed));
        let failed = failed.or_else(|| rest(passed));
        [passed, failed, skipped, total]
    }

    /// Adds the counts to a summary of the same words.
    fn add_to(&self, known: &mut Summary) {
        let [passed, failed, skipped, _] = self.counts(known.verdict);
        for (sum, more) in [
            (&mut known.passed, passed),
            (&mut known.failed, failed),
            (&mut known.skipped, skipped),
        ] {
            // XCTest and reports in XML count each suite, and again in the suites around it.
            let is_nested = ["xctest", "junit-xml"].contains(&self.tool);
            *sum = match is_nested {
                true => (*sum).max(more),
                false => added(*sum, more),
            };
        }
    }
}

fn add_counts(sum: &mut [Option<u64>; 4], more: &[Option<u64>; 4]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = added(*sum, *more);
    }
}

fn added(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    }
}
