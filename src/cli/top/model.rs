//! The state of `top` and its changes by input. Pure: no terminal, no daemon, no clock.

use std::collections::VecDeque;

use journal::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use uuid::Uuid;

use super::page::{News, Page, Subject};
use crate::ops::sessions_now::{NowRow, SessionsNow};

/// Events that are kept to be shown; no terminal is higher.
const EVENTS_MAX: usize = 200;

/// An input of the view.
#[derive(Debug)]
pub(crate) enum Input {
    Key(KeyEvent),
    /// The terminal has this width and height.
    Resized(u16, u16),
    /// The time is this.
    Tick(Timestamp),
    /// The sessions have this status.
    Now(Box<SessionsNow>),
    /// These events have happened, the oldest first, each as a line.
    Events(Vec<String>),
    /// A page was read, or what is new of it.
    Read(Subject, News),
    /// The daemon answers again, and nothing has happened.
    Back,
    /// The daemon does not answer: a sentence that says why.
    Lost(String),
    /// The process is to end.
    Stop,
}

/// An effect for the caller to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// Read a page from its beginning.
    Read(Subject),
    /// Read what is new of a page.
    ReadOn(Subject),
    /// Mark the demands of a page's decision wrong, or take that back, and read the page again.
    MarkWrong(Subject),
    Quit,
}

/// The state of the view.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// Width and height of the terminal.
    pub(crate) size: (u16, u16),
    /// Whether colours are wanted.
    pub(crate) colours: bool,
    /// The current time.
    pub(crate) clock: Timestamp,
    /// `None` before the first answer.
    pub(crate) now: Option<SessionsNow>,
    /// Why the daemon does not answer.
    pub(crate) lost: Option<String>,
    /// What happened, the oldest first.
    pub(crate) events: VecDeque<String>,
    /// The session that Enter opens.
    pub(crate) selected: Option<Uuid>,
    /// Sessions without this text are not shown.
    pub(crate) filter: String,
    /// Keys go into the filter.
    pub(crate) is_typing: bool,
    /// The keys are explained.
    pub(crate) is_helping: bool,
    /// The stack of open pages, the last one on top.
    pub(crate) pages: Vec<Page>,
}

impl Model {
    /// Applies an input and returns the effects to carry out.
    pub(crate) fn update(&mut self, input: Input) -> Effect {
        match input {
            Input::Stop => return Effect::Quit,
            Input::Key(key) if key.kind != KeyEventKind::Release => return self.press(key),
            Input::Key(_) => {}
            Input::Resized(width, height) => {
                self.size = (width, height);
                // Lines are broken to the width that they are read for.
                return self
                    .pages
                    .last()
                    .map_or(Effect::Nothing, |page| Effect::Read(page.subject));
            }
            Input::Tick(at) => self.clock = at,
            Input::Now(now) => return self.take(*now),
            Input::Events(lines) => {
                self.events.extend(lines);
                let surplus = self.events.len().saturating_sub(EVENTS_MAX);
                self.events.drain(..surplus);
            }
            Input::Read(subject, news) => {
                let height = self.page_height();
                if let Some(page) = self.pages.iter_mut().find(|page| page.subject == subject) {
                    page.show(news, height);
                }
            }
            Input::Back => self.lost = None,
            Input::Lost(why) => self.lost = Some(why),
        }
        Effect::Nothing
    }

    fn take(&mut self, now: SessionsNow) -> Effect {
        let seq_of = |now: &SessionsNow, session| {
            now.rows
                .iter()
                .find(|row| row.session == session)
                .map(|row| row.last_seq)
        };
        let was = self.now.replace(now);
        self.lost = None;
        self.keep_selection();
        let (was, now) = (was.as_ref(), self.now.as_ref());
        let grown: Vec<_> = self
            .pages
            .iter()
            .filter_map(|page| match page.subject {
                Subject::Timeline(session) => Some(session),
                Subject::Decision(_) => None,
            })
            .filter(|session| {
                was.and_then(|was| seq_of(was, *session))
                    != now.and_then(|now| seq_of(now, *session))
            })
            .collect();
        self.read_on(
            |subject| matches!(subject, Subject::Timeline(session) if grown.contains(session)),
        )
    }

    /// Asks for what is new of the page on top, where it is of this kind.
    fn read_on(&self, is_meant: impl Fn(&Subject) -> bool) -> Effect {
        let top = self.pages.last().map(|page| page.subject).filter(is_meant);
        top.map_or(Effect::Nothing, Effect::ReadOn)
    }

    /// Returns the sessions that the filter lets through.
    pub(crate) fn rows(&self) -> Vec<&NowRow> {
        let wanted = self.filter.to_lowercase();
        let rows = self.now.iter().flat_map(|now| &now.rows);
        rows.filter(|row| wanted.is_empty() || words(row).to_lowercase().contains(&wanted))
            .collect()
    }

    /// Returns the place of the selected session among those that are shown.
    pub(crate) fn selected_at(&self) -> Option<usize> {
        self.rows()
            .iter()
            .position(|row| Some(row.session) == self.selected)
    }

    /// Returns the lines that a page has room for: all but the head and the foot.
    pub(crate) fn page_height(&self) -> usize {
        usize::from(self.size.1).saturating_sub(2).max(1)
    }

    fn keep_selection(&mut self) {
        if self.selected_at().is_none() {
            self.selected = self.rows().first().map(|row| row.session);
        }
    }

    fn press(&mut self, key: KeyEvent) -> Effect {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return Effect::Quit;
        }
        if self.is_helping {
            self.is_helping = false;
            return Effect::Nothing;
        }
        if self.is_typing {
            self.type_filter(key.code, is_control);
            return Effect::Nothing;
        }
        match key.code {
            KeyCode::Char('q') => return Effect::Quit,
            KeyCode::Char('?') => self.is_helping = true,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Enter => return self.open(),
            KeyCode::Char('w') => return self.mark_wrong(),
            KeyCode::Esc | KeyCode::Backspace => return self.back(),
            code => self.step(code),
        }
        Effect::Nothing
    }

    fn type_filter(&mut self, code: KeyCode, is_control: bool) {
        let filter = match self.pages.last_mut() {
            Some(page) => &mut page.filter,
            None => &mut self.filter,
        };
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                filter.clear();
                self.is_typing = false;
            }
            KeyCode::Backspace => drop(filter.pop()),
            KeyCode::Char(char) if !is_control && !char.is_control() => filter.push(char),
            _ => return,
        }
        let height = self.page_height();
        match self.pages.last_mut() {
            Some(page) => page.move_by(0, height),
            None => self.keep_selection(),
        }
    }

    fn open(&mut self) -> Effect {
        let subject = match self.pages.last() {
            Some(page) => page.decision().map(Subject::Decision),
            None => self.selected.map(Subject::Timeline),
        };
        let Some(subject) = subject else {
            return Effect::Nothing;
        };
        self.pages.push(Page::new(subject));
        Effect::Read(subject)
    }

    fn mark_wrong(&self) -> Effect {
        let top = self.pages.last().map(|page| page.subject);
        top.filter(|subject| matches!(subject, Subject::Decision(_)))
            .map_or(Effect::Nothing, Effect::MarkWrong)
    }

    /// Clears the filter, or closes the page on top if there is no filter.
    fn back(&mut self) -> Effect {
        let height = self.page_height();
        match self.pages.last_mut() {
            Some(page) if !page.filter.is_empty() => {
                page.filter.clear();
                page.move_by(0, height);
            }
            Some(_) => {
                self.pages.pop();
                // It may have grown while it was covered.
                return self.read_on(|_| true);
            }
            None => {
                self.filter.clear();
                self.keep_selection();
            }
        }
        Effect::Nothing
    }

    fn step(&mut self, code: KeyCode) {
        let height = self.page_height();
        let by = match code {
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::PageUp | KeyCode::Char('b') => -(height as isize),
            KeyCode::PageDown | KeyCode::Char(' ') => height as isize,
            KeyCode::Home | KeyCode::Char('g') => isize::MIN,
            KeyCode::End | KeyCode::Char('G') => isize::MAX,
            _ => return,
        };
        if let Some(page) = self.pages.last_mut() {
            return page.move_by(by, height);
        }
        let last = self.rows().len().saturating_sub(1);
        let at = self
            .selected_at()
            .unwrap_or(0)
            .saturating_add_signed(by)
            .min(last);
        self.selected = self.rows().get(at).map(|row| row.session);
    }
}

/// Returns the text that a filter searches.
fn words(row: &NowRow) -> String {
    let title = &row.title;
    let names = [
        row.agent.word(),
        &row.project,
        title.title.as_deref().unwrap_or_default(),
        title.branch.as_deref().unwrap_or_default(),
        title.pane.as_deref().unwrap_or_default(),
        row.status.words(),
        &row.native_session,
    ]
    .join(" ");
    format!("{names} {} {}", row.session, row.flags.join(" "))
}
