//! A collector's sessions.

use super::{model, now, press, screen};
use crate::cli::top::model::{Input, Model};
use crate::ops::views::SessionSource;
use ratatui::crossterm::event::KeyCode;
use uuid::Uuid;

/// Sessions of two machines; the first two work on clones of one repository.
fn fleet(width: u16, height: u16) -> Model {
    let mut model = model(width, height);
    let mut now = now();
    for (row, machine) in now
        .rows
        .iter_mut()
        .zip(["desk-2", "laptop-7", "desk-2", "laptop-7"])
    {
        row.source = Some(SessionSource {
            machine: machine.into(),
            journal: Uuid::nil(),
        });
        row.title.branch = None;
    }
    now.rows[0].remote = Some("github.com/team/shop".into());
    now.rows[1].remote = Some("github.com/team/shop".into());
    model.update(Input::Now(Box::new(now)));
    model
}

#[test]
fn machines_have_a_column_at_a_collector() {
    insta::assert_snapshot!(screen(&fleet(80, 12)), @"
     checkpointd  1 needs you, 1 open, 1 running  (4 sessions)            event 421
    STATE     OPEN          MACHINE      AGENT  TITLE          PROJECT    LAST
    needs you -             desk-2       claude Fix number 1 … shop       ✗ Bash car
    open      tests not ru… laptop-7     codex  Fix number 2 … shop       [muted,cle
    running   -             desk-2       gemini Fix number 3 … search     write_file
    waiting   -             laptop-7     claude (attic)        attic      The cart i

     00000001: Fix number 1 of billing-service; needs you, permission, last event 5…
    12:00:27.000     427  claude 00000001  tool started         Bash
    12:00:28.000     428  claude 00000001  tool started         Bash
    12:00:29.000     429  claude 00000001  tool started         Bash
     Enter pane  t timeline  e explain  m mute  c clear  w wrong  y copy  ? help
    ");
    insta::assert_snapshot!(screen(&fleet(120, 12)), @"
     checkpointd  1 needs you, 1 open, 1 running  (4 sessions)                                                    event 421
    STATE     OPEN                MACHINE          AGENT  TITLE                        PROJECT                    LAST
    needs you -                   desk-2           claude Fix number 1 of billing-ser… shop                       ✗ Bash car
    open      tests not run: cart laptop-7         codex  Fix number 2 of website      shop                       [muted,cle
    running   -                   desk-2           gemini Fix number 3 of search       search                     write_file
    waiting   -                   laptop-7         claude (attic)                      attic                      The cart i

     00000001: Fix number 1 of billing-service; needs you, permission, last event 5s ago, %7, desk-2:/home/me/code/billing-…
    12:00:27.000     427  claude 00000001  tool started         Bash
    12:00:28.000     428  claude 00000001  tool started         Bash
    12:00:29.000     429  claude 00000001  tool started         Bash
     Enter pane  t timeline  e explain  m mute  c clear  w wrong  y copy  ? help
    ");
}

#[test]
fn sessions_are_sorted_by_machine_and_by_repository() {
    let mut model = fleet(80, 24);
    let shown = |model: &Model| -> Vec<String> {
        let rows = model.rows();
        rows.iter()
            .map(|row| row.machine().unwrap_or_default().to_owned() + " " + row.remote_or_project())
            .collect()
    };
    press(&mut model, KeyCode::Char('s'));
    press(&mut model, KeyCode::Char('s'));
    let by_project = shown(&model);
    assert_eq!(
        by_project[2..],
        [
            "desk-2 github.com/team/shop",
            "laptop-7 github.com/team/shop"
        ]
    );
    press(&mut model, KeyCode::Char('s'));
    let by_machine = shown(&model);
    assert!(
        by_machine.is_sorted_by_key(|row| row.split(' ').next().map(str::to_owned)),
        "{by_machine:?}"
    );
    assert_eq!(model.said.as_deref(), Some("sorted: by machine"));
    // A filter finds a machine.
    super::typed(&mut model, "/desk-2");
    assert_eq!(shown(&model).len(), 2);
}
