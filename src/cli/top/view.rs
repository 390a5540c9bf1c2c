//! Draws the [`Model`]. Nothing here changes it.

use std::path::Path;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row as TableRow, Table, TableState, Wrap};

use super::ansi;
use super::columns::{self, Column};
use super::model::Model;
use super::page::{Page, Subject};
use crate::cli::text::{on_machine, session, short, spaced};
use crate::ops::sessions_now::{NowRow, SessionsNow};
use crate::ops::views::Need;
use crate::render;

/// The smallest terminal in which all of it can be read.
const SIZE_MIN: (u16, u16) = (60, 12);
/// Width from which the columns are wider.
const WIDE: u16 = 110;
/// The most lines that live events take.
const EVENT_LINES_MAX: u16 = 12;

/// The keys and their actions, and other hints. All of it fits the smallest terminal.
const KEYS: [(&str, &str); 9] = [
    ("Enter", "go to its tmux pane; on a page, open"),
    ("t, e", "open its timeline; explain its last checkpoint"),
    ("m, c", "mute a while, unmute; let its next stop pass"),
    ("w, W", "mark its last demand wrong and say why; undo"),
    ("y, Y", "copy the resuming command; the last message"),
    ("s, /", "sort; only what has a text"),
    ("S, R", "stats; past stops that are now judged otherwise"),
    (
        "k j b Space g G",
        "by a line, a screen, to an end; also arrows",
    ),
    ("Esc, q", "drop the filter, or go back; quit"),
];
const NOTES: [&str; 1] = ["  OPEN: not verified yet; `checkpointd open` shows each file"];

pub(crate) fn draw(model: &Model, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SIZE_MIN.0 || area.height < SIZE_MIN.1 {
        let text = format!(
            "This terminal has {}x{} characters; top needs {}x{}. Make it larger, or quit with q.",
            area.width, area.height, SIZE_MIN.0, SIZE_MIN.1
        );
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    }
    let [head, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let paint = Paint {
        colors: model.colors,
    };
    match model.pages.last() {
        _ if model.is_helping => draw_help(paint, frame, head, body),
        Some(page) => draw_page(model, page, paint, frame, head, body),
        None => draw_now(model, paint, frame, head, body),
    }
    frame.render_widget(foot_line(model, paint), foot);
}

/// Styles, by whether colors are wanted.
#[derive(Clone, Copy)]
struct Paint {
    colors: bool,
}

impl Paint {
    fn color(self, color: Color) -> Style {
        if self.colors {
            Style::new().fg(color)
        } else {
            Style::new()
        }
    }

    const fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    const fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    const fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn of(self, row: &NowRow) -> Style {
        match row.need {
            Need::You => self.color(Color::Red).add_modifier(Modifier::BOLD),
            Need::Open => self.color(Color::Yellow),
            Need::Running => self.color(Color::Green),
            Need::Finished => self.color(Color::Cyan),
            Need::Nothing => self.dim(),
        }
    }
}

/// Draws a text at the left and one at the right of a line; where both do not fit, the left one is cut.
fn draw_head(frame: &mut Frame<'_>, area: Rect, left: &str, right: Span<'_>, style: Style) {
    let room = usize::from(area.width).saturating_sub(right.width() + 2);
    let left = render::cut(&render::printable(left), room);
    frame.render_widget(Line::styled(format!(" {left}"), style), area);
    frame.render_widget(Line::from(right).right_aligned(), area);
}

fn connection(model: &Model, paint: Paint) -> Span<'static> {
    match (&model.lost, &model.now) {
        (Some(_), _) => Span::styled("no daemon, trying again ", paint.color(Color::Red)),
        (None, Some(now)) => Span::styled(format!("event {} ", now.seq), paint.dim()),
        (None, None) => Span::styled("asking the daemon ", paint.dim()),
    }
}

fn draw_now(model: &Model, paint: Paint, frame: &mut Frame<'_>, head: Rect, body: Rect) {
    draw_head(
        frame,
        head,
        &summary(model),
        connection(model, paint),
        paint.bold(),
    );
    let event_lines = (body.height / 3).min(EVENT_LINES_MAX);
    let [table, detail, events] = Layout::vertical([
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(event_lines),
    ])
    .areas(body);
    draw_table(model, paint, frame, table);
    frame.render_widget(
        Line::styled(
            render::cut(&details(model), usize::from(detail.width)),
            paint.dim(),
        ),
        detail,
    );
    let newest = model.events(usize::from(events.height));
    let lines: Vec<_> = newest.into_iter().map(ansi::line).collect();
    frame.render_widget(Paragraph::new(lines), events);
}

fn draw_table(model: &Model, paint: Paint, frame: &mut Frame<'_>, table: Rect) {
    let rows = model.rows();
    if rows.is_empty() {
        frame.render_widget(
            Paragraph::new(nothing(model)).wrap(Wrap { trim: true }),
            table,
        );
        return;
    }
    let is_wide = table.width >= WIDE;
    let columns = columns::of(is_wide, model.has_machines());
    let lines = rows.iter().map(|row| {
        let style = if row.need == Need::Nothing {
            paint.dim()
        } else {
            Style::new()
        };
        let cells = columns.iter().map(|(column, width)| {
            let (text, style) = cell(*column, row, paint);
            Cell::from(match width {
                Some(width) => render::cut(&text, usize::from(*width)),
                None => text,
            })
            .style(style)
        });
        TableRow::new(cells.collect::<Vec<_>>()).style(style)
    });
    let lines: Vec<_> = lines.collect();
    let head = TableRow::new(columns.iter().map(|(column, _)| column.head()));
    let columns = columns
        .iter()
        .map(|(_, width)| width.map_or(Constraint::Min(columns::LAST_MIN), Constraint::Length));
    let drawn = Table::new(lines, columns)
        .header(head.style(paint.dim()))
        .row_highlight_style(paint.bar());
    frame.render_stateful_widget(
        drawn,
        table,
        &mut TableState::new().with_selected(model.selected_at()),
    );
}

/// Returns the text in place of an empty table.
fn nothing(model: &Model) -> String {
    match &model.now {
        None => String::new(),
        Some(_) if !model.filter.is_empty() => format!(
            "\n  No session has \"{}\".",
            render::printable(&model.filter)
        ),
        Some(_) => "\n  There are no sessions yet. `checkpointd init` adds the hooks; \
                    agents that run already load them when they are restarted."
            .to_owned(),
    }
}

fn summary(model: &Model) -> String {
    let Some(SessionsNow { rows, sessions, .. }) = &model.now else {
        return "checkpointd".into();
    };
    let counts = [Need::You, Need::Open, Need::Running, Need::Finished];
    let counts = counts.into_iter().filter_map(|need| {
        let count = rows.iter().filter(|row| row.need == need).count();
        let word = need.words().filter(|_| count > 0)?;
        Some(format!("{count} {word}"))
    });
    let counts: Vec<_> = counts.collect();
    let what = if *sessions == 1 {
        "session"
    } else {
        "sessions"
    };
    let shown = if rows.len() < *sessions {
        format!(", {} shown", rows.len())
    } else {
        String::new()
    };
    format!(
        "checkpointd  {}  ({sessions} {what}{shown})",
        counts.join(", ")
    )
    .replace("    (", "  (")
}

/// Returns the text and style of a cell.
fn cell(column: Column, row: &NowRow, paint: Paint) -> (String, Style) {
    let plain = |text: &str| (render::printable(text), Style::new());
    match column {
        Column::State => {
            let words = row.need.words().unwrap_or(row.status.words());
            (words.to_owned(), paint.of(row))
        }
        Column::Machine => plain(row.machine().unwrap_or("-")),
        Column::Agent => plain(row.agent.word()),
        Column::Title => (row.title.words(&row.project), Style::new()),
        // The end of a path says more than its beginning.
        Column::Project => plain(&Path::new(row.remote_or_project()).file_name().map_or_else(
            || row.remote_or_project().to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )),
        Column::Branch => plain(row.title.branch.as_deref().unwrap_or("-")),
        Column::Open if row.open.is_empty() => plain("-"),
        Column::Open => (session::open(&row.open), paint.color(Color::Yellow)),
        Column::Pane => plain(row.title.pane.as_deref().unwrap_or("-")),
        // What the agent works on, or what it said when it stopped.
        Column::Last => match (&row.last_tool, &row.said) {
            (Some(tool), _) if row.works() && tool.failed => {
                let (text, _) = plain(&format!("{}✗ {} {}", notes(row), tool.tool, tool.about));
                (text, paint.color(Color::Red))
            }
            (Some(tool), _) if row.works() => {
                plain(&format!("{}{} {}", notes(row), tool.tool, tool.about))
            }
            (_, Some(said)) => plain(&format!("{}{said}", notes(row))),
            (_, None) if row.flags.is_empty() => plain("-"),
            (_, None) => plain(notes(row).trim_end()),
        },
    }
}

/// Returns what differs from the usual, before other words: `[muted] `.
fn notes(row: &NowRow) -> String {
    if row.flags.is_empty() {
        return String::new();
    }
    format!("[{}] ", row.flags.join(","))
}

/// Returns details of the selected session.
fn details(model: &Model) -> String {
    let Some(row) = model
        .rows()
        .into_iter()
        .find(|row| Some(row.session) == model.selected)
    else {
        return String::new();
    };
    let ago = render::ago(model.clock.millis_since(row.last_at));
    let why = row
        .why
        .as_deref()
        .map(|why| format!(", {}", spaced(why)))
        .unwrap_or_default();
    let id = short(row.session);
    let project = on_machine(row.machine(), &row.project);
    let open = row.open_words.iter().map(|line| format!(" {line};"));
    let open: String = open.map(|line| render::printable(&line)).collect();
    format!(
        " {id}:{open} {}; {}{why}, last event {ago}, {}, {project}",
        row.title.words(&row.project),
        row.status.words(),
        row.title.place()
    )
}

fn draw_page(
    model: &Model,
    page: &Page,
    paint: Paint,
    frame: &mut Frame<'_>,
    head: Rect,
    body: Rect,
) {
    let title = match page.subject {
        Subject::Decision(seq) => format!("decision {seq}"),
        Subject::Stats => "what checkpoints did".to_owned(),
        Subject::Replay => "past stops under the present settings".to_owned(),
        Subject::Timeline(session) => {
            let row = model
                .now
                .iter()
                .flat_map(|now| &now.rows)
                .find(|row| row.session == session);
            let id = short(session);
            row.map_or_else(
                || format!("timeline of {id}"),
                |row| {
                    format!(
                        "timeline of {id}: {}; {}, {}, {}",
                        row.title.words(&row.project),
                        row.agent,
                        row.status.words(),
                        on_machine(row.machine(), &row.project)
                    )
                },
            )
        }
    };
    let lines = page.lines();
    let last = (page.first + usize::from(body.height)).min(lines.len());
    let place = format!(
        "lines {}-{last} of {} ",
        (page.first + 1).min(last),
        lines.len()
    );
    let place = if model.lost.is_some() {
        connection(model, paint)
    } else {
        Span::styled(place, paint.dim())
    };
    draw_head(frame, head, &title, place, paint.bold());
    match &page.content {
        None => frame.render_widget("  Reading...", body),
        Some(Err(why)) => {
            let text = format!("\n  {}", render::printable(why));
            frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: false }), body);
        }
        Some(Ok(_)) => {
            let shown = lines
                .iter()
                .enumerate()
                .skip(page.first)
                .take(usize::from(body.height));
            let styled = shown.map(|(number, line)| {
                let is_chosen = page.has_cursor() && number == page.cursor;
                ansi::line(&line.text).style(if is_chosen { paint.bar() } else { Style::new() })
            });
            frame.render_widget(Paragraph::new(styled.collect::<Vec<_>>()), body);
        }
    }
}

fn draw_help(paint: Paint, frame: &mut Frame<'_>, head: Rect, body: Rect) {
    draw_head(frame, head, "keys", Span::raw(""), paint.bold());
    let key = |(keys, what): &(&'static str, &'static str)| {
        Line::from(vec![
            Span::styled(format!("  {keys:16}"), paint.bold()),
            Span::raw(*what),
        ])
    };
    let mut lines = Vec::new();
    lines.extend(KEYS.iter().map(key));
    lines.extend(NOTES.map(Line::raw));
    frame.render_widget(Paragraph::new(lines), body);
}

fn foot_line(model: &Model, paint: Paint) -> Line<'static> {
    let filter = model
        .pages
        .last()
        .map_or(&model.filter, |page| &page.filter);
    let filter = render::printable(filter);
    let keys = match model.pages.last() {
        _ if model.is_helping => "any key: back",
        Some(page) if page.has_cursor() => {
            "Enter explains a decision  w wrong  Y copy  Esc back  / filter  ? help"
        }
        Some(page) if page.is_printed() => "Esc back  / filter  ? help  q quit",
        Some(_) => "w wrong  Y copy  Esc back  / filter  ? help  q quit",
        None => "Enter pane  t timeline  e explain  m mute  c clear  w wrong  y copy  ? help",
    };
    if let Some(asking) = &model.asking {
        return Line::styled(format!(" {}", asking.words()), paint.bold());
    }
    if model.is_typing {
        return Line::styled(format!(" filter: {filter}_"), paint.bold());
    }
    if let Some(why) = &model.lost {
        return Line::styled(
            format!(" {}", render::printable(why)),
            paint.color(Color::Red),
        );
    }
    if let Some(said) = &model.said {
        return Line::styled(format!(" {}", render::printable(said)), paint.bold());
    }
    let filter = if filter.is_empty() {
        filter
    } else {
        format!("filter: {filter}  ")
    };
    Line::from(vec![
        Span::styled(format!(" {filter}"), paint.bold()),
        Span::styled(keys, paint.dim()),
    ])
}
