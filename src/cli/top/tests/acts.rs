//! Keys that act on a session, and the order of sessions.

use super::super::act::Act;
use super::*;

#[test]
fn keys_act_on_the_selected_session_and_say_so_until_the_next_key() {
    let mut model = model(80, 24);
    let first = now().rows[0].session;
    let second = now().rows[1].session;
    let act = |act| Effect::Act(act, None);
    assert_eq!(press(&mut model, KeyCode::Enter), act(Act::Jump(first)));
    assert_eq!(
        press(&mut model, KeyCode::Char('m')),
        act(Act::Mute(first, true))
    );
    assert_eq!(
        press(&mut model, KeyCode::Char('c')),
        act(Act::Clear(first))
    );
    assert_eq!(
        press(&mut model, KeyCode::Char('w')),
        act(Act::WrongLast(first))
    );
    model.update(Input::Said("done \x1b[31m".into()));
    assert!(
        screen(&model).ends_with(" done \\x1b[31m"),
        "{}",
        screen(&model)
    );
    press(&mut model, KeyCode::Down);
    assert!(screen(&model).ends_with("? help"), "{}", screen(&model));
    assert_eq!(
        press(&mut model, KeyCode::Char('m')),
        act(Act::Mute(second, false)),
        "it is muted"
    );
    // A page is no list: nothing is muted from there by mistake.
    press(&mut model, KeyCode::Char('t'));
    for key in ['m', 'c', 's'] {
        assert_eq!(press(&mut model, KeyCode::Char(key)), Effect::Nothing);
    }
}

#[test]
fn sessions_are_sorted_in_three_ways_and_the_selection_stays() {
    let mut model = model(80, 24);
    let selected = model.selected;
    let agents = |model: &Model| -> Vec<String> {
        let rows = model.rows().into_iter();
        rows.map(|row| {
            row.project
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
    };
    let by_need = agents(&model);
    press(&mut model, KeyCode::Char('s'));
    assert!(screen(&model).ends_with(" sorted: the newest event first"));
    press(&mut model, KeyCode::Char('s'));
    assert_eq!(
        agents(&model),
        ["attic", "billing-service", "search", "website"]
    );
    press(&mut model, KeyCode::Char('s'));
    assert_eq!((agents(&model), model.selected), (by_need, selected));
}
