//! The view on terminals that are not there, and what keys do to the model.

use checkpoint::judging::OpenItem;
use checkpoint::state::SessionStatus;
use journal::{Agent, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use uuid::Uuid;

use super::model::{Effect, Input, Model};
use super::page::Subject;
use super::view;
use crate::cli::text::timeline::Drawn;
use crate::ops::orders::Act as Offered;
use crate::ops::sessions_now::{LastTool, NowRow, SessionsNow};
use crate::ops::views::{Need, SessionTitle};

mod acts;
mod fleet;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_800_000_000 + seconds) * 1_000_000)
}

fn row(number: u128, agent: Agent, project: &str, status: SessionStatus) -> NowRow {
    NowRow {
        session: Uuid::from_u128(number << 96),
        native_session: format!("native-{number}"),
        agent,
        project: format!("/home/me/code/{project}"),
        title: SessionTitle {
            title: Some(format!("Fix number {number} of {project}")),
            branch: Some("main".into()),
            pane: Some("%7".into()),
            tmux_server: None,
        },
        remote: None,
        source: None,
        need: match status {
            SessionStatus::NeedsYou => Need::You,
            SessionStatus::Running => Need::Running,
            _ => Need::Finished,
        },
        status,
        open: Vec::new(),
        open_words: Vec::new(),
        why: None,
        asked: None,
        said: Some("The cart is done.".into()),
        resume: Some("cd '/home/me/code' && claude --resume 1".into()),
        sent: Some(33),
        acts: vec![
            Offered::Pane,
            Offered::Resume,
            Offered::Message,
            Offered::Wrong,
            Offered::Mute,
            Offered::Clear,
        ],
        last_tool: None,
        flags: Vec::new(),
        last_at: at(-5),
        last_seq: 40,
    }
}

fn tool(tool: &str, about: &str, failed: bool) -> Option<LastTool> {
    let (tool, about) = (tool.into(), about.into());
    Some(LastTool {
        tool,
        about,
        at: at(-8),
        duration_ms: Some(900),
        finished: true,
        failed,
    })
}

fn now() -> SessionsNow {
    let mut asks = row(1, Agent::Claude, "billing-service", SessionStatus::NeedsYou);
    asks.why = Some("permission".into());
    asks.last_tool = tool("Bash", "cargo test --workspace \x1b[31m", true);
    let mut waits = row(2, Agent::Codex, "website", SessionStatus::Waiting);
    waits.flags = vec!["muted".into(), "cleared".into()];
    waits.acts = vec![Offered::Unmute];
    waits.need = Need::Open;
    waits.open = vec![OpenItem {
        what: "tests not run".into(),
        files: vec!["shop/cart.py".into(), "shop/tax.py".into()],
    }];
    let mut runs = row(3, Agent::Gemini, "search", SessionStatus::Running);
    runs.title.branch = Some("topic/a-long-name-of-a-branch".into());
    runs.last_tool = tool("write_file", "src/index.rs", false);
    let mut old = row(4, Agent::Claude, "attic", SessionStatus::Waiting);
    old.need = Need::Nothing;
    old.title = SessionTitle::default();
    SessionsNow {
        seq: 421,
        at: at(0),
        rows: vec![asks, waits, runs, old],
        sessions: 4,
        mute_for: Default::default(),
    }
}

fn model(width: u16, height: u16) -> Model {
    let mut model = Model {
        size: (width, height),
        clock: at(0),
        ..Model::default()
    };
    let event = |number: u32| {
        let line = format!(
            "12:00:{number:02}.000  {:>6}  claude 00000001  tool started         Bash",
            400 + number
        );
        (Uuid::from_u128(1 << 96), line)
    };
    model.update(Input::Events((0..30).map(event).collect()));
    model.update(Input::Now(Box::new(now())));
    model
}

fn screen(model: &Model) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(model.size.0, model.size.1)).expect("a terminal");
    terminal
        .draw(|frame| view::draw(model, frame))
        .expect("draws");
    let text = terminal.backend().to_string();
    text.lines()
        .map(|line| line.trim_matches('"').trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

fn press(model: &mut Model, code: KeyCode) -> Effect {
    model.update(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn typed(model: &mut Model, text: &str) {
    for char in text.chars() {
        press(model, KeyCode::Char(char));
    }
}

fn timeline(lines: usize) -> Vec<Drawn> {
    let line = |number: usize| Drawn {
        text: format!("{number:>9} \x1b[32mline\x1b[0m {number}"),
        decision: (number % 10 == 5).then_some(number as u64),
    };
    (1..=lines).map(line).collect()
}

#[test]
fn the_now_view_fits_80_by_24() {
    insta::assert_snapshot!(screen(&model(80, 24)), @"
     checkpointd  1 needs you, 1 open, 1 running  (4 sessions)            event 421
    STATE     OPEN             AGENT  TITLE             PROJECT    LAST
    needs you -                claude Fix number 1 of … billing-s… ✗ Bash cargo test
    open      tests not run: … codex  Fix number 2 of … website    [muted,cleared] T
    running   -                gemini Fix number 3 of … search     write_file src/in
    waiting   -                claude (attic)           attic      The cart is done.









     00000001: Fix number 1 of billing-service; needs you, permission, last event 5…
    12:00:23.000     423  claude 00000001  tool started         Bash
    12:00:24.000     424  claude 00000001  tool started         Bash
    12:00:25.000     425  claude 00000001  tool started         Bash
    12:00:26.000     426  claude 00000001  tool started         Bash
    12:00:27.000     427  claude 00000001  tool started         Bash
    12:00:28.000     428  claude 00000001  tool started         Bash
    12:00:29.000     429  claude 00000001  tool started         Bash
     Enter pane  t timeline  e explain  m mute  c clear  w wrong  y copy  ? help
    ");
}

#[test]
fn the_now_view_uses_140_by_40() {
    insta::assert_snapshot!(screen(&model(140, 40)), @"
     checkpointd  1 needs you, 1 open, 1 running  (4 sessions)                                                                        event 421
    STATE     OPEN                           AGENT  TITLE                          PROJECT            BRANCH         PANE  LAST
    needs you -                              claude Fix number 1 of billing-servi… billing-service    main           %7    ✗ Bash cargo test --w
    open      tests not run: cart.py, 1 m…   codex  Fix number 2 of website        website            main           %7    [muted,cleared] The c
    running   -                              gemini Fix number 3 of search         search             topic/a-long-… %7    write_file src/index.
    waiting   -                              claude (attic)                        attic              -              -     The cart is done.




















     00000001: Fix number 1 of billing-service; needs you, permission, last event 5s ago, main %7, /home/me/code/billing-service
    12:00:18.000     418  claude 00000001  tool started         Bash
    12:00:19.000     419  claude 00000001  tool started         Bash
    12:00:20.000     420  claude 00000001  tool started         Bash
    12:00:21.000     421  claude 00000001  tool started         Bash
    12:00:22.000     422  claude 00000001  tool started         Bash
    12:00:23.000     423  claude 00000001  tool started         Bash
    12:00:24.000     424  claude 00000001  tool started         Bash
    12:00:25.000     425  claude 00000001  tool started         Bash
    12:00:26.000     426  claude 00000001  tool started         Bash
    12:00:27.000     427  claude 00000001  tool started         Bash
    12:00:28.000     428  claude 00000001  tool started         Bash
    12:00:29.000     429  claude 00000001  tool started         Bash
     Enter pane  t timeline  e explain  m mute  c clear  w wrong  y copy  ? help
    ");
}

#[test]
fn a_terminal_that_is_too_small_is_told_so() {
    insta::assert_snapshot!(screen(&model(40, 10)), @r"
    This terminal has 40x10 characters; top
    needs 60x12. Make it larger, or quit
    with q.
    ");
}

#[test]
fn a_lost_daemon_is_shown_until_it_answers_again() {
    let mut model = model(80, 24);
    model.update(Input::Lost("no daemon answers on /run/sock: gone".into()));
    let text = screen(&model);
    let (first, last) = (
        text.lines().next().expect("a line"),
        text.lines().last().expect("a line"),
    );
    assert!(first.ends_with("no daemon, trying again"), "{first}");
    assert_eq!(last, " no daemon answers on /run/sock: gone");
    assert!(text.contains("billing-serv"), "known sessions stay: {text}");
    model.update(Input::Back);
    assert!(
        screen(&model)
            .lines()
            .next()
            .expect("a line")
            .ends_with("event 421")
    );
}

#[test]
fn colors_are_left_out_where_they_are_not_wanted() {
    let colored = |colors| {
        let mut model = model(80, 24);
        model.colors = colors;
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
        terminal
            .draw(|frame| view::draw(&model, frame))
            .expect("draws");
        terminal
            .backend()
            .buffer()
            .content()
            .iter()
            .any(|cell| cell.fg != ratatui::style::Color::Reset)
    };
    assert!(colored(true) && !colored(false));
}

#[test]
fn a_timeline_and_a_decision_open_and_esc_goes_back() {
    let mut model = model(80, 24);
    press(&mut model, KeyCode::Down);
    let session = model.selected.expect("one");
    assert_eq!(session, now().rows[1].session);
    assert_eq!(
        press(&mut model, KeyCode::Char('t')),
        Effect::Read(Subject::Timeline(session))
    );
    assert!(screen(&model).contains("Reading..."));
    model.update(Input::Read(
        Subject::Timeline(session),
        Ok((0, timeline(95))),
    ));
    let text = screen(&model);
    assert!(
        text.starts_with(
            " timeline of 00000002: Fix number 2 of website; codex, waiti… lines 74-95 of 95"
        ),
        "{text}"
    );
    assert!(
        text.contains("       95 line 95"),
        "it begins at its end: {text}"
    );

    assert_eq!(model.pages[0].decision(), Some(95));
    press(&mut model, KeyCode::Up);
    assert_eq!(
        press(&mut model, KeyCode::Enter),
        Effect::Nothing,
        "no decision is there"
    );
    press(&mut model, KeyCode::PageUp);
    assert_eq!((model.pages[0].cursor, model.pages[0].first), (71, 71));
    press(&mut model, KeyCode::Char('g'));
    for _ in 0..4 {
        press(&mut model, KeyCode::Char('j'));
    }
    assert_eq!(
        press(&mut model, KeyCode::Enter),
        Effect::Read(Subject::Decision(5))
    );
    model.update(Input::Read(Subject::Decision(5), Err("it is gone".into())));
    assert!(screen(&model).contains("it is gone"));

    assert_eq!(
        press(&mut model, KeyCode::Esc),
        Effect::ReadOn(Subject::Timeline(session)),
        "it may have grown"
    );
    assert_eq!(model.pages[0].cursor, 4);
    assert_eq!(press(&mut model, KeyCode::Backspace), Effect::Nothing);
    assert!(model.pages.is_empty());
    assert_eq!(press(&mut model, KeyCode::Char('q')), Effect::Quit);
}

#[test]
fn an_open_timeline_grows_with_its_session_and_stays_where_one_reads() {
    let mut model = model(80, 24);
    let subject = Subject::Timeline(model.selected.expect("one"));
    press(&mut model, KeyCode::Right);
    model.update(Input::Read(subject, Ok((0, timeline(50)))));
    assert_eq!(
        model.update(Input::Now(Box::new(now()))),
        Effect::Nothing,
        "nothing happened in it"
    );
    let mut grown = now();
    grown.rows[0].last_seq += 1;
    assert_eq!(
        model.update(Input::Now(Box::new(grown))),
        Effect::ReadOn(subject)
    );
    model.update(Input::Read(subject, Ok((48, timeline(51).split_off(48)))));
    assert_eq!(
        model.pages[0].lines(),
        timeline(51).iter().collect::<Vec<_>>(),
        "what is new comes after what stays"
    );
    assert_eq!(model.pages[0].cursor, 50, "who is at the end stays there");
    press(&mut model, KeyCode::Up);
    model.update(Input::Read(subject, Ok((51, timeline(60).split_off(51)))));
    assert_eq!(
        (model.pages[0].cursor, model.pages[0].lines().len()),
        (49, 60)
    );
    assert_eq!(
        model.update(Input::Resized(140, 40)),
        Effect::Read(subject),
        "lines are wrapped again"
    );
}

#[test]
fn the_selection_stays_with_its_session_when_rows_move() {
    let mut model = model(80, 24);
    press(&mut model, KeyCode::End);
    let selected = model.selected;
    let mut moved = now();
    moved.rows.rotate_right(1);
    model.update(Input::Now(Box::new(moved)));
    assert_eq!((model.selected, model.selected_at()), (selected, Some(0)));
}

#[test]
fn a_filter_shows_only_what_has_its_text() {
    let mut model = model(80, 24);
    press(&mut model, KeyCode::Char('/'));
    typed(&mut model, "SEARCHq");
    assert!(
        screen(&model).contains("No session has \"SEARCHq\""),
        "{}",
        screen(&model)
    );
    assert!(screen(&model).ends_with(" filter: SEARCHq_"));
    press(&mut model, KeyCode::Backspace);
    press(&mut model, KeyCode::Enter);
    assert_eq!(
        (model.rows().len(), model.selected),
        (1, Some(now().rows[2].session))
    );
    assert_eq!(
        (
            model.events(50).len(),
            screen(&model).contains("tool started")
        ),
        (0, false),
        "no event is of a session that is shown"
    );
    press(&mut model, KeyCode::Char('t'));
    model.update(Input::Read(model.pages[0].subject, Ok((0, timeline(50)))));
    press(&mut model, KeyCode::Char('/'));
    typed(&mut model, "LINE 4");
    press(&mut model, KeyCode::Enter);
    assert_eq!(model.pages[0].lines().len(), 11);
    press(&mut model, KeyCode::Esc);
    assert_eq!(
        (model.pages.len(), model.pages[0].lines().len()),
        (1, 50),
        "the filter goes first"
    );
    press(&mut model, KeyCode::Esc);
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.rows().len(), 4);
}

#[test]
fn control_c_quits_from_everywhere_and_a_question_mark_explains_the_keys() {
    let mut model = model(80, 24);
    press(&mut model, KeyCode::Char('?'));
    insta::assert_snapshot!(screen(&model), @r"
    keys
     Enter           go to its tmux pane; on a page, open
     t, e            open its timeline; explain its last checkpoint
     m, c            mute a while, unmute; let its next stop pass
     w, W            mark its last demand wrong and say why; undo
     y, Y            copy the resuming command; the last message
     s, /            sort; only what has a text
     S, R            stats; past stops that are now judged otherwise
     k j b Space g G by a line, a screen, to an end; also arrows
     Esc, q          drop the filter, or go back; quit
     OPEN: not verified yet; `checkpointd open` shows each file












    any key: back
    ");
    let control_c = || Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert_eq!(model.update(control_c()), Effect::Quit);
    press(&mut model, KeyCode::Char('x'));
    assert!(!model.is_helping);
    press(&mut model, KeyCode::Char('/'));
    assert_eq!(model.update(control_c()), Effect::Quit);
    assert_eq!(model.update(Input::Stop), Effect::Quit);
}
