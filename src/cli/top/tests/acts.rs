//! Keys that act on a session, and the order of sessions.

use std::time::Duration;

use super::super::act::Act;
use super::*;
use crate::ops::orders::Order;

#[test]
fn keys_act_on_the_selected_session_and_say_so_until_the_next_key() {
    let mut model = model(80, 24);
    let first = now().rows[0].session;
    let second = now().rows[1].session;
    let order = |session, order| Effect::Act(Act::Order(session, order), None);
    assert_eq!(press(&mut model, KeyCode::Enter), order(first, Order::Pane));
    // For how long is asked first; what is no answer is taken for a no.
    for (key, period) in [('1', Some(300)), ('2', Some(3_600)), ('m', None)] {
        assert_eq!(press(&mut model, KeyCode::Char('m')), Effect::Nothing);
        assert!(screen(&model).contains("mute: 1 for 5m, 2 for 1h, 3 for 8h, m until unmuted"));
        let mute = Order::Mute(period.map(Duration::from_secs));
        assert_eq!(press(&mut model, KeyCode::Char(key)), order(first, mute));
    }
    for key in [KeyCode::Esc, KeyCode::Char('9'), KeyCode::Enter] {
        press(&mut model, KeyCode::Char('m'));
        assert_eq!(press(&mut model, key), Effect::Nothing);
        assert_eq!(model.asking, None);
    }
    assert_eq!(
        press(&mut model, KeyCode::Char('c')),
        order(first, Order::Clear)
    );
    let wrong = |reason: Option<&str>| Effect::Act(Act::Wrong(33, reason.map(str::to_owned)), None);
    press(&mut model, KeyCode::Char('w'));
    typed(&mut model, "I ran theem");
    for key in [KeyCode::Backspace, KeyCode::Backspace] {
        press(&mut model, key);
    }
    typed(&mut model, "m");
    assert!(screen(&model).ends_with("why is 33 wrong (Enter marks it, Esc not): I ran them_"));
    assert_eq!(press(&mut model, KeyCode::Enter), wrong(Some("I ran them")));
    press(&mut model, KeyCode::Char('w'));
    assert_eq!(press(&mut model, KeyCode::Esc), Effect::Nothing);
    assert_eq!(press(&mut model, KeyCode::Char('W')), wrong(None));
    assert_eq!(
        press(&mut model, KeyCode::Char('Y')),
        Effect::Act(Act::Message(33), None)
    );
    let line = "cd '/home/me/code' && claude --resume 1".to_owned();
    assert_eq!(
        press(&mut model, KeyCode::Char('y')),
        Effect::Act(Act::Command(line), None)
    );
    assert_eq!(
        model.update(Input::Said("done \x1b[31m".into(), Some("text".into()))),
        Effect::Copy("text".into())
    );
    assert!(
        screen(&model).ends_with(" done \\x1b[31m"),
        "{}",
        screen(&model)
    );
    press(&mut model, KeyCode::Down);
    assert!(screen(&model).ends_with("? help"), "{}", screen(&model));
    assert_eq!(
        press(&mut model, KeyCode::Char('m')),
        order(second, Order::Unmute),
        "it is muted"
    );
    // A page is no list: nothing is muted from there by mistake.
    press(&mut model, KeyCode::Char('t'));
    for key in ['m', 'c', 's', 'y', 'Y', 'w', 'W'] {
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
