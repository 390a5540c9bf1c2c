//! The state of `top` and its changes by input. Pure: no terminal, no daemon, no clock.

use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};

use journal::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use uuid::Uuid;

use super::act::{Act, Asking};
use super::ansi;
use super::page::{News, Page, Subject};
use crate::ops::orders::{Act as Offered, MUTE_FOR, Order};
use crate::ops::sessions_now::{NowRow, SessionsNow};

/// Events that are kept to be shown; no terminal is higher.
const EVENTS_MAX: usize = 200;

#[derive(Debug)]
pub(crate) enum Input {
    Key(KeyEvent),
    /// The terminal has this width and height.
    Resized(u16, u16),
    /// The current time.
    Tick(Timestamp),
    /// The status of all sessions.
    Now(Box<SessionsNow>),
    /// These events have happened, the oldest first, each as its session and a line.
    Events(Vec<(Uuid, String)>),
    /// A page, or its new lines.
    Read(Subject, News),
    /// Something was done, or not: a sentence, and a text for the clipboard.
    Said(String, Option<String>),
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
    /// Read a page from the beginning.
    Read(Subject),
    /// Read the new lines of a page.
    ReadOn(Subject),
    /// Do something, and read a page again after it.
    Act(Act, Option<Subject>),
    /// Put a text into the clipboard.
    Copy(String),
    Quit,
}

/// The order of the sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// What waits for a person first.
    #[default]
    Need,
    /// Newest event first.
    Newest,
    /// By project, then as by [`Sort::Need`].
    Project,
    /// By machine, then as by [`Sort::Need`].
    Machine,
}

impl Sort {
    const fn next(self, has_machines: bool) -> Self {
        match self {
            Self::Need => Self::Newest,
            Self::Newest => Self::Project,
            Self::Project if has_machines => Self::Machine,
            Self::Project | Self::Machine => Self::Need,
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Need => "what waits for you first",
            Self::Newest => "the newest event first",
            Self::Project => "by project",
            Self::Machine => "by machine",
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    /// Width and height of the terminal.
    pub(crate) size: (u16, u16),
    /// Whether colors are wanted.
    pub(crate) colors: bool,
    pub(crate) clock: Timestamp,
    /// `None` before the first answer.
    pub(crate) now: Option<SessionsNow>,
    /// Why the daemon does not answer.
    pub(crate) lost: Option<String>,
    /// What happened, the oldest first: the session and a line.
    pub(crate) events: VecDeque<(Uuid, String)>,
    /// The session that Enter opens.
    pub(crate) selected: Option<Uuid>,
    /// Sessions without this text, and their events, are not shown.
    pub(crate) filter: String,
    pub(crate) sort: Sort,
    /// What the last key did, until the next one.
    pub(crate) said: Option<String>,
    /// What is asked, until it is answered.
    pub(crate) asking: Option<Asking>,
    /// Keys go into the filter.
    pub(crate) is_typing: bool,
    /// Whether the help is shown.
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
            Input::Said(what, copied) => {
                self.said = Some(what);
                return copied.map_or(Effect::Nothing, Effect::Copy);
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
                _ => None,
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
        let mut rows: Vec<_> = rows
            .filter(|row| wanted.is_empty() || words(row).to_lowercase().contains(&wanted))
            .collect();
        // The daemon lists what waits for a person first, and sorting keeps that order among equals.
        match self.sort {
            Sort::Need => {}
            Sort::Newest => rows.sort_by_key(|row| Reverse(row.last_seq)),
            Sort::Project => {
                rows.sort_by(|one, other| one.remote_or_project().cmp(other.remote_or_project()))
            }
            Sort::Machine => rows.sort_by(|one, other| one.machine().cmp(&other.machine())),
        }
        rows
    }

    /// Returns whether the sessions came from machines, as at a collector.
    pub(crate) fn has_machines(&self) -> bool {
        let mut rows = self.now.iter().flat_map(|now| &now.rows);
        rows.any(|row| row.machine().is_some())
    }

    /// Returns the newest events that the filter lets through, the oldest first: those of sessions that are shown, and
    /// those with its text.
    pub(crate) fn events(&self, most: usize) -> Vec<&str> {
        let wanted = self.filter.to_lowercase();
        let shown: HashSet<Uuid> = self.rows().iter().map(|row| row.session).collect();
        let newest = self.events.iter().rev().filter(|(session, line)| {
            wanted.is_empty()
                || shown.contains(session)
                || ansi::plain(line).to_lowercase().contains(&wanted)
        });
        let mut lines: Vec<_> = newest.take(most).map(|(_, line)| line.as_str()).collect();
        lines.reverse();
        lines
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
        self.said = None;
        if self.is_helping {
            self.is_helping = false;
            return Effect::Nothing;
        }
        if let Some(asking) = self.asking.take() {
            return self.reply(asking, key.code, is_control);
        }
        if self.is_typing {
            self.type_filter(key.code, is_control);
            return Effect::Nothing;
        }
        match key.code {
            KeyCode::Char('q') => return Effect::Quit,
            KeyCode::Char('?') => self.is_helping = true,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Enter => return self.enter(),
            KeyCode::Right | KeyCode::Char('t' | 'l') => return self.open(),
            KeyCode::Char(key @ ('e' | 'w' | 'W' | 'Y')) => return self.of_sent(key),
            KeyCode::Char('y') => {
                return self.of_selected(Offered::Resume, |row| {
                    Act::Command(row.resume.clone().unwrap_or_default())
                });
            }
            KeyCode::Char('S') if self.pages.is_empty() => return self.push(Subject::Stats),
            KeyCode::Char('R') if self.pages.is_empty() => return self.push(Subject::Replay),
            KeyCode::Char('m') => return self.mute(),
            KeyCode::Char('c') => return self.order(Offered::Clear, Order::Clear),
            KeyCode::Char('s') if self.pages.is_empty() => {
                self.sort = self.sort.next(self.has_machines());
                self.said = Some(format!("sorted: {}", self.sort.words()));
            }
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

    /// Takes a key as the answer to a question.
    fn reply(&mut self, asking: Asking, code: KeyCode, is_control: bool) -> Effect {
        match (asking, code) {
            (_, KeyCode::Esc) => Effect::Nothing,
            (Asking::Mute(session), KeyCode::Char(key)) => {
                let periods = MUTE_FOR.into_iter().zip('1'..);
                let period = periods.filter_map(|(period, own)| (own == key).then_some(period));
                let mute = match period.last() {
                    Some(period) => Order::mute(Some(period)).ok(),
                    None => (key == 'm').then_some(Order::Mute(None)),
                };
                mute.map_or(Effect::Nothing, |mute| {
                    Effect::Act(Act::Order(session, mute), None)
                })
            }
            (Asking::Mute(_), _) => Effect::Nothing,
            (Asking::Why(seq, why), KeyCode::Enter) => self.mark(seq, Some(why)),
            (Asking::Why(seq, mut why), code) => {
                match code {
                    KeyCode::Backspace => drop(why.pop()),
                    KeyCode::Char(char) if !is_control && !char.is_control() => why.push(char),
                    _ => {}
                }
                self.asking = Some(Asking::Why(seq, why));
                Effect::Nothing
            }
        }
    }

    /// Goes to the selected session's pane; without one, and on a page, opens what is chosen.
    fn enter(&mut self) -> Effect {
        match self.order(Offered::Pane, Order::Pane) {
            Effect::Nothing => self.open(),
            act => act,
        }
    }

    fn mute(&mut self) -> Effect {
        let unmute = self.order(Offered::Unmute, Order::Unmute);
        if unmute == Effect::Nothing {
            let row = self.offered(Offered::Mute);
            self.asking = row.map(|row| Asking::Mute(row.session));
        }
        unmute
    }

    /// Returns the selected session, where sessions are listed and it can be acted on so.
    fn offered(&self, act: Offered) -> Option<&NowRow> {
        let row = self.rows().get(self.selected_at()?).copied()?;
        (self.pages.is_empty() && row.acts.contains(&act)).then_some(row)
    }

    fn of_selected(&self, offered: Offered, act: impl Fn(&NowRow) -> Act) -> Effect {
        let row = self.offered(offered);
        row.map_or(Effect::Nothing, |row| Effect::Act(act(row), None))
    }

    fn order(&self, offered: Offered, order: Order) -> Effect {
        self.of_selected(offered, |row| Act::Order(row.session, order.clone()))
    }

    fn open(&mut self) -> Effect {
        let subject = match self.pages.last() {
            Some(page) => page.decision().map(Subject::Decision),
            None => self.selected.map(Subject::Timeline),
        };
        subject.map_or(Effect::Nothing, |subject| self.push(subject))
    }

    fn push(&mut self, subject: Subject) -> Effect {
        self.pages.push(Page::new(subject));
        Effect::Read(subject)
    }

    /// Returns the open or chosen decision, or the last one of a listed session that sent a checkpoint.
    fn sent(&self) -> Option<u64> {
        match self.pages.last() {
            None => self.offered(Offered::Message)?.sent,
            Some(page) => match page.subject {
                Subject::Decision(seq) => Some(seq),
                _ => page.decision(),
            },
        }
    }

    /// Does what a key says with the checkpoint that was sent.
    fn of_sent(&mut self, key: char) -> Effect {
        let Some(seq) = self.sent() else {
            self.said = Some("no checkpoint was sent here".into());
            return Effect::Nothing;
        };
        match key {
            'e' => return self.push(Subject::Decision(seq)),
            'Y' => return Effect::Act(Act::Message(seq), None),
            'W' => return self.mark(seq, None),
            _ => self.asking = Some(Asking::Why(seq, String::new())),
        }
        Effect::Nothing
    }

    /// Marks a decision wrong, or takes that back, and reads it again where it is open.
    fn mark(&self, seq: u64, why: Option<String>) -> Effect {
        let page = self.pages.last().map(|page| page.subject);
        let again = page.filter(|subject| matches!(subject, Subject::Decision(_)));
        Effect::Act(Act::Wrong(seq, why), again)
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
        row.remote.as_deref().unwrap_or_default(),
        row.machine().unwrap_or_default(),
        title.title.as_deref().unwrap_or_default(),
        title.branch.as_deref().unwrap_or_default(),
        title.pane.as_deref().unwrap_or_default(),
        row.status.words(),
        row.need.words().unwrap_or_default(),
        row.said.as_deref().unwrap_or_default(),
        &row.native_session,
    ]
    .join(" ");
    let more = [row.open_words.join(" "), row.flags.join(" ")].join(" ");
    format!("{names} {} {more}", row.session)
}
