//! A session's turns, each on a time axis of its own.

use journal::{Event, Timestamp, Verdict};

use super::event_line;
use crate::ops::views::{Subagents, TimelineLine};
use crate::render::{self, Color};

/// The narrowest and the widest axis; in between it takes a quarter of the line.
const AXIS_CHARS: (usize, usize) = (16, 40);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) text: String,
    /// The decision that the line is about.
    pub(crate) decision: Option<u64>,
}

/// A timeline that grows. Finished turns stay as they were drawn; the last one gets a new axis with every event.
#[cfg(any(test, feature = "top"))]
#[derive(Default)]
pub(crate) struct Growing {
    turns: Turns,
    /// Lines that were drawn of turns that are over.
    settled: usize,
}

#[cfg(any(test, feature = "top"))]
impl Growing {
    /// Takes the next lines. Returns how many of the lines drawn so far stay, and
    /// those that come after them.
    pub(crate) fn take(&mut self, lines: &[TimelineLine]) -> (usize, Vec<Drawn>) {
        lines.iter().for_each(|line| self.turns.take(line));
        let mut drawn = std::mem::take(&mut self.turns.drawn);
        let stay = self.settled;
        self.settled += drawn.len();
        drawn.extend(self.turns.draw(true));
        (stay, drawn)
    }
}

/// What happened at some place of a turn.
struct Moment {
    seq: u64,
    began: Timestamp,
    ended: Timestamp,
    mark: char,
    color: Option<Color>,
    words: String,
    is_decision: bool,
}

/// The current turn: its lines that are not drawn yet, and drawn lines that are not printed yet.
#[derive(Default)]
pub(crate) struct Turns {
    number: Option<u64>,
    began: Timestamp,
    /// Where the agent works.
    folder: String,
    subagents: Subagents,
    moments: Vec<Moment>,
    drawn: Vec<Drawn>,
}

impl Turns {
    /// Takes the next line. A turn is drawn once another one begins.
    pub(crate) fn take(&mut self, line: &TimelineLine) {
        if self.number != Some(line.place.turn) {
            self.settle(true);
            self.number = Some(line.place.turn);
            self.began = line.place.turn_began_at.unwrap_or_default();
            self.head();
        }
        let event = &line.event.event;
        if let Some(folder) = event_line::folder_of(event) {
            folder.clone_into(&mut self.folder);
        }
        let subagent = self.subagents.of(event);
        let Some(mut words) = event_line::in_timeline(event, &self.folder) else {
            return;
        };
        // What a subagent did stands below what started it.
        if let Some(name) = subagent {
            words = format!("  {}: {words}", render::printable(&name));
        }
        let ended = line.event.at;
        let began = line.place.began_at.unwrap_or(ended);
        let took = match event {
            Event::ToolFinished { call, .. } | Event::ToolFailed { call, .. } => call.duration_ms,
            _ => None,
        };
        if took.is_none() && began < ended {
            words.push_str(&format!(
                " {}",
                render::duration_ms(ended.millis_since(began))
            ));
        }
        let (mark, color) = mark(event);
        let is_decision = matches!(event, Event::Decided(_));
        self.moments.push(Moment {
            seq: line.event.seq,
            began,
            ended,
            mark,
            color,
            words,
            is_decision,
        });
    }

    fn head(&mut self) {
        let name = match self.number {
            None | Some(0) => "before the first turn".to_owned(),
            Some(number) => format!("turn {number}"),
        };
        let began = render::local_time(self.began);
        let text = format!(
            "{}  {}",
            render::paint(Color::Bold, &name),
            render::paint(Color::Dim, &began)
        );
        self.drawn.push(Drawn {
            text,
            decision: None,
        });
    }

    pub(crate) fn print(&mut self) {
        self.drawn
            .drain(..)
            .for_each(|line| println!("{}", line.text));
    }

    /// Draws the remaining lines, finally.
    pub(crate) fn settle(&mut self, with_axis: bool) {
        let drawn = self.draw(with_axis);
        self.drawn.extend(drawn);
        self.moments.clear();
    }

    /// Returns the remaining lines, on an axis from the turn's beginning to its last event.
    fn draw(&self, with_axis: bool) -> Vec<Drawn> {
        let width = render::width();
        let cells = if with_axis {
            (width / 4).clamp(AXIS_CHARS.0, AXIS_CHARS.1)
        } else {
            0
        };
        let span = self
            .moments
            .iter()
            .map(|moment| moment.ended.millis_since(self.began))
            .max()
            .unwrap_or(0);
        let line = |moment: &Moment| {
            let offset = moment.began.millis_since(self.began);
            let axis = if with_axis {
                axis(moment, self.began, span, cells)
            } else {
                String::new()
            };
            let line = format!(
                "{:>9} {:>6} {axis} {}",
                format!("+{}", offset_of(offset)),
                moment.seq,
                moment.words
            );
            let decision = moment.is_decision.then_some(moment.seq);
            Drawn {
                text: render::fit(&line, width),
                decision,
            }
        };
        self.moments.iter().map(line).collect()
    }
}

/// Says how far into its turn something is: to the millisecond at first, then to the second.
fn offset_of(ms: u64) -> String {
    if ms < 10_000 {
        format!("{}.{:03}s", ms / 1_000, ms % 1_000)
    } else {
        render::duration_ms(ms)
    }
}

fn axis(moment: &Moment, turn_began: Timestamp, span: u64, cells: usize) -> String {
    let cell = |at: Timestamp| {
        let ms = at.millis_since(turn_began).min(span);
        usize::try_from(ms * (cells as u64 - 1) / span.max(1)).unwrap_or(0)
    };
    let (first, last) = (
        cell(moment.began),
        cell(moment.ended).max(cell(moment.began)),
    );
    let bar = moment.mark.to_string().repeat(last - first + 1);
    let bar = moment
        .color
        .map_or_else(|| bar.clone(), |color| render::paint(color, &bar));
    format!(
        "|{}{bar}{}|",
        " ".repeat(first),
        " ".repeat(cells - 1 - last)
    )
}

/// Returns the symbol of an event on the axis.
fn mark(event: &Event) -> (char, Option<Color>) {
    match event {
        Event::PromptSubmitted { .. } | Event::PromptFound { .. } => ('>', Some(Color::Bold)),
        Event::ToolFailed { .. } => ('=', Some(Color::Red)),
        Event::ToolFinished { call, .. } if call.is_error => ('=', Some(Color::Red)),
        Event::ToolFinished { .. } => ('=', None),
        Event::AgentStopped { .. } | Event::Interrupted { .. } | Event::SessionEnded { .. } => {
            ('#', Some(Color::Bold))
        }
        Event::Decided(decision) if decision.verdict == Verdict::Inject => {
            ('!', Some(Color::Green))
        }
        Event::Decided(_) => ('.', Some(Color::Dim)),
        Event::DeliveryFailed { .. } | Event::DeliveryExpired { .. } => ('x', Some(Color::Red)),
        Event::DeliveryAttempted { .. }
        | Event::DeliveryHeld { .. }
        | Event::DeliveryPasted { .. }
        | Event::DeliveryEntered { .. }
        | Event::DeliveryConfirmed { .. } => ('^', Some(Color::Green)),
        _ => ('-', Some(Color::Dim)),
    }
}

#[cfg(test)]
mod tests {
    use journal::{Envelope, Host, Stream};
    use uuid::Uuid;

    use super::*;
    use crate::ops::views::Place;

    #[test]
    fn a_call_takes_its_share_of_the_axis() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let drawn = |began, ended| {
            let words = String::new();
            axis(
                &Moment {
                    seq: 1,
                    began: at(began),
                    ended: at(ended),
                    mark: '=',
                    color: None,
                    words,
                    is_decision: false,
                },
                at(10),
                10_000,
                11,
            )
        };
        assert_eq!(drawn(10, 10), "|=          |");
        assert_eq!(drawn(12, 15), "|  ====     |");
        assert_eq!(drawn(20, 20), "|          =|");
        // A late event may lie before the turn.
        assert_eq!(drawn(5, 12), "|===        |");
    }

    #[test]
    fn a_timeline_that_grows_comes_to_the_same_as_one_that_is_drawn_at_once() {
        let line = |seq: u64| {
            let turn = seq / 4;
            let at = |seconds: u64| Timestamp::from_micros((seconds * 1_000_000) as i64);
            let cause = "user".to_owned();
            let host = Host::default();
            TimelineLine {
                event: Envelope {
                    seq,
                    stream: Stream::daemon(),
                    at: at(seq * seq),
                    recorded_at: at(seq * seq),
                    id: Uuid::nil(),
                    late: false,
                    event: Event::Interrupted { host, cause },
                    origin: None,
                },
                place: Place {
                    turn,
                    turn_began_at: Some(at(turn * turn * 16)),
                    began_at: None,
                },
            }
        };
        let lines: Vec<_> = (1..40).map(line).collect();
        let (_, whole) = Growing::default().take(&lines);
        let (mut growing, mut drawn) = (Growing::default(), Vec::new());
        for (number, some) in lines.chunks(3).enumerate() {
            let (stay, news) = growing.take(some);
            assert!(
                news.len() <= 12,
                "only the last turn is drawn again: {} lines at {number}",
                news.len()
            );
            drawn.truncate(stay);
            drawn.extend(news);
        }
        assert_eq!(drawn, whole);
        assert_eq!(
            growing.take(&[]).0,
            whole.len() - 4,
            "nothing came: only the last turn"
        );
    }
}
